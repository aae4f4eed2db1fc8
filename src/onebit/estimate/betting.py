"""Betting against "h is ahead of g by at least c": wealth that grows when it is not so.

For a pair of hypotheses and a threshold c >= 0, every round multiplies a stake by 1 - bet * (D - c), where D is an
unbiased estimate of acc(h) - acc(g). While the gap is at least c this is a nonnegative supermartingale, whatever the
stopping rule, so by Ville's inequality it ever reaches 1/a with probability at most a. The wealth is a mean over a grid
of bets, in which the usual ones count more, so no single bet has to be right; and it grows with c, so one event, "the
wealth of (h, g) at their true gap reaches 1/a", covers every threshold at once.

Bets are fixed before a round's example is drawn, and are the same for every c. Not in the paper; Waudby-Smith and
Ramdas (2024) for betting, and their section on sampling without replacement.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Collection
from copy import copy
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

#: No bet stakes more than this share of what could be lost in one round.
CAP = 0.9
BETS = np.geomspace(0.002, CAP, 20)
#: The bet that had won most when a run ended, over sqrt(eps), where answers are weighted and on exact differences of a
#: pool: .5 to 2 and 1.4 to 5.1 on the four tables of benchmarks/selection.py, eps from .005 to .1. About the middles.
USUAL_BET, USUAL_EXACT_BET = 1.2, 3.5
#: So much of the wealth is put on bets near the usual one, by a bell curve over log(bet) that is so wide.
NEAR_SHARE, NEAR_WIDTH = 0.75, 1.0


def usual_bet(eps: float, exact: bool) -> float:
    """The bet that is likely to have won most when ``eps`` is shown; ``exact``: by exact differences on a pool."""
    return min((USUAL_EXACT_BET if exact else USUAL_BET) * math.sqrt(eps), CAP)


def stakes(usual: float | None) -> Floats:
    """The share of the wealth that each bet begins with, more near the ``usual`` one; evenly if None. (n_bets,)."""
    even = np.full(BETS.size, 1 / BETS.size)
    if usual is None:
        return even
    near = np.exp(-(np.log(BETS / usual) ** 2) / (2 * NEAR_WIDTH**2))
    shares: Floats = NEAR_SHARE * near / near.sum() + (1 - NEAR_SHARE) * even
    return shares


class Wealth(ABC):
    """Wealth of every hypothesis h against a leader g, from all rounds so far."""

    @abstractmethod
    def log_wealth(self, leader: int, c: float, keep: bool = False) -> Floats:
        """log of the wealth against "h is ahead of ``leader`` by at least c", for every h; shape (N,).

        ``keep`` for thresholds that are asked for again and again. Those that no longer count have -inf.
        """

    @abstractmethod
    def forget(self, c: float) -> None:
        """No longer keep the threshold c."""

    def forget_leaders(self, but: Collection[int]) -> None:  # noqa: B027 (wealth may keep nothing of leaders)
        """No longer keep what was asked about leaders but these; asked about others again, it goes through all anew."""

    def count_only(self, rows: Ints) -> None:  # noqa: B027 (wealth may count all to the end)
        """From now on only these hypotheses count, some of those that did; any leader is one of them."""


class EpochWealth(Wealth):
    """Wealth that is kept from epoch to epoch: with ``keep``, only new epochs are gone through.

    Bets have the ``stakes`` of ``usual_bet``.
    """

    def __init__(self, n_hypotheses: int, usual_bet: float | None = None) -> None:
        self.n_hypotheses, self.usual_bet = n_hypotheses, usual_bet
        #: Those that count, and are gone through: with many hypotheses, few are left for most of a run.
        self._rows = np.arange(n_hypotheses)
        self._log_stakes = np.log(stakes(usual_bet))
        #: For each threshold and leader: the epochs counted, those that counted then, and their state.
        self._states: dict[tuple[float, int], tuple[int, Ints, Floats]] = {}

    def log_wealth(self, leader: int, c: float, keep: bool = False) -> Floats:
        state, n_counted = self._start(), 0
        if (c, leader) in self._states:
            n_counted, rows, kept = self._states[c, leader]
            state[rows] = kept
        for epoch in range(n_counted, self._n_epochs()):
            self._advance(state, epoch, leader, c, self._rows)
        if keep:
            self._states[c, leader] = self._n_epochs(), self._rows, state[self._rows]
        wealth = np.full(self.n_hypotheses, -np.inf)
        wealth[self._rows] = self._log_mean(state, leader, c, self._rows)
        return wealth

    def course(self, leader: int, c: float) -> Floats:
        """The same after each epoch, of all hypotheses that counted then; shape (n_epochs, N)."""
        state, course = self._start(), np.empty((self._n_epochs(), self.n_hypotheses))
        everybody = np.arange(self.n_hypotheses)
        for epoch in range(self._n_epochs()):
            self._advance(state, epoch, leader, c, everybody)
            course[epoch] = self._log_mean(state, leader, c, everybody)
        return course

    def count_only(self, rows: Ints) -> None:
        self._rows = rows

    def _log_mean(self, state: Floats, leader: int, c: float, rows: Ints) -> Floats:
        mean: Floats = logsumexp(state[rows, : BETS.size] + self._log_stakes, axis=1)
        return mean

    def frozen(self) -> Self:
        """The wealth as it is now, whatever is added later."""
        same = copy(self)
        for name, kept in vars(self).items():
            # Epochs and states are added and replaced, never changed in place.
            if isinstance(kept, list | dict):
                setattr(same, name, kept.copy())
        return same

    def forget(self, c: float) -> None:
        self._states = {key: state for key, state in self._states.items() if key[0] != c}

    def forget_leaders(self, but: Collection[int]) -> None:
        self._states = {key: state for key, state in self._states.items() if key[1] in but}

    @abstractmethod
    def _start(self) -> Floats:
        """The state (N, n_bets or more) before the first round; it begins with the log-wealth of each bet."""

    @abstractmethod
    def _advance(self, state: Floats, epoch: int, leader: int, c: float, rows: Ints) -> None:
        """Add an epoch to the state of ``rows``; those that did not take part in it may be left as they are."""

    @abstractmethod
    def _n_epochs(self) -> int: ...
