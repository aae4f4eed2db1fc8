"""How many questions an epoch of training has, and how many of them an item takes."""

from __future__ import annotations

import numpy as np

from onebit.learners.training.constants import EPOCH_SHARE, LATE_ITEMS, MIN_QUESTIONS
from onebit.learners.training.model import Ints


def questions_of_epoch(n_answers: int) -> int:
    """How many questions the next epoch asks after so many answers."""
    return max(MIN_QUESTIONS, int(EPOCH_SHARE * n_answers))


class Pace:
    """How many questions an item took of late: what was longer ago counts less, item by item."""

    def __init__(self) -> None:
        self._n_questions, self._n_items = 0.0, 0.0

    def take(self, n_asked: Ints) -> None:
        """Take in an epoch that asked so many questions about each of its items; shape (n,)."""
        n_items = np.count_nonzero(n_asked)
        kept = (1 - 1 / LATE_ITEMS) ** n_items
        self._n_questions = kept * self._n_questions + float(n_asked.sum())
        self._n_items = kept * self._n_items + n_items

    @property
    def questions_per_item(self) -> float:
        """The mean; 1 before the first question."""
        return self._n_questions / self._n_items if self._n_items else 1.0
