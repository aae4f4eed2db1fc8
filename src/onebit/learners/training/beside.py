"""Who speaks beside the networks of the built-in model (``pooled.py``). Not in the paper."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from onebit.learners.training.constants import FITTED_GROWTH, LEAST_NEW
from onebit.learners.training.model import Floats, Ints, Known, softened


class Beside(ABC):
    """Somebody who says something of rows beside the networks."""

    @abstractmethod
    def logs(self, x: NDArray[np.floating]) -> Floats:
        """log g(k | x), up to a constant for each row; shape (n, K)."""

    @abstractmethod
    def learn(self, known: Known, rng: np.random.Generator) -> None:
        """Take in all that is known so far."""


class FittedBeside(Beside):
    """Fitted to the rows whose label is known, anew when the answers have grown by ``FITTED_GROWTH``.

    With fewer than ``few_rows`` of them it is fitted anew whenever there are more than before.
    It knows the labels that it has met by their numbers among these. Until two are met, and each ``rows_of_each``
    times in the mean, it says nothing.
    """

    rows_of_each = 1
    few_rows = 0

    def __init__(self, n_labels: int) -> None:
        self._n_of_each_label: Ints = np.zeros(n_labels, dtype=np.int64)
        self._n_fitted = 0

    @abstractmethod
    def _fit(self, known: Known, rows: Ints, label: Ints, rng: np.random.Generator) -> None:
        """Learn ``rows`` of ``known``, whose labels have the numbers ``label``: 0 to m - 1, all of them met; (n,)."""

    @abstractmethod
    def _said(self, x: NDArray[np.floating]) -> Floats:
        """The probability of each of the m labels met; shape (n, m)."""

    def belief(self, x: NDArray[np.floating]) -> Floats:
        """The probability of each label, softened for labels not met; shape (n, K)."""
        belief = np.zeros((len(x), self._n_of_each_label.size))
        if self._n_fitted:
            belief[:, self._n_of_each_label > 0] = self._said(x)
        return softened(belief, self._n_of_each_label)

    def logs(self, x: NDArray[np.floating]) -> Floats:
        return logs(self.belief(x)).astype(x.dtype)

    def learn(self, known: Known, rng: np.random.Generator) -> None:
        rows = np.flatnonzero(known.possible.sum(axis=1) == 1)
        has_grown = known.n_answers >= max(FITTED_GROWTH * self._n_fitted, self._n_fitted + LEAST_NEW)
        has_more = self._n_of_each_label.sum() < rows.size < self.few_rows
        if not (has_grown or has_more):
            return
        met, label = np.unique(known.possible[rows].argmax(axis=1), return_inverse=True)
        if not 2 <= met.size <= rows.size / self.rows_of_each:
            return
        self._n_fitted = known.n_answers
        self._n_of_each_label = np.bincount(met[label], minlength=known.possible.shape[1])
        self._fit(known, rows, label, rng)


def logs(belief: Floats) -> Floats:
    """log of ``belief``, of which none is -inf."""
    found: Floats = np.log(np.maximum(belief, np.finfo(np.float32).tiny))
    return found
