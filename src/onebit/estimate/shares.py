"""How often outputs are accepted, at any time, where verdicts come in a random order and some of them stay unknown.

Not in the paper. Of n items M have a yes, and the first t of a random order showed s yes and f others. Their
probability, in this order, is L(M) = M!/(M - s)! (n - M)!/(n - M - f)! (n - t)!/n!. With all M' mixed by the
beta-binomial prior of parameters 1/2 it is B(s + 1/2, f + 1/2) / B(1/2, 1/2), as in Polya's urn, so

    B(s + 1/2, f + 1/2) / B(1/2, 1/2) / L(M)

is a nonnegative martingale along the order: by Ville's inequality it ever reaches 1/a with probability at most a. The M
at which it has not are a confidence sequence (Waudby-Smith and Ramdas 2020, without replacement). For independent draws
n is infinite, L(m) = m^s (1 - m)^f, and this is the interval of ``accuracy.py``.

An unknown verdict may be either, so it counts against both ends. At fixed t both ends grow with s
(docs/certificate.md, step 16), so the interval of every reading is within that from low(s) to high(s + unknown).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, gammaln, xlog1py, xlogy

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

#: A verdict that nobody has given; 1 is a yes, and 0 anything else.
UNKNOWN = -1
#: The interval is looked at after 1, 2, ... items, each time this much further, and at the end.
PLACES_STEP = 1.25
#: Halvings of [0, 1] where the share is no multiple of 1 / n.
HALVINGS = 40


@dataclass(frozen=True, eq=False)
class Intervals:
    """From ``low`` to ``high``, and an ``estimate`` in between, NaN where nothing is known; each of shape (N,)."""

    estimate: Floats
    low: Floats
    high: Floats

    def of(self, which: Ints) -> Intervals:
        """Those of the rows ``which``."""
        return Intervals(self.estimate[which], self.low[which], self.high[which])

    def at(self, row: int) -> tuple[float, float, float]:
        """Estimate, low and high of a row."""
        return float(self.estimate[row]), float(self.low[row]), float(self.high[row])

    def at_most(self, bound: float) -> Intervals:
        """What is left of them where nothing is above ``bound``."""
        low, high = np.minimum(self.low, bound), np.minimum(self.high, bound)
        return Intervals(np.minimum(self.estimate, high), low, high)


@dataclass(frozen=True, eq=False)
class Counts:
    """Of ``n`` verdicts so far ``n_yes`` are yes and ``n_unknown`` unknown, at some places of an order; each (N, G)."""

    n_yes: Ints
    n_unknown: Ints
    n: Ints


def places(n_columns: int) -> Ints:
    """The places to look at among so many columns; the last is the end."""
    n_steps = int(np.log(max(n_columns, 1)) / np.log(PLACES_STEP))
    if n_columns == 0:
        return np.zeros(1, dtype=np.int64)
    return np.unique([*(PLACES_STEP ** np.arange(n_steps + 1)).astype(np.int64), n_columns])


def count(yes: Bools, unknown: Bools, counted: Bools, skipped: Ints | None = None) -> Counts:
    """Counts along an order, each array (N, T); before each column came ``skipped`` (T,) items that nobody judged."""
    at = places(yes.shape[1])
    more = 0 if skipped is None else _up_to(skipped[None, :], at)
    return Counts(_up_to(yes & counted, at), _up_to(unknown & counted, at) + more, _up_to(counted, at) + more)


def _up_to(values: NDArray[np.generic], at: Ints) -> Ints:
    """The sums (N, G) of the first columns of ``values`` (N, T)."""
    if values.shape[1] == 0:
        return np.zeros((values.shape[0], at.size), dtype=np.int64)
    begins = np.concatenate([[0], at[:-1]])
    up_to: Ints = np.add.reduceat(values, begins, axis=1, dtype=np.int64).cumsum(axis=1)
    return up_to


def share_intervals(counts: Counts, n_items: Ints | None, failure: float) -> Intervals:
    """The share of yes among ``n_items`` (N,), in a random order; or, without, that of independent draws.

    Each interval holds at all places at once with probability at least 1 - ``failure``.
    """
    sizes = None if n_items is None else np.maximum(n_items, counts.n[:, -1])[:, None]
    low = _low(counts.n_yes, counts.n, sizes, failure)
    high = 1 - _low(counts.n - counts.n_yes - counts.n_unknown, counts.n, sizes, failure)
    lows, highs = low.max(axis=1), high.min(axis=1)
    # An order that refutes every share happens as seldom as a wrong interval; then the last one is told.
    is_empty = lows > highs
    lows, highs = np.where(is_empty, low[:, -1], lows), np.where(is_empty, high[:, -1], highs)
    # Where most is known and little is not: later, the unknown verdicts may be those of the easy items.
    best = np.arange(lows.size), np.argmax(counts.n - 2 * counts.n_unknown, axis=1)
    known = counts.n[best] - counts.n_unknown[best]
    estimate = counts.n_yes[best] / np.where(known > 0, known, np.nan)
    return Intervals(np.clip(estimate, lows, highs), lows, highs)


def _low(n_yes: Ints, n: Ints, sizes: Ints | None, failure: float) -> Floats:
    """The low ends, if all others are no."""
    if sizes is None:
        return _low_of_draws(n_yes, n, failure)
    return _low_of_items(n_yes, n, np.broadcast_to(sizes, n.shape), failure) / np.maximum(sizes, 1)


def _low_of_items(n_yes: Ints, n: Ints, size: Ints, failure: float) -> Ints:
    """The least number of yes among ``size`` items that is not excluded."""
    n_other = n - n_yes
    base = betaln(n_yes + 0.5, n_other + 0.5) - betaln(0.5, 0.5) + gammaln(size + 1) - gammaln(size - n + 1)

    def is_excluded(M: Ints) -> Bools:
        of_yes = gammaln(M + 1) - gammaln(M - n_yes + 1)
        of_others = gammaln(size - M + 1) - gammaln(size - M - n_other + 1)
        excluded: Bools = base - of_yes - of_others >= -np.log(failure)
        return excluded

    # The likeliest number is never excluded, and fewer than were seen always are.
    excluded, allowed = n_yes - 1, np.clip((size + 1) * n_yes // np.maximum(n, 1), n_yes, size - n_other)
    while (is_open := allowed - excluded > 1).any():
        middle = np.maximum((excluded + allowed) // 2, n_yes)
        out = is_excluded(middle)
        excluded = np.where(is_open & out, middle, excluded)
        allowed = np.where(is_open & ~out, middle, allowed)
    least: Ints = allowed
    return least


def _low_of_draws(n_yes: Ints, n: Ints, failure: float) -> Floats:
    """The least share of yes among independent draws that is not excluded."""
    n_other = n - n_yes
    mixed = betaln(n_yes + 0.5, n_other + 0.5) - betaln(0.5, 0.5)
    excluded, allowed = np.zeros(n.shape), n_yes / np.maximum(n, 1)
    for _ in range(HALVINGS):
        middle = (excluded + allowed) / 2
        out = mixed - xlogy(n_yes, middle) - xlog1py(n_other, -middle) >= -np.log(failure)
        excluded, allowed = np.where(out, middle, excluded), np.where(out, allowed, middle)
    return excluded


def shares_of(
    said: NDArray[np.integer],
    verdict: NDArray[np.int8],
    counted: Bools,
    n_counted: int | None,
    failure: float,
    skipped: Ints | None = None,
) -> Intervals:
    """How often each of N is accepted on the items that are ``counted`` (T,), of which a pool has ``n_counted``.

    ``said`` and ``verdict`` (N, T) are those of the items drawn, in a random order, with ``skipped`` (T,) before each.
    """
    in_it = np.broadcast_to(counted, said.shape)
    sizes = None if n_counted is None else np.full(said.shape[0], n_counted)
    return share_intervals(count(verdict == 1, verdict == UNKNOWN, in_it, skipped), sizes, failure)


def differences_of(
    said: NDArray[np.integer],
    verdict: NDArray[np.int8],
    leader: int,
    n_differ: Ints | None,
    n_items: int | None,
    failure: float,
) -> Intervals:
    """By how much each of N is accepted more often than ``leader``.

    That is how often it alone is accepted less how often the leader alone is, each with half of ``failure``. On a pool
    of ``n_items`` only items count on which the two say something else, ``n_differ`` (N,); of a stream all do.
    """
    differ, of_leader = said != said[leader], verdict[leader]
    counted = np.ones(said.shape, dtype=np.bool_) if n_differ is None else differ
    both = []
    for one, other in ((verdict, of_leader), (of_leader, verdict)):
        yes = differ & (one == 1) & (other == 0)
        unknown = differ & (one != 0) & (other != 1) & ~yes
        both.append(share_intervals(count(yes, unknown, counted), n_differ, failure / 2))
    ahead, behind = both
    scale = 1.0 if n_differ is None or n_items is None else n_differ / n_items
    low, high = (ahead.low - behind.high) * scale, (ahead.high - behind.low) * scale
    estimate = np.clip((ahead.estimate - behind.estimate) * scale, low, high)
    estimate[leader] = low[leader] = high[leader] = 0.0
    return Intervals(estimate, low, high)
