"""Which rows of a large table are equal, without sorting them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

#: Odd multiplier of the row hash: 2^64 divided by the golden ratio.
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
#: Entries of a table whose rows are compared at once: quicker than it takes to load the kernels.
SMALL = 1 << 18


def distinct_rows(table: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The numbers of the rows that equal no earlier row, and for every row which of those it equals.

    ``table`` (N, n) holds integers. Shapes (n_distinct,) and (N,), with table[first][which] == table.

    >>> first, which = distinct_rows(np.array([[1, 2], [3, 4], [1, 2]]))
    >>> first.tolist(), which.tolist()
    ([0, 1], [0, 1, 0])
    """
    first, which = (_by_rows if table.size <= SMALL else _by_hashes)(table)
    order = np.argsort(first)
    place = np.empty_like(order)
    place[order] = np.arange(order.size)
    return first[order], place[which.reshape(-1)]


def _by_rows(table: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    _, first, which = np.unique(table, axis=0, return_index=True, return_inverse=True)
    return first, which


def _by_hashes(table: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    _, first, which = np.unique(_row_hashes(table), return_index=True, return_inverse=True)
    # Different rows may have met in one hash; comparing the rows themselves takes longer.
    return (first, which) if _equal_to(table, first[which]) else _by_rows(table)


@njit(cache=True, nogil=True)
def _row_hashes(table: NDArray[Any]) -> NDArray[np.uint64]:
    hashes = np.zeros(table.shape[0], dtype=np.uint64)
    for row in range(table.shape[0]):
        value = np.uint64(0)
        for entry in table[row]:
            value = (value ^ np.uint64(entry)) * MULTIPLIER
            value ^= value >> np.uint64(29)
        hashes[row] = value
    return hashes


@njit(cache=True, nogil=True)
def _equal_to(table: NDArray[Any], other: NDArray[np.int64]) -> bool:
    """Whether each row equals the row of that number."""
    for row in range(table.shape[0]):
        if other[row] != row:
            for i in range(table.shape[1]):
                if table[row, i] != table[other[row], i]:
                    return False
    return True
