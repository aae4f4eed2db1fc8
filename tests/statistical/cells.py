"""A population whose classifier's accuracy is known exactly: cells, each with a likeliest label."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from onebit.learners.training.model import Model, mean_belief

N_LABELS = 3
#: The probability of the likeliest label in each cell: most cells are easy, and what is uncertain is in the others.
LIKELIEST = np.array([1.0, 1.0, 1.0, 1.0, 0.4, 0.4])
N_CELLS = LIKELIEST.size
CHANCES = np.tile((1 - LIKELIEST)[:, None] / (N_LABELS - 1), N_LABELS)
CHANCES[np.arange(N_CELLS), np.arange(N_CELLS) % N_LABELS] = LIKELIEST


class CellShares(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The share of each label in each cell, one more of each added; an example is the number of its cell."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> CellShares:
        self.classes_, label = np.unique(y, return_inverse=True)
        self.counts_ = np.ones((N_CELLS, self.classes_.size))
        np.add.at(self.counts_, (X[:, 0].astype(int), label), 1.0)
        return self

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        counts = self.counts_[X[:, 0].astype(int)]
        return counts / counts.sum(axis=1, keepdims=True)

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def drawn(n_items: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The cells of ``n_items`` items, shape (n, 1), and their labels."""
    x = rng.integers(0, N_CELLS, (n_items, 1))
    y = (CHANCES.cumsum(axis=1)[x[:, 0]] < rng.random((n_items, 1))).sum(axis=1).clip(max=N_LABELS - 1)
    return x, y


def accuracy(model: Model) -> float:
    """How often the model is right on the population."""
    guess = mean_belief(model, np.arange(N_CELLS)[:, None]).argmax(axis=1)
    return float(CHANCES[np.arange(N_CELLS), guess].mean())
