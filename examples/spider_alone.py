"""Algorithm 1 exactly as the paper has it, on a class of your own: phase 1 by SPIDER alone, through an ERM oracle.

The class: a rule gives each of twenty shops one of five labels, so there are 5^20 rules, and no list of them. All that
the algorithm touches is ``predict`` and the oracle, which gets negative weights in half of its calls.
"""

from __future__ import annotations

import numpy as np

from onebit import HypothesisClass, Iteration, PaperLearner, Plan, Pool, SimulatedRater, run

N_SHOPS, N_LABELS = 20, 5


class Rules(HypothesisClass):
    """All functions from shops to labels; a hypothesis is the tuple of its labels."""

    n_labels = N_LABELS
    n_hypotheses = N_LABELS**N_SHOPS
    exact = True

    def predict(self, h, x):
        return np.array(h)[x]

    def _columns(self, x, y, weight, n_columns):
        """The best label of each shop by itself: exact, whatever the signs of the weights."""
        earned = np.zeros((N_SHOPS, N_LABELS))
        np.add.at(earned, (x, y), weight)
        return (tuple(earned.argmax(axis=1).tolist()),)


def main() -> None:
    rng = np.random.default_rng(0)
    usual = rng.integers(0, N_LABELS, N_SHOPS)
    shop = rng.integers(0, N_SHOPS, 5000)
    label = np.where(rng.random(5000) < 0.7, usual[shop], rng.integers(0, N_LABELS, 5000))  # known to the rater only

    iterations: list[Iteration] = []
    learner = PaperLearner(
        Rules(),
        Pool(shop),
        Plan(n_confirmed=400, n_final=8000, n_steps=200),
        solver="spider",
        observe=iterations.append,
    )
    result = run(learner, SimulatedRater(label))
    right = int((np.array(result.chosen) == usual).sum())
    first, last = iterations[1], iterations[-1]
    print(f"after one step the potential is {first.potential:.2f}, then {last.potential:.2f} on {last.support} rules")
    print(f"{len(iterations)} steps of SPIDER, {result.oracle_calls} oracle calls, {result.n_rounds} answers")
    print(f"variance bound on the confirmed samples: {result.exploration.variance_bound:.2f}")
    print(f"{right} of {N_SHOPS} shops have their usual label in the rule that was chosen")


if __name__ == "__main__":
    main()
