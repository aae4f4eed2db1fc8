"""Where the certified learner's examples come from, and what it may conclude from them.

Two ways: independent draws, from a stream or with replacement from a pool, whose differences are estimated; and items
of a pool drawn without replacement and seen exactly. Each draws the rounds of an epoch and turns settled rounds into
wealth.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from copy import copy

import numpy as np

from onebit.estimate.betting import IndependentWealth, PoolWealth, Wealth
from onebit.hypotheses.finite import FiniteClass
from onebit.learners.certified import constants
from onebit.learners.certified.epoch import Drawn, Epoch, exact_rounds
from onebit.learners.certified.outputs import Floats, Ints, Predictions, contested
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

    ``slack`` and ``usual_bet`` are those of the wealth.
    """

    def __init__(
        self,
        hypotheses: FiniteClass,
        items: ItemSource,
        rows: Ints,
        pool_said: Predictions | None,
        slack: Callable[[int], Floats] | None = None,
        usual_bet: float | None = None,
    ) -> None:
        self._hypotheses, self._items, self._rows, self._pool_said = hypotheses, items, rows, pool_said
        self._wealth = IndependentWealth(rows.size, slack, usual_bet)
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
        if epoch.one_shot is None:
            rounds = exact_rounds(epoch.drawn, survivors, outcome)
        else:
            rounds = epoch.one_shot.rounds(outcome, self._rows.size)
        self._wealth.add(rounds)
        self.score += rounds.estimates().sum(axis=0)

    def frozen(self) -> Evidence:
        same = copy(self)
        same._wealth = same.wealth = self._wealth.frozen()
        same.score = self.score.copy()
        return same

    def moments(self, leader: int) -> tuple[Floats, Floats]:
        return self._wealth.moments(leader)


class PoolEvidence(DrawnEvidence):
    """Items of a pool, on which hypotheses say ``said`` (N, n), without replacement and seen exactly.

    Only items on which survivors differ are drawn, unless ``passive``. ``usual_bet`` is that of the wealth.
    """

    def __init__(self, said: Predictions, passive: bool, usual_bet: float | None = None) -> None:
        self._said = said
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
        self.score += right.sum(axis=1)

    def frozen(self) -> Evidence:
        same = copy(self)
        same._wealth = same.wealth = self._wealth.frozen()
        same.score = self.score.copy()
        same._undrawn = self._undrawn.copy()
        return same

    def moments(self, leader: int) -> tuple[Floats, Floats]:
        return self._wealth.moments(leader)

    def n_left(self, survivors: Ints) -> int | None:
        return int(self._left(survivors).size)

    def _left(self, survivors: Ints) -> Ints:
        """The items that are still to be drawn from."""
        undrawn = np.flatnonzero(self._undrawn)
        return undrawn if self._passive else undrawn[contested(self._said[np.ix_(survivors, undrawn)])]
