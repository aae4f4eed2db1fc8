"""Which check a rater is given next: a planted question, whose answer is known, or one the rater answered before."""

from __future__ import annotations

from onebit.log.events import Checked
from onebit.log.fold import Course
from onebit.randomness import RoundStream
from onebit.records import Answer, Question
from onebit.study.constants import APART
from onebit.study.kinds import Kind


class Checks:
    """Chooses checks. What is chosen goes into the log, so nothing here needs to be remembered or replayed."""

    def __init__(self, kind: Kind) -> None:
        self._about, self._kind = kind.about, kind
        self._uniforms = RoundStream(kind.created.setting.seed, "checks of raters")

    def next(self, rater: str, course: Course) -> Checked | None:
        """A check for this rater, with the shares that the study was created with; mostly none."""
        if not self._about.has_checks:
            return None
        kind, which, other, _ = self._uniforms.uniforms(len(course.given), 1)[0].tolist()
        if kind < self._about.gold_share:
            return self._gold(rater, course, which, other)
        if kind < self._about.gold_share + self._about.repeat_share:
            return self._repeat(rater, course, which)
        return None

    def _gold(self, rater: str, course: Course, which: float, other: float) -> Checked | None:
        given = {check.item for check in course.checks_of[rater] if check.repeats is None}
        left = [gold for gold in self._about.gold if gold.item not in given]
        if not left:
            return None
        gold = left[int(which * len(left))]
        wrong = [label for label in self._kind.plausible_labels(gold.item) if label not in gold.labels]
        # Half of the planted questions have the answer yes; more, where no model is wrong.
        if wrong and other < 0.5:
            return Checked(len(course.given), gold.item, wrong[int(2 * other * len(wrong))], rater, Answer.NO)
        # What is left of the number is uniform again, and draws one of the right labels.
        left_over = 2 * other - 1 if wrong else other
        right = gold.labels[int(left_over * len(gold.labels))]
        return Checked(len(course.given), gold.item, right, rater, Answer.YES)

    def _repeat(self, rater: str, course: Course, which: float) -> Checked | None:
        repeated = {check.repeats for check in course.checks_of[rater]}
        may = []
        for number in course.answered_by[rater][:-APART]:
            before, given = course.votes[number].get(rater), course.given[number]
            if isinstance(given, Question) and number not in repeated and before in (Answer.YES, Answer.NO):
                may.append((given, before))
        if not may:
            return None
        question, before = may[int(which * len(may))]
        if question.label is None or not isinstance(before, Answer):
            return None
        row = self._kind.row(question.item)
        return Checked(len(course.given), row, question.label, rater, before, repeats=question.id)
