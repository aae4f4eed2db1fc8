"""What the answers so far say about every item of the pool."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from onebit.hypotheses.base import Examples
from onebit.learners.training.constants import ITEMS_BEFORE, MOST_SHARED, SHARE_STEPS
from onebit.learners.training.earlier import EarlierAnswer
from onebit.learners.training.model import Bools, Floats, Ints, Known, take
from onebit.records import Answer, Question

#: The number of a question from before the run.
EARLIER = -1


@dataclass(frozen=True)
class VerifiedLabel:
    """A label that a rater confirmed, and the question whose answer was yes; ``EARLIER`` if it was before the run."""

    item: int
    label: int
    question: int


class Knowledge:
    """Which labels of each item are possible, and which were confirmed. ``trains_on`` (n,) may be chosen for training.

    A can't tell is not a yes to that label, and nothing more: the label is neither denied nor asked again. Where all
    labels but one were denied, the last counts as known; but on the items ``asks_last`` (n,) it is asked too, which
    shows whether a label is missing. An item that has none of the labels teaches nothing: every label was denied, or a
    rater said so; nor does one that was ``left`` because it seems to have none.
    """

    def __init__(
        self, trains_on: Bools, n_labels: int, asks_last: Bools | None = None, never_left: Bools | None = None
    ) -> None:
        self.trains_on = trains_on
        self._asks_last: Bools = np.zeros_like(trains_on) if asks_last is None else asks_last
        #: Which items are asked about to the end, however likely it is that they have none of the labels.
        self.never_left: Bools = np.zeros_like(trains_on) if never_left is None else never_left
        #: At which labels of which items a rater could not tell; shape (n, K).
        self.unsure: Bools = np.zeros((trains_on.size, n_labels), dtype=np.bool_)
        #: Items at which the last label was asked after noes to all others, and those of them that it is wrong for too.
        self.n_asked_to_end = self.n_without_label = 0
        self.possible: Bools = np.ones((trains_on.size, n_labels), dtype=np.bool_)
        self.asked: Bools = np.zeros(trains_on.size, dtype=np.bool_)
        self.n_answers = 0
        self.verified: list[VerifiedLabel] = []
        self._shares: tuple[int, Floats] | None = None
        #: Which items have none of the labels, by what raters said; which seem to, and are not asked about any more.
        self.has_none: Bools = np.zeros(trains_on.size, dtype=np.bool_)
        self.left: Bools = np.zeros(trains_on.size, dtype=np.bool_)
        self.confirmed: Bools = np.zeros(trains_on.size, dtype=np.bool_)
        self._confirmed_weight: Floats = np.zeros(trains_on.size)

    def take_in(self, question: Question, answer: Answer | int | None) -> None:
        """What an answer says, once it stands; that a no denies its label is known already."""
        item, label = question.item, question.label
        self.asked[item] = True
        self.n_answers += 1
        if label is None or answer is Answer.CANT_TELL:
            return
        if answer is Answer.NONE:
            self.possible[item] = False
            self.has_none[item] = True
        elif answer is Answer.NO:
            # Where every label was denied the right one is missing, or a rater erred: the item would teach nonsense.
            if not self.possible[item].any():
                self.has_none[item] = True
                self.n_asked_to_end += 1
                self.n_without_label += 1
        else:
            self.n_asked_to_end += int(self.possible[item].sum()) == 1
            self.confirmed[item] = True
            self.possible[item] = np.arange(self.possible.shape[1]) == label
            self._confirmed_weight[item] = 1 / question.propensity
            self.verified.append(VerifiedLabel(item, label, question.id))

    def recall(self, earlier: Sequence[EarlierAnswer]) -> None:
        """Take in answers from before the run, of which none was given twice."""
        for each in earlier:
            if each.answer in (Answer.NO, Answer.NONE):
                self.possible[each.item, each.label] = False
            elif each.answer is Answer.CANT_TELL:
                self.unsure[each.item, each.label] = True
            self.take_in(Question(EARLIER, each.item, each.label, 1.0, 0), each.answer)

    @property
    def n_known(self) -> int:
        """The number of items with one label left."""
        return int((self.possible.sum(axis=1) == 1).sum())

    def label_shares(self) -> Floats:
        """How frequent each label is among the items asked about, by what is known of them; shape (K,).

        The maximum of the likelihood, with ``ITEMS_BEFORE`` items of each label added: an item counts for its label,
        and one with several left counts for each in proportion to its share (expectation maximisation).
        """
        if self._shares is None or self._shares[0] != self.n_answers:
            items = self.taught()
            left = self.possible[items]
            known = left.sum(axis=1) == 1
            counts = np.bincount(left[known].argmax(axis=1), minlength=left.shape[1]) + ITEMS_BEFORE
            unknown = np.flatnonzero(~known)
            some = unknown[:: 1 + unknown.size // MOST_SHARED]
            open_ones, each = left[some].astype(np.float32), unknown.size / max(some.size, 1)
            shares: Floats = counts / counts.sum()
            for _ in range(SHARE_STEPS):
                expected = shares * (open_ones.T @ (1 / np.maximum(open_ones @ shares, np.finfo(np.float32).tiny)))
                shares = (counts + each * expected) / (counts.sum() + each * expected.sum())
            self._shares = self.n_answers, shares
        return self._shares[1]

    def askable(self, items: Ints | int) -> Bools:
        """Which labels of ``items`` may be asked about: neither denied, nor asked before; shape (..., K)."""
        askable: Bools = self.possible[items] & ~self.unsure[items]
        return askable

    def is_open(self, item: int) -> bool:
        """Whether a further question about the item can teach something."""
        n_possible = int(self.possible[item].sum())
        return bool(self.askable(item).any()) and (n_possible > 1 or bool(self._asks_last[item]))

    def unknown(self) -> Bools:
        """Which items are trained on, and have a label that is worth asking about."""
        several = self.possible.sum(axis=1) > 1
        worth = several | (self._asks_last & ~self.confirmed)
        open_ones = self.trains_on & ~self.has_none & ~self.left
        unknown: Bools = open_ones & worth & (self.possible & ~self.unsure).any(axis=1)
        return unknown

    def taught(self) -> Ints:
        """The items that a model can learn from."""
        # Where every label is possible nothing but can't tell was said.
        return np.flatnonzero(self.asked & ~self.has_none & ~self.left & ~self.possible.all(axis=1))

    def granted(self) -> Ints:
        """The items whose last label is taken for granted, since all others were denied."""
        asked = np.flatnonzero(self.asked & self.trains_on & ~self.confirmed & ~self.left & ~self._asks_last)
        granted: Ints = asked[self.possible[asked].sum(axis=1) == 1]
        return granted

    def may_be_left(self, items: Ints) -> Ints:
        """Those of ``items`` that may be left: asked about, without an end yet, and not ``never_left``."""
        settled = self.confirmed[items] | self.has_none[items] | self.left[items]
        return items[self.asked[items] & ~settled & ~self.never_left[items]]

    def lessons(self, x: Examples, items: Ints, n_answers: int) -> Known:
        """All that a model can learn from ``items``."""
        return Known(take(x, items), self.possible[items], self._confirmed_weight[items], n_answers)
