"""Betting on independent draws, where one output of each is asked with a known probability: ``betting.py`` on rounds.

Not in the paper; docs/certificate.md, steps 1 to 4.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from onebit.estimate.betting import BETS, CAP, EpochWealth, Floats, Ints

#: Factors that are multiplied before a logarithm is taken. Each is above 1 - CAP and below 1 + 2 / q, so no product
#: becomes 0 or infinite while propensities q are above 1e-15.
FACTORS_AT_ONCE = 16


@dataclass(frozen=True, eq=False)
class Rounds:
    """The rounds of an epoch, of which m may tell hypotheses apart; the ``n_nil`` others have D = 0 for everybody.

    The hypotheses ``rows`` (V,), rising, took part. In round i they give the outputs number first[i] to
    first[i + 1] - 1, labels or abstention, and ``code`` (V, m) says which of them each gives. For each output: its
    propensity ``q``, 1 where it is not to be asked, and the guesses of how likely it is right ``for_rival`` and
    ``for_leader``, made before it was drawn what to ask. The answer to the output ``asked`` (m,), -1 for nothing asked,
    is ``z`` (m,), 1 for yes.
    """

    rows: Ints
    code: NDArray[np.unsignedinteger]
    first: Ints
    q: Floats
    for_rival: Floats
    for_leader: Floats
    asked: Ints
    z: Floats
    n_nil: int

    def estimates(self) -> Floats:
        """X = guess + [asked] (z - guess) / q of every output; shape (n_outputs,)."""
        # An abstention gets what a wrong label gets, so that all are measured alike.
        x = self.for_rival.copy()
        rounds = np.flatnonzero(self.asked >= 0)
        asked = self.first[rounds] + self.asked[rounds]
        x[asked] += (self.z[rounds] - x[asked]) / self.q[asked]
        return x

    def sums(self) -> Floats:
        """The sum of X(h) over the rounds, for each of ``rows``; shape (V,)."""
        total = np.zeros(self.rows.size)
        _add_estimates(total, self.code, self.first, self.estimates())
        return total

    def moments(self, leader: int) -> tuple[Floats, Floats]:
        """The sums over the rounds of D = X(h) - X(leader) and of its square, for each of ``rows``; each (V,)."""
        total, squares = np.zeros(self.rows.size), np.zeros(self.rows.size)
        _add_moments(total, squares, self.code, self.first, self.estimates(), self.place(leader))
        return total, squares

    def place(self, h: int) -> int:
        """Where a hypothesis stands among ``rows``."""
        return int(np.searchsorted(self.rows, h))


@njit(cache=True, nogil=True)
def _add_estimates(total, code, first, x):  # type: ignore[no-untyped-def]
    """Round by round, so that sums are the same on every machine."""
    for h in range(code.shape[0]):
        for i in range(code.shape[1]):
            total[h] += x[first[i] + code[h, i]]


@njit(cache=True, nogil=True)
def _add_moments(total, squares, code, first, x, leader):  # type: ignore[no-untyped-def]
    for h in range(code.shape[0]):
        for i in range(code.shape[1]):
            D = x[first[i] + code[h, i]] - x[first[i] + code[leader, i]]
            total[h] += D
            squares[h] += D**2


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
        self._summed: tuple[int, Floats, Floats] | None = None
        #: Of the latest leader: how many epochs are in its moments, and these.
        self._moments: tuple[int, int, Floats, Floats] | None = None

    def add(self, rounds: Rounds) -> None:
        self.epochs.append(rounds)

    def moments(self, leader: int) -> tuple[Floats, Floats]:
        """The sums over all rounds of D and of its square, for every h against ``leader``; for forecasts only."""
        of, n_counted, total, squares = self._moments or (-1, 0, None, None)
        if of != leader or total is None or squares is None:
            n_counted, total, squares = 0, np.zeros(self.n_hypotheses), np.zeros(self.n_hypotheses)
        # Those that are kept may belong to a frozen wealth too.
        total, squares = total.copy(), squares.copy()
        for rounds in self.epochs[n_counted:]:
            more, more_squares = rounds.moments(leader)
            total[rounds.rows] += more
            squares[rounds.rows] += more_squares
        self._moments = leader, len(self.epochs), total, squares
        return total, squares

    def pair_moments(self) -> tuple[Floats, Floats]:
        """The same for every h against every g, [h, g]; only new epochs are gone through."""
        n = self.n_hypotheses
        n_summed, total, products = self._summed or (0, np.zeros(n), np.zeros((n, n)))
        for rounds in self.epochs[n_summed:]:
            x, rows = rounds.estimates()[rounds.first[:-1] + rounds.code], rounds.rows
            total, products = total.copy(), products.copy()
            total[rows] += x.sum(axis=1)
            products[np.ix_(rows, rows)] += x @ x.T
        self._summed = len(self.epochs), total, products
        squares = products.diagonal()
        return total[:, None] - total, squares[:, None] + squares - 2 * products

    def _n_epochs(self) -> int:
        return len(self.epochs)

    def _start(self) -> Floats:
        return np.zeros((self.n_hypotheses, BETS.size))

    def _advance(self, state: Floats, epoch: int, leader: int, c: float, rows: Ints) -> None:
        r = self.epochs[epoch]
        places = np.arange(r.rows.size) if rows.size >= r.rows.size else np.searchsorted(r.rows, rows)
        rounds = r.code, r.first, r.q, r.for_rival, r.for_leader, r.asked, r.z, r.place(leader)
        if self._slack is None:
            _add_rounds(state, r.rows, places, *rounds, c, r.n_nil * np.log1p(BETS * c))
            return
        slack = self._slack(leader)[:, None]
        bets, threshold = BETS / (1 + slack), c - slack
        _add_rounds_with_slack(
            state, r.rows, places, *rounds, bets, threshold[:, 0], np.log1p(bets * threshold), r.n_nil
        )


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
def _differences(code, first, q, for_rival, for_leader, asked, z, leader):  # type: ignore[no-untyped-def]
    """D of every output of the rounds and every bet, (n_outputs, n_bets); ``leader`` is a row of ``code``."""
    D = np.empty((first[-1], BETS.size))
    for i in range(code.shape[1]):
        begin, g = first[i], code[leader, i]
        for k in range(BETS.size):
            most = CAP / BETS[k]
            of_g = leader_guess(for_leader[begin + g], q[begin + g], most)
            if asked[i] == g:
                of_g += (z[i] - of_g) / q[begin + g]
            for output in range(first[i + 1] - begin):
                D[begin + output, k] = 0.0
                if output != g:
                    of_h = rival_guess(for_rival[begin + output], q[begin + output], most)
                    if asked[i] == output:
                        of_h += (z[i] - of_h) / q[begin + output]
                    D[begin + output, k] = of_h - of_g
    return D


@njit(cache=True, nogil=True)
def _add_rounds(  # type: ignore[no-untyped-def]
    state, rows, places, code, first, q, for_rival, for_leader, asked, z, leader, c, nil
):
    """Add ``nil`` (n_bets,), and log(1 - bet (D - c)) of every round, to ``state`` (N, n_bets), for every bet.

    That is done for the ``places`` of ``rows`` (V,), of which ``code`` is.
    """
    won = _differences(code, first, q, for_rival, for_leader, asked, z, leader)
    # Once for every output, not for every h.
    for output in range(won.shape[0]):
        for k in range(BETS.size):
            won[output, k] = np.log1p(-BETS[k] * (won[output, k] - c))
    wealth = np.empty(BETS.size)
    for place in places:
        h = rows[place]
        wealth[:] = state[h, : BETS.size] + nil
        for i in range(code.shape[1]):
            output = first[i] + code[place, i]
            for k in range(BETS.size):
                wealth[k] += won[output, k]
        state[h, : BETS.size] = wealth


@njit(cache=True, nogil=True)
def _add_rounds_with_slack(  # type: ignore[no-untyped-def]
    state, rows, places, code, first, q, for_rival, for_leader, asked, z, leader, bets, threshold, nil, n_nil
):
    """As ``_add_rounds``, with ``bets`` (N, n_bets) and ``threshold`` (N,) of each h its own; D = 0 adds ``nil``."""
    D = _differences(code, first, q, for_rival, for_leader, asked, z, leader)
    product = np.empty(BETS.size)
    for place in places:
        h, n_same, n_factors = rows[place], n_nil, 0
        product[:] = 1.0
        for i in range(code.shape[1]):
            if code[place, i] == code[leader, i]:
                n_same += 1
                continue
            output = first[i] + code[place, i]
            for k in range(BETS.size):
                product[k] *= 1 - bets[h, k] * (D[output, k] - threshold[h])
            n_factors += 1
            # A logarithm is what costs, so it is taken of many factors at once.
            if n_factors % FACTORS_AT_ONCE == 0:
                state[h] += np.log(product)
                product[:] = 1.0
        state[h] += np.log(product) + n_same * nil[h]
