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
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from typing import Self

import numpy as np
from numba import njit
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

        ``keep`` for thresholds that are asked for again and again.
        """

    @abstractmethod
    def forget(self, c: float) -> None:
        """No longer keep the threshold c."""


class EpochWealth(Wealth):
    """Wealth that is kept from epoch to epoch: with ``keep``, only new epochs are gone through.

    Bets have the ``stakes`` of ``usual_bet``.
    """

    def __init__(self, n_hypotheses: int, usual_bet: float | None = None) -> None:
        self.n_hypotheses = n_hypotheses
        self._log_stakes = np.log(stakes(usual_bet))
        #: For each threshold and leader: the epochs counted, and the state after them.
        self._states: dict[tuple[float, int], tuple[int, Floats]] = {}

    def log_wealth(self, leader: int, c: float, keep: bool = False) -> Floats:
        n_counted, state = self._states.get((c, leader), (0, self._start()))
        for epoch in range(n_counted, self._n_epochs()):
            state = self._advanced(state, epoch, leader, c)
        if keep:
            self._states[c, leader] = self._n_epochs(), state
        return self._log_mean(state, leader, c)

    def course(self, leader: int, c: float) -> Floats:
        """The same after each epoch; shape (n_epochs, N)."""
        state, course = self._start(), np.empty((self._n_epochs(), self.n_hypotheses))
        for epoch in range(self._n_epochs()):
            state = self._advanced(state, epoch, leader, c)
            course[epoch] = self._log_mean(state, leader, c)
        return course

    def _log_mean(self, state: Floats, leader: int, c: float) -> Floats:
        mean: Floats = logsumexp(state[:, : BETS.size] + self._log_stakes, axis=1)
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

    @abstractmethod
    def _start(self) -> Floats:
        """The state (N, n_bets or more) before the first round; it begins with the log-wealth of each bet."""

    @abstractmethod
    def _advanced(self, state: Floats, epoch: int, leader: int, c: float) -> Floats:
        """The state, which is left as it is, with an epoch added."""

    @abstractmethod
    def _n_epochs(self) -> int: ...


@dataclass(frozen=True, eq=False)
class Rounds:
    """The rounds of an epoch, of which m may tell hypotheses apart; the ``n_nil`` others have D = 0 for everybody.

    In round i the hypotheses give the outputs number first[i] to first[i + 1] - 1, labels or abstention, and ``code``
    (m, N) says which of them each gives. For each output: its propensity ``q``, 1 where it is not to be asked, and the
    guesses of how likely it is right ``for_rival`` and ``for_leader``, made before it was drawn what to ask. The answer
    to the output ``asked`` (m,), -1 for nothing asked, is ``z`` (m,), 1 for yes.
    """

    code: NDArray[np.unsignedinteger]
    first: Ints
    q: Floats
    for_rival: Floats
    for_leader: Floats
    asked: Ints
    z: Floats
    n_nil: int

    def estimates(self) -> Floats:
        """X(h) = guess + [h's output was asked] (z - guess) / q in each round; shape (m, N)."""
        # An abstention gets what a wrong label gets, so that all are measured alike.
        x = self.for_rival.copy()
        rounds = np.flatnonzero(self.asked >= 0)
        asked = self.first[rounds] + self.asked[rounds]
        x[asked] += (self.z[rounds] - x[asked]) / self.q[asked]
        estimates: Floats = x[self.first[:-1, None] + self.code]
        return estimates


class IndependentWealth(EpochWealth):
    """Wealth from independent draws: D = X(h) - X(g).

    ``slack(g)`` (N,) is taken off the threshold of each h against the leader g, and bets are divided by 1 + slack: a
    threshold of at least -slack then costs no bet more than CAP, as D is at most CAP / bet.
    """

    def __init__(
        self, n_hypotheses: int, slack: Callable[[int], Floats] | None = None, usual_bet: float | None = None
    ) -> None:
        super().__init__(n_hypotheses, usual_bet)
        self.epochs: list[Rounds] = []
        self._slack = slack
        #: Over so many epochs: the sums of X, and of its products; see ``pair_moments``.
        self._summed: tuple[int, Floats, Floats] = 0, np.zeros(n_hypotheses), np.zeros((n_hypotheses, n_hypotheses))

    def add(self, rounds: Rounds) -> None:
        self.epochs.append(rounds)

    def moments(self, leader: int) -> tuple[Floats, Floats]:
        """The sums over all rounds of D and of its square, for every h against ``leader``; for forecasts only."""
        total, squares = np.zeros(self.n_hypotheses), np.zeros(self.n_hypotheses)
        for rounds in self.epochs:
            x = rounds.estimates()
            D = x - x[:, [leader]]
            total += D.sum(axis=0)
            squares += (D**2).sum(axis=0)
        return total, squares

    def pair_moments(self) -> tuple[Floats, Floats]:
        """The same for every h against every g, [h, g]; only new epochs are gone through."""
        n_summed, total, products = self._summed
        for rounds in self.epochs[n_summed:]:
            x = rounds.estimates()
            total, products = total + x.sum(axis=0), products + x.T @ x
        self._summed = len(self.epochs), total, products
        squares = products.diagonal()
        return total[:, None] - total, squares[:, None] + squares - 2 * products

    def _n_epochs(self) -> int:
        return len(self.epochs)

    def _start(self) -> Floats:
        return np.zeros((self.n_hypotheses, BETS.size))

    def _advanced(self, state: Floats, epoch: int, leader: int, c: float) -> Floats:
        r = self.epochs[epoch]
        rounds = r.code, r.first, r.q, r.for_rival, r.for_leader, r.asked, r.z, leader
        if self._slack is None:
            state = state + r.n_nil * np.log1p(BETS * c)
            _add_rounds(state, *rounds, c)
            return state
        slack = self._slack(leader)[:, None]
        bets, threshold = BETS / (1 + slack), c - slack
        nil = np.log1p(bets * threshold)
        state = state + r.n_nil * nil
        _add_rounds_with_slack(state, *rounds, bets, threshold[:, 0], nil)
        return state


@njit(cache=True, nogil=True, inline="always")
def rival_guess(guess: float, q: float, most: float) -> float:
    """The guess raised so that X = guess + (1 - guess) / q is at most ``most``."""
    odds = 1 / q - 1
    return max(guess, 1 - (most - 1) / odds) if odds > most - 1 else guess


@njit(cache=True, nogil=True, inline="always")
def leader_guess(guess: float, q: float, most: float) -> float:
    """The guess lowered so that guess / q - guess is at most ``most`` - 1."""
    odds = 1 / q - 1
    return min(guess, (most - 1) / odds) if odds > most - 1 else guess


@njit(cache=True, nogil=True)
def _most_outputs(first):  # type: ignore[no-untyped-def]
    """The most outputs of a round. A loop: np.diff takes seconds to compile."""
    most = 0
    for i in range(first.size - 1):
        most = max(most, first[i + 1] - first[i])
    return most


@njit(cache=True, nogil=True)
def _differences(D, i, code, first, q, for_rival, for_leader, asked, z, leader):  # type: ignore[no-untyped-def]
    """Write D of round i, for every output and bet, into ``D`` (n_outputs, n_bets)."""
    begin, g = first[i], code[i, leader]
    for k in range(BETS.size):
        most = CAP / BETS[k]
        of_g = leader_guess(for_leader[begin + g], q[begin + g], most)
        if asked[i] == g:
            of_g += (z[i] - of_g) / q[begin + g]
        for output in range(first[i + 1] - begin):
            D[output, k] = 0.0
            if output != g:
                of_h = rival_guess(for_rival[begin + output], q[begin + output], most)
                if asked[i] == output:
                    of_h += (z[i] - of_h) / q[begin + output]
                D[output, k] = of_h - of_g


@njit(cache=True, nogil=True)
def _add_rounds(state, code, first, q, for_rival, for_leader, asked, z, leader, c):  # type: ignore[no-untyped-def]
    """Add log(1 - bet (D - c)) of every round, for every h and bet, to ``state`` (N, n_bets)."""
    D = np.empty((_most_outputs(first), BETS.size))
    for i in range(code.shape[0]):
        _differences(D, i, code, first, q, for_rival, for_leader, asked, z, leader)
        # Once for every output, not for every h.
        for output in range(first[i + 1] - first[i]):
            for k in range(BETS.size):
                D[output, k] = np.log1p(-BETS[k] * (D[output, k] - c))
        for h in range(code.shape[1]):
            output = code[i, h]
            for k in range(BETS.size):
                state[h, k] += D[output, k]


@njit(cache=True, nogil=True)
def _add_rounds_with_slack(  # type: ignore[no-untyped-def]
    state, code, first, q, for_rival, for_leader, asked, z, leader, bets, threshold, nil
):
    """As ``_add_rounds``, with ``bets`` (N, n_bets) and ``threshold`` (N,) of each h its own; D = 0 adds ``nil``."""
    D = np.empty((_most_outputs(first), BETS.size))
    for i in range(code.shape[0]):
        _differences(D, i, code, first, q, for_rival, for_leader, asked, z, leader)
        for h in range(code.shape[1]):
            output = code[i, h]
            if output == code[i, leader]:
                # Most agree with the leader most of the time, and a logarithm is what costs.
                state[h] += nil[h]
                continue
            for k in range(BETS.size):
                state[h, k] += np.log1p(-bets[h, k] * (D[output, k] - threshold[h]))


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
        #: Of each leader so far; where all pairs are compared, each is asked for again and again.
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
        """On how many items of the pool each h and ``leader`` give different outputs; shape (N,)."""
        if leader not in self._n_differ:
            self._n_differ[leader] = (self._said != self._said[leader]).sum(axis=1)
        return self._n_differ[leader]

    def _n_epochs(self) -> int:
        return len(self._epochs)

    def _log_mean(self, state: Floats, leader: int, c: float) -> Floats:
        # Not even D = 1 on all that is left would make up for c.
        impossible = self._said.shape[1] * c - state[:, -2] > self.n_differ(leader) - state[:, -1]
        return np.where(impossible, np.inf, super()._log_mean(state, leader, c))

    def _start(self) -> Floats:
        # The last columns are S and the number of items drawn on which the two differ.
        return np.zeros((self.n_hypotheses, BETS.size + 2))

    def _advanced(self, state: Floats, epoch: int, leader: int, c: float) -> Floats:
        state, (items, right) = state.copy(), self._epochs[epoch]
        n_differ = self.n_differ(leader)
        differ = self._said[:, items] != self._said[leader, items]
        _add_pool_rounds(state, right, differ, leader, n_differ, self._said.shape[1] * c)
        return state


@njit(cache=True, nogil=True)
def _add_pool_rounds(state, right, differ, leader, n_differ, least_sum):  # type: ignore[no-untyped-def]
    """Go through the items in order for every h; ``least_sum`` is n c."""
    for h in range(right.shape[0]):
        S, n_drawn = state[h, -2], state[h, -1]
        for t in range(right.shape[1]):
            if not differ[h, t]:
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
