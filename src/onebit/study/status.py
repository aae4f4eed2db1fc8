"""What is known about a study now, in the names of models and raters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from onebit.learners.base import Result
from onebit.learners.certified import CertifiedResult
from onebit.records import RunStatus
from onebit.study.about import About
from onebit.study.events import Created
from onebit.study.quality import Quality, RaterQuality, warnings


@dataclass(frozen=True, slots=True)
class StudyStatus:
    """The state of a study.

    No model is ahead of ``chosen`` by more than ``certified_eps``, as ``promise`` says; ``survivors`` may be the best.
    ``forecast`` is how many more answers are needed: low, middle, high. Values that are not known yet are None.
    """

    name: str
    status: RunStatus
    promise: str
    eps: float
    certified_eps: float | None
    chosen: tuple[str, ...]
    survivors: tuple[str, ...] | None
    n_models: int
    n_items: int
    n_answers: int
    n_open: int
    n_cant_tell: int | None
    forecast: tuple[float, float, float] | None
    raters: tuple[RaterQuality, ...]
    warnings: tuple[str, ...]


def status_of(name: str, created: Created, about: About, result: Result, n_open: int, quality: Quality) -> StudyStatus:
    """Put together what the learner knows and what is known about raters."""
    certified = result if isinstance(result, CertifiedResult) else None
    raters = quality.raters()
    forecast = getattr(result, "forecast", None)
    return StudyStatus(
        name=name,
        status=result.status,
        promise=result.promise,
        eps=created.setting.eps,
        certified_eps=result.achieved_eps,
        chosen=_chosen(about, result),
        survivors=None if certified is None else tuple(about.models[h] for h in certified.survivors),
        n_models=created.table.n_models,
        n_items=created.table.n_items,
        n_answers=result.n_rounds if certified is None else certified.n_answers,
        n_open=n_open,
        n_cant_tell=None if certified is None else certified.n_cant_tell,
        forecast=None if forecast is None else (forecast.low, forecast.middle, forecast.high),
        raters=raters,
        warnings=tuple(warnings(raters, created.setting.f_no, created.setting.f_yes)),
    )


def summary_of(about: About, result: Result) -> dict[str, Any]:
    """What the last event of a study says."""
    certified = result if isinstance(result, CertifiedResult) else None
    return {
        "chosen": list(_chosen(about, result)),
        "certified_eps": result.achieved_eps,
        "n_rounds": result.n_rounds,
        "n_answers": result.n_rounds if certified is None else certified.n_answers,
        "n_survivors": None if certified is None else len(certified.survivors),
        "promise": result.promise,
    }


def _chosen(about: About, result: Result) -> tuple[str, ...]:
    if isinstance(result, CertifiedResult):
        return tuple(about.models[h] for h in result.names)
    return () if result.chosen is None else (about.models[int(result.chosen)],)
