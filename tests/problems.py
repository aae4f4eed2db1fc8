"""Small problems that several tests share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def models_of_accuracy(rng: np.random.Generator, accuracy: Floats, n_items: int, n_labels: int) -> tuple[Ints, Ints]:
    """Predictions (N, n_items) of models right with the given probabilities, else wrong at random; and the truth."""
    truth = rng.integers(0, n_labels, n_items)
    shape = (accuracy.size, n_items)
    wrong = (truth + rng.integers(1, n_labels, shape)) % n_labels
    return np.where(rng.random(shape) < accuracy[:, None], truth, wrong), truth


def random_right(rng: np.random.Generator, n_hypotheses: int, n_samples: int) -> NDArray[np.bool_]:
    """A random right/wrong table in which hypotheses differ in accuracy."""
    right: NDArray[np.bool_] = rng.random((n_hypotheses, n_samples)) < rng.uniform(0.1, 0.9, (n_hypotheses, 1))
    return right


def random_point(rng: np.random.Generator, n: int) -> Floats:
    """A point of the simplex, sometimes near a face."""
    return rng.dirichlet(np.full(n, rng.choice([0.1, 1.0, 5.0])))
