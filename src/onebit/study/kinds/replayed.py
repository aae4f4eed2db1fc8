"""A selection held against its log: replayed by the learner, and recomputed by code that shares nothing with it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from onebit.errors import OnebitError, shown
from onebit.learners.certified.statement import CertifiedResult
from onebit.learners.contract import Learner, Result
from onebit.log.events import Event, Finished
from onebit.log.fold import Course
from onebit.log.recorder import replay
from onebit.study.constants import CLOSE, TOLD_INTERVAL, TOLD_TO
from onebit.study.kinds.selection.selectors import Selected
from onebit.verify.audit import Verdict
from onebit.verify.certificate import verify as verify_certificate


@dataclass(frozen=True, eq=False)
class Replayed:
    """What a log shows, and sentences on what is wrong with it.

    ``course`` is what is in force, ``result`` what the learner says, ``verdict`` the certificate recomputed; each is
    None where it could not be had.
    """

    problems: list[str]
    course: Course | None = None
    result: Result | None = None
    verdict: Verdict | None = None


def replayed(log: Sequence[Event], learner: Learner[Any]) -> Replayed:
    """Replay a log into a fresh learner."""
    try:
        course = replay(log, learner).course
    except OnebitError as error:
        return Replayed([str(error)])
    return Replayed([], course, learner.read(closes=False)())


def prove_selection(
    log: Sequence[Event], selection: Selected, progress: Callable[[int, int], None] | None = None
) -> Replayed:
    """Replay a selection and, with the certified learner, recompute its certificate."""
    found = replayed(log, selection.learner)
    course, result = found.course, found.result
    if course is None or not isinstance(result, CertifiedResult):
        return found
    verdict = verify_certificate(
        course.created.selection,
        selection.predictions,
        course.created.table.n_labels,
        course.records,
        course.questions,
        course.answers,
        course.closings,
        progress,
        selection.judge,
    )
    problems = [*verdict.problems, *(_disagreements(verdict, result) if verdict.ok else ())]
    if not problems:
        problems = interval_faults(verdict, result)
    return Replayed(problems, course, result, verdict)


def _disagreements(verdict: Verdict, result: CertifiedResult) -> list[str]:
    """Where the learner says something else than the certificate recomputed."""
    problems = differences(
        "the learner",
        {
            "chosen": list(result.names),
            "survivors": list(result.survivors),
            "rounds": result.n_rounds,
            "free rounds": result.n_free_rounds,
            "answers": result.n_answers,
            "gate": [each.verdict for each in result.gate],
            "placings": [asdict(each) for each in result.placings],
        },
        {
            "chosen": list(verdict.names),
            "survivors": list(verdict.survivors),
            "rounds": verdict.n_rounds,
            "free rounds": verdict.n_free_rounds,
            "answers": verdict.n_answers,
            "gate": [each.verdict for each in verdict.gate],
            "placings": [asdict(each) for each in verdict.placings],
        },
    )
    for told, found in zip(result.gate, verdict.gate, strict=False):
        for name in ("behind_at_most", "ahead_at_most"):
            if not getattr(told, name) >= getattr(found, name) - TOLD_TO:
                problems.append(
                    f"the learner says that model {told.candidate} is {name.replace('_', ' ')} {getattr(told, name)}; "
                    f"recomputed it is {getattr(found, name)}"
                )
    eps = result.achieved_eps
    if eps is None or not eps >= verdict.certified_eps - TOLD_TO:
        problems.append(f"the learner says that the certified eps is {eps}; recomputed it is {verdict.certified_eps}")
    return problems


def interval_faults(verdict: Verdict, result: CertifiedResult) -> list[str]:
    """Where the intervals of models that the learner tells are not those recomputed; one sentence for each end."""
    if verdict.accepted is None or result.measure is None or result.achieved_eps is None:
        return []
    told, found = result.measure(), verdict.accepted()
    # Nobody is ahead by more than the certificate says.
    most = result.achieved_eps
    pairs = {
        "accepted, share": (told.shares, found.shares, 1.0),
        "accepted, difference to the chosen one": (told.ahead, found.ahead, most),
    }
    problems = []
    for what, (one, other, bound) in pairs.items():
        for name, part in (("low", "low end"), ("high", "high end"), ("estimate", "estimate")):
            mine, recomputed = getattr(one, name), np.minimum(getattr(other, name), bound)
            differs = ~np.isclose(mine, recomputed, rtol=0.0, atol=TOLD_INTERVAL, equal_nan=True)
            if differs.any():
                model = int(np.flatnonzero(differs)[0])
                problems.append(
                    f"the learner says of model {model} ({what}) that the {part} is {mine[model]}; recomputed it "
                    f"is {recomputed[model]}"
                )
    return problems


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
