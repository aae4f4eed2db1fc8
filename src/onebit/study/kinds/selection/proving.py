"""A selection held against its log: replayed by the learner, and recomputed by code that shares nothing with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from onebit.learners.certified.statement import CertifiedResult
from onebit.log.events import Event
from onebit.study.constants import TOLD_INTERVAL, TOLD_TO
from onebit.study.kinds.replayed import Replayed, differences, replayed
from onebit.study.kinds.selection.selectors import Selected
from onebit.verify.audit import Verdict
from onebit.verify.certificate import verify as verify_certificate


@dataclass(frozen=True, eq=False)
class Proved(Replayed):
    """``verdict`` is the certificate recomputed; None where there is none."""

    verdict: Verdict | None = None


def prove_selection(
    log: Sequence[Event], selection: Selected, progress: Callable[[int, int], None] | None = None
) -> Proved:
    """Replay a selection and, with the certified learner, recompute its certificate."""
    found = replayed(log, selection.learner)
    course, result = found.course, found.result
    if course is None or not isinstance(result, CertifiedResult):
        return Proved(found.problems, course, result)
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
    return Proved(problems, course, result, verdict)


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
