"""What was seen of every hypothesis on the items drawn, in their order, where verdicts are seen exactly.

From this follows how often each is accepted, and by how much it differs from the leader: docs/certificate.md, step 16.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from onebit.estimate.shares import UNKNOWN, Intervals, differences_of, shares_of
from onebit.learners.certified.outputs import Ints, Predictions, contested
from onebit.randomness import generator


def label_verdicts(said: Predictions, label: Ints, known: NDArray[np.bool_]) -> NDArray[np.int8]:
    """The verdicts (N, k) on ``said`` where the right ``label`` (k,) was found, -1 for none, and it is ``known``."""
    verdict = np.where(known, (said == label) & (label >= 0), UNKNOWN)
    # An abstention is not accepted, whether anybody asked or not.
    return np.where(said < 0, 0, verdict).astype(np.int8)


class Sightings:
    """Verdicts on the outputs of items in the order drawn; unknown ones are UNKNOWN.

    ``pool_said`` (N, n) is what is said on the pool whose items are drawn once; of a stream it is None. Unless
    ``all_count``, only items count on which hypotheses differ.
    """

    def __init__(self, n_hypotheses: int, pool_said: Predictions | None, all_count: bool) -> None:
        self._pool_said, self.all_count = pool_said, all_count
        self._said: tuple[Predictions, ...] = (np.empty((n_hypotheses, 0), dtype=np.int64),)
        self._verdict: tuple[NDArray[np.int8], ...] = (np.empty((n_hypotheses, 0), dtype=np.int8),)
        self._skipped: tuple[Ints, ...] = (np.empty(0, dtype=np.int64),)

    @property
    def n_counted(self) -> int | None:
        """How many items of the pool count; None of a stream."""
        if self._pool_said is None:
            return None
        return int(self._pool_said.shape[1] if self.all_count else contested(self._pool_said).sum())

    def add(self, said: Predictions, verdict: NDArray[np.int8], skipped: Ints | None = None) -> None:
        """More items, (N, k); before each came ``skipped`` (k,) others about which nobody asked."""
        more = np.zeros(said.shape[1], dtype=np.int64) if skipped is None else skipped
        self._said, self._verdict, self._skipped = (
            (*self._said, said),
            (*self._verdict, verdict),
            (*self._skipped, more),
        )

    def shares(self, failure: float) -> Intervals:
        """How often each is accepted on the items that count; each holds with probability 1 - ``failure``."""
        said, verdict = np.concatenate(self._said, axis=1), np.concatenate(self._verdict, axis=1)
        counted = np.ones(said.shape[1], dtype=np.bool_) if self.all_count else contested(said)
        return shares_of(said, verdict, counted, self.n_counted, failure, np.concatenate(self._skipped))

    def differences(self, leader: int, failure: float) -> Intervals:
        """By how much each is accepted more often than ``leader``, of all items."""
        said, verdict = np.concatenate(self._said, axis=1), np.concatenate(self._verdict, axis=1)
        pool = self._pool_said
        if pool is None:
            return differences_of(said, verdict, leader, None, None, failure)
        n_differ = (pool != pool[leader]).sum(axis=1)
        return differences_of(said, verdict, leader, n_differ, pool.shape[1], failure)


class Skips:
    """Where the items that are no longer asked about would have come, had all ``n_counted`` been drawn.

    Draws are from the items on which survivors differ. If each draw had been from all items that are left, some would
    have been of the others. How many is drawn here, with numbers of their own: so completed, the order is that of a
    random permutation of all items that count.
    """

    def __init__(self, n_counted: int, seed: int) -> None:
        self._n_left = n_counted
        self._random = generator(seed, "skipped items")

    def before(self, n_draws: int, n_open: int) -> Ints:
        """How many come before each of ``n_draws`` draws, the first of which is from ``n_open`` items; (n_draws,)."""
        skipped = np.zeros(n_draws, dtype=np.int64)
        for draw in range(n_draws):
            while self._n_left > n_open - draw and self._random.random() >= (n_open - draw) / self._n_left:
                skipped[draw] += 1
                self._n_left -= 1
            self._n_left -= 1
        return skipped
