"""What it costs to ask about all K labels in every round, with the certified learner's bets and stopping rule.

Uniform guesses, and the paper's two phases: the reference for what the certified learner saves. The truth is known
here, so rounds are simulated many at a time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onebit.estimate.betting import BETS, CAP, EpochWealth
from onebit.estimate.delta import log_share
from onebit.explore.corrective import solve_paper_potential
from onebit.explore.mixture import Mixture
from onebit.explore.potential import W_gamma
from onebit.hypotheses.finite import PredictionTable
from onebit.learners.certified.constants import EPOCH_SHARE, MIN_ROUNDS
from onebit.learners.paper.constants import GAP
from onebit.randomness import generator
from onebit.study.constants import CONFIRMED_PER_LABEL, GAMMA, MOST_COMPARED

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Cost:
    """The answers until ``chosen`` was certified; or, ``given_up``, those spent without."""

    n_answers: int
    chosen: int
    given_up: bool


class PlainWealth(EpochWealth):
    """Wealth with X(h) = [yes] [h(x) = asked] / q and bets within its range: without guesses, and all labels asked."""

    def __init__(self, n_hypotheses: int) -> None:
        super().__init__(n_hypotheses)
        self._epochs: list[tuple[Floats, int, Bools, Floats]] = []

    def add(self, largest: float, n_rounds: int, right: Bools, value: Floats) -> None:
        """Rounds with D at most ``largest``: ``right`` (N, k) and ``value`` (k,) of those with a yes."""
        self._epochs.append((np.minimum(BETS, CAP / largest), n_rounds, right, value))

    def _n_epochs(self) -> int:
        return len(self._epochs)

    def _start(self) -> Floats:
        return np.zeros((self.n_hypotheses, BETS.size))

    def _advance(self, state: Floats, epoch: int, leader: int, c: float, rows: Ints) -> None:
        bets, n_rounds, right, value = self._epochs[epoch]
        bet, leads = bets[:, None], right[leader]
        at_zero = np.log1p(bet * c)
        behind = np.log1p(bet * (value[leads] + c)) - at_zero
        ahead = np.log1p(-bet * (value[~leads] - c)) - at_zero
        moved = behind @ (~right[:, leads]).T + ahead @ right[:, ~leads].T
        state += (moved + n_rounds * at_zero).T


class AllLabels:
    """Asks about all K labels in every round, uniformly and then, if ``mixes``, as the paper's phase 2 does.

    No round is free and what is eliminated goes on being asked about. Both phases count.
    """

    def __init__(
        self, predictions: NDArray[np.integer], truth: Ints, n_labels: int, *, eps: float, delta: float, seed: int = 0
    ) -> None:
        self._rng = generator(seed, "all labels")
        self._hypotheses, self._n_labels = PredictionTable(predictions, n_labels), n_labels
        self._first, _ = self._hypotheses.equal_rows()
        self._said, self._truth, self._eps = predictions[self._first], truth, eps
        self._right: Bools = self._said == truth
        n_hypotheses = self._first.size
        self._wealth = PlainWealth(n_hypotheses)
        self._threshold = log_share(max(n_hypotheses - 1, 1), delta)
        self._score = np.zeros(n_hypotheses)
        self._survives = np.ones(n_hypotheses, dtype=np.bool_)
        self._confirmed = np.empty(0, dtype=np.int64)
        self._mixture: Mixture | None = None

    def run(self, mixes: bool) -> Cost:
        n_rounds, over = 0, self._first.size == 1
        while not over and n_rounds < MOST_COMPARED:
            n_new = min(max(MIN_ROUNDS, math.ceil(EPOCH_SHARE * n_rounds)), MOST_COMPARED - n_rounds)
            if mixes and self._mixture is None and self._confirmed.size >= CONFIRMED_PER_LABEL * self._n_labels:
                self._begin_phase_2()
            self._ask(n_new)
            n_rounds += n_new
            over = self._is_over()
        return Cost(n_rounds, int(self._first[self._leader]), given_up=not over)

    @property
    def _leader(self) -> int:
        return int(np.argmax(np.where(self._survives, self._score, -1)))

    def _begin_phase_2(self) -> None:
        hypotheses = PredictionTable(self._said, self._n_labels)
        x, y = self._confirmed, self._truth[self._confirmed]
        self._mixture = solve_paper_potential(hypotheses, x, y, GAMMA, GAP).mixture

    def _ask(self, n_rounds: int) -> None:
        items = self._rng.integers(0, self._truth.size, n_rounds)
        label = self._draw_labels(items)
        found = items[label == self._truth[items]]
        value = 1 / self._propensity_of_truth(found)
        right = self._right[:, found]
        largest = self._n_labels if self._mixture is None else self._n_labels / GAMMA
        self._wealth.add(largest, n_rounds, right, value)
        self._score += right @ value
        if self._mixture is None:
            self._confirmed = np.append(self._confirmed, found)

    def _draw_labels(self, items: Ints) -> Ints:
        guess = self._rng.integers(0, self._n_labels, items.size)
        if self._mixture is None:
            return guess
        drawn = self._rng.choice(self._mixture.hypotheses, items.size, p=self._mixture.probabilities)
        label = self._said[drawn, items]
        return np.where((self._rng.random(items.size) < GAMMA) | (label < 0), guess, label)

    def _propensity_of_truth(self, items: Ints) -> Floats:
        if self._mixture is None:
            return np.full(items.size, 1 / self._n_labels)
        rows, p = np.array(self._mixture.hypotheses), self._mixture.probabilities
        # The mass of those who abstain is spread evenly, as the draw spreads it.
        W = p @ self._right[np.ix_(rows, items)] + p @ (self._said[np.ix_(rows, items)] < 0) / self._n_labels
        return W_gamma(W, GAMMA, self._n_labels)

    def _is_over(self) -> bool:
        """Take out what is shown to be worse than the leader; whether no other can be ahead by eps."""
        leader = self._leader
        behind = self._wealth.log_wealth(leader, 0.0, keep=True) >= self._threshold
        behind[leader] = False
        self._survives &= ~behind
        rivals = self._survives.copy()
        rivals[leader] = False
        return bool((self._wealth.log_wealth(leader, self._eps, keep=True)[rivals] >= self._threshold).all())
