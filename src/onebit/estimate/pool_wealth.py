"""Betting on the items of a pool that are drawn without replacement and seen exactly: ``betting.py`` for finite pools.

Not in the paper; docs/certificate.md, step 11.
"""

from __future__ import annotations

from copy import copy

import numpy as np
from numba import njit
from numpy.typing import NDArray

from onebit.estimate.betting import BETS, Bools, EpochWealth, Floats, Ints
from onebit.kernels.votes import n_differing


class PoolWealth(EpochWealth):
    """Wealth from items of a pool drawn without replacement and seen exactly: D is -1, 0 or 1.

    Only rounds count on whose item h and g give different outputs; given that, the item is any of the U undrawn ones on
    which they do, each with the same probability. With S the pair's sum of D so far, a gap of at least c on the n items
    of the pool means that D has mean at least c_t = (n c - S) / U over these U. The bet is one of BETS, divided by
    1 - c_t taken at c = 0, which serves every c; c_t > 1 is impossible and ends the matter.
    """

    def __init__(self, said: NDArray[np.integer], usual_bet: float | None = None) -> None:
        """``said`` (N, n) is what the hypotheses say on the pool."""
        super().__init__(said.shape[0], usual_bet)
        self._said = said
        #: For each epoch: the items in the order drawn, and who is right on them, (N, k).
        self._epochs: list[tuple[Ints, Bools]] = []
        #: Of each leader so far: on how many items those that count differ from it, 0 for the others.
        self._n_differ: dict[int, Ints] = {}

    def add(self, items: Ints, right: Bools) -> None:
        """An epoch: its items in the order drawn, and who is ``right`` (N, k) on them."""
        self._epochs.append((items, right))

    def moments(self, leader: int) -> tuple[Floats, Floats]:
        """The sums over all rounds of D and of its square, for every h against ``leader``; for forecasts only."""
        total, squares = np.zeros(self.n_hypotheses), np.zeros(self.n_hypotheses)
        for _, right in self._epochs:
            total += right.sum(axis=1) - right[leader].sum()
            squares += (right != right[leader]).sum(axis=1)
        return total, squares

    def n_differ(self, leader: int) -> Ints:
        """On how many items of the pool each h that counts and ``leader`` give different outputs; shape (N,)."""
        if leader not in self._n_differ:
            self._n_differ[leader] = np.zeros(self.n_hypotheses, dtype=np.int64)
            self._n_differ[leader][self._rows] = n_differing(self._said, self._rows, leader)
        return self._n_differ[leader]

    def course(self, leader: int, c: float) -> Floats:
        everybody = copy(self)
        everybody._rows, everybody._n_differ = np.arange(self.n_hypotheses), {}
        return super(PoolWealth, everybody).course(leader, c)

    def _n_epochs(self) -> int:
        return len(self._epochs)

    def _log_mean(self, state: Floats, leader: int, c: float, rows: Ints) -> Floats:
        # Not even D = 1 on all that is left would make up for c.
        left = self.n_differ(leader)[rows] - state[rows, -1]
        impossible = self._said.shape[1] * c - state[rows, -2] > left
        return np.where(impossible, np.inf, super()._log_mean(state, leader, c, rows))

    def _start(self) -> Floats:
        # The last columns are S and the number of items drawn on which the two differ.
        return np.zeros((self.n_hypotheses, BETS.size + 2))

    def _advance(self, state: Floats, epoch: int, leader: int, c: float, rows: Ints) -> None:
        items, right = self._epochs[epoch]
        n_items = self._said.shape[1]
        _add_pool_rounds(state, rows, self._said, items, right, leader, self.n_differ(leader), n_items * c)


@njit(cache=True, nogil=True)
def _add_pool_rounds(state, rows, said, items, right, leader, n_differ, least_sum):  # type: ignore[no-untyped-def]
    """Go through the items in order for every h of ``rows``; ``least_sum`` is n c."""
    for h in rows:
        S, n_drawn = state[h, -2], state[h, -1]
        for t in range(items.size):
            if said[h, items[t]] == said[leader, items[t]]:
                continue
            left = n_differ[h] - n_drawn
            room = 1 + S / left
            mean = (least_sum - S) / left
            D = int(right[h, t]) - int(right[leader, t])
            for k in range(BETS.size):
                if mean > 1:
                    state[h, k] = np.inf
                else:
                    bet = BETS[k] / room if room > 0 else BETS[k]
                    state[h, k] += np.log1p(-bet * (D - mean))
            S += D
            n_drawn += 1
        state[h, -2], state[h, -1] = S, n_drawn
