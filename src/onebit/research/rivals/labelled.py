"""Rivals that choose the best of N models by asking for whole labels, one item at a time, until a budget is used.

They promise nothing about the model that they name. Each sees the models' predictions on a pool, says which item is
labelled next, and is told the label. ``docs/rivals.md`` says how each was rebuilt.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Predictions = NDArray[np.integer]


class LabelledRival(ABC):
    """A way to choose which items of a pool are labelled; models say ``said`` (N, n), -1 for an abstention."""

    def __init__(self, said: Predictions, n_labels: int, rng: np.random.Generator) -> None:
        self.said, self.n_labels, self.rng = said.astype(np.int64), n_labels, rng
        self.unlabelled = np.ones(said.shape[1], dtype=np.bool_)
        #: On how many of the labelled items each model is right.
        self.n_right = np.zeros(said.shape[0], dtype=np.int64)

    @abstractmethod
    def next(self) -> int | None:
        """The item to label next; None where nothing is left."""

    def tell(self, item: int, label: int) -> None:
        """The label of ``item``."""
        self.unlabelled[item] = False
        self.n_right += self.said[:, item] == label

    def leader(self) -> int:
        """The model that was right most often on what is labelled, one of equals at random."""
        return self.one_of(np.flatnonzero(self.n_right == self.n_right.max()))

    def one_of(self, equals: Ints) -> int:
        """One of them at random."""
        return int(self.rng.choice(equals))


class RandomLabels(LabelledRival):
    """Items at random, each once."""

    def __init__(self, said: Predictions, n_labels: int, rng: np.random.Generator) -> None:
        super().__init__(said, n_labels, rng)
        self._order = iter(rng.permutation(said.shape[1]).tolist())

    def next(self) -> int | None:
        return next(self._order, None)
