"""The nearest of some items, found exactly, a block of items at a time, when they are first asked for.

All of them at once would let the first rater wait. Products of matrices give the distances, and one pass over them the
nearest: faster than an index for approximate neighbours, which has to be built (docs/learning-results.md has the
times). Not in the paper.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from onebit.learners.training.constants import N_NEIGHBOURS, SEARCH_BLOCK
from onebit.learners.training.model import Bools, Ints


class Nearest:
    """The ``n_wanted`` nearest among the items ``listed`` of the pool ``x`` (n, d), by Euclidean distance.

    An item is not its own neighbour.
    What is found does not hang on the order in which it is asked for: the blocks of the list are the same, and so are
    their products, to the last bit.
    """

    def __init__(self, x: NDArray[np.floating], listed: Ints, n_wanted: int = N_NEIGHBOURS) -> None:
        self._x, self.listed = x, listed
        #: Where an item is in the list; -1 if it is not.
        self._place = np.full(len(x), -1, dtype=np.int32)
        self._place[listed] = np.arange(listed.size)
        #: Which items are listed.
        self.holds: Bools = self._place >= 0
        #: The number of neighbours of each item.
        self.n_near = min(n_wanted, listed.size - 1)
        self._rows: NDArray[np.float32] | None = None
        self._near: NDArray[np.int32] = np.empty((listed.size, max(self.n_near, 0)), dtype=np.int32)
        self._is_found: Bools = np.zeros(-(-listed.size // SEARCH_BLOCK), dtype=np.bool_)

    def of(self, items: Ints) -> NDArray[np.int32]:
        """The neighbours of ``items``, which are listed, nearest first; shape (n, n_near)."""
        places = self._place[items]
        blocks = np.unique(places // SEARCH_BLOCK)
        for block in blocks[~self._is_found[blocks]].tolist():
            self._find(block)
        near: NDArray[np.int32] = self._near[places]
        return near

    def _find(self, block: int) -> None:
        if self._rows is None:
            self._rows = np.ascontiguousarray(self._x[self.listed], dtype=np.float32)
            self._squares = np.einsum("nd,nd->n", self._rows, self._rows)
        first, last = block * SEARCH_BLOCK, min((block + 1) * SEARCH_BLOCK, self.listed.size)
        found = np.empty((last - first, self.n_near), dtype=np.int64)
        _least(self._rows[first:last] @ self._rows.T, self._squares / 2, first, found)
        self._near[first:last] = self.listed[found]
        self._is_found[block] = True


def nearest_rows(x: NDArray[np.floating], rows: NDArray[np.floating], n_wanted: int) -> Ints:
    """Of each of ``x`` (n, d) the ``n_wanted`` nearest of ``rows`` (m, d), nearest first; shape (n, n_wanted)."""
    half_squares = np.einsum("nd,nd->n", rows, rows) / 2
    found = np.empty((len(x), n_wanted), dtype=np.int64)
    for first in range(0, len(x), SEARCH_BLOCK):
        some = slice(first, first + SEARCH_BLOCK)
        # None of them is one of the rows, to be left out.
        _least(x[some] @ rows.T, half_squares, -len(x) - 1, found[some])
    return found


@njit(cache=True, nogil=True)
def _least(products: NDArray[np.floating], half_squares: NDArray[np.floating], first: int, found: Ints) -> None:
    """The nearest columns of each row of ``products`` (n, m), nearest first; row i leaves out first + i.

    Half of |a - b|^2 - |a|^2 is |b|^2 / 2 - <a, b>.
    """
    n_wanted = found.shape[1]
    least = np.empty(n_wanted, dtype=products.dtype)
    for row in range(products.shape[0]):
        least[:] = np.inf
        for column in range(products.shape[1]):
            distance = half_squares[column] - products[row, column]
            # What is infinite is found too, while there is room.
            if (distance >= least[-1] and least[-1] < np.inf) or column == first + row:
                continue
            at = n_wanted - 1
            while at > 0 and distance < least[at - 1]:
                least[at], found[row, at] = least[at - 1], found[row, at - 1]
                at -= 1
            least[at], found[row, at] = distance, column
