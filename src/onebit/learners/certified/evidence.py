"""Where the certified learner's examples come from, and what it may conclude from them.

Two ways: independent draws, from a stream or with replacement from a pool, whose differences are estimated; and items
of a pool drawn without replacement and seen exactly. Each draws the rounds of an epoch and turns settled rounds into
wealth.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from copy import copy

import numpy as np

from onebit.estimate.betting import Wealth
from onebit.estimate.independent_wealth import IndependentWealth
from onebit.estimate.pool_wealth import PoolWealth
from onebit.estimate.shares import Intervals
from onebit.estimate.weighted_shares import WeightedEpoch, WeightedRounds
from onebit.hypotheses.finite import FiniteClass
from onebit.kernels.votes import any_differ
from onebit.learners.certified import constants
from onebit.learners.certified.epoch import Drawn, Epoch, exact_rounds
from onebit.learners.certified.outputs import Floats, Ints, Predictions, contested
from onebit.learners.certified.sightings import Sightings, Skips, label_verdicts
from onebit.learners.items import ItemSource


class Evidence(ABC):
    """The wealth of all pairs, and an estimate of each hypothesis' accuracy: what a standing follows from."""

    wealth: Wealth
    #: n_rounds times the estimated accuracy, up to what is the same for all; shape (N,).
    score: Floats

    @abstractmethod
    def look(self) -> Predictions:
        """What the hypotheses say on examples that can be looked at before any is drawn; shape (N, m)."""

    @abstractmethod
    def frozen(self) -> Evidence:
        """What can be concluded from the rounds so far, whatever is added later."""

    @abstractmethod
    def moments(self, leader: int) -> tuple[Floats, Floats]:
        """The sums of D against ``leader`` over all rounds, and of its square; each of shape (N,). For forecasts."""

    def pair_moments(self) -> tuple[Floats, Floats]:
        """The same for all pairs: of each row against each leader; both of shape (N, N)."""
        total, squares = zip(*(self.moments(leader) for leader in range(self.score.size)), strict=True)
        return np.stack(total, axis=1), np.stack(squares, axis=1)

    @abstractmethod
    def course(self, leader: int, c: float, n_rounds: Sequence[int]) -> Floats:
        """The log-wealth against ``leader`` after each epoch, which had so many rounds in all; (n_epochs, N)."""

    @abstractmethod
    def shares(self, failure: float) -> Intervals:
        """How often each is accepted on the items that count; each holds at any time but with this probability."""

    @abstractmethod
    def differences(self, leader: int, failure: float) -> Intervals:
        """By how much each is accepted more often than ``leader``, of all items; each as above."""

    @property
    @abstractmethod
    def n_counted(self) -> int | None:
        """How many items of the pool count for ``shares``; None of a stream."""

    @property
    @abstractmethod
    def all_count(self) -> bool:
        """Whether ``shares`` are of all items; else of those on which hypotheses differ."""

    def n_left(self, survivors: Ints) -> int | None:
        """How many items are left to draw from, where each is drawn once; at 0 all differences are known exactly."""
        return None


class DrawnEvidence(Evidence):
    """Evidence that draws the rounds of an epoch by itself."""

    @abstractmethod
    def draw(self, survivors: Ints, uniform: Floats) -> Drawn:
        """Rounds for an epoch, one for each number of ``uniform``; fewer where examples run out."""

    @abstractmethod
    def add(self, epoch: Epoch, survivors: Ints) -> None:
        """Take in the settled rounds of an epoch, in the order drawn."""

    def n_unseen(self, n_rounds: int) -> int | None:
        """How many examples come after ``n_rounds`` rounds; None where there is no end to them, or it is unknown."""
        return None


class IndependentEvidence(DrawnEvidence):
    """Independent draws from a stream, or with replacement from a pool on which hypotheses say ``pool_said``.

    ``slack`` and ``usual_bet`` are those of the wealth. ``passive``: the label is asked for where all agree, too.
    """

    def __init__(
        self,
        hypotheses: FiniteClass,
        items: ItemSource,
        rows: Ints,
        pool_said: Predictions | None,
        slack: Callable[[int], Floats] | None = None,
        passive: bool = False,
        usual_bet: float | None = None,
    ) -> None:
        self._hypotheses, self._items, self._rows, self._pool_said = hypotheses, items, rows, pool_said
        self._passive = passive
        self._wealth = IndependentWealth(rows.size, slack, usual_bet)
        #: What one-shot rounds show about single hypotheses, and what exact ones do.
        self._weighted: list[WeightedEpoch] = []
        self._sightings = Sightings(rows.size, None, passive)
        self.wealth = self._wealth
        self.score = np.zeros(rows.size)
        self._n_looked_at = 0

    def look(self) -> Predictions:
        if self._pool_said is not None:
            return self._pool_said
        n_looked_at = min(constants.LOOKED_AT_MOST, constants.LOOKED_AT_EACH * self._rows.size)
        if self._items.size is not None:
            n_looked_at = min(n_looked_at, self._items.size // constants.LOOKED_AT_PART)
        self._n_looked_at = n_looked_at
        return self._take(self._items.draw(np.zeros(n_looked_at)))

    def n_unseen(self, n_rounds: int) -> int | None:
        if self._pool_said is not None or self._items.size is None:
            return None
        return self._items.size - self._n_looked_at - n_rounds

    def draw(self, survivors: Ints, uniform: Floats) -> Drawn:
        items = self._items.draw(uniform)
        return Drawn(items, self._take(items) if self._pool_said is None else self._pool_said[:, items])

    def _take(self, items: Ints) -> Predictions:
        if items.size == 0:
            return np.empty((self._rows.size, 0), dtype=np.int64)
        try:
            x = self._items.take(items)
            self._hypotheses.check_examples(x)
            said: Predictions = np.maximum(self._hypotheses.predictions(x)[self._rows], -1)
        except Exception:
            # An example that was drawn and not asked about would be missing from the population.
            self._items.put_back(items)
            raise
        return said

    def add(self, epoch: Epoch, survivors: Ints) -> None:
        outcome = epoch.settled_prefix()
        said = epoch.drawn.said[:, : outcome.size]
        if epoch.one_shot is None:
            rounds = exact_rounds(epoch.drawn, survivors, outcome)
            known = np.full(said.shape, self._passive)
            known[survivors] |= contested(said[survivors])
            self._sightings.add(said, label_verdicts(said, outcome, known))
        else:
            rounds = epoch.one_shot.rounds(outcome)
            n_contested = int(contested(said).sum())
            n_skipped, n_agreed = n_contested - rounds.z.size, outcome.size - n_contested
            self._weighted.append(WeightedEpoch(rounds, n_skipped, n_agreed))
        self._wealth.add(rounds)
        self.score[survivors] += rounds.sums() + self._later_sums(epoch, survivors)

    def _later_sums(self, epoch: Epoch, survivors: Ints) -> Floats:
        """The sums of X over the rounds that are settled, but not in the order drawn: for who leads alone. (V,)."""
        later = epoch.settled_later()
        if later.size == 0:
            return np.zeros(survivors.size)
        rounds = (
            exact_rounds(epoch.drawn, survivors, epoch.outcome)
            if epoch.one_shot is None
            else epoch.one_shot.rounds(epoch.outcome)
        )
        counts = np.isin(np.flatnonzero(contested(epoch.drawn.said[survivors])), later)
        of_rounds = rounds.estimates()[rounds.first[:-1] + rounds.code]
        total: Floats = of_rounds[:, counts].sum(axis=1)
        return total

    def course(self, leader: int, c: float, n_rounds: Sequence[int]) -> Floats:
        return self._wealth.course(leader, c)

    def shares(self, failure: float) -> Intervals:
        if self._weighted:
            return WeightedRounds(self._weighted, self._rows.size).shares(failure)
        return self._sightings.shares(failure)

    def differences(self, leader: int, failure: float) -> Intervals:
        if self._weighted:
            return WeightedRounds(self._weighted, self._rows.size).differences(leader, failure)
        return self._sightings.differences(leader, failure)

    @property
    def n_counted(self) -> int | None:
        return None if self._pool_said is None else int(contested(self._pool_said).sum())

    @property
    def all_count(self) -> bool:
        return self._passive or (self._pool_said is not None and self.n_counted == self._pool_said.shape[1])

    def frozen(self) -> Evidence:
        same = copy(self)
        same._wealth = same.wealth = self._wealth.frozen()
        same._weighted, same._sightings = self._weighted.copy(), copy(self._sightings)
        same.score = self.score.copy()
        return same

    def moments(self, leader: int) -> tuple[Floats, Floats]:
        return self._wealth.moments(leader)

    def pair_moments(self) -> tuple[Floats, Floats]:
        return self._wealth.pair_moments()


class PoolEvidence(DrawnEvidence):
    """Items of a pool, on which hypotheses say ``said`` (N, n), without replacement and seen exactly.

    Only items on which survivors differ are drawn, unless ``passive``. ``seed`` is that of the run, ``usual_bet``
    that of the wealth.
    """

    def __init__(self, said: Predictions, passive: bool, seed: int, usual_bet: float | None = None) -> None:
        self._said = said
        self._sightings = Sightings(said.shape[0], said, passive)
        self._skips = Skips(self._sightings.n_counted or 0, seed)
        self._passive = passive
        self._undrawn = np.ones(said.shape[1], dtype=np.bool_)
        self._wealth = PoolWealth(said, usual_bet)
        self.wealth = self._wealth
        self.score = np.zeros(said.shape[0])

    def look(self) -> Predictions:
        return self._said

    def draw(self, survivors: Ints, uniform: Floats) -> Drawn:
        left = self._left(survivors)
        n_left = left.size
        picked = []
        for u in uniform[:n_left]:
            place = int(u * left.size)
            picked.append(left[place])
            left[place] = left[-1]
            left = left[:-1]
        items = np.array(picked, dtype=np.int64)
        return Drawn(items, self._said[:, items], n_left)

    def add(self, epoch: Epoch, survivors: Ints) -> None:
        label = epoch.settled_prefix()
        said = epoch.drawn.said[:, : label.size]
        right = (said == label) & (label >= 0)
        items = epoch.drawn.items[: label.size]
        self._undrawn[items] = False
        self._wealth.add(items, right)
        later = epoch.settled_later()
        self.score += right.sum(axis=1) + (
            (epoch.drawn.said[:, later] == epoch.outcome[later]) & (epoch.outcome[later] >= 0)
        ).sum(axis=1)
        known = np.full(said.shape, self._passive)
        known[survivors] = True
        skipped = self._skips.before(items.size, epoch.drawn.n_left)
        self._sightings.add(said, label_verdicts(said, label, known), skipped)

    def course(self, leader: int, c: float, n_rounds: Sequence[int]) -> Floats:
        return self._wealth.course(leader, c)

    def shares(self, failure: float) -> Intervals:
        return self._sightings.shares(failure)

    def differences(self, leader: int, failure: float) -> Intervals:
        return self._sightings.differences(leader, failure)

    @property
    def n_counted(self) -> int | None:
        return self._sightings.n_counted

    @property
    def all_count(self) -> bool:
        return self.n_counted == int(self._said.shape[1])

    def frozen(self) -> Evidence:
        same = copy(self)
        same._wealth = same.wealth = self._wealth.frozen()
        same._sightings = copy(self._sightings)
        same.score = self.score.copy()
        same._undrawn = self._undrawn.copy()
        return same

    def moments(self, leader: int) -> tuple[Floats, Floats]:
        return self._wealth.moments(leader)

    def n_left(self, survivors: Ints) -> int | None:
        return int(self._left(survivors).size)

    def _left(self, survivors: Ints) -> Ints:
        """The items that are still to be drawn from."""
        return np.flatnonzero(self._undrawn if self._passive else self._undrawn & any_differ(self._said, survivors))
