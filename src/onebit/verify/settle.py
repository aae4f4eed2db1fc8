"""Brings the rounds that were drawn again together with the questions and answers of a log."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass

from onebit.records import Answer, Question
from onebit.verify.redraw import Round

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

    A round that draws what an earlier one drew has its answer; so has one that draws what an earlier epoch drew that
    was open when this one began, whose questions and answers are ``before``.
    """

    def __init__(self, asked: Sequence[tuple[Question, Given]], before: Sequence[tuple[Question, Given]] = ()) -> None:
        self._unclaimed: dict[tuple[int, int | None], deque[tuple[Question, Given]]] = defaultdict(deque)
        for question, answer in asked:
            self._unclaimed[question.item, question.label].append((question, answer))
        self._claimed: dict[tuple[int, int | None], Given] = {
            (question.item, question.label): answer for question, answer in before
        }
        #: What is wrong with the questions given out so far.
        self.faults: list[str] = []

    def unclaimed(self) -> list[Question]:
        """The questions that no round drew."""
        return [question for asked in self._unclaimed.values() for question, _ in asked]

    def settle(self, drawn: Round) -> Settled | None:
        """The outcome of a round, which asks until an answer decides it; None while an answer is missing."""
        possible = list(drawn.to_ask)
        for place, label in enumerate(drawn.to_ask):
            # Step 10: of all labels of the table this one alone has not been denied.
            is_implied = drawn.n_all > 0 and len(possible) == 1
            if is_implied and drawn.check is None:
                return Settled(drawn, possible[0])
            answer = self._answer(drawn, label)
            if answer is None:
                return None
            if answer is Answer.YES:
                return self._checked(drawn, label, drawn.to_ask[place + 1 :], is_implied and possible == [label])
            if not isinstance(answer, Answer):
                return Settled(drawn, answer)
            if is_implied and possible == [label]:
                return Settled(drawn, label, True if answer is Answer.NO else None)
            if answer is Answer.NO:
                possible.remove(label)
        return Settled(drawn, possible[0] if drawn.n_all > 0 and len(possible) == 1 else None)

    def _checked(
        self, drawn: Round, found: int | None, left: tuple[int | None, ...], was_implied: bool
    ) -> Settled | None:
        """A round whose label was found: where it is checked, one of the labels that are left was asked as well."""
        if drawn.check is None or not left:
            return Settled(drawn, found, False if was_implied else None)
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
