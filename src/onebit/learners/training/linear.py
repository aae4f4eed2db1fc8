"""Logistic regression on the rows whose label is known, beside the networks (``pooled.py``). Not in the paper.

Of few rows of many columns, as texts have, nothing that bends knows more.
"""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from onebit.learners.training.beside import FittedBeside
from onebit.learners.training.constants import FEW_FOR_LINES, LINEAR_STEPS
from onebit.learners.training.model import Floats, Ints, Known, unwarned_of_few_rows
from onebit.learners.training.network import one_thread


class Linear(FittedBeside):
    """The weights (m, d) and offsets (m,) of the labels met, by scikit-learn's defaults."""

    few_rows = FEW_FOR_LINES

    def __init__(self, n_labels: int) -> None:
        super().__init__(n_labels)
        self._weights = np.empty((0, 0), dtype=np.float32)
        self._offsets = np.empty(0, dtype=np.float32)

    def _fit(self, known: Known, rows: Ints, label: Ints, rng: np.random.Generator) -> None:
        with one_thread(), warnings.catch_warnings():
            # Steps are limited for time; what is not at the minimum yet is near it.
            warnings.simplefilter("ignore", ConvergenceWarning)
            unwarned_of_few_rows()
            fitted = LogisticRegression(max_iter=LINEAR_STEPS).fit(known.x[rows], label)
        weights, offsets = fitted.coef_.astype(np.float32), fitted.intercept_.astype(np.float32)
        # Of two labels it has weights for the second alone.
        two = len(weights) == 1
        self._weights = np.concatenate([np.zeros_like(weights), weights]) if two else weights
        self._offsets = np.concatenate([np.zeros_like(offsets), offsets]) if two else offsets

    def _said(self, x: NDArray[np.floating]) -> Floats:
        said: Floats = softmax(x @ self._weights.T + self._offsets, axis=1)
        return said
