"""Rivals that ask by one law, which is found anew when the rounds have doubled."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from onebit.hypotheses.base import Examples, HypothesisClass, Labels
from onebit.learners.items import ItemSource
from onebit.research.rivals.law import Law
from onebit.research.rivals.online import OnlineLearner

Array = NDArray[np.float64]


class DoublingLearner(OnlineLearner):
    """Epoch m ends after 2^m rounds. It asks by ``law``: uniform guesses in the first, then what ``_learn`` has set."""

    def __init__(self, hypotheses: HypothesisClass, items: ItemSource, n_rounds: int, *, seed: int = 0) -> None:
        super().__init__(hypotheses, items, n_rounds, seed=seed)
        self.law = Law(None, 1.0)

    def _end_of(self, epoch: int) -> int:
        return int(2**epoch)

    def _choose(self, x: Examples, uniform: Array) -> tuple[Labels, Array]:
        return self.law.draw(self._hypotheses, x, uniform)
