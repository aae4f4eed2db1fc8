"""What the answers about items say of the items near them, which often have the same label.

Let s_j be the probability that the j-th nearest item has the same label; otherwise let its label be any, label k with
probability p_k, the share of items that have it. Then what is known of a neighbour has, for each label k that the item
may have, the likelihood

    the neighbour has label c:           s_j [k = c] + (1 - s_j) p_c
    the neighbour has none of labels D:  1 - s_j [k in D] - (1 - s_j) p(D)

and so has what is not near: if the item has label k, each of the m_k items confirmed to have it is near with a chance
of about S / n_k, where S = sum_j s_j and n_k = n p_k is the number of items of that label. That none is near has the
likelihood exp(-S m_k / n_k), so where nothing known is near, labels not met yet are asked about. m_k / n_k is at most
the share of items asked about, as far as these are random. Before anything is known of the neighbours, label k has
probability p_k. The shares are learned from the answers (``knowledge.py``).

The s_j are learned from the answers, by the rank of the neighbour. With that, one no is a no for a whole neighbourhood:
with many labels that is the difference between guessing and searching. Not in the paper.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.special import softmax

from onebit.learners.training.constants import (
    FIRST_SAME,
    FIRST_SEARCH,
    FIRST_SHARE,
    HALVED_AT,
    LEAST_SAME,
    MOST_DENIED,
    MOST_LISTED,
    MOST_SAME,
    PAIRS_BEFORE,
    SEARCH_HALVED_AT,
    TIES,
)
from onebit.learners.training.knowledge import Knowledge
from onebit.learners.training.model import Bools, Floats, Ints
from onebit.learners.training.names import Names
from onebit.learners.training.nearest import Nearest


class Neighbours:
    """The nearest among the items ``listed`` of the pool ``x``, by Euclidean distance. ``x`` must be dense numbers.

    ``names``, if labels have names that say something of the items, are heeded with them.
    """

    def __init__(self, x: NDArray[np.floating], listed: Ints, names: Names | None = None) -> None:
        self.x, self.listed, self._names = x, listed[:MOST_LISTED], names
        self._nearest = Nearest(x, self.listed)

    def look_among(self, n_first: int) -> None:
        """Find neighbours among the first of the list alone: so many, or up to twice as many.

        Where all that is asked about is among these, each of them is near to a larger share of the others, and that
        what is known of a label is not near says more.
        """
        n_among = min(1 << (n_first - 1).bit_length(), self.listed.size)
        if n_among != self._nearest.listed.size:
            self._nearest = Nearest(self.x, self.listed[:n_among])

    @property
    def is_listed(self) -> Bools:
        """Which items have neighbours, and are neighbours; shape (n,)."""
        return self._nearest.holds

    @property
    def speaks_of(self) -> Bools:
        """Of which items something can be said; shape (n,)."""
        return self.is_listed if self._names is None else np.ones_like(self.is_listed)

    @property
    def has_names(self) -> bool:
        """Whether labels have names that are heeded."""
        return self._names is not None

    def first_listed(self, n_wanted: int) -> Ints:
        """The first items of the list, in the order of the pool."""
        return np.sort(self.listed[:n_wanted])

    def say(self, items: Ints, known: Knowledge) -> Floats:
        """The logarithm of how likely each label of ``items`` is by neighbours and names; up to a constant, (n, K)."""
        said: Floats = self.say_with(items, known, [known.label_shares()])[0]
        return said

    def say_with(self, items: Ints, known: Knowledge, shares: Sequence[Floats]) -> Floats:
        """The same, for each of several ``shares`` (K,) that labels may have; shape (m, n, K)."""
        said: Floats = np.stack(
            [self.log_likelihood(items, known, each) + np.log(each).astype(np.float32) for each in shares]
        )
        return said if self._names is None else said + self._names.logs(items, known)

    def pooled(self, beliefs: Floats, said: Floats, items: Ints, known: Knowledge) -> Floats:
        """The model's ``beliefs`` (..., n, K) about ``items`` together with what is said of them.

        A logarithmic opinion pool: the mean of the logarithms, weighted by the share of each. Where neighbours say
        nothing it is flatter than what the model believes.
        """
        share = np.where(self.speaks_of[items], FIRST_SHARE * _fading(known, HALVED_AT), 0.0)[:, None]
        tiny = np.finfo(np.float32).tiny
        pooled: Floats = softmax((1 - share) * np.log(np.maximum(beliefs, tiny)) + share * said, axis=-1)
        return pooled

    def alone(self, belief: Floats, said: Floats, items: Ints, rng: np.random.Generator) -> Floats:
        """What is said of ``items``, shape (n, K), ties broken at random; ``belief`` where nothing can be said.

        A model takes labels never met for unlikely; the neighbours do not, so that these are found.
        """
        likely = softmax(said + TIES * rng.random(said.shape), axis=-1)
        return np.where(self.speaks_of[items, None], likely, belief)

    def search_share(self, known: Knowledge) -> float:
        """The share of the questions that go by the neighbours alone."""
        return FIRST_SEARCH * _fading(known, SEARCH_HALVED_AT)

    def log_likelihood(self, items: Ints, known: Knowledge, shares: Floats) -> Floats:
        """The log-likelihood of what is known of the neighbours for each label of each item; shape (n, K)."""
        found: Floats = np.zeros((len(items), known.n_labels), dtype=np.float32)
        if self.listed.size > 1:
            listed = self._nearest.listed
            same, label = self.same(known), known.label[listed]
            met = np.bincount(label[label >= 0], minlength=known.n_labels)
            confirmed_share = np.minimum(known.asked[listed].mean(), met / shares / listed.size)
            found -= np.outer(self.is_listed[items], same.sum() * confirmed_share)
            rows = np.flatnonzero(self.is_listed[items])
            near = self._nearest.of(items[rows])
            _add_neighbours(rows, near, known.label, known.possible, known.n_possible, same, shares, found)
        return found

    def same(self, known: Knowledge) -> Floats:
        """For each rank, the share of neighbours of about that rank that have the same label, as far as is known."""
        # Ranks 1, 2 to 3, 4 to 7 and so on are counted together.
        rank_of = np.log2(np.arange(self._nearest.n_near) + 1).astype(np.int64)
        pairs = np.zeros((rank_of[-1] + 1, 2))
        asked = known.asked_items()
        asked = asked[self.is_listed[asked]]
        _count_pairs(asked, self._nearest.of(asked), known.label, known.possible, rank_of, pairs)
        share = (FIRST_SAME * PAIRS_BEFORE + pairs[:, 1]) / (PAIRS_BEFORE + pairs.sum(axis=1))
        shares: Floats = share.clip(LEAST_SAME, MOST_SAME)[rank_of]
        return shares

    def near_of(self, items: Ints) -> tuple[Bools, NDArray[np.int32]]:
        """Which of ``items`` are listed, and the neighbours of these, nearest first."""
        is_listed = self.is_listed[items]
        return is_listed, self._nearest.of(items[is_listed])


def _fading(known: Knowledge, halved_at: float) -> float:
    """A factor that begins at 1 and is one half at ``halved_at`` known items a label."""
    return 1 / (1 + known.n_known / known.n_labels / halved_at)


@njit(cache=True, nogil=True)
def _add_neighbours(
    rows: Ints,
    near: NDArray[np.int32],
    label: Ints,
    possible: Bools,
    n_possible: Ints,
    same: Floats,
    shares: Floats,
    found: Floats,
) -> None:
    """Add to ``rows`` of ``found`` (n, K) the log-likelihood of each of the neighbours ``near``, up to a constant."""
    n_labels = possible.shape[1]
    for place, row in enumerate(rows):
        for rank in range(near.shape[1]):
            other, s = near[place, rank], same[rank]
            if label[other] >= 0:
                found[row, label[other]] += np.log1p(s / ((1 - s) * shares[label[other]]))
            elif 0 < n_possible[other] < n_labels:
                denied = 0.0
                for k in range(n_labels):
                    if not possible[other, k]:
                        denied += shares[k]
                denied = min(denied, MOST_DENIED)
                less = np.log((1 - s) * (1 - denied)) - np.log(1 - (1 - s) * denied)
                for k in range(n_labels):
                    if not possible[other, k]:
                        found[row, k] += less


@njit(cache=True, nogil=True)
def _count_pairs(
    items: Ints, near: NDArray[np.int32], label: Ints, possible: Bools, rank_of: Ints, pairs: Floats
) -> None:
    """Count in ``pairs`` (ranks, 2) the neighbours with another label, and those with the same."""
    for place, item in enumerate(items):
        for rank in range(near.shape[1]):
            theirs = label[near[place, rank]]
            if theirs >= 0 and label[item] == theirs:
                pairs[rank_of[rank], 1] += 1
            elif theirs >= 0 and not possible[item, theirs]:
                pairs[rank_of[rank], 0] += 1
