"""Small problems that several tests share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from onebit.testing.problem import models_of_accuracy

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

__all__ = ["Floats", "Ints", "models_of_accuracy", "random_point", "random_right"]


def random_right(rng: np.random.Generator, n_hypotheses: int, n_samples: int) -> NDArray[np.bool_]:
    """A random right/wrong table in which hypotheses differ in accuracy."""
    right: NDArray[np.bool_] = rng.random((n_hypotheses, n_samples)) < rng.uniform(0.1, 0.9, (n_hypotheses, 1))
    return right


def random_point(rng: np.random.Generator, n: int) -> Floats:
    """A point of the simplex, sometimes near a face."""
    return rng.dirichlet(np.full(n, rng.choice([0.1, 1.0, 5.0])))
