"""How unequal labels are taken to be before much is known, learned from the answers. Not in the paper.

Each label counts as met b times before the first answer (``knowledge.py``): with a large b labels are held equally
frequent for long, with a small one those that were met are asked first. For every b out of a list, what neighbours and
names say of the items of an epoch is kept when it begins, and held against what is then answered about those that were
new, older answers counting less and less; b is the mean, in logarithms, under these likelihoods. It does not matter
that items are chosen: the choice goes by the items and by earlier answers, and given these the likelihood is exact.

Before the first answer small b are likelier, in proportion to b^-UNEQUAL_FIRST, so that b begins at about 1. Where
labels are equal and nothing else is known, any order of them finds a yes as soon, so it costs little to ask first about
those that were met; where they are unequal it gains much.
"""

from __future__ import annotations

import numpy as np
from scipy.special import log_softmax, logsumexp, softmax

from onebit.learners.training.constants import MAY_COUNT, RECENT, UNEQUAL_FIRST
from onebit.learners.training.knowledge import Knowledge
from onebit.learners.training.model import Floats, Ints
from onebit.learners.training.neighbours import Neighbours


class ShareStrength:
    """Sets ``items_before`` of ``known`` by how likely the answers were held."""

    def __init__(self, known: Knowledge, neighbours: Neighbours | None) -> None:
        self._known, self._neighbours = known, neighbours
        self._fit: Floats = -UNEQUAL_FIRST * np.log(np.array(MAY_COUNT))
        #: New items of the epoch, and the logarithm of how likely each label of them is held with each b.
        self._expected: tuple[Ints, Floats] | None = None
        self._set()

    def _set(self) -> None:
        self._known.items_before = float(np.exp(softmax(self._fit) @ np.log(np.array(MAY_COUNT))))

    def expect(self, items: Ints) -> None:
        """An epoch is about to ask about ``items``."""
        new = items[~self._known.asked[items]]
        if self._neighbours is not None and new.size:
            shares = [self._known.likeliest_shares(before) for before in MAY_COUNT]
            self._expected = new, log_softmax(self._neighbours.say_with(new, self._known, shares), axis=2)

    def learn(self) -> None:
        """The answers of the epoch are known."""
        if self._expected is None:
            return
        (items, said), self._expected = self._expected, None
        # An item that has none of the labels, or was not come to, says nothing of them.
        counted = self._known.asked[items] & (self._known.n_possible[items] > 0)
        possible = self._known.possible[items[counted]]
        self._fit *= (1 - 1 / RECENT) ** np.count_nonzero(counted)
        self._fit += logsumexp(np.where(possible, said[:, counted], -np.inf), axis=2).sum(axis=1)
        self._set()
