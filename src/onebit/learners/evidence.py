"""Where the certified learner's examples come from, and what it may conclude from them.

Two ways: independent draws, from a stream or with replacement from a pool, whose differences are estimated; and items
of a pool drawn without replacement and seen exactly. Each draws the rounds of an epoch and turns settled rounds into
wealth.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onebit.estimate.betting import IndependentWealth, PoolWealth, Wealth
from onebit.hypotheses.finite import FiniteClass
from onebit.learners.items import ItemSource

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Predictions = NDArray[np.integer]

#: Examples of a stream whose predictions are kept, for the models' votes on them.
KEPT = 4000
#: Of a stream's known examples at least so many exceed what is rarely exceeded; but not too many times the slack.
MIN_EXCEEDING, MOST_UNCERTAIN = 2, 5


@dataclass(frozen=True, eq=False)
class Drawn:
    """The rounds of an epoch: items (m,) in the order drawn, and what the N hypotheses say there (N, m).

    ``n_left`` is the number of items that the first was drawn from, where draws are without replacement.
    """

    items: Ints
    said: Predictions
    n_left: int = 0


@dataclass(frozen=True, eq=False)
class Settled:
    """Rounds whose answers are known: the label found right, or -1; and the propensity of finding it. Shape (m,).

    ``conceded`` rounds were not asked about: there every rival that differs from the leader is taken to be right.
    """

    drawn: Drawn
    label: Ints
    propensity: Floats
    conceded: NDArray[np.bool_]

    @property
    def right(self) -> NDArray[np.bool_]:
        """Which hypotheses are known to be right in each round; shape (N, m)."""
        right: NDArray[np.bool_] = (self.drawn.said == self.label) & (self.label >= 0)
        return right


class Evidence(ABC):
    """Draws rounds and keeps the wealth of all pairs."""

    wealth: Wealth

    @abstractmethod
    def draw(self, survivors: Ints, uniform: Floats) -> Drawn:
        """Rounds for an epoch, one for each number of ``uniform``; fewer where examples run out."""

    @abstractmethod
    def add(self, settled: Settled, bets: Floats) -> None:
        """Take in the settled rounds of an epoch, in the order drawn."""

    @abstractmethod
    def widest(self, survivors: Ints, slack: float) -> int:
        """A number of labels that |A(x)|, those that survivors give to an example, rarely exceeds.

        The share of examples on which it does, and which are conceded, is believed to be at most ``slack``.
        """

    def is_exhausted(self, survivors: Ints) -> bool:
        """Whether all differences between survivors are known exactly."""
        return False

    @abstractmethod
    def votes(self, survivors: Ints, most: int) -> tuple[Predictions, Floats] | None:
        """What survivors say on up to ``most`` contested examples, and the mass of each; None if none are known."""


class IndependentEvidence(Evidence):
    """Independent draws from a stream, or with replacement from a pool on which hypotheses say ``pool_said``."""

    def __init__(self, hypotheses: FiniteClass, items: ItemSource, rows: Ints, pool_said: Predictions | None) -> None:
        self._hypotheses, self._items, self._rows, self._pool_said = hypotheses, items, rows, pool_said
        self._seen: Predictions = np.empty((rows.size, 0), dtype=np.int64)
        self._wealth = IndependentWealth(rows.size)
        self.wealth = self._wealth

    def draw(self, survivors: Ints, uniform: Floats) -> Drawn:
        items = self._items.draw(uniform)
        if self._pool_said is not None:
            return Drawn(items, self._pool_said[:, items])
        if items.size == 0:
            return Drawn(items, self._seen[:, :0])
        try:
            x = self._items.take(items)
            self._hypotheses.check_examples(x)
            said = self._hypotheses.predictions(x)[self._rows]
        except Exception:
            self._items.put_back(items)
            raise
        self._seen = np.concatenate([self._seen, said], axis=1)[:, -KEPT:]
        return Drawn(items, said)

    def add(self, settled: Settled, bets: Floats) -> None:
        found = settled.label >= 0
        conceded = settled.drawn.said[:, settled.conceded]
        self._wealth.add(bets, settled.label.size, settled.right[:, found], 1 / settled.propensity[found], conceded)

    def votes(self, survivors: Ints, most: int) -> tuple[Predictions, Floats] | None:
        known = self._seen if self._pool_said is None else self._pool_said
        return _votes(known[survivors], most) if known.size else None

    def widest(self, survivors: Ints, slack: float) -> int:
        most = min(self._hypotheses.n_labels, survivors.size)
        known = self._seen if self._pool_said is None else self._pool_said
        if self._pool_said is None:
            # The share that exceeds a quantile is known only so well; with few examples more has to be conceded.
            n_known = known.shape[1]
            if n_known == 0 or MIN_EXCEEDING / n_known > MOST_UNCERTAIN * slack:
                return most
            uncertain = MIN_EXCEEDING / n_known
            slack = max(slack, uncertain)
        # At least 1, since a conceded example has D = 1.
        return min(most, max(1, int(np.quantile(n_labels_at(known[survivors]), 1 - slack, method="higher"))))


class PoolEvidence(Evidence):
    """Items of a pool, on which hypotheses say ``said`` (N, n), without replacement and seen exactly.

    Only items on which survivors differ are drawn, unless ``passive``.
    """

    def __init__(self, said: Predictions, passive: bool) -> None:
        self._said = said
        self._passive = passive
        self._undrawn = np.ones(said.shape[1], dtype=np.bool_)
        self._wealth = PoolWealth(*said.shape)
        self.wealth = self._wealth

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

    def add(self, settled: Settled, bets: Floats) -> None:
        self._undrawn[settled.drawn.items] = False
        self._wealth.add(settled.right, settled.drawn.n_left)

    def votes(self, survivors: Ints, most: int) -> tuple[Predictions, Floats] | None:
        return _votes(self._said[survivors], most)

    def widest(self, survivors: Ints, slack: float) -> int:
        return 1

    def is_exhausted(self, survivors: Ints) -> bool:
        return self._left(survivors).size == 0

    def _left(self, survivors: Ints) -> Ints:
        """The items that are still to be drawn from."""
        undrawn = np.flatnonzero(self._undrawn)
        return undrawn if self._passive else undrawn[contested(self._said[np.ix_(survivors, undrawn)])]


def _votes(said: Predictions, most: int) -> tuple[Predictions, Floats]:
    """Evenly spread contested columns of ``said``, and the share of all columns that each stands for."""
    places = np.flatnonzero(contested(said))
    kept = places[np.linspace(0, places.size - 1, min(most, places.size)).astype(np.int64)]
    return said[:, kept], np.full(kept.size, places.size / (said.shape[1] * max(kept.size, 1)))


def n_labels_at(said: Predictions) -> Ints:
    """|A(x)|: how many labels the rows of ``said`` (V, m) give to each example; abstentions are none. Shape (m,)."""
    ordered = np.sort(said, axis=0)
    new = np.ones(said.shape, dtype=np.bool_)
    new[1:] = ordered[1:] != ordered[:-1]
    count: Ints = (new & (ordered >= 0)).sum(axis=0)
    return count


def contested(said: Predictions) -> NDArray[np.bool_]:
    """Whether the rows of ``said`` (V, m) differ at each example; shape (m,)."""
    differ: NDArray[np.bool_] = (said != said[0]).any(axis=0)
    return differ
