"""What a hypothesis class is to everything else: something that predicts, and a weighted ERM oracle.

A hypothesis maps an example to one of the labels 0, ..., n_labels - 1. The class is touched in two ways only:
``predict`` says what one hypothesis says, and ``erm`` finds the hypothesis that fits a weighted sample best. Weights
are real numbers and may be negative: half of the calls of SPIDER Frank-Wolfe carry negative weights.

To add a class, subclass :class:`HypothesisClass`, set ``n_labels``, ``exact`` and, where known, ``n_hypotheses``, and
write ``predict`` and ``_columns``. The suite ``onebit.testing.ExactSuite`` then says whether it is one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onebit.errors import InvalidInputError, check_count
from onebit.hypotheses.on_sample import ErmOnSample, OnSample

#: Whatever a class uses to name one of its members: hashable, and equal names are the same hypothesis.
Hypothesis = Any
#: Examples: an array whose first axis counts them.
Examples = Any
Labels = NDArray[np.int64]
Weights = NDArray[np.float64]

#: What a hypothesis that abstains says instead of a label; it is never right.
ABSTAIN = -1


class HypothesisClass(ABC):
    """A set H of hypotheses with a weighted ERM oracle.

    Paper: the hypothesis class H and the oracle O_H of Eq. (1).

    ``exact`` says whether ``erm`` truly minimises over the whole class. Only then do a Frank-Wolfe gap and
    Theorem 1 mean what they say. ``n_hypotheses`` is N, or None where the class is infinite or its size unknown.
    """

    n_labels: int
    exact: bool
    n_hypotheses: int | None = None
    #: Whether ``erm`` takes negative weights, as SPIDER Frank-Wolfe needs.
    takes_negative_weights: bool = True

    def check_examples(self, x: Examples) -> None:  # noqa: B027 (a class that takes anything need not say so)
        """Raise InvalidInputError if ``x`` cannot be examples of this class; by default anything can."""

    @abstractmethod
    def predict(self, h: Hypothesis, x: Examples) -> Labels:
        """The labels that ``h`` gives to the examples ``x``; shape (n,). A negative number is an abstention."""

    @abstractmethod
    def _columns(self, x: Examples, y: Labels, weight: Weights, n_columns: int) -> tuple[Hypothesis, ...]:
        """``erm_columns`` on a sample that has been checked."""

    def erm(self, x: Examples, y: ArrayLike, weight: ArrayLike) -> Hypothesis:
        """The hypothesis that minimises the weighted error; among equals always the same one.

        Paper: Eq. (1), argmin over h of sum_i weight[i] * [h(x[i]) != y[i]].

        ``y`` and ``weight`` have shape (n,); weights are finite and may be negative.
        """
        return self.erm_columns(x, y, weight, 1)[0]

    def erm_columns(self, x: Examples, y: ArrayLike, weight: ArrayLike, n_columns: int) -> tuple[Hypothesis, ...]:
        """Up to ``n_columns`` distinct good hypotheses from one pass, ``erm``'s answer first.

        Not in the paper. Only the first is promised to be a minimiser; a class that finds no others returns it alone.
        """
        check_count("n_columns", n_columns)
        labels, weights = self._checked_sample(x, y, weight)
        return self._columns(x, labels, weights, n_columns)

    def on_sample(self, x: Examples, y: ArrayLike, n_threads: int = 1) -> OnSample:
        """This class on fixed samples, for a solver that goes over them many times in so many threads.

        Not in the paper. Only a class that packs its predictions has use for threads.
        """
        labels, _ = self._checked_sample(x, y, np.zeros(n_examples(x)))
        return ErmOnSample(self, x, labels)

    def _checked_sample(self, x: Examples, y: ArrayLike, weight: ArrayLike) -> tuple[Labels, Weights]:
        labels = as_labels(y, self.n_labels)
        weights = as_numbers(weight, "weights")
        n = n_examples(x)
        if labels.shape != (n,) or weights.shape != (n,):
            raise InvalidInputError(
                f"the sample has {n} examples, labels of shape {labels.shape} and weights of shape {weights.shape}; "
                "give one label and one weight for each example"
            )
        if not np.isfinite(weights).all():
            bad = int(np.flatnonzero(~np.isfinite(weights))[0])
            raise InvalidInputError(f"weight {bad} is {weights[bad]}; weights must be finite numbers")
        return labels, weights


def n_examples(x: Examples) -> int:
    """How many examples ``x`` holds."""
    shape = getattr(x, "shape", None)
    return int(shape[0]) if shape else len(x)


def as_labels(y: ArrayLike, n_labels: int) -> Labels:
    """``y`` as an integer array, after checking that each entry is a label from 0 to ``n_labels`` - 1."""
    labels = as_whole_numbers(y, "labels")
    outside = (labels < 0) | (labels >= n_labels)
    if outside.any():
        bad = tuple(int(i) for i in np.argwhere(outside)[0])
        where = bad[0] if len(bad) == 1 else bad
        raise InvalidInputError(
            f"label {where} is {labels[bad]}; with {n_labels} labels they are numbered 0 to {n_labels - 1}"
        )
    return labels.astype(np.int64)


def as_whole_numbers(values: ArrayLike, what: str) -> NDArray[np.integer]:
    """``values`` as an array of whole numbers of whatever type they are."""
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise InvalidInputError(f"the {what} do not make an array: {error}") from None
    if array.size == 0:
        return array.astype(np.int64)
    if array.dtype.kind not in "iu":
        raise InvalidInputError(f"the {what} are of type {array.dtype}; they must be whole numbers")
    return array


def check_n_labels(n_labels: int) -> int:
    """``n_labels``, or an error if there is nothing to choose between."""
    return check_count("n_labels", n_labels, least=2)


def as_numbers(values: ArrayLike, what: str) -> NDArray[np.float64]:
    """``values`` as a float array, or an error if they are not numbers in an even shape."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"the {what} are not numbers: {error}") from None


def as_real_features(x: Examples, n_dimensions: int) -> NDArray[np.float64]:
    """``x`` as a finite float array with that many dimensions."""
    values = as_numbers(x, "examples")
    if values.ndim != n_dimensions:
        kind = "one number" if n_dimensions == 1 else "one row of numbers"
        raise InvalidInputError(f"the examples have shape {values.shape}; this class wants {kind} for each example")
    if not np.isfinite(values).all():
        raise InvalidInputError("the examples hold NaN or an infinite number; fill in or drop those examples first")
    return values
