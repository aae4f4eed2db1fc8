"""A class seen on a fixed sample, where all that matters of a hypothesis is on which samples it is right.

A solver goes over the same samples many times. Here a class may prepare for that once: a finite class packs right and
wrong into bits, and every later pass reads those.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from onebit.kernels.bits import PackedTable
from onebit.kernels.planes import best

if TYPE_CHECKING:
    from onebit.hypotheses.base import Examples, Hypothesis, HypothesisClass, Labels, Weights

Bools = NDArray[np.bool_]


class OnSample(ABC):
    """The weighted ERM oracle of a class on m fixed samples. ``exact`` as in the class."""

    exact: bool
    n_samples: int
    n_hypotheses: int | None

    @abstractmethod
    def best(self, weight: Weights, n_columns: int) -> tuple[Hypothesis, ...]:
        """``erm_columns`` on the samples: one pass over the class. ``weight`` has shape (m,)."""

    @abstractmethod
    def right(self, h: Hypothesis) -> Bools:
        """On which samples ``h`` is right; shape (m,)."""

    def within_reach(self) -> Bools:
        """Which samples somebody may be right on; shape (m,). The others change no comparison of hypotheses."""
        return np.ones(self.n_samples, dtype=np.bool_)


class ErmOnSample(OnSample):
    """Any class on a sample, through its own oracle."""

    def __init__(self, hypotheses: HypothesisClass, x: Examples, y: Labels) -> None:
        self._hypotheses, self._x, self._y = hypotheses, x, y
        self.exact = hypotheses.exact
        self.n_samples = y.size
        self.n_hypotheses = hypotheses.n_hypotheses

    def best(self, weight: Weights, n_columns: int) -> tuple[Hypothesis, ...]:
        return self._hypotheses.erm_columns(self._x, self._y, weight, n_columns)

    def right(self, h: Hypothesis) -> Bools:
        return np.equal(self._hypotheses.predict(h, self._x), self._y)


class PackedOnSample(OnSample):
    """A finite class on a sample, as bits: row r of the table is hypothesis ``names[r]``, h has row ``row_of[h]``."""

    exact = True

    def __init__(
        self, table: PackedTable, names: NDArray[np.int64], row_of: NDArray[np.int64], n_threads: int = 1
    ) -> None:
        self.table = table
        self._names = names
        self._row_of = row_of
        self._n_threads = n_threads
        self.n_samples = table.n_samples
        self.n_hypotheses = table.n_hypotheses

    def best(self, weight: Weights, n_columns: int) -> tuple[Hypothesis, ...]:
        rows, _ = best(self.table, weight, n_columns, n_threads=self._n_threads)
        return tuple(self._names[rows].tolist())

    def right(self, h: Hypothesis) -> Bools:
        return self.table.right(self._row_of[h])

    def within_reach(self) -> Bools:
        return self.table.anyone_right()
