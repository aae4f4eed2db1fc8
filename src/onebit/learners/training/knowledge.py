"""What the answers so far say about every item of the pool."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from onebit.hypotheses.base import Examples
from onebit.learners.training.model import Bools, Floats, Known
from onebit.records import Answer, Question


@dataclass(frozen=True)
class VerifiedLabel:
    """A label that a rater confirmed, and the question whose answer was yes."""

    item: int
    label: int
    question: int


class Knowledge:
    """Which labels of each item are possible, and which were confirmed. ``trains_on`` (n,) may be chosen for training.

    An item at which a rater can't tell, or of which every label was denied, teaches nothing.
    """

    def __init__(self, trains_on: Bools, n_labels: int) -> None:
        self.trains_on = trains_on
        self.possible: Bools = np.ones((trains_on.size, n_labels), dtype=np.bool_)
        self.asked: Bools = np.zeros(trains_on.size, dtype=np.bool_)
        self.n_answers = 0
        self.verified: list[VerifiedLabel] = []
        self._dropped: Bools = np.zeros(trains_on.size, dtype=np.bool_)
        self._confirmed_weight: Floats = np.zeros(trains_on.size)

    def take_in(self, question: Question, answer: Answer | int | None) -> None:
        """What an answer says, once it stands; that a no denies its label is known already."""
        item, label = question.item, question.label
        self.asked[item] = True
        self.n_answers += 1
        if label is None or answer is Answer.CANT_TELL:
            self._dropped[item] = True
        elif answer is Answer.NO:
            # Where raters denied every label one of them erred, and the item would teach nonsense.
            self._dropped[item] |= not self.possible[item].any()
        else:
            self.possible[item] = np.arange(self.possible.shape[1]) == label
            self._confirmed_weight[item] = 1 / question.propensity
            self.verified.append(VerifiedLabel(item, label, question.id))

    @property
    def n_known(self) -> int:
        """The number of items with one label left."""
        return int((self.possible.sum(axis=1) == 1).sum())

    def unknown(self) -> Bools:
        """Which items are trained on and have more than one label that is possible."""
        unknown: Bools = self.trains_on & ~self._dropped & (self.possible.sum(axis=1) > 1)
        return unknown

    def lessons(self, x: Examples, n_answers: int) -> Known | None:
        """All that a model can learn from; None if there is nothing."""
        rows = np.flatnonzero(self.asked & ~self._dropped)
        return Known(x[rows], self.possible[rows], self._confirmed_weight[rows], n_answers) if rows.size else None
