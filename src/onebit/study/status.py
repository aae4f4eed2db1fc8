"""What is known about a study now, in the names of models and raters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from onebit.learners.certified.statement import CertifiedResult
from onebit.learners.contract import BoundedResult, Result
from onebit.learners.training.learner import TrainingResult, missing_label
from onebit.log.chain import Head
from onebit.log.events import Created
from onebit.records import RunStatus, Setting, TrainingSetting
from onebit.study.about import About
from onebit.study.quality import Quality, RaterQuality, warnings


@dataclass(frozen=True, slots=True)
class StudyStatus:
    """The state of a study.

    No model is ahead of ``chosen`` by more than ``certified_eps``, as ``promise`` says; ``survivors`` may be the best.
    ``forecast`` is how many more answers are needed: low, middle, high. Values that are not known yet are None. The
    log has ``n_events`` events, for which ``log_digest`` stands.
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
    n_events: int
    log_digest: str


@dataclass(frozen=True, slots=True)
class LearningStatus:
    """The state of a study that trains a classifier.

    ``accuracy`` (low, high) holds for the classifier as it is now, as ``promise`` says; None if it was trained since
    the last audit. ``recent_accuracy`` estimates it without a promise, and ``progress`` has that estimate for numbers
    of answers so far. ``n_verified`` labels were confirmed; ``yes_rate`` is the share of yes among the last answers. Of
    ``n_asked_to_end`` items that were asked about until the last label, ``n_without_label`` have none of the labels.
    The log has ``n_events`` events, for which ``log_digest`` stands.
    """

    name: str
    status: RunStatus
    promise: str
    protocol: str
    budget: int
    target: float | None
    delta: float
    accuracy: tuple[float, float] | None
    recent_accuracy: float | None
    yes_rate: float | None
    n_verified: int
    n_items: int
    n_labels: int
    n_answers: int
    n_open: int
    n_cant_tell: int
    n_asked_to_end: int
    n_without_label: int
    progress: tuple[tuple[int, float], ...]
    raters: tuple[RaterQuality, ...]
    warnings: tuple[str, ...]
    n_events: int
    log_digest: str


def status_of(
    name: str, created: Created, about: About, result: Result, n_open: int, quality: Quality, head: Head
) -> StudyStatus | LearningStatus:
    """Put together what the learner knows and what is known about raters."""
    setting = created.setting
    if isinstance(setting, TrainingSetting):
        if not isinstance(result, TrainingResult):
            raise TypeError(f"the result of a learning study is {type(result).__name__}")
        return _learning_status(name, created, setting, result, n_open, quality, head)
    return _selection_status(name, created, setting, about, _bounded(result), n_open, quality, head)


def _bounded(result: Result) -> BoundedResult:
    """The result of a selection: every learner of one bounds the excess error."""
    if not isinstance(result, BoundedResult):
        raise TypeError(f"the result of a selection is {type(result).__name__}")
    return result


def _learning_status(
    name: str,
    created: Created,
    setting: TrainingSetting,
    result: TrainingResult,
    n_open: int,
    quality: Quality,
    head: Head,
) -> LearningStatus:
    raters, missing = quality.raters(), missing_label(result.n_without_label, result.n_asked_to_end)
    return LearningStatus(
        name=name,
        status=result.status,
        promise=result.promise,
        protocol=setting.protocol,
        budget=setting.budget,
        target=setting.target,
        delta=setting.delta,
        accuracy=None if result.accuracy is None else (result.accuracy.low, result.accuracy.high),
        recent_accuracy=result.recent_accuracy,
        yes_rate=result.recent_yes_rate,
        n_verified=len(result.verified),
        n_items=created.table.n_items,
        n_labels=created.table.n_labels,
        n_answers=result.n_answers,
        n_open=n_open,
        n_cant_tell=result.n_cant_tell,
        n_asked_to_end=result.n_asked_to_end,
        n_without_label=result.n_without_label,
        progress=result.progress,
        raters=raters,
        # Answers are taken to be right, so any error that is sure is worth a word.
        warnings=(*warnings(raters, 0.0, 0.0, created.overlap), *([] if missing is None else [missing])),
        n_events=head.n_events,
        log_digest=head.digest,
    )


def _selection_status(
    name: str,
    created: Created,
    setting: Setting,
    about: About,
    result: BoundedResult,
    n_open: int,
    quality: Quality,
    head: Head,
) -> StudyStatus:
    # What is known of a run that was suspended rests on what was found not to hold.
    is_shown = result.status is not RunStatus.SUSPENDED
    certified = result if isinstance(result, CertifiedResult) else None
    raters = quality.raters()
    forecast = None if certified is None else certified.forecast
    return StudyStatus(
        name=name,
        status=result.status,
        promise=result.promise,
        eps=setting.eps,
        certified_eps=result.achieved_eps if is_shown else None,
        chosen=_chosen(about, result) if is_shown else (),
        survivors=None if certified is None or not is_shown else tuple(about.models[h] for h in certified.survivors),
        n_models=created.table.n_models,
        n_items=created.table.n_items,
        n_answers=result.n_rounds if certified is None else certified.n_answers,
        n_open=n_open,
        n_cant_tell=None if certified is None else certified.n_cant_tell,
        forecast=None if forecast is None else (forecast.low, forecast.middle, forecast.high),
        raters=raters,
        warnings=tuple(warnings(raters, setting.f_no, setting.f_yes, created.overlap)),
        n_events=head.n_events,
        log_digest=head.digest,
    )


def summary_of(about: About, result: Result) -> dict[str, Any]:
    """What the last event of a study says."""
    if isinstance(result, TrainingResult):
        accuracy = result.accuracy
        return {
            "accuracy": None if accuracy is None else [accuracy.low, accuracy.high],
            "n_answers": result.n_answers,
            "n_verified": len(result.verified),
            "promise": result.promise,
        }
    certified = result if isinstance(result, CertifiedResult) else None
    return {
        "chosen": list(_chosen(about, result)),
        "certified_eps": _bounded(result).achieved_eps,
        "n_rounds": result.n_rounds,
        "n_answers": result.n_rounds if certified is None else certified.n_answers,
        "n_survivors": None if certified is None else len(certified.survivors),
        "promise": result.promise,
    }


def _chosen(about: About, result: Result) -> tuple[str, ...]:
    if isinstance(result, CertifiedResult):
        return tuple(about.models[h] for h in result.names)
    return () if result.chosen is None else (about.models[int(result.chosen)],)
