"""How often outputs are accepted, at any time, where one label per drawn item is asked with a known probability.

The rounds are those of ``betting.py``. For every hypothesis h and every threshold c two bettors stake on every round:
one that A(h) - A(g) is below c, one that it is above. Each reaches 1/a at the true difference with probability at most
a, so the thresholds that neither has refuted are a confidence sequence. Without a leader g, A(h) itself is bounded. Not
in the paper; docs/certificate.md, step 16.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from onebit.estimate.betting import BETS, CAP, Rounds
from onebit.estimate.shares import Intervals

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

#: Every fourth bet of ``betting.py``, as all of this is done for every h at many thresholds. A factor is
#: 1 - bet (D - c) / 2, so that a threshold may be anything from -1 to 1.
SPARSE_BETS = BETS[3::4]
#: The ends are found to 1 / 2^9 of the range, and rounded outwards.
HALVINGS = 9
#: Numbers that are worked on at once, so that memory stays small.
AT_ONCE = 4_000_000


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
        self._n_skipped = np.array([epoch.n_skipped for epoch in epochs])
        self._n_agreed = np.array([epoch.n_agreed for epoch in epochs])
        #: In how many epochs each took part.
        self._n_epochs = np.bincount(np.concatenate([epoch.rounds.rows for epoch in epochs]), minlength=n_hypotheses)
        #: Where the rounds of each epoch end.
        self._ends = np.cumsum([epoch.rounds.z.size for epoch in epochs])

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
        allowed, refuted = np.full(self.n_hypotheses, least), np.full(self.n_hypotheses, most)
        for block in self._blocks():
            D = self._D(leader, is_rival, block)
            low, high = allowed[block], refuted[block]
            for _ in range(HALVINGS):
                c = (low + high) / 2
                is_refuted = self._most_wealth(D, c, leader, is_rival, self._n_epochs[block]) >= -np.log(failure)
                low, high = np.where(is_refuted, low, c), np.where(is_refuted, c, high)
            refuted[block] = high
        return refuted

    def _blocks(self) -> Iterator[slice]:
        size = max(1, AT_ONCE // max(int(self._ends[-1]) * SPARSE_BETS.size, 1))
        for begin in range(0, self.n_hypotheses, size):
            yield slice(begin, begin + size)

    def _output(self, hypotheses: Ints) -> Ints:
        """The number of the output that each of these gives in each round, whichever where it took no part; (m, b)."""
        given, n_before = [], 0
        for rounds in (epoch.rounds for epoch in self._epochs):
            places = np.searchsorted(rounds.rows, hypotheses).clip(max=rounds.rows.size - 1)
            given.append(rounds.first[:-1, None] + rounds.code[places].T + n_before)
            n_before += rounds.q.size
        return np.concatenate(given)

    def _D(self, leader: int | None, is_rival: bool, block: slice) -> Floats:
        """The differences of all rounds, (m, b, n_bets)."""
        as_rival, as_leader = self._bent
        of_h = self._output(np.arange(self.n_hypotheses)[block])
        D: Floats
        if leader is None:
            D = as_rival[of_h] if is_rival else -as_leader[of_h]
            return D
        of_g = self._output(np.array([leader]))
        D = as_rival[of_h] - as_leader[of_g] if is_rival else as_rival[of_g] - as_leader[of_h]
        D[of_h == of_g] = 0.0
        return D

    @cached_property
    def _bent(self) -> tuple[Floats, Floats]:
        """X of every output as a rival's and as a leader's, (n_outputs, n_bets): bent to the bet as in step 3."""
        all_rounds = [epoch.rounds for epoch in self._epochs]
        q, for_rival, for_leader = (
            np.concatenate([getattr(rounds, name) for rounds in all_rounds])[:, None]
            for name in ("q", "for_rival", "for_leader")
        )
        z = np.full(q.shape, np.nan)
        z[:, 0] = np.concatenate([_answers(rounds) for rounds in all_rounds])
        most, odds = CAP / SPARSE_BETS, 1 / q - 1
        with np.errstate(divide="ignore", invalid="ignore"):
            rival = np.maximum(for_rival, np.where(odds > most - 1, 1 - (most - 1) / odds, 0.0))
            leader = np.minimum(for_leader, np.where(odds > most - 1, (most - 1) / odds, np.inf))
        asked = ~np.isnan(z)
        return np.where(asked, rival + (z - rival) / q, rival), np.where(asked, leader + (z - leader) / q, leader)

    def _most_wealth(self, D: Floats, c: Floats, leader: int | None, is_rival: bool, n_epochs: Ints) -> Floats:
        """The most log-wealth of each h at the end of an epoch that it took part in, at a threshold (b,) of its own."""
        bet = SPARSE_BETS / 2
        won = np.log1p(-bet * (D - c[:, None])).cumsum(axis=0)
        start = np.zeros((1, *won.shape[1:]))
        wealth = np.concatenate([start, won])[self._ends] + self._without_asking(bet, c[:, None], leader, is_rival)
        log_wealth = logsumexp(wealth, axis=2) - np.log(bet.size)
        took_part = np.arange(self._ends.size)[:, None] < n_epochs
        most: Floats = np.where(took_part, log_wealth, 0.0).max(axis=0, initial=0.0)
        return most

    def _without_asking(self, bet: Floats, c: Floats, leader: int | None, is_rival: bool) -> Floats:
        """What the rounds add in which nobody was asked, up to each epoch; shape (n_epochs, b, n_bets)."""
        if leader is not None:
            n_same = (self._n_skipped + self._n_agreed).cumsum()
            same: Floats = n_same[:, None, None] * np.log1p(bet * c)
            return same
        # The common output may have been accepted or not: whichever is worse for the bettor.
        worst = 1.0 if is_rival else 0.0
        skipped: Floats = self._n_skipped.cumsum()[:, None, None] * np.log1p(-bet * (worst - c))
        return skipped


def _answers(rounds: Rounds) -> Floats:
    """The answer to every output of the rounds, NaN where it was not asked."""
    z = np.full(rounds.q.size, np.nan)
    asked = np.flatnonzero(rounds.asked >= 0)
    z[rounds.first[asked] + rounds.asked[asked]] = rounds.z[asked]
    return z
