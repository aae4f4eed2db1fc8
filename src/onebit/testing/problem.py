"""The small problem that the suites of learners are run on: three models, forty items, four labels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from onebit.hypotheses.finite import PredictionTable

Ints = NDArray[np.int64]


def models_of_accuracy(
    rng: np.random.Generator, accuracy: NDArray[np.float64], n_items: int, n_labels: int
) -> tuple[Ints, Ints]:
    """Predictions (N, n_items) of models right with the given probabilities, else wrong at random; and the truth."""
    truth = rng.integers(0, n_labels, n_items)
    shape = (accuracy.size, n_items)
    wrong = (truth + rng.integers(1, n_labels, shape)) % n_labels
    return np.where(rng.random(shape) < accuracy[:, None], truth, wrong), truth


N_LABELS, N_ITEMS = 4, 40
#: What each model says of each item, and what is right. The last model is the best by far.
PREDICTIONS, TRUTH = models_of_accuracy(np.random.default_rng(0), np.array([0.3, 0.5, 0.9]), N_ITEMS, N_LABELS)
MODELS = PredictionTable(PREDICTIONS, N_LABELS)
BEST = 2
