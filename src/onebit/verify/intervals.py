"""How often models are accepted, and by how much they differ: the intervals beside a certificate, worked out again.

Written from step 16 of ``docs/certificate.md``; it shares nothing with the learner. Where verdicts are exact, the
martingale is the ratio of two laws of how many yes there are among the first t: the beta-binomial law of parameters
1/2, and that of t drawn items. The orders of equal count cancel.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onebit.randomness import generator
from onebit.verify.contest import Contest

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

#: Along an order, the interval is looked at after 1, 2, ... items, each time this much further, and at the end.
FURTHER = 1.25
#: Halvings of [0, 1] for the share of a stream.
HALVINGS = 50


@dataclass(frozen=True, eq=False)
class Spans:
    """From ``low`` to ``high`` with an ``estimate``, NaN where nothing is known; each of shape (N,)."""

    estimate: Floats
    low: Floats
    high: Floats

    def of(self, rows: Sequence[int]) -> Spans:
        which = list(rows)
        return Spans(self.estimate[which], self.low[which], self.high[which])


@dataclass(frozen=True, eq=False)
class Accepted:
    """How often each model of the table is accepted, and by how much more often than the leader."""

    shares: Spans
    ahead: Spans


class Sights(ABC):
    """What a run has seen of N models, which are the distinct rows of the table."""

    @abstractmethod
    def shares(self, failure: float) -> Spans:
        """Of each model, but for ``failure``."""

    @abstractmethod
    def differences(self, leader: int, failure: float) -> Spans:
        """Of each model to the ``leader``, but for ``failure``."""

    def accepted(self, scene: Contest, leader: int) -> Accepted:
        """The intervals of all rows of the table; ``leader`` is one of the distinct."""
        n, delta = len(scene.distinct), scene.setting.delta
        row_of = {model: row for row, model in enumerate(scene.distinct)}
        rows = [row_of[scene.stands_for(model)] for model in range(scene.said.shape[0])]
        shares = self.shares(delta / 2 / n)
        ahead = self.differences(row_of[leader], delta / 2 / max(n * (n - 1) / 2, 0.5))
        return Accepted(shares.of(rows), ahead.of(rows))


class Order(Sights):
    """Exact verdicts in a random order.

    On a pool models say ``pool_said`` (N, n); of a stream it is None. Items count on which models differ, or all.
    """

    def __init__(self, n_models: int, pool_said: Ints | None, all_count: bool) -> None:
        self._n_models, self._pool_said, self._all_count = n_models, pool_said, all_count
        self._says: list[Ints] = []
        self._z: list[Floats] = []
        self._n_skipped: list[int] = []

    def add(self, says: Ints, z: Floats, n_skipped: int = 0) -> None:
        """What models say of the next item, and whether that is accepted: 1 or 0, NaN unknown.

        So many others came before it, of which nothing is known. An abstention is not accepted.
        """
        self._says.append(says)
        self._z.append(np.where(says < 0, 0.0, z))
        self._n_skipped.append(n_skipped)

    def _columns(self) -> tuple[Ints, Floats]:
        if not self._says:
            return np.zeros((self._n_models, 0), dtype=np.int64), np.zeros((self._n_models, 0))
        return np.stack(self._says, axis=1), np.stack(self._z, axis=1)

    def shares(self, failure: float) -> Spans:
        says, z = self._columns()
        counts = (
            np.ones(says.shape, dtype=np.bool_) if self._all_count else np.tile(differing(says), (says.shape[0], 1))
        )
        size = None
        if self._pool_said is not None:
            n_counted = self._pool_said.shape[1] if self._all_count else differing(self._pool_said).sum()
            size = np.full(self._n_models, n_counted)
        skipped = np.cumsum(np.array(self._n_skipped, dtype=np.int64))
        return _share(z == 1, np.isnan(z), counts, skipped, size, failure)

    def differences(self, leader: int, failure: float) -> Spans:
        says, z = self._columns()
        differ = says != says[leader]
        n_differ, scale, counts = None, 1.0, np.ones(says.shape, dtype=np.bool_)
        if self._pool_said is not None:
            n_differ = (self._pool_said != self._pool_said[leader]).sum(axis=1)
            scale, counts = n_differ / self._pool_said.shape[1], differ
        none = np.zeros(says.shape[1], dtype=np.int64)
        both = []
        for one, other in ((z, z[leader]), (z[leader], z)):
            is_so = differ & (one == 1) & (other == 0)
            may_be = differ & (one != 0) & (other != 1)
            both.append(_share(is_so, may_be & ~is_so, counts, none, n_differ, failure / 2))
        alone, leader_alone = both
        low, high = scale * (alone.low - leader_alone.high), scale * (alone.high - leader_alone.low)
        estimate = np.clip(scale * (alone.estimate - leader_alone.estimate), low, high)
        for each in (estimate, low, high):
            each[leader] = 0.0
        return Spans(estimate, low, high)


def differing(says: Ints) -> Bools:
    """On which columns models differ."""
    differ: Bools = (says != says[:1]).any(axis=0)
    return differ


def _places(n_columns: int) -> list[int]:
    """After how many columns of an order the interval is looked at."""
    found, place = {n_columns}, 1.0
    while int(place) <= n_columns:
        found.add(int(place))
        place *= FURTHER
    return sorted(found)


def _share(yes: Bools, unknown: Bools, counts: Bools, skipped: Ints, size: Ints | None, failure: float) -> Spans:
    """The share of yes of each model, from columns (N, T); ``skipped`` (T,) unknown items came up to each of them."""
    lows, highs, told = [], [], []
    for place in _places(yes.shape[1]):
        more = int(skipped[place - 1]) if place else 0
        n_yes = (yes & counts)[:, :place].sum(axis=1)
        n_unknown = (unknown & counts)[:, :place].sum(axis=1) + more
        n = counts[:, :place].sum(axis=1) + more
        lows.append(_low(n_yes, n, size, failure))
        highs.append(1 - _low(n - n_yes - n_unknown, n, size, failure))
        told.append((n_yes, n_unknown, n))
    low, high = np.max(lows, axis=0), np.min(highs, axis=0)
    is_empty = low > high
    low, high = np.where(is_empty, lows[-1], low), np.where(is_empty, highs[-1], high)
    estimate = np.full(low.size, np.nan)
    for model in range(low.size):
        n_yes, n_unknown, n = max(((int(a[model]), int(b[model]), int(c[model])) for a, b, c in told), key=_is_clear)
        if n > n_unknown:
            estimate[model] = np.clip(n_yes / (n - n_unknown), low[model], high[model])
    return Spans(estimate, low, high)


def _is_clear(counted: tuple[int, int, int]) -> int:
    """Where most is known and little is not; of equals the first."""
    return counted[2] - 2 * counted[1]


def _low(n_yes: Ints, n: Ints, size: Ints | None, failure: float) -> Floats:
    """The least share of yes that is not excluded after ``n`` items; each of shape (N,)."""
    # Imported here: it takes longer than all else that a server loads, and verify alone needs it.
    from scipy.stats import betabinom, binom, hypergeom

    mixed, needed = betabinom.logpmf(n_yes, n, 0.5, 0.5), math.log(1 / failure)
    if size is None:
        least_share, likeliest = np.zeros(n.size), n_yes / np.maximum(n, 1)
        for _ in range(HALVINGS):
            share = (least_share + likeliest) / 2
            out = mixed - binom.logpmf(n_yes, n, share) >= needed
            least_share, likeliest = np.where(out, share, least_share), np.where(out, likeliest, share)
        return least_share
    total = np.maximum(size, n)
    # Fewer than were seen cannot be, and the likeliest number is never excluded.
    below, above = n_yes - 1, np.clip((total + 1) * n_yes // np.maximum(n, 1), n_yes, total - (n - n_yes))
    while (above - below > 1).any():
        middle = np.where(above - below > 1, (below + above) // 2, above)
        out = mixed - hypergeom.logpmf(n_yes, total, middle, n) >= needed
        is_open = above - below > 1
        below, above = np.where(is_open & out, middle, below), np.where(is_open & ~out, middle, above)
    least: Floats = above / np.maximum(total, 1)
    return least


class Skipped:
    """Step 16: how many items that are no longer asked about would have come before each draw from a pool."""

    def __init__(self, n_counted: int, seed: int) -> None:
        self._n_left, self._random = n_counted, generator(seed, "skipped items")

    def before(self, n_open: int) -> int:
        """Before a draw from ``n_open`` items."""
        n_skipped = 0
        while n_open < self._n_left and self._random.random() >= n_open / self._n_left:
            n_skipped, self._n_left = n_skipped + 1, self._n_left - 1
        self._n_left -= 1
        return n_skipped
