"""How often outputs are accepted, at any time, where one label per drawn item is asked with a known probability.

The rounds are those of ``independent_wealth.py``. For every hypothesis h and every threshold c two bettors stake on
every round: one that A(h) - A(g) is below c, one that it is above. Each reaches 1/a at the true difference with
probability at most a, so the thresholds that neither has refuted are a confidence sequence. Without a leader g, A(h)
itself is bounded. Not in the paper; docs/certificate.md, step 16.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from onebit.estimate.betting import BETS, CAP
from onebit.estimate.independent_wealth import FACTORS_AT_ONCE, Rounds
from onebit.estimate.shares import Intervals

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

#: Every fourth bet of ``betting.py``, as all of this is done for every h at many thresholds. A factor is
#: 1 - bet (D - c) / 2, so that a threshold may be anything from -1 to 1.
SPARSE_BETS = BETS[3::4]
#: The ends are found to 1 / 2^9 of the range, and rounded outwards.
HALVINGS = 9


@dataclass(frozen=True, eq=False)
class WeightedEpoch:
    """The rounds of an epoch.

    In ``n_skipped`` more rounds all survivors gave the same output, and others that were out by then another: nobody
    was asked. In ``n_agreed`` rounds everybody gave the same.
    """

    rounds: Rounds
    n_skipped: int
    n_agreed: int


class WeightedRounds:
    """All rounds of a run of N hypotheses, which survive one epoch less or more."""

    def __init__(self, epochs: Sequence[WeightedEpoch], n_hypotheses: int) -> None:
        self._epochs, self.n_hypotheses = epochs, n_hypotheses

    def shares(self, failure: float) -> Intervals:
        """How often each is accepted on the items on which they differ; each but with probability ``failure``."""
        high = self._refuted(None, True, failure / 2, 0.0, 1.0)
        low = -self._refuted(None, False, failure / 2, -1.0, 0.0)
        return self._told(low + 0.0, high, None)

    def differences(self, leader: int, failure: float) -> Intervals:
        """By how much each is accepted more often than ``leader``, of all items."""
        high = self._refuted(leader, True, failure / 2, -1.0, 1.0)
        low = -self._refuted(leader, False, failure / 2, -1.0, 1.0)
        low[leader] = high[leader] = 0.0
        return self._told(low, high, leader)

    def _told(self, low: Floats, high: Floats, leader: int | None) -> Intervals:
        """With the mean of D over the rounds in which each was asked about, within its interval."""
        total, n_rounds = np.zeros(self.n_hypotheses), np.zeros(self.n_hypotheses)
        for epoch in self._epochs:
            rounds = epoch.rounds
            total[rounds.rows] += rounds.sums() if leader is None else rounds.moments(leader)[0]
            n_rounds[rounds.rows] += rounds.z.size + (0 if leader is None else epoch.n_skipped + epoch.n_agreed)
        estimate = total / np.where(n_rounds > 0, n_rounds, np.nan)
        # That both bettors err happens as seldom as a wrong interval; it is told as it is.
        return Intervals(np.clip(estimate, np.minimum(low, high), np.maximum(low, high)), low, high)

    def _refuted(self, leader: int | None, is_rival: bool, failure: float, least: float, most: float) -> Floats:
        """The lowest threshold that was ever refuted by 1 / ``failure``, rounded up; ``most`` where none was.

        The claims are "h is ahead of the leader by at least c" or, unless ``is_rival``, "the leader of h".
        """
        low, high = np.full(self.n_hypotheses, least), np.full(self.n_hypotheses, most)
        all_D = self._differences_of_outputs(leader, is_rival)
        for _ in range(HALVINGS):
            c = (low + high) / 2
            is_refuted = self._reaches(all_D, c, leader, is_rival, -np.log(failure))
            low, high = np.where(is_refuted, low, c), np.where(is_refuted, c, high)
        return high

    def _differences_of_outputs(self, leader: int | None, is_rival: bool) -> list[Floats]:
        """D of whoever gives an output against the leader, for each epoch (n_outputs, n_bets)."""
        found = []
        for epoch in self._epochs:
            rounds = epoch.rounds
            as_rival, as_leader = _bent(rounds)
            if leader is None:
                found.append(as_rival if is_rival else -as_leader)
                continue
            of_g = rounds.first[:-1] + rounds.code[rounds.place(leader)]
            g = np.repeat(of_g, np.diff(rounds.first))
            D = as_rival - as_leader[g] if is_rival else as_rival[g] - as_leader
            D[of_g] = 0.0
            found.append(D)
        return found

    def _reaches(
        self, all_D: Sequence[Floats], c: Floats, leader: int | None, is_rival: bool, log_needed: float
    ) -> Bools:
        """Whether the log-wealth of each h, at a threshold (N,) of its own, was enough at the end of an epoch."""
        bet = SPARSE_BETS / 2
        state, reached = np.zeros((self.n_hypotheses, bet.size)), np.zeros(self.n_hypotheses, dtype=np.bool_)
        for epoch, D in zip(self._epochs, all_D, strict=True):
            state += self._without_asking(epoch, bet, c[:, None], leader, is_rival)
            _stake(state, reached, epoch.rounds.rows, epoch.rounds.code, epoch.rounds.first, D, bet, c, log_needed)
        return reached

    @staticmethod
    def _without_asking(epoch: WeightedEpoch, bet: Floats, c: Floats, leader: int | None, is_rival: bool) -> Floats:
        """What the rounds of an epoch add in which nobody was asked; shape (N, n_bets)."""
        if leader is not None:
            same: Floats = (epoch.n_skipped + epoch.n_agreed) * np.log1p(bet * c)
            return same
        # The common output may have been accepted or not: whichever is worse for the bettor.
        worst = 1.0 if is_rival else 0.0
        skipped: Floats = epoch.n_skipped * np.log1p(-bet * (worst - c))
        return skipped


def _bent(rounds: Rounds) -> tuple[Floats, Floats]:
    """X of every output as a rival's and as a leader's, (n_outputs, n_bets): bent to the bet as in step 3."""
    z = np.full(rounds.q.size, np.nan)
    asked = np.flatnonzero(rounds.asked >= 0)
    z[rounds.first[asked] + rounds.asked[asked]] = rounds.z[asked]
    z, q, for_rival, for_leader = (each[:, None] for each in (z, rounds.q, rounds.for_rival, rounds.for_leader))
    most, odds = CAP / SPARSE_BETS, 1 / q - 1
    with np.errstate(divide="ignore", invalid="ignore"):
        rival = np.maximum(for_rival, np.where(odds > most - 1, 1 - (most - 1) / odds, 0.0))
        leader = np.minimum(for_leader, np.where(odds > most - 1, (most - 1) / odds, np.inf))
    is_asked = ~np.isnan(z)
    return np.where(is_asked, rival + (z - rival) / q, rival), np.where(is_asked, leader + (z - leader) / q, leader)


@njit(cache=True, nogil=True)
def _stake(state, reached, rows, code, first, D, bet, c, log_needed):  # type: ignore[no-untyped-def]
    """Add log(1 - bet (D - c)) of every round to ``state`` (N, n_bets), and note in ``reached`` whose mean is enough.

    That is done for the ``rows`` (V,), of which ``code`` is, unless they have reached it before.
    """
    # Loops over bets are written out: numba compiles those in a fifth of the time.
    n_bets = bet.size
    product = np.empty(n_bets)
    for place in range(rows.size):
        h = rows[place]
        if reached[h]:
            continue
        product[:] = 1.0
        for i in range(code.shape[1]):
            output = first[i] + code[place, i]
            for k in range(n_bets):
                product[k] *= 1 - bet[k] * (D[output, k] - c[h])
            # A logarithm is what costs, so it is taken of many factors at once.
            if (i + 1) % FACTORS_AT_ONCE == 0:
                for k in range(n_bets):
                    state[h, k] += math.log(product[k])
                    product[k] = 1.0
        highest = -np.inf
        for k in range(n_bets):
            state[h, k] += math.log(product[k])
            highest = max(highest, state[h, k])
        total = 0.0
        for k in range(n_bets):
            total += math.exp(state[h, k] - highest)
        reached[h] = highest + math.log(total / n_bets) >= log_needed
