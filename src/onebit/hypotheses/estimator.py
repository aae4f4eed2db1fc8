"""A scikit-learn estimator as an ERM oracle. It is a heuristic, so nothing found through it is a certificate."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from onebit.errors import InvalidInputError, NegativeWeightError
from onebit.hypotheses.base import Examples, Hypothesis, HypothesisClass, Labels, Weights, check_n_labels


class Fitted:
    """A fitted estimator, or the constant that stands in where a sample holds a single label."""

    def __init__(self, estimator: Any, constant: int | None) -> None:
        self._estimator = estimator
        self._constant = constant

    def predict(self, x: Examples) -> Labels:
        if self._constant is not None or x.shape[0] == 0:
            # Estimators refuse to predict nothing.
            return np.full(x.shape[0], self._constant or 0, dtype=np.int64)
        return np.asarray(self._estimator.predict(x)).astype(np.int64)


class EstimatorClass(HypothesisClass):
    """What ``estimator`` can become when fitted: ``erm`` fits a fresh clone to the sample. Inexact.

    Negative weights are refused: scikit-learn's learners take some of them without a word and return nonsense. So
    SPIDER Frank-Wolfe cannot run on this class; full-gradient Frank-Wolfe, whose weights are positive, can.
    """

    exact = False
    takes_negative_weights = False

    def __init__(self, estimator: Any, n_labels: int) -> None:
        if not hasattr(estimator, "fit") or not hasattr(estimator, "predict"):
            raise InvalidInputError(f"{estimator!r} has no fit and predict; give a scikit-learn classifier")
        if not has_fit_parameter(estimator, "sample_weight"):
            raise InvalidInputError(
                f"the fit of {estimator!r} takes no sample_weight; give a classifier whose fit does"
            )
        self.estimator = estimator
        self.n_labels = check_n_labels(n_labels)

    def predict(self, h: Hypothesis, x: Examples) -> Labels:
        if not isinstance(h, Fitted):
            raise InvalidInputError(f"{h!r} was not fitted by this class")
        return h.predict(x)

    def _columns(self, x: Examples, y: Labels, weight: Weights, n_columns: int) -> tuple[Hypothesis, ...]:
        if (weight < 0).any():
            raise NegativeWeightError(
                f"{int((weight < 0).sum())} of {weight.size} weights are negative, and a scikit-learn estimator does "
                "not minimise a weighted error with negative weights; use full-gradient Frank-Wolfe, whose weights "
                "are positive, or a class with an exact oracle"
            )
        used = np.flatnonzero(weight)
        seen = np.unique(y[used])
        if seen.size < 2:
            # Many estimators refuse to fit a single label; the constant is then the minimiser.
            return (Fitted(None, int(seen[0]) if seen.size else 0),)
        # The mean weight is made 1, since regularisation is measured against the weights' scale.
        fitted = clone(self.estimator).fit(x[used], y[used], sample_weight=weight[used] / weight[used].mean())
        return (Fitted(fitted, None),)
