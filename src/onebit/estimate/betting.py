"""Betting against "h is ahead of g by at least c": wealth that grows when it is not so.

For a pair of hypotheses and a threshold c >= 0, every round multiplies a stake by 1 - bet * (D - c), where D is an
unbiased estimate of acc(h) - acc(g). While the gap is at least c this is a nonnegative supermartingale, whatever the
stopping rule, so by Ville's inequality it ever reaches 1/a with probability at most a. The wealth is the mean over a
grid of bets, so no single bet has to be right; and it grows with c, so one event, "the wealth of (h, g) at their true
gap reaches 1/a", covers every threshold at once.

Bets are fixed before a round's example is drawn, and are the same for every c. Not in the paper; Waudby-Smith and
Ramdas (2024) for betting, and their section on sampling without replacement.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.special import logsumexp

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

#: Bets, as shares of what the range allows where they exceed it.
BETS = np.geomspace(0.002, 1.0, 20)
#: No bet stakes more than this share of what could be lost in one round.
CAP = 0.9


def bets_within(largest: float, eps: float) -> Floats:
    """The grid of bets for differences of at most ``largest``; with them no factor falls below 1 - CAP."""
    return np.minimum(BETS, CAP / (largest + eps))


class Wealth(ABC):
    """Wealth of every hypothesis h against a leader g, from all rounds so far."""

    def __init__(self, n_hypotheses: int) -> None:
        self.n_hypotheses = n_hypotheses
        #: For each threshold: the leader, the epochs counted, and the state after them.
        self._states: dict[float, tuple[int, int, Floats]] = {}

    def log_wealth(self, leader: int, c: float, keep: bool = True) -> Floats:
        """log of the wealth against "h is ahead of ``leader`` by at least c", for every h; shape (N,).

        ``keep`` for thresholds that are asked for again and again: only new epochs are then gone through, as long as
        the leader stands.
        """
        known_leader, n_counted, state = self._states.get(c, (leader, 0, self._start()))
        if known_leader != leader:
            n_counted, state = 0, self._start()
        state = self._advanced(state, n_counted, leader, c)
        if keep:
            self._states[c] = (leader, self._n_epochs(), state)
        mean: Floats = logsumexp(state[: BETS.size], axis=0) - np.log(BETS.size)
        return mean

    @abstractmethod
    def _start(self) -> Floats:
        """The state before the first round; its first rows are the log-wealth of each bet."""

    @abstractmethod
    def _advanced(self, state: Floats, n_counted: int, leader: int, c: float) -> Floats:
        """The state with the epochs after the first ``n_counted`` added."""

    @abstractmethod
    def _n_epochs(self) -> int: ...


@dataclass(frozen=True, eq=False)
class _Rounds:
    """One epoch: its bets, how many rounds it had, and those that were not nil for everybody.

    In the rounds in which somebody was found right, X_i(h) = value[i] * right[h, i]. In *conceded* rounds nothing was
    asked, and whoever says something else than g, ``conceded`` (N, k) being what they say, is taken to be right and g
    to be wrong: D = 1. In all other rounds X is 0 for everybody.
    """

    bets: Floats
    n_rounds: int
    right: Bools
    value: Floats
    conceded: NDArray[np.integer]


class IndependentWealth(Wealth):
    """Wealth from independent draws: D = X(h) - X(g), bets fixed for each epoch."""

    def __init__(self, n_hypotheses: int) -> None:
        super().__init__(n_hypotheses)
        self._epochs: list[_Rounds] = []

    def add(
        self, bets: Floats, n_rounds: int, right: Bools, value: Floats, conceded: NDArray[np.integer] | None = None
    ) -> None:
        """An epoch of ``n_rounds`` rounds: ``right`` (N, k) and ``value`` (k,) for those with somebody right.

        ``conceded`` (N, l) is what the hypotheses say in conceded rounds.
        """
        nothing = np.empty((self.n_hypotheses, 0), dtype=np.int64)
        self._epochs.append(_Rounds(bets, n_rounds, right, value, nothing if conceded is None else conceded))

    def _n_epochs(self) -> int:
        return len(self._epochs)

    def _start(self) -> Floats:
        return np.zeros((BETS.size, self.n_hypotheses))

    def _advanced(self, state: Floats, n_counted: int, leader: int, c: float) -> Floats:
        for epoch in self._epochs[n_counted:]:
            state = state + _log_factors(epoch, leader, c)
        return state


def _log_factors(epoch: _Rounds, leader: int, c: float) -> Floats:
    """sum over the rounds of log(1 - bet (D - c)) for every bet and h; shape (n_bets, N).

    A round with D = 0 adds log(1 + bet c). Where the leader is right, being wrong has D = -value; where it is wrong,
    being right has D = value. In a conceded round, to differ has D = 1.
    """
    bet = epoch.bets[:, None]
    at_zero = np.log1p(bet * c)
    leader_right = epoch.right[leader]
    behind = np.log1p(bet * (epoch.value[leader_right] + c)) - at_zero
    ahead = np.log1p(-bet * (epoch.value[~leader_right] - c)) - at_zero
    moved = behind @ (~epoch.right[:, leader_right]).T + ahead @ epoch.right[:, ~leader_right].T
    differing = (epoch.conceded != epoch.conceded[leader]).sum(axis=1)
    moved = moved + (np.log1p(-bet * (1 - c)) - at_zero) * differing
    total: Floats = moved + epoch.n_rounds * at_zero
    return total


class PoolWealth(Wealth):
    """Wealth from items of a pool drawn without replacement and seen exactly: D is -1, 0 or 1.

    With S the pair's sum of D over the items drawn, and U items left to draw from (all others have D = 0), a gap of at
    least c on the n items of the pool means that D has mean at least c_t = (n c - S) / U over those left. The bet is a
    share of 1 / (1 - c_t) taken at c = 0, which serves every c; c_t > 1 is impossible and ends the matter.
    """

    def __init__(self, n_hypotheses: int, n_items: int) -> None:
        super().__init__(n_hypotheses)
        self._n_items = n_items
        self._right: list[Bools] = []
        self._n_left: list[int] = []

    def add(self, right: Bools, n_left: int) -> None:
        """An epoch: ``right`` (N, k) on its items in the order drawn, ``n_left`` items to draw from at its start."""
        self._right.append(right)
        self._n_left.append(n_left)

    def _n_epochs(self) -> int:
        return len(self._right)

    def _start(self) -> Floats:
        # The last row is S.
        return np.zeros((BETS.size + 1, self.n_hypotheses))

    def _advanced(self, state: Floats, n_counted: int, leader: int, c: float) -> Floats:
        state = state.copy()
        for right, n_left in zip(self._right[n_counted:], self._n_left[n_counted:], strict=True):
            _add_pool_rounds(state, right, right[leader], n_left, self._n_items * c)
        return state


@njit(cache=True, nogil=True)
def _add_pool_rounds(state: Floats, right: Bools, leader_right: Bools, n_left: int, least_sum: float) -> None:
    """Go through the items in order for every h; ``least_sum`` is n c."""
    for h in range(right.shape[0]):
        S = state[-1, h]
        for t in range(right.shape[1]):
            left = n_left - t
            room = 1 + S / left
            mean = (least_sum - S) / left
            D = int(right[h, t]) - int(leader_right[t])
            for k in range(BETS.size):
                if mean > 1:
                    state[k, h] = np.inf
                else:
                    bet = CAP * BETS[k] / room if room > 0 else BETS[k]
                    state[k, h] += np.log1p(-bet * (D - mean))
            S += D
        state[-1, h] = S
