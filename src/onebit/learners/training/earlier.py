"""Answers from before a run: checked, kept, and recalled where the same would be asked again."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from onebit.errors import InvalidInputError, shown
from onebit.records import Answer, Question

#: What an answer may be written as.
WRITTEN: dict[Any, Answer] = {True: Answer.YES, False: Answer.NO, None: Answer.CANT_TELL} | {
    each.value: each for each in Answer
}

#: Where nothing is said of which list of labels a None of these was about.
NOT_SAID: Mapping[int, Sequence[Any]] = {}


@dataclass(frozen=True)
class EarlierAnswer:
    """An answer from before the run. ``audited``: it was asked to see how good a classifier is, not to train on.

    ``among``: the labels of which the item has none, where labels came since; None where they are all that there are.
    """

    item: int
    label: int
    answer: Answer
    audited: bool = False
    among: tuple[int, ...] | None = None


class Remembered:
    """What is known of a question without asking. If ``one_is_right`` at most, a yes is a no to all other labels."""

    def __init__(self, earlier: Sequence[EarlierAnswer], one_is_right: bool) -> None:
        self._said = {(each.item, each.label): each.answer for each in earlier}
        for each in earlier:
            if each.among is not None:
                # Labels that came since may be right.
                denied = each.among if one_is_right else (each.label,)
                self._said |= {(each.item, label): Answer.NO for label in denied}
        confirmed = {each.item for each in earlier if each.answer is Answer.YES}
        none = {each.item for each in earlier if each.answer is Answer.NONE and each.among is None}
        self._confirmed, self._none = (confirmed, none) if one_is_right else (set[int](), set[int]())

    def of(self, question: Question) -> Answer | None:
        """The answer to a question; None if it must be asked."""
        said = self._said.get((question.item, question.label or 0))
        if said is None and question.item in self._none:
            return Answer.NONE
        return Answer.NO if said is None and question.item in self._confirmed else said


def checked(
    answers: Iterable[Sequence[Any]],
    labels: Sequence[Any],
    n_items: int,
    raters_err: bool = False,
    none_of: Mapping[int, Sequence[Any]] = NOT_SAID,
) -> list[EarlierAnswer]:
    """Each (row, label, answer) or (row, label, answer, audited), once; InvalidInputError for what cannot be.

    They are of ``History.of``, so each has three or four parts; ``none_of`` is that of the history.
    """
    number = {label: at for at, label in enumerate(labels)}
    found: dict[tuple[int, int], EarlierAnswer] = {}
    settled: dict[int, list[EarlierAnswer]] = {}
    for each in answers:
        new = _checked_one(each, number, n_items)
        if new.answer is Answer.NONE:
            listed = none_of.get(new.item, labels)
            among = tuple(number[label] for label in listed if label in number)
            new = replace(new, among=among if len(among) < len(labels) else None)
        if found.setdefault((new.item, new.label), new) != new:
            raise InvalidInputError(f"row {new.item} and label {each[1]!r} have two earlier answers; say which counts")
        if new.answer not in (Answer.YES, Answer.NONE):
            continue
        others = settled.setdefault(new.item, [])
        # An audit may ask about an item again, when the prediction has changed, and raters who err say yes twice.
        other = None if raters_err and new.audited else next((one for one in others if not _agree(new, one)), None)
        others.append(new)
        if other is not None:
            said = " and ".join(f"{labels[one.label]!r} has {one.answer.value!r}" for one in (other, new))
            raise InvalidInputError(
                f"of the earlier answers about row {new.item}, {said}; each row has at most one right label, so leave "
                "one of them out"
            )
    return list(found.values())


def _agree(one: EarlierAnswer, other: EarlierAnswer) -> bool:
    """Whether two answers that settle an item can both be right."""
    if one.answer is other.answer:
        return one.answer is Answer.NONE or one.label == other.label
    none, yes = (one, other) if one.answer is Answer.NONE else (other, one)
    return none.among is not None and yes.label not in none.among


def _checked_one(each: Sequence[Any], number: dict[Any, int], n_items: int) -> EarlierAnswer:
    row, label, said = each[:3]
    if not isinstance(row, int | np.integer) or not 0 <= row < n_items:
        raise InvalidInputError(f"the earlier answer {shown(each)} is about row {row!r}; there are {n_items} rows")
    if not isinstance(label, Hashable) or label not in number:
        raise InvalidInputError(
            f"the earlier answer {shown(each)} is about {label!r}, which is none of the labels; labels may be added "
            "since, but those that have answers must stay, so give it among the labels"
        )
    answer = said if isinstance(said, Answer) else WRITTEN.get(said) if isinstance(said, Hashable) else None
    if answer is None:
        raise InvalidInputError(f"the earlier answer {shown(each)} must be True, False, None or an Answer")
    audited = each[3] if len(each) == 4 else False
    if not isinstance(audited, bool | np.bool_):
        raise InvalidInputError(f"the earlier answer {shown(each)} says {audited!r} for audited; give True or False")
    return EarlierAnswer(int(row), number[label], answer, bool(audited))
