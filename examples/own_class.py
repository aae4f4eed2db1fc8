"""Your own hypothesis class, learned from yes/no answers through a cover (Theorem 2).

The class: everyone has a size, and sizes S, M, L go in order. A hypothesis is two thresholds low <= high on the line.
There are infinitely many; the Natarajan dimension is 2. All that onebit needs is ``predict`` and an exact ``_columns``.
"""

from __future__ import annotations

import numpy as np

from onebit import CoverPlan, HypothesisClass, NatarajanLearner, PaperLearner, Plan, Pool, SimulatedRater, run


class Sizes(HypothesisClass):
    """0 below ``low``, 2 from ``high`` on, 1 between. A hypothesis is the pair (low, high)."""

    n_labels = 3
    exact = True

    def predict(self, h, x):
        low, high = h
        return (x >= low).astype(np.int64) + (x >= high)

    def _columns(self, x, y, weight, n_columns):
        """The best pair of thresholds, by trying every place between the sorted examples for both: exact."""
        order = np.argsort(x, kind="stable")
        x, y, weight = x[order], y[order], weight[order]
        # gain[a, i]: what label a earns on the first i examples.
        gain = np.zeros((3, x.size + 1))
        for a in range(3):
            np.cumsum(np.where(y == a, weight, 0.0), out=gain[a, 1:])
        # Examples with equal values stay together, so a threshold may stand only where the value changes.
        allowed = np.concatenate([[True], x[1:] != x[:-1], [True]]) if x.size else np.array([True])
        below = np.where(allowed, gain[0] - gain[1], -np.inf)
        above = np.where(allowed, gain[1] - gain[2], -np.inf)
        best_low = np.maximum.accumulate(below)
        high = int(np.argmax(best_low + above))
        low = int(np.argmax(below[: high + 1]))
        places = np.concatenate([[-np.inf], x[1:] / 2 + x[:-1] / 2, [np.inf]])[: x.size + 1]
        return ((float(places[low]), float(places[high])),)


def main() -> None:
    rng = np.random.default_rng(0)
    height = rng.normal(170, 10, 2000)
    size = np.searchsorted([163, 179], height)  # known to the rater only
    size = np.where(rng.random(2000) < 0.1, rng.integers(0, 3, 2000), size)  # people disagree

    learner = NatarajanLearner(
        Sizes(),
        Pool(height),
        CoverPlan(n_points=40),
        lambda finite, items: PaperLearner(finite, items, Plan(n_confirmed=60, n_final=4000)),
    )
    result = run(learner, SimulatedRater(size))
    best = Sizes().erm(height, size, np.ones(2000))
    error = [float((Sizes().predict(h, height) != size).mean()) for h in (result.chosen, best)]
    print(f"{result.n_unlabelled} unlabelled examples, {result.n_patterns} representatives, {result.n_rounds} answers")
    print(f"chosen thresholds {result.chosen[0]:.1f} and {result.chosen[1]:.1f}: error {error[0]:.3f}")
    print(f"best thresholds {best[0]:.1f} and {best[1]:.1f}: error {error[1]:.3f}")


if __name__ == "__main__":
    main()
