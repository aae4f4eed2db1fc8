"""Raters: whoever answers "is this label right?"."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from onebit.errors import InvalidInputError
from onebit.records import Answer, Question


class SimulatedRater:
    """A rater who knows the true label of every item and never errs; asked for a label, it gives the label.

    >>> SimulatedRater([2, 0])(Question(id=0, item=1, label=2, propensity=0.5, epoch=0))
    <Answer.NO: 'no'>
    """

    def __init__(self, truth: ArrayLike) -> None:
        labels = np.asarray(truth)
        if labels.ndim != 1 or labels.dtype.kind not in "iu":
            raise InvalidInputError(
                f"the truth has shape {labels.shape} and type {labels.dtype}; give one whole number for each item"
            )
        self._truth = labels.tolist()

    def __call__(self, question: Question) -> Answer | int:
        truth: int = self._truth[question.item]
        if question.label is None:
            return truth
        return Answer.YES if question.label == truth else Answer.NO


class CallableRater:
    """A rater behind a function: ``answer(item, label)`` says True for yes, False for no, None for can't tell.

    An :class:`Answer` is taken as it is; anything else is refused, since a text such as "no" would count as true.
    """

    def __init__(self, answer: Callable[[int, int | None], bool | Answer | None]) -> None:
        self._answer = answer

    def __call__(self, question: Question) -> Answer:
        said = self._answer(question.item, question.label)
        if said is None:
            return Answer.CANT_TELL
        if isinstance(said, Answer):
            return said
        if not isinstance(said, bool | np.bool_):
            raise InvalidInputError(f"the answer was {said!r}; it must be True, False, None or an Answer")
        return Answer.YES if said else Answer.NO
