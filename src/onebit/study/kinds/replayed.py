"""A log replayed by its learner, and where what was told is not what was recomputed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from onebit.errors import OnebitError, shown
from onebit.learners.contract import Learner, Result
from onebit.log.events import Event, Finished
from onebit.log.fold import Course
from onebit.log.recorder import replay
from onebit.study.constants import CLOSE


@dataclass(frozen=True, eq=False)
class Replayed:
    """What a log shows, and sentences on what is wrong with it.

    ``course`` is what is in force, ``result`` what the learner says; each is None where it could not be had.
    """

    problems: list[str]
    course: Course | None = None
    result: Result | None = None


def replayed(log: Sequence[Event], learner: Learner[Any]) -> Replayed:
    """Replay a log into a fresh learner."""
    try:
        course = replay(log, learner).course
    except OnebitError as error:
        return Replayed([str(error)])
    return Replayed([], course, learner.read(closes=False)())


def end_differences(finished: Finished | None, result: Result, summary: Mapping[str, Any]) -> list[str]:
    """Where the end of a log says something else than was recomputed."""
    if finished is None:
        return []
    told = {"status": finished.status.name.lower(), "summary": finished.summary}
    return differences("the end of the log", told, {"status": result.status.name.lower(), "summary": summary})


def differences(what: str, told: Any, found: Any, at: str = "") -> list[str]:
    """Sentences on where two pieces of JSON differ; ``what`` says ``told``, and ``found`` was recomputed.

    >>> differences("the report", {"eps": 0.1, "n": 3}, {"eps": 0.2, "n": 3})
    ['the report says that eps is 0.1; recomputed it is 0.2']
    """
    if isinstance(told, Mapping) and isinstance(found, Mapping):
        names = sorted({*told, *found}, key=str)
        return [
            sentence
            for name in names
            for sentence in differences(what, told.get(name, _NONE), found.get(name, _NONE), f"{at} {name}".strip())
        ]
    if isinstance(told, list | tuple) and isinstance(found, list | tuple) and len(told) == len(found):
        pairs = enumerate(zip(told, found, strict=True))
        each = (differences(what, a, b, f"{at} {place}".strip()) for place, (a, b) in pairs)
        return next((sentences for sentences in each if sentences), [])
    if _is_same(told, found):
        return []
    return [f"{what} says that {at or 'it'} is {shown(told)}; recomputed it is {shown(found)}"]


class _Missing:
    def __repr__(self) -> str:
        return "missing"


_NONE = _Missing()


def _is_same(told: Any, found: Any) -> bool:
    if isinstance(told, float | int) and isinstance(found, float | int) and bool not in (type(told), type(found)):
        return math.isclose(told, found, rel_tol=CLOSE, abs_tol=CLOSE)
    return type(told) is type(found) and bool(told == found)
