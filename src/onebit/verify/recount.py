"""Counts the wealth of a run again, factor by factor, from its settled rounds.

Written from steps 2 to 4 and 11 of ``docs/certificate.md`` for :mod:`onebit.verify.certificate`; it shares nothing
with the wealth that the learner keeps.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import logsumexp

from onebit.verify.contest import Said
from onebit.verify.redraw import Places
from onebit.verify.settle import Settled

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

#: No bet stakes more than this share of what could be lost in one round.
MOST_STAKED = 0.9
BETS = np.geomspace(0.002, MOST_STAKED, 20)
#: How finely the certified eps is told.
EPS_STEP = 1e-4
#: A log-wealth this close to its threshold may fall on either side, since sums are rounded.
LOG_TOLERANCE = 1e-6
#: Step 4: how much of the wealth is put around a bet, and the standard deviation of log(bet) there.
NEAR_USUAL, SPREAD = 0.75, 1.0
#: Step 4: that bet over sqrt(eps), with weighted answers, and where differences are known exactly (steps 11 and 15).
USUAL_WEIGHTED, USUAL_EXACT = 1.2, 3.5


#: Step 10: how often a check may contradict "one right label", what is held against that, and the odds for an alarm.
TOLERATED_RATE, OTHER_RATES, ALARM_ODDS = 0.01, (0.05, 0.1, 0.2, 0.4, 0.8), 20


def refutes_one_label(n_checks: int, n_contradicted: int) -> bool:
    """Step 10: whether the checks show that a second label is right more often than is tolerated."""
    p = np.array(OTHER_RATES)
    log_odds = n_contradicted * np.log(p / TOLERATED_RATE)
    log_odds += (n_checks - n_contradicted) * np.log((1 - p) / (1 - TOLERATED_RATE))
    return n_contradicted > 1 and bool(logsumexp(log_odds) - np.log(p.size) >= np.log(ALARM_ODDS))


def luck_of_errors(n_differ: Ints, log_odds: float, f_no: float, f_yes: float) -> Floats:
    """Step 14: by how many items errors may favour one model over another that differs on ``n_differ``; any shape."""
    variance = 2 * n_differ * max(rate * (1 - rate) for rate in (min(f_no, 0.5), min(f_yes, 0.5)))
    bernstein = log_odds / 3 + np.sqrt((log_odds / 3) ** 2 + 2 * variance * log_odds)
    least: Floats = np.minimum(bernstein, np.sqrt(n_differ * log_odds))
    return least


def bet_weights(eps: float, usual: float) -> Floats:
    """Step 4: partly the density of a normal law of log(bet) around ``usual`` sqrt(eps), partly the same for all."""
    most_likely = min(usual * math.sqrt(eps), MOST_STAKED)
    density = np.exp(-0.5 * ((np.log(BETS) - np.log(most_likely)) / SPREAD) ** 2)
    weight: Floats = NEAR_USUAL * density / density.sum() + (1 - NEAR_USUAL) / BETS.size
    return weight


class Count(ABC):
    """The wealth of every pair from the rounds added so far; the bets have the ``weights``, (n_bets,)."""

    def __init__(self, weights: Floats) -> None:
        self._weights = weights

    @abstractmethod
    def add(self, survivors: Sequence[int], settled: Sequence[Settled]) -> None:
        """The rounds of an epoch, in order."""

    @abstractmethod
    def _log_products(self, rivals: Sequence[int], leader: int, c: float) -> Floats:
        """For each rival and bet, the log of the product of all factors; shape (n_rivals, n_bets)."""

    def log_wealth(self, rivals: Sequence[int], leader: int, c: float) -> Floats:
        """log of the mean over the bets, against "the rival is ahead of the leader by c or more"; shape (n_rivals,)."""
        mean: Floats = logsumexp(self._log_products(rivals, leader, c), b=self._weights, axis=1)
        return mean


@dataclass(frozen=True, eq=False)
class _Outputs:
    """The outputs of those rounds of an epoch that may tell models apart, numbered one after the other.

    ``given`` (V, n_rounds) is the number of the output that each survivor gives in each round, and ``says``
    (V, n_outputs) has a one there; ``round_of`` (n_outputs,) is an output's round. ``as_rival`` and ``as_leader``
    (n_outputs, n_bets) are X of a rival and of a leader that gives it.
    """

    given: Places
    says: csr_array
    round_of: Ints
    as_rival: Floats
    as_leader: Floats


class IndependentCount(Count):
    """Steps 2 to 4: rounds drawn independently, whose factors are 1 - bet (D - c).

    Step 14: ``slack(leader)`` (N,) is taken off the threshold, and bets are divided by 1 + slack.
    """

    def __init__(
        self,
        n_models: int,
        weights: Floats,
        abstaining_rival: float,
        slack: Callable[[int], Floats] | None = None,
    ) -> None:
        super().__init__(weights)
        self._abstaining_rival, self._slack = abstaining_rival, slack
        self._survivors = np.arange(n_models)
        self._epochs: list[_Outputs] = []
        #: Rounds in which D = 0 for all.
        self._n_nil = 0

    def add(self, survivors: Sequence[int], settled: Sequence[Settled]) -> None:
        if len(survivors) < self._survivors.size:
            left = np.searchsorted(self._survivors, survivors)
            self._epochs = [replace(epoch, given=epoch.given[left], says=epoch.says[left]) for epoch in self._epochs]
            self._survivors = np.array(survivors)
        rounds = [each for each in settled if not each.round.is_nil]
        self._n_nil += len(settled) - len(rounds)
        if rounds:
            self._epochs.append(self._outputs(rounds))

    def _outputs(self, rounds: Sequence[Settled]) -> _Outputs:
        sizes = np.array([each.round.outputs.size for each in rounds])
        given = numbered(rounds)
        # Every survivor gives one output in each round. Ones take a byte: with many models, this is most of the memory.
        ends = np.arange(0, given.size + 1, len(rounds), dtype=np.int32 if given.size < 2**31 else np.int64)
        ones, shape = np.ones(given.size, dtype=np.int8), (given.shape[0], int(sizes.sum()))
        says = csr_array((ones, given.ravel().astype(ends.dtype), ends), shape=shape)
        return _Outputs(
            given, says, np.repeat(np.arange(sizes.size), sizes), *estimates(rounds, self._abstaining_rival)
        )

    def _log_products(self, rivals: Sequence[int], leader: int, c: float) -> Floats:
        if self._slack is not None:
            return np.array([self._log_product(h, leader, c, self._slack(leader)[h]) for h in rivals])
        total = np.tile(self._n_nil * np.log1p(BETS * c), (self._survivors.size, 1))
        for epoch in self._epochs:
            total += epoch.says @ np.log1p(-BETS * (self._differences(epoch, leader) - c))
        products: Floats = total[np.searchsorted(self._survivors, rivals)]
        return products

    def _log_product(self, rival: int, leader: int, c: float, slack: float) -> Floats:
        bets, threshold = BETS / (1 + slack), c - slack
        total: Floats = self._n_nil * np.log1p(bets * threshold)
        for epoch in self._epochs:
            D = self._differences(epoch, leader)[epoch.given[np.searchsorted(self._survivors, rival)]]
            total = total + np.log1p(-bets * (D - threshold)).sum(axis=0)
        return total

    def _differences(self, epoch: _Outputs, leader: int) -> Floats:
        """D of a rival that gives each output; shape (n_outputs, n_bets)."""
        of_leader = epoch.given[np.searchsorted(self._survivors, leader)]
        D = epoch.as_rival - epoch.as_leader[of_leader][epoch.round_of]
        D[of_leader] = 0.0
        of_rivals: Floats = D
        return of_rivals


def numbered(rounds: Sequence[Settled]) -> Places:
    """The outputs of rounds numbered one after the other: which each survivor gives in each round; (V, n_rounds)."""
    sizes = np.array([each.round.outputs.size for each in rounds])
    room = np.min_scalar_type(int(sizes.sum()))
    before = (np.cumsum(sizes) - sizes).astype(room)
    given: Places = np.stack([each.round.output_of for each in rounds], axis=1).astype(room) + before
    return given


def estimates(rounds: Sequence[Settled], abstaining_rival: float) -> tuple[Floats, Floats]:
    """X of a rival and X of the leader that give each output of the rounds; both (n_outputs, n_bets).

    Steps 2 and 3; X is exact where q is 0 (steps 9 and 10). Step 14 has an abstaining rival be right more often.
    """
    outputs = np.concatenate([each.round.outputs for each in rounds])
    q = np.concatenate([each.round.q for each in rounds])[:, None]
    guess = np.concatenate([each.round.guess for each in rounds])[:, None]
    z = np.concatenate([each.round.known + (each.round.outputs == each.found) for each in rounds])[:, None]
    asked = np.array([a in each.round.to_ask for each in rounds for a in each.round.outputs.tolist()])[:, None]
    inverse = 1 / np.where(q > 0, q, 1.0)
    largest = MOST_STAKED / BETS
    above_one = np.where(inverse > 1, inverse - 1, 1.0)
    least = np.where(inverse > largest, (inverse - largest) / above_one, 0.0)
    most = np.where(inverse > 1, (largest - 1) / above_one, np.inf)
    as_rival, as_leader = (
        np.where(q > 0, m + asked * (z - m) * inverse, z) for m in (np.maximum(guess, least), np.minimum(guess, most))
    )
    as_rival[outputs < 0] = abstaining_rival
    return as_rival, as_leader


class PoolCount(Count):
    """Step 11: the items of a pool drawn without replacement, on which it is known who is right.

    ``said`` (N, n) is what the models say on the pool.
    """

    def __init__(self, said: Said, weights: Floats) -> None:
        super().__init__(weights)
        self._said = said
        self._items: list[int] = []
        #: For each item drawn, which models are right; those that did not survive until then count no more.
        self._right: list[NDArray[np.bool_]] = []

    def add(self, survivors: Sequence[int], settled: Sequence[Settled]) -> None:
        for each in settled:
            right = np.zeros(self._said.shape[0], dtype=np.bool_)
            if not each.round.is_nil:
                right[list(survivors)] = (each.round.outputs == each.found)[each.round.output_of]
            self._items.append(each.round.item)
            self._right.append(right)

    def sums(self, rivals: Sequence[int], leader: int) -> Ints:
        """S: by how many of the items drawn each rival is ahead of the leader; shape (n_rivals,)."""
        right = np.array(self._right, dtype=np.int64).reshape(-1, self._said.shape[0])
        total: Ints = right[:, list(rivals)].sum(axis=0) - right[:, leader].sum()
        return total

    def _log_products(self, rivals: Sequence[int], leader: int, c: float) -> Floats:
        return np.array([self._log_product(rival, leader, self._said.shape[1] * c) for rival in rivals])

    def _log_product(self, rival: int, leader: int, least_sum: float) -> Floats:
        """Over the rounds on whose item the two differ, as if nothing else had been drawn; ``least_sum`` is n c."""
        differ = self._said[rival] != self._said[leader]
        rounds = np.flatnonzero(differ[self._items])
        D = np.array([int(self._right[i][rival]) - int(self._right[i][leader]) for i in rounds], dtype=np.float64)
        n_undrawn = differ.sum() - np.arange(D.size + 1)
        before = np.concatenate([[0.0], np.cumsum(D)])
        if (least_sum - before > n_undrawn).any():
            return np.full(BETS.size, np.inf)
        before, n_undrawn = before[:-1], n_undrawn[:-1]
        # 1 - c_t at c = 0. Where it is not positive only D = 1 from here on could save the claim: any bet will do.
        room = 1 + before / n_undrawn
        bet = BETS / np.where(room > 0, room, 1.0)[:, None]
        product: Floats = np.log1p(-bet * (D - (least_sum - before) / n_undrawn)[:, None]).sum(axis=0)
        return product
