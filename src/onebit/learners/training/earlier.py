"""Answers from before a run: checked, kept, and recalled where the same would be asked again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from onebit.errors import InvalidInputError, shown
from onebit.records import Answer, Question

#: What an answer may be written as.
WRITTEN = {True: Answer.YES, False: Answer.NO, None: Answer.CANT_TELL} | {each.value: each for each in Answer}


@dataclass(frozen=True)
class EarlierAnswer:
    """An answer from before the run. ``audited``: it was asked to see how good a classifier is, not to train on."""

    item: int
    label: int
    answer: Answer
    audited: bool = False


class Remembered:
    """What is known of a question without asking. If ``one_is_right`` at most, a yes is a no to all other labels."""

    def __init__(self, earlier: Sequence[EarlierAnswer], one_is_right: bool) -> None:
        self._said = {(each.item, each.label): each.answer for each in earlier}
        confirmed = {each.item for each in earlier if each.answer is Answer.YES}
        none = {each.item for each in earlier if each.answer is Answer.NONE}
        self._confirmed, self._none = (confirmed, none) if one_is_right else (set[int](), set[int]())

    def of(self, question: Question) -> Answer | None:
        """The answer to a question; None if it must be asked."""
        said = self._said.get((question.item, question.label or 0))
        if said is None and question.item in self._none:
            return Answer.NONE
        return Answer.NO if said is None and question.item in self._confirmed else said


def checked(answers: Iterable[Sequence[Any]], labels: Sequence[Any], n_items: int) -> list[EarlierAnswer]:
    """Each (row, label, answer) or (row, label, answer, audited), once; InvalidInputError for what cannot be."""
    number = {label: at for at, label in enumerate(labels)}
    found: dict[tuple[int, int], EarlierAnswer] = {}
    for each in answers:
        if len(each) not in (3, 4):
            raise InvalidInputError(f"the earlier answer {shown(each)} must have a row, a label and an answer")
        row, label, said = each[:3]
        if not isinstance(row, int | np.integer) or not 0 <= row < n_items:
            raise InvalidInputError(f"the earlier answer {shown(each)} is about row {row!r}; there are {n_items} rows")
        if label not in number:
            raise InvalidInputError(f"the earlier answer {shown(each)} is about {label!r}, which is none of the labels")
        answer = said if isinstance(said, Answer) else WRITTEN.get(said)
        if answer is None:
            raise InvalidInputError(f"the earlier answer {shown(each)} must be True, False, None or an Answer")
        new = EarlierAnswer(int(row), number[label], answer, bool(each[3]) if len(each) == 4 else False)
        if found.setdefault((new.item, new.label), new) != new:
            raise InvalidInputError(f"row {row} and label {label!r} have two earlier answers; say which counts")
    return list(found.values())
