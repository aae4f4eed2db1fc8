"""Choose the best of twenty models without labels: the certified learner asks only where it matters, and stops."""

from __future__ import annotations

import numpy as np

from onebit import CertifiedLearner, Pool, PredictionTable, SimulatedRater, run

N_LABELS, N_ITEMS = 8, 3000


def main() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, N_LABELS, N_ITEMS)  # known to the rater only
    accuracy = np.linspace(0.5, 0.85, 20)
    wrong = rng.random((20, N_ITEMS)) > accuracy[:, None]
    predictions = np.where(wrong, rng.integers(0, N_LABELS, (20, N_ITEMS)), truth)

    models = PredictionTable(predictions, N_LABELS)
    learner = CertifiedLearner(models, Pool(np.arange(N_ITEMS)), eps=0.04, delta=0.05, protocol="follow-up")
    result = run(learner, SimulatedRater(truth))
    share = (predictions == truth).mean(axis=1)
    print(
        f"chosen: model {result.chosen}, right on {share[result.chosen]:.3f} of the items (the best: {share.max():.3f})"
    )
    print(f"{result.n_answers} yes/no answers; certified: nobody is ahead by more than {result.achieved_eps:.3f}")


if __name__ == "__main__":
    main()
