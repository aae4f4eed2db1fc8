"""What the answers so far say about every item of the pool."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from onebit.hypotheses.base import Examples
from onebit.learners.training.constants import SHARE_STEPS
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
    rater said so; nor does one that was ``left`` because it seems to have none, nor one that is not trained on, such as
    those of an audit.
    """

    def __init__(
        self,
        trains_on: Bools,
        n_labels: int,
        asks_last: Bools | None = None,
        never_left: Bools | None = None,
        items_before: float = 1.0,
    ) -> None:
        n_items = trains_on.size
        #: Each label counts as met so many times before the first answer.
        self.items_before = items_before
        self.trains_on, self.n_labels = trains_on, n_labels
        self._asks_last: Bools = np.zeros_like(trains_on) if asks_last is None else asks_last
        #: Which items are asked about to the end, however likely it is that they have none of the labels.
        self.never_left: Bools = np.zeros_like(trains_on) if never_left is None else never_left
        #: Which labels are left of each item, and at which a rater could not tell; shape (n, K).
        self.possible: Bools = np.ones((n_items, n_labels), dtype=np.bool_)
        self._unsure: Bools = np.zeros((n_items, n_labels), dtype=np.bool_)
        # Kept with every answer: sums over a large pool would take longer than all else.
        #: The number of labels left of each item, and the label itself where it is one, else -1; shape (n,).
        self.n_possible: Ints = np.full(n_items, n_labels, dtype=np.int64)
        self.label: Ints = np.full(n_items, 0 if n_labels == 1 else -1, dtype=np.int64)
        self._n_askable: Ints = np.full(n_items, n_labels, dtype=np.int64)
        #: The number of items with one label left, of those that are trained on.
        self.n_known = n_items if n_labels == 1 else 0
        #: Items at which the last label was asked after noes to all others, and those of them that it is wrong for too.
        self.n_asked_to_end = self.n_without_label = 0
        self.asked: Bools = np.zeros(n_items, dtype=np.bool_)
        #: Which items are a random sample as long as nobody asked about them.
        self.is_sample: Bools = np.ones(n_items, dtype=np.bool_)
        #: Of those that are trained on the items asked about, and the number of answers about them.
        self._asked_items: list[int] = []
        self.n_answers = 0
        self.verified: list[VerifiedLabel] = []
        self._shares: tuple[tuple[int, float], Floats] | None = None
        #: Which items have none of the labels, by what raters said; which seem to, and are not asked about any more.
        self.has_none: Bools = np.zeros(n_items, dtype=np.bool_)
        self.left: Bools = np.zeros(n_items, dtype=np.bool_)
        self.confirmed: Bools = np.zeros(n_items, dtype=np.bool_)

    def deny(self, item: int, label: int) -> None:
        """The label is wrong for the item."""
        self.possible[item, label] = False
        self._count(item)

    def leave_open(self, item: int, label: int) -> None:
        """A rater could not tell whether the label is right for the item: it is neither denied nor asked again."""
        self._unsure[item, label] = True
        self._count(item)

    def forget(self, item: int, label: int) -> None:
        """Whatever was said of the label and the item, before a yes stood, is taken back."""
        self.possible[item, label], self._unsure[item, label] = True, False
        self._count(item)

    def _count(self, item: int) -> None:
        left = self.possible[item]
        self.n_possible[item] = n_left = np.count_nonzero(left)
        self._n_askable[item] = np.count_nonzero(left & ~self._unsure[item])
        if self.trains_on[item]:
            self.n_known += int(n_left == 1) - int(self.label[item] >= 0)
        self.label[item] = left.argmax() if n_left == 1 else -1

    def take_in(self, question: Question, answer: Answer | int | None) -> None:
        """What an answer says, once it stands; that a no denies its label is known already."""
        item, label = question.item, question.label
        if self.trains_on[item]:
            if not self.asked[item]:
                self._asked_items.append(item)
            self.n_answers += 1
        self.asked[item] = True
        if label is None or answer is Answer.CANT_TELL:
            return
        if answer is Answer.NONE:
            self.possible[item] = False
            self._count(item)
            self.has_none[item] = True
        elif answer is Answer.NO:
            # Where every label was denied the right one is missing, or a rater erred: the item would teach nonsense.
            if self.n_possible[item] == 0:
                self.has_none[item] = True
                self.n_asked_to_end += 1
                self.n_without_label += 1
        else:
            self.n_asked_to_end += int(self.n_possible[item] == 1)
            self.confirmed[item] = True
            self.possible[item] = np.arange(self.n_labels) == label
            self._count(item)
            self.verified.append(VerifiedLabel(item, label, question.id))

    def recall(self, earlier: Sequence[EarlierAnswer]) -> None:
        """Take in answers from before the run, of which none was given twice."""
        for each in earlier:
            answer = each.answer
            if each.among is not None:
                # Which of the labels that came since it has, if any, is asked, and not taken for granted.
                answer, self._asks_last[each.item] = Answer.NO, True
                for label in each.among:
                    self.deny(each.item, label)
            if answer in (Answer.NO, Answer.NONE):
                self.deny(each.item, each.label)
            elif answer is Answer.CANT_TELL:
                self.leave_open(each.item, each.label)
            self.take_in(Question(EARLIER, each.item, each.label, 1.0, 0), answer)

    def asked_items(self) -> Ints:
        """The items asked about of those that are trained on, in the order of the pool."""
        return np.sort(np.array(self._asked_items, dtype=np.int64))

    def label_shares(self) -> Floats:
        """How frequent each label is among the items asked about, by what is known of them; shape (K,).

        The maximum of the likelihood, with ``items_before`` items of each label added: an item counts for its label,
        and one with several left counts for each in proportion to its share (expectation maximisation).
        """
        now = self.n_answers, self.items_before
        if self._shares is None or self._shares[0] != now:
            self._shares = now, self.likeliest_shares(self.items_before)
        return self._shares[1]

    def likeliest_shares(self, before: float) -> Floats:
        """The same, with ``before`` items of each label added."""
        items = self.taught()
        label = self.label[items]
        counts = np.bincount(label[label >= 0], minlength=self.n_labels) + before
        item, denied = np.nonzero(~self.possible[items[label < 0]])
        n_unknown = int((label < 0).sum())
        # From equal shares: from those of the confirmed, labels that were asked about more would stay ahead.
        shares: Floats = np.full(self.n_labels, 1 / self.n_labels)
        for _ in range(SHARE_STEPS):
            left = 1 - np.bincount(item, weights=shares[denied], minlength=n_unknown)
            times = 1 / np.maximum(left, np.finfo(np.float32).tiny)
            expected = shares * (times.sum() - np.bincount(denied, weights=times[item], minlength=self.n_labels))
            shares = (counts + expected) / (counts + expected).sum()
        return shares

    def fresh(self, items: Ints) -> Bools:
        """Which of ``items`` can try the classifier: a random sample, and never asked about."""
        fresh: Bools = self.is_sample[items] & ~self.asked[items]
        return fresh

    def n_of_each_label(self) -> Ints:
        """How many items are known to have each label; shape (K,)."""
        label = self.label[self.asked_items()]
        return np.bincount(label[label >= 0], minlength=self.n_labels)

    def askable(self, items: Ints | int) -> Bools:
        """Which labels of ``items`` may be asked about: neither denied, nor asked before; shape (..., K)."""
        askable: Bools = self.possible[items] & ~self._unsure[items]
        return askable

    def is_open(self, item: int) -> bool:
        """Whether a further question about the item can teach something."""
        return bool(self._n_askable[item] > 0 and (self.n_possible[item] > 1 or self._asks_last[item]))

    def unknown(self, items: Ints | slice) -> Bools:
        """Which of ``items`` are trained on, and have a label that is worth asking about."""
        worth = (self.n_possible[items] > 1) | (self._asks_last[items] & ~self.confirmed[items])
        open_ones = self.trains_on[items] & ~self.has_none[items] & ~self.left[items]
        unknown: Bools = open_ones & worth & (self._n_askable[items] > 0)
        return unknown

    def taught(self) -> Ints:
        """The items that a model can learn from."""
        items = self.asked_items()
        # Where every label is possible nothing but can't tell was said.
        of_no_use = self.has_none[items] | self.left[items]
        return items[~of_no_use & (self.n_possible[items] < self.n_labels)]

    def granted(self) -> Ints:
        """The items whose last label is taken for granted, since all others were denied."""
        asked = self.asked_items()
        settled = self.confirmed[asked] | self.left[asked] | self._asks_last[asked]
        granted: Ints = asked[self.trains_on[asked] & ~settled & (self.n_possible[asked] == 1)]
        return granted

    def may_be_left(self, items: Ints) -> Ints:
        """Those of ``items`` that may be left: asked about, without an end yet, and not ``never_left``."""
        settled = self.confirmed[items] | self.has_none[items] | self.left[items]
        return items[self.asked[items] & ~settled & ~self.never_left[items]]

    def lessons(self, x: Examples, items: Ints, n_answers: int) -> Known:
        """All that a model can learn from ``items``."""
        return Known(take(x, items), self.possible[items], n_answers)
