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

    In one-shot ``found`` None means that the one label asked, if any, did not get a yes. ``contradicted`` says whether
    the check of a follow-up round contradicts "one right label"; None if nothing was checked.
    """

    round: Round
    found: int | None
    contradicted: bool | None = None


class Answers:
    """The questions of an epoch with their answers, given out to the rounds that drew them.

    A round that draws what an earlier one drew has its answer.
    """

    def __init__(self, asked: Sequence[tuple[Question, Given]]) -> None:
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
        n_noes = 0
        is_last = False
        for place, label in enumerate(drawn.to_ask):
            # Of all labels of the table this alone has not been denied.
            is_last = drawn.n_all > 0 and n_noes == drawn.n_all - 1
            if is_last and drawn.check is None:
                return Settled(drawn, label)
            answer = self._answer(drawn, label)
            if answer is None:
                return None
            if answer is Answer.YES:
                return self._checked(drawn, label, drawn.to_ask[place + 1 :], is_last)
            if not isinstance(answer, Answer):
                return Settled(drawn, answer)
            n_noes += answer is Answer.NO
        return Settled(drawn, None, True if is_last else None)

    def _checked(self, drawn: Round, found: int | None, left: tuple[int | None, ...], is_last: bool) -> Settled | None:
        """A round whose label was found: where it is checked, one of the labels that are left was asked as well."""
        if drawn.check is None or not left:
            return Settled(drawn, found, False if is_last else None)
        second = self._answer(drawn, left[int(drawn.check * len(left))])
        return None if second is None else Settled(drawn, found, second is Answer.YES)

    def _answer(self, drawn: Round, label: int | None) -> Given:
        key = drawn.item, label
        if key in self._claimed:
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
