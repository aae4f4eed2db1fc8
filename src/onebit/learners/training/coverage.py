"""Which items stand for many near which nothing was asked yet: these are asked about first in follow-up.

As long as little is known, it matters most that what is known lies everywhere: items drawn at random come from the same
crowds again and again, and labels with few items are met late. So some items of the list are taken, each with those of
them that are nearest, few enough to have one label as a rule. An item that was asked about *covers* itself and these.
The next item is the one of whose nearest the most are not covered, and so on, until there is none of which nearly all
are not: what is left over lies between the others, and is drawn at random. This is the greedy choice of Yehuda and
others (2022, "Active learning through a covering lens"), with so many nearest in the place of all within a distance.
Not in the paper.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from onebit.learners.training.constants import COVERED_AMONG, COVERS_OF_LABEL, LEAST_COVERED, LEAST_UNCOVERED
from onebit.learners.training.knowledge import Knowledge
from onebit.learners.training.model import Bools, Ints
from onebit.learners.training.nearest import Nearest


class Coverage:
    """Covers the first of the items ``listed`` of the pool ``x`` (n, d), which have about ``n_labels`` labels."""

    def __init__(self, x: NDArray[np.floating], listed: Ints, n_labels: int) -> None:
        among = listed[:COVERED_AMONG]
        self._nearest = Nearest(x, among, max(LEAST_COVERED, among.size // (COVERS_OF_LABEL * n_labels)))

    def spread(self, items: Ints, n_wanted: int, known: Knowledge, rng: np.random.Generator) -> Ints:
        """The places of ``n_wanted`` of ``items``, at most all: those that stand for most, then any."""
        n_wanted, order = min(n_wanted, items.size), rng.permutation(items.size)
        chosen = self._standing_for_most(items[order], n_wanted, known)
        others = np.delete(order, chosen)[: n_wanted - len(chosen)]
        return np.concatenate([order[chosen], others])

    def _standing_for_most(self, items: Ints, n_wanted: int, known: Knowledge) -> list[int]:
        """The places of at most ``n_wanted`` of ``items``, of whose nearest nearly all are not covered."""
        chosen: list[int] = []
        places = np.flatnonzero(self._nearest.holds[items])
        if 0 in (n_wanted, places.size, self._nearest.n_near):
            return chosen
        asked = known.asked_items()
        asked = asked[self._nearest.holds[asked]]
        covered: Bools = np.zeros(known.asked.size, dtype=np.bool_)
        covered[asked] = covered[self._nearest.of(asked)] = True
        near = self._nearest.of(items[places])
        while len(chosen) < n_wanted:
            uncovered = (~covered[near]).mean(axis=1)
            most = int(uncovered.argmax())
            if uncovered[most] < LEAST_UNCOVERED:
                break
            chosen.append(int(places[most]))
            covered[items[places[most]]] = covered[near[most]] = True
        return chosen
