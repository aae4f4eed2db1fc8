"""An epoch of the certified learner: what is frozen before its first example is drawn, and how its rounds end."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onebit.learners.evidence import Drawn, Settled
from onebit.learners.planning import Exploration

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class EpochRecord:
    """What was frozen before an epoch's first example was drawn. Rows count the distinct hypotheses.

    In one-shot, an example to which survivors give more than ``widest`` labels is conceded: it is not asked about, and
    counts for whoever differs from the leader.
    """

    number: int
    first_round: int
    n_rounds: int
    leader: int
    survivors: Ints
    exploration: Exploration
    widest: int
    bets: Floats


class Epoch:
    """An epoch under way: what was drawn, what is still to be asked in each round, and what was found."""

    def __init__(
        self, record: EpochRecord, drawn: Drawn, costs: NDArray[np.bool_], conceded: NDArray[np.bool_]
    ) -> None:
        self.record, self.drawn, self.conceded = record, drawn, conceded
        n = drawn.items.size
        self.unsettled = int(costs.sum())
        self.is_settled = ~costs
        self.label = np.full(n, -1, dtype=np.int64)
        self.propensity = np.ones(n)
        self.to_ask: list[list[int | None]] = [[] for _ in range(n)]

    def settle(self, place: int, label: int) -> None:
        self.label[place] = label
        self.is_settled[place] = True
        self.unsettled -= 1

    def settled_prefix(self) -> Settled:
        """The rounds before the first that is unsettled: wealth uses a beginning of the sequence, never a selection."""
        n = self.is_settled.size if self.is_settled.all() else int(np.argmin(self.is_settled))
        drawn = Drawn(self.drawn.items[:n], self.drawn.said[:, :n], self.drawn.n_left)
        return Settled(drawn, self.label[:n], self.propensity[:n], self.conceded[:n])
