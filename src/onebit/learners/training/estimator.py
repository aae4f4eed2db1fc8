"""Any scikit-learn classifier as the model: fitted to the labels that are known, whatever kind of rows it takes.

A guide (``guide.py``) learns from noes too, and knows more at first. So in follow-up rows that nobody was asked about
are fitted with the label that the guide holds likeliest, if it is likely enough; and in one-shot rows that have noes
alone. Rows that are to try the classifier, or to audit it, are never among them. Not in the paper.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import clone

from onebit.errors import InvalidInputError, OnebitError
from onebit.hypotheses.base import Examples, n_examples
from onebit.learners.training.constants import DISCOVERY, LEAST_NEW, LEAST_ROWS, LIKELY, N_PROBED, REFIT_GROWTH
from onebit.learners.training.model import Floats, Ints, Known, take, unwarned_of_few_rows


class EstimatorModel:
    """A clone of ``estimator``, fitted anew when the answers have grown by a tenth, and at the end.

    What it gives a label is its ``predict_proba``, or 1 for what it predicts. Some classifiers need several rows of
    each label (neighbours, cross-validation); where a fit fails, rows of rare labels are given several times. Until
    two labels are known it gives every label its share of those known. If it ``explores``, since its guide knows no
    more than it does, a share of the one-shot questions that falls as sqrt(K / answers) is about any label.
    """

    weights = np.ones(1)

    def __init__(self, estimator: Any, n_labels: int, explores: bool = False) -> None:
        if not hasattr(estimator, "fit") or not hasattr(estimator, "predict"):
            raise InvalidInputError(f"{estimator!r} has no fit and predict; give a scikit-learn classifier")
        self._estimator, self._n_labels, self._explores, self._n_answers = estimator, n_labels, explores, 0
        self._fitted: Any = None
        #: The labels that it was fitted to, which it knows by their numbers here.
        self._met: Ints = np.empty(0, dtype=np.int64)
        self._counts: Floats = np.zeros(n_labels)
        self._n_fitted = -1

    @property
    def gamma(self) -> float:
        return float(min(1.0, np.sqrt(DISCOVERY * self._n_labels / max(self._n_answers, 1)))) if self._explores else 0.0

    def beliefs(self, x: Examples) -> Floats:
        belief = np.zeros((1, n_examples(x), self._n_labels))
        if self._fitted is None:
            belief[:] = (self._counts + 1) / (self._counts + 1).sum()
        else:
            belief[0][:, self._met] = self._said(self._fitted, x)
        return belief

    def learn(self, known: Known, rng: np.random.Generator) -> None:
        self._n_answers = known.n_answers
        due = max(REFIT_GROWTH * self._n_fitted, self._n_fitted + LEAST_NEW)
        if known.n_answers > (self._n_fitted if known.is_final else due):
            self._fit(known)

    def try_on(self, x: Examples) -> None:
        """Fit a few rows of ``x`` with made-up labels, so that what it does not take is refused before any answer."""
        rows = np.unique(np.concatenate([np.arange(min(N_PROBED, n_examples(x))), _with_gaps(x)[:N_PROBED]]))
        self._fit_to(take(x, rows), np.arange(rows.size) % 2, "before the first question")

    def _fit(self, known: Known) -> None:
        known_row = known.possible.sum(axis=1) == 1
        label = np.where(known_row, known.possible.argmax(axis=1), -1)
        self._counts = np.bincount(label[known_row], minlength=self._n_labels).astype(np.float64)
        if known.left is not None and (self._counts > 0).sum() > 1:
            left = known.left()
            likely = ~known_row & (left.max(axis=1) >= LIKELY) & (self._counts > 0)[left.argmax(axis=1)]
            label = np.where(likely, left.argmax(axis=1), label)
        rows = np.flatnonzero(label >= 0)
        met, numbers = np.unique(label[rows], return_inverse=True)
        if met.size > 1:
            if known.with_likely is None:
                x = take(known.x, rows)
            else:
                x, likely = known.with_likely(rows, met)
                numbers = np.concatenate([numbers, np.searchsorted(met, likely)])
            self._fitted = self._fit_to(x, numbers, "The answers so far are kept")
            self._met, self._n_fitted = met, known.n_answers

    def _fit_to(self, x: Examples, label: Ints, when: str) -> Any:
        """A fitted clone; tried again with rare labels repeated."""
        counts = np.bincount(label)
        times = np.ceil(LEAST_ROWS / counts).astype(np.int64)[label]
        repeated = np.repeat(np.arange(label.size), times)
        for rows in (np.arange(label.size), repeated):
            try:
                with warnings.catch_warnings():
                    unwarned_of_few_rows()
                    fitted = clone(self._estimator).fit(take(x, rows), label[rows])
                # Some fit what they cannot predict from.
                self._said(fitted, take(x, rows[:1]))
                return fitted
            except Exception as error:
                failure = error
        raise OnebitError(
            f"{self._estimator!r} failed to fit {label.size} rows: {failure}. {when.capitalize()}; give another "
            "estimator, or None for the built-in model"
        ) from failure

    def _said(self, fitted: Any, x: Examples) -> Floats:
        """What a fitted clone says of rows: a probability for each label that it has met; shape (n, m)."""
        if hasattr(fitted, "predict_proba"):
            return np.asarray(fitted.predict_proba(x), dtype=np.float64)
        said = np.asarray(fitted.predict(x)).astype(np.int64)
        return np.eye(int(np.max(fitted.classes_)) + 1)[said]


def _with_gaps(x: Examples) -> Ints:
    """The rows of numbers that have a NaN."""
    if not isinstance(x, np.ndarray) or x.dtype.kind != "f":
        return np.empty(0, dtype=np.int64)
    return np.flatnonzero(np.isnan(x.reshape(len(x), -1)).any(axis=1))
