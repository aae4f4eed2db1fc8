"""Audits: is the classifier, as it is now, right? Asked on items set aside at random and never trained on."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence

from onebit.estimate.accuracy import AccuracyInterval, accuracy_interval
from onebit.estimate.delta import failure_per_audit
from onebit.learners.training.constants import AUDIT_GROWTH, MOST_AUDITS
from onebit.records import Answer


class Audits:
    """The items set aside, and the interval of the audit that is under way or was the last.

    Without a target there is one audit, at the end. With one there may be ``MOST_AUDITS``; the intervals of all hold
    at once with probability at least 1 - delta, so it does no harm to stop at the first that shows the target.
    """

    def __init__(self, aside: Sequence[int], delta: float, target: float | None) -> None:
        self.target = target
        n_audits = 1 if target is None else MOST_AUDITS
        self._delta = failure_per_audit(n_audits, delta)
        self._per_audit = math.ceil(len(aside) / n_audits)
        self.aside: deque[int] = deque(aside)
        self._n_left = n_audits
        self._allotted = self._n_yes = self._n_cant_tell = self._n_answers = 0
        self._not_before = 0.0

    @property
    def interval(self) -> AccuracyInterval:
        return accuracy_interval(self._n_yes, self._n_answers, self._delta, self._n_cant_tell)

    @property
    def reached(self) -> bool:
        """Whether the target, if there is one, is shown."""
        return self.target is None or self.interval.low >= self.target

    @property
    def over(self) -> bool:
        """Whether no training follows the audit: the target is shown, or it was the last audit."""
        return self._n_left == 0 or (self.target is not None and self.reached)

    def due(self, recent_accuracy: float | None, n_answers: int) -> bool:
        """Whether to audit in the midst of training: the target seems to be reached. One audit is left for the end."""
        hopeful = self.target is not None and recent_accuracy is not None and recent_accuracy >= self.target
        return hopeful and self._n_left > 1 and n_answers >= self._not_before

    def begin(self, n_answers: int, last: bool) -> None:
        """Begin an audit of the classifier as it is now; ``last``: no training follows."""
        self._n_yes = self._n_cant_tell = self._n_answers = 0
        self._n_left = 0 if last else self._n_left - 1
        self._allotted = len(self.aside) if last else min(self._per_audit, len(self.aside))
        self._not_before = AUDIT_GROWTH * n_answers

    def take(self, n_most: int) -> list[int]:
        """The next items of this audit; none if it is over.

        It is over when its items are used up, when the target is shown, or when the target is shown to be missed and
        training can go on.
        """
        interval = self.interval
        shown = self.target is not None and interval.low >= self.target
        missed = self.target is not None and interval.high < self.target and self._n_left > 0
        n_items = 0 if shown or missed else min(n_most, self._allotted - self._n_answers)
        return [self.aside.popleft() for _ in range(n_items)]

    def record(self, answer: Answer) -> None:
        self._n_answers += 1
        self._n_yes += answer is Answer.YES
        self._n_cant_tell += answer is Answer.CANT_TELL
