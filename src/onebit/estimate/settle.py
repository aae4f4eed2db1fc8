"""Brings the rounds that were drawn again together with the questions and answers of a log."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass

from onebit.estimate.redraw import Round
from onebit.records import Answer, Question

Given = Answer | int | None

#: Propensities may differ by this share of them, since sums are rounded.
TOLERANCE = 1e-12


@dataclass(frozen=True, eq=False)
class Settled:
    """A round with its answers: ``found`` is the label that got a yes, or was given; None if there was none.

    In one-shot ``found`` None means that the one label asked, if any, got a no.
    """

    round: Round
    found: int | None
    can_tell: bool = True

    @property
    def is_nil(self) -> bool:
        """Whether all differences between survivors are 0."""
        return self.round.is_nil or not self.can_tell


class Answers:
    """The questions of an epoch with their answers, given out to the rounds that drew them.

    A round that draws what an earlier one drew has its answer, unless ``each_anew``.
    """

    def __init__(self, asked: Sequence[tuple[Question, Given]], each_anew: bool) -> None:
        self._each_anew = each_anew
        self._unclaimed: dict[tuple[int, int | None], deque[tuple[Question, Given]]] = defaultdict(deque)
        for question, answer in asked:
            self._unclaimed[question.item, question.label].append((question, answer))
        self._claimed: dict[tuple[int, int | None], Given] = {}
        #: What is wrong with the questions given out so far.
        self.faults: list[str] = []

    def unclaimed(self) -> list[Question]:
        """The questions that no round drew."""
        return [question for asked in self._unclaimed.values() for question, _ in asked]

    def settle(self, drawn: Round) -> Settled | None:
        """The outcome of a round, which asks until an answer decides it; None while an answer is missing."""
        for label in drawn.to_ask:
            answer = self._answer(drawn, label)
            if answer is None:
                return None
            if answer is Answer.CANT_TELL:
                return Settled(drawn, None, can_tell=False)
            if answer is Answer.YES:
                return Settled(drawn, label)
            if not isinstance(answer, Answer):
                return Settled(drawn, answer)
        return Settled(drawn, None)

    def _answer(self, drawn: Round, label: int | None) -> Given:
        key = drawn.item, label
        if key in self._claimed and not self._each_anew:
            return self._claimed[key]
        if not self._unclaimed[key]:
            return None
        question, self._claimed[key] = self._unclaimed[key].popleft()
        propensity = drawn.propensity(label)
        # Written so that NaN is a fault too.
        if not abs(question.propensity - propensity) <= TOLERANCE * propensity:
            self.faults.append(
                f"question {question.id} of epoch {question.epoch} says that it was asked with probability "
                f"{question.propensity!r}; it was {propensity!r}"
            )
        return self._claimed[key]
