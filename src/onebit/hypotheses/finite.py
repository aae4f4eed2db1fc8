"""Finite classes: a table of predictions, or a list of models. A hypothesis is named by its number, 0 to N - 1."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onebit.errors import InvalidInputError
from onebit.hypotheses.base import (
    ABSTAIN,
    Examples,
    Hypothesis,
    HypothesisClass,
    Labels,
    Weights,
    as_labels,
    as_whole_numbers,
    check_n_labels,
    n_examples,
)
from onebit.hypotheses.on_sample import OnSample, PackedOnSample
from onebit.kernels.agreement import weighted_agreement
from onebit.kernels.bits import PackedTable
from onebit.kernels.distinct import distinct_rows


class FiniteClass(HypothesisClass):
    """N hypotheses whose predictions can be listed, so that the oracle is an argmax. Exact."""

    exact = True
    n_hypotheses: int

    @abstractmethod
    def predictions(self, x: Examples) -> NDArray[np.integer]:
        """What every hypothesis says on ``x``; shape (N, n), negative where it abstains."""

    def predict(self, h: Hypothesis, x: Examples) -> Labels:
        said: Labels = self.predictions(x)[self._row(h)].astype(np.int64)
        return said

    def equal_rows(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The hypotheses that are known to equal no earlier one, and for each hypothesis which of those it equals."""
        return np.arange(self.n_hypotheses), np.arange(self.n_hypotheses)

    def distinct_on(self, x: Examples) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.integer]]:
        """Which hypotheses say on ``x`` what no earlier one says, which of those each equals there, and what they say.

        Shapes (V,), (N,) and (V, n); -1 where one abstains. Not to be written to.
        """
        said = np.maximum(self.predictions(x), ABSTAIN)
        first, which = distinct_rows(said)
        return first, which, said if first.size == self.n_hypotheses else said[first]

    def agreement(self, x: Examples, y: ArrayLike, weight: ArrayLike) -> Weights:
        """sum_i weight[i] * [h(x[i]) == y[i]] for every h; shape (N,)."""
        labels, weights = self._checked_sample(x, y, weight)
        return self._agreement(x, labels, weights)

    def _agreement(self, x: Examples, y: Labels, weight: Weights) -> Weights:
        table = self.predictions(x)
        return weighted_agreement(table, np.arange(table.shape[1]), y, weight)

    def on_sample(self, x: Examples, y: ArrayLike, n_threads: int = 1) -> OnSample:
        labels, _ = self._checked_sample(x, y, np.zeros(n_examples(x)))
        said = self.predictions(x)
        table = PackedTable(self.n_hypotheses)
        table.append(said, np.arange(labels.size), labels, n_threads)
        return PackedOnSample(table, np.arange(self.n_hypotheses), np.arange(self.n_hypotheses), n_threads)

    def _columns(self, x: Examples, y: Labels, weight: Weights, n_columns: int) -> tuple[Hypothesis, ...]:
        # The weights sum to a constant, so least weighted error is most weighted agreement.
        return tuple(highest(self._agreement(x, y, weight), n_columns).tolist())

    def _row(self, h: Hypothesis) -> int:
        if not isinstance(h, int | np.integer) or not 0 <= h < self.n_hypotheses:
            raise InvalidInputError(
                f"hypothesis {h!r} is not in this class; they are numbered 0 to {self.n_hypotheses - 1}"
            )
        return int(h)


def highest(score: Weights, n: int) -> NDArray[np.int64]:
    """The places of the ``n`` highest scores, highest first; among equals the lowest place first."""
    if n == 1:
        return np.array([np.argmax(score)])
    return np.argsort(-score, kind="stable")[:n]


class PredictionTable(FiniteClass):
    """A class given as a table: ``predictions[h, item]`` is a label, or negative where h abstains.

    The examples of this class are item numbers, the columns of the table.

    >>> table = PredictionTable([[0, 1, 1], [2, 1, 0]], n_labels=3)
    >>> table.erm(x=[0, 2], y=[2, 0], weight=[1.0, 1.0])
    1
    """

    def __init__(self, predictions: ArrayLike, n_labels: int) -> None:
        table = as_whole_numbers(predictions, "predictions")
        if table.ndim != 2 or 0 in table.shape:
            raise InvalidInputError(
                f"the table has shape {table.shape}; it needs one row for each hypothesis (at least one) and one "
                "column for each item (at least one)"
            )
        self.n_labels = check_n_labels(n_labels)
        if table.max() >= n_labels:
            as_labels(np.maximum(table, 0), n_labels)
        # One copy in the narrowest type, and another only where it is needed: tables may be most of the memory.
        compact = (table if table.min() >= ABSTAIN else np.maximum(table, ABSTAIN)).astype(
            np.min_scalar_type(-n_labels)
        )
        self.n_hypotheses, self.n_items = table.shape
        # Equal rows are kept once: row _which[h] of _distinct is what h says, and _first are the lowest such h.
        self._first, self._which = distinct_rows(compact)
        self._distinct = compact if self._first.size == self.n_hypotheses else compact[self._first]

    def predictions(self, x: Examples) -> NDArray[np.integer]:
        said: NDArray[np.integer] = self._distinct[:, self._items(x)][self._which]
        return said

    def predict(self, h: Hypothesis, x: Examples) -> Labels:
        said: Labels = self._distinct[self._which[self._row(h)], self._items(x)].astype(np.int64)
        return said

    def equal_rows(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return self._first, self._which

    def distinct_on(self, x: Examples) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.integer]]:
        if np.array_equal(self._items(x), np.arange(self.n_items)):
            return self._first, self._which, self._distinct
        return super().distinct_on(x)

    def on_sample(self, x: Examples, y: ArrayLike, n_threads: int = 1) -> OnSample:
        labels, _ = self._checked_sample(x, y, np.zeros(n_examples(x)))
        table = PackedTable(self._first.size)
        table.append(self._distinct, self._items(x), labels, n_threads)
        return PackedOnSample(table, self._first, self._which, n_threads)

    def _agreement(self, x: Examples, y: Labels, weight: Weights) -> Weights:
        return weighted_agreement(self._distinct, self._items(x), y, weight)[self._which]

    def _columns(self, x: Examples, y: Labels, weight: Weights, n_columns: int) -> tuple[Hypothesis, ...]:
        score = weighted_agreement(self._distinct, self._items(x), y, weight)
        return tuple(self._first[highest(score, n_columns)].tolist())

    def _items(self, x: Examples) -> NDArray[np.int64]:
        items = as_whole_numbers(x, "examples")
        if items.ndim != 1 or (items.size and not 0 <= items.min() <= items.max() < self.n_items):
            raise InvalidInputError(
                f"the examples of a table are its item numbers, 0 to {self.n_items - 1}, in an array of one dimension"
            )
        return items.astype(np.int64)

    def check_examples(self, x: Examples) -> None:
        self._items(x)


class ModelList(FiniteClass):
    """A class given as callables ``model(x) -> labels``, or as fitted objects with ``predict``.

    Labels are 0 to n_labels - 1 (negative: abstains); every prediction is checked.

    >>> models = ModelList([lambda x: x % 2, lambda x: 0 * x], n_labels=2)
    >>> models.erm(np.array([1, 2, 3]), [0, 0, 0], [1.0, 1.0, 1.0])
    1
    """

    def __init__(self, models: Sequence[Any], n_labels: int) -> None:
        if len(models) == 0:
            raise InvalidInputError("the list of models is empty; a class needs at least one hypothesis")
        self.n_labels = check_n_labels(n_labels)
        self.n_hypotheses = len(models)
        self._models: tuple[Callable[[Examples], ArrayLike], ...] = tuple(
            getattr(model, "predict", model) for model in models
        )

    def predictions(self, x: Examples) -> NDArray[np.integer]:
        return np.stack([self.predict(h, x) for h in range(self.n_hypotheses)])

    def predict(self, h: Hypothesis, x: Examples) -> Labels:
        said = as_whole_numbers(self._models[self._row(h)](x), f"predictions of model {h}")
        if said.shape != (n_examples(x),):
            raise InvalidInputError(f"model {h} gave {said.shape} predictions for {n_examples(x)} examples")
        return np.where(said < 0, ABSTAIN, as_labels(np.maximum(said, 0), self.n_labels))
