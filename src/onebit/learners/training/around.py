"""Rows of the pool that stand for all of it, and how alike those are that lie near each other. Not in the paper.

Rows i and j, one of which is among the nearest of the other, are as alike as exp(-|x_i - x_j|^2 / (s_i s_j)), with s_i
the distance of the last of the nearest of row i: where rows are dense, less is near (Zelnik-Manor and Perona 2004,
"Self-tuning spectral clustering").
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from onebit.learners.training.constants import N_ALIKE
from onebit.learners.training.model import Bools, Floats, Ints
from onebit.learners.training.nearest import Nearest, nearest_rows


class Around:
    """The rows ``items`` of the pool ``x`` (n, d); at least two."""

    def __init__(self, x: NDArray[np.floating], items: Ints) -> None:
        self._x, self._items = x, items
        #: The row that stands for each item: it itself, or the nearest; -1 if that was not asked for yet.
        self._place = np.full(len(x), -1, dtype=np.int32)
        self._place[items] = np.arange(items.size)
        #: Which items are rows themselves.
        self.holds: Bools = self._place >= 0

    @cached_property
    def rows(self) -> NDArray[np.float32]:
        """Shape (m, d)."""
        return np.ascontiguousarray(self._x[self._items], dtype=np.float32)

    def places(self, items: Ints) -> Ints:
        """The rows that stand for ``items``."""
        new = items[self._place[items] < 0]
        if new.size:
            self._place[new] = nearest_rows(np.asarray(self._x[new], dtype=np.float32), self.rows, 1)[:, 0]
        return self._place[items].astype(np.int64)

    @cached_property
    def alike(self) -> csr_array:
        """How alike rows are, as shares: each row sums to 1; (m, m), sparse."""
        n_rows = len(self.rows)
        near = Nearest(self.rows, np.arange(n_rows), N_ALIKE).of(np.arange(n_rows))
        distance = np.stack(
            [np.linalg.norm(self.rows - self.rows[near[:, rank]], axis=1) for rank in range(near.shape[1])], axis=1
        )
        scale = np.sqrt(distance[:, -1])
        alike = likeness(distance, scale[:, None] * scale[near])
        index = np.arange(n_rows).repeat(near.shape[1]), near.ravel()
        one_way = csr_array((alike.ravel(), index), shape=(n_rows, n_rows))
        both = one_way.maximum(one_way.T)
        return csr_array(both.multiply(1 / np.maximum(both.sum(axis=1), np.finfo(np.float32).tiny)[:, None]))


def likeness(distance: Floats, scale: Floats) -> NDArray[np.float32]:
    """exp(-(distance / scale)^2): 1 at a distance of 0, whatever the scale."""
    with np.errstate(over="ignore"):
        found: NDArray[np.float32] = np.exp(-np.square(distance / np.maximum(scale, np.finfo(np.float32).tiny)))
    return found.astype(np.float32)
