"""Finite classes whose hypotheses predict a list of m labels: the best five answers of a search, say."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onebit.errors import InvalidInputError
from onebit.hypotheses.base import ABSTAIN, Examples, as_labels, as_whole_numbers, check_n_labels


class ListClass(ABC):
    """N hypotheses, each of which gives every example ``list_size`` distinct labels, or fewer.

    Sequel: Pi of Appendix A. A hypothesis is named by its number, 0 to N - 1.
    """

    n_labels: int
    n_hypotheses: int
    list_size: int

    @abstractmethod
    def predictions(self, x: Examples) -> NDArray[np.integer]:
        """What every hypothesis gives to ``x``; shape (N, n, m), negative where a list is shorter than m."""

    @abstractmethod
    def check_examples(self, x: Examples) -> None:
        """Raise InvalidInputError if ``x`` cannot be examples of this class."""


class ListTable(ListClass):
    """Lists given as a table: ``predictions[h, item]`` are m labels, negative entries mean that there is none.

    The examples of this class are item numbers.

    >>> ListTable([[[0, 1], [2, 0]], [[1, 2], [1, -1]]], n_labels=3).list_size
    2
    """

    def __init__(self, predictions: ArrayLike, n_labels: int) -> None:
        table = as_whole_numbers(predictions, "predictions")
        if table.ndim != 3 or 0 in table.shape:
            raise InvalidInputError(
                f"the table has shape {table.shape}; it needs one row for each hypothesis, one column for each item, "
                "and in each cell the same number of labels"
            )
        self.n_labels = check_n_labels(n_labels)
        as_labels(np.maximum(table, 0), n_labels)
        self._table = np.where(table < 0, ABSTAIN, table).astype(np.min_scalar_type(-n_labels))
        in_order = np.sort(self._table, axis=2)
        if ((in_order[:, :, 1:] == in_order[:, :, :-1]) & (in_order[:, :, 1:] >= 0)).any():
            raise InvalidInputError("a list names a label twice; the labels of a list are distinct")
        self.n_hypotheses, self.n_items, self.list_size = table.shape

    def predictions(self, x: Examples) -> NDArray[np.integer]:
        self.check_examples(x)
        said: NDArray[np.integer] = self._table[:, np.asarray(x, dtype=np.int64)]
        return said

    def check_examples(self, x: Examples) -> None:
        items = as_whole_numbers(x, "examples")
        if items.ndim != 1 or (items.size and not 0 <= items.min() <= items.max() < self.n_items):
            raise InvalidInputError(
                f"the examples of a table are its item numbers, 0 to {self.n_items - 1}, in an array of one dimension"
            )
