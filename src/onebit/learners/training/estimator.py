"""Any scikit-learn classifier as the model: fitted to the labels that are known, whatever kind of rows it takes.

A guide (``guide.py``) learns from noes too, and knows more at first. So in follow-up rows that nobody was asked about
are fitted with the label that the guide holds likeliest, if it is likely enough; and in one-shot rows that have noes
alone. Rows that are to try the classifier, or to audit it, are never among them. Not in the paper.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from onebit.errors import InvalidInputError, OnebitError, shown
from onebit.hypotheses.base import Examples, n_examples
from onebit.learners.training.constants import (
    DISCOVERY,
    LEAST_NEW,
    LEAST_ROWS,
    LIKELY,
    MOST_PROBED,
    N_PROBED,
    REFIT_GROWTH,
)
from onebit.learners.training.model import Floats, Ints, Known, take, unwarned_of_few_rows
from onebit.learners.training.rows import with_gaps

#: What to do about an estimator that fails.
ANOTHER = "give an estimator that takes these rows, or None for the built-in model"


class EstimatorModel:
    """A clone of ``estimator``, fitted anew when the answers have grown by a tenth, and at the end.

    What it gives a label is its ``predict_proba``, or 1 for what it predicts. Some classifiers need several rows of
    each label (neighbours, cross-validation); where a fit fails, rows of rare labels are given several times. If it
    fails all the same, the last clone stays until the next fit, when more rows are known; a clone that fails to predict
    on the way is not used any more. Before there is one it gives every label its share of those known. If at
    the end there is none, because every fit failed, OnebitError is raised. If it ``explores``, since its guide knows no
    more than it does, a share of the one-shot questions that falls as sqrt(K / answers) is about any label.
    """

    weights = np.ones(1)

    def __init__(self, estimator: Any, n_labels: int, explores: bool = False) -> None:
        # Some have predict only once they are fitted, such as stacking; their class has it always.
        predicts = hasattr(estimator, "predict") or hasattr(type(estimator), "predict")
        if isinstance(estimator, type) or not (hasattr(estimator, "fit") and predicts):
            raise InvalidInputError(
                f"the estimator is {shown(estimator)}, which has no fit and predict; give an object that has, "
                "such as LogisticRegression(), or None for the built-in model"
            )
        self._estimator, self._n_labels, self._explores, self._n_answers = estimator, n_labels, explores, 0
        self._fitted: Any = None
        #: The labels that it was fitted to, which it knows by their numbers here.
        self._met: Ints = np.empty(0, dtype=np.int64)
        self._counts: Floats = np.zeros(n_labels)
        #: The answers at the last fit that was tried, and at that of the clone.
        self._n_tried = self._n_fitted = -1
        self._is_final = False
        #: Why the last fit, or what came of it, failed; None if it did not.
        self._failure: str | None = None

    @property
    def gamma(self) -> float:
        return float(min(1.0, np.sqrt(DISCOVERY * self._n_labels / max(self._n_answers, 1)))) if self._explores else 0.0

    @property
    def warning(self) -> str | None:
        """What is to be known of a clone that is older than the last fit; None if it is not."""
        if self._failure is None:
            return None
        return f"{self._failure}. The classifier is the one that was fitted after {self._n_fitted:,} answers"

    def beliefs(self, x: Examples) -> Floats:
        belief = np.zeros((1, n_examples(x), self._n_labels))
        if self._fitted is not None:
            try:
                belief[0][:, self._met] = self._said(self._fitted, x, self._met.size)
                return belief
            except OnebitError as error:
                if self._is_final:
                    raise OnebitError(f"{error}. Every answer is kept in history_; {ANOTHER}") from error
                # It was fitted to few rows; the next clone may do better.
                self._fitted, self._failure = None, str(error)
        belief[:] = (self._counts + 1) / (self._counts + 1).sum()
        return belief

    def learn(self, known: Known, rng: np.random.Generator) -> None:
        was_final, self._is_final, self._n_answers = self._is_final, known.is_final, known.n_answers
        due = max(REFIT_GROWTH * self._n_tried, self._n_tried + LEAST_NEW)
        if known.is_final:
            # More likely labels are taught at the end, even if it was fitted to all that is known.
            has_more = known.with_likely is not None and not was_final
            due = self._n_tried - (has_more or self._failure is not None)
        if known.n_answers > due:
            self._fit(known)

    def try_on(self, x: Examples) -> None:
        """Fit some rows of ``x`` with made-up labels, and predict others.

        So what it does not take is refused before any answer. Where it fails to fit, it is tried with more rows.
        """
        order, gaps = np.random.default_rng(0).permutation(n_examples(x)), with_gaps(x)[:N_PROBED]
        with warnings.catch_warnings():
            # What it says of made-up labels, such as that they are hard to learn, is of no use.
            warnings.simplefilter("ignore")
            try:
                try:
                    self._try_fit(x, order, min(N_PROBED, max(2, order.size // 2)), gaps)
                except _FitError:
                    self._try_fit(x, order, MOST_PROBED, gaps)
            except OnebitError as error:
                raise OnebitError(f"{error}. Nothing was asked yet; {ANOTHER}") from error

    def _try_fit(self, x: Examples, order: Ints, n_rows: int, gaps: Ints) -> None:
        """Fit the first ``n_rows`` of ``order`` and ``gaps``, and predict those that follow."""
        rows = np.union1d(order[:n_rows], gaps)
        others = np.setdiff1d(order[n_rows : n_rows + N_PROBED], rows)
        fitted = self._fit_to(take(x, rows), np.arange(rows.size) % 2)
        if others.size:
            try:
                self._said(fitted, take(x, others), 2)
            except OnebitError as error:
                raise OnebitError(f"fitted to {rows.size} rows, {error}") from error

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
            self._fit_or_wait(x, numbers, met)

    def _fit_or_wait(self, x: Examples, numbers: Ints, met: Ints) -> None:
        """A new clone, or else the last one until the next fit; OnebitError if at the end there is none."""
        self._n_tried = self._n_answers
        try:
            self._fitted = self._fit_to(x, numbers)
        except OnebitError as error:
            self._failure = str(error)
            if self._is_final and self._fitted is None:
                raise OnebitError(f"{error}. Every answer is kept in history_; {ANOTHER}") from error
        else:
            self._met, self._n_fitted, self._failure = met, self._n_answers, None

    def _fit_to(self, x: Examples, label: Ints) -> Any:
        """A fitted clone; tried again with rare labels repeated."""
        counts, failures = np.bincount(label), list[Exception]()
        for least in (1, *LEAST_ROWS):
            rows = np.repeat(np.arange(label.size), np.ceil(least / counts).astype(np.int64)[label])
            try:
                with warnings.catch_warnings():
                    unwarned_of_few_rows()
                    fitted = clone(self._estimator).fit(take(x, rows), label[rows])
                # Some fit what they cannot predict from.
                self._said(fitted, take(x, rows[:1]), counts.size)
                return fitted
            except Exception as error:
                failures.append(error)
        # Of the rows as they are; what repeated ones lack says less.
        failure = failures[0]
        if isinstance(failure, OnebitError):
            raise _FitError(str(failure)) from failure
        raise _FitError(f"{self._estimator!r} failed to fit {label.size} rows: {_reason(failure)}") from failure

    def _said(self, fitted: Any, x: Examples, n_met: int) -> Floats:
        """What a fitted clone says of rows: a probability for each of ``n_met`` labels that it has met; shape (n, m).

        OnebitError if it fails, or if what it says is no probability.
        """
        n_rows = n_examples(x)
        try:
            if hasattr(fitted, "predict_proba"):
                said = np.asarray(fitted.predict_proba(x), dtype=np.float64)
            else:
                said = self._sure(np.asarray(fitted.predict(x)), n_met)
        except OnebitError:
            raise
        except Exception as error:
            raise OnebitError(f"{self._estimator!r} failed to predict {n_rows} rows: {_reason(error)}") from error
        if said.shape != (n_rows, n_met):
            raise OnebitError(
                f"{self._estimator!r} gave probabilities of shape {said.shape} for {n_rows} rows and {n_met} labels"
            )
        wrong = ~(np.isfinite(said).all(axis=1) & (said.sum(axis=1) > 0))
        if wrong.any():
            raise OnebitError(
                f"{self._estimator!r} gave row {int(wrong.argmax())} of {n_rows} the probabilities "
                f"{shown(said[wrong][0].tolist())}; they must be numbers with a sum above 0"
            )
        return said

    def _sure(self, predicted: NDArray[Any], n_met: int) -> NDArray[np.float64]:
        """1 for the label that each row is given; OnebitError if one is none of those fitted, as a regressor's."""
        wrong = ~np.isin(predicted, np.arange(n_met))
        if wrong.any():
            raise OnebitError(
                f"{self._estimator!r} predicted {shown(predicted[wrong].tolist()[0])}, which is none of the labels 0 "
                f"to {n_met - 1} that it was given; it must be a classifier"
            )
        sure: NDArray[np.float64] = np.eye(n_met)[predicted.astype(np.int64)]
        return sure


class _FitError(OnebitError):
    """An estimator could not be fitted to some rows, and may be to others."""


def _reason(error: Exception) -> str:
    """What an estimator said, as the end of a sentence."""
    return f"{type(error).__name__}: {error}".strip().rstrip(".:")
