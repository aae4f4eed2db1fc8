"""``verify``: everything that a study states, recomputed from its log, table and seed, and compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from onebit.errors import InvalidInputError
from onebit.estimate.accuracy import accuracy_interval
from onebit.learners.training.constants import MOST_AUDITS
from onebit.learners.training.model import mean_belief
from onebit.log.chain import Head, digests
from onebit.log.events import Asked, Checked, Created, Event, LogError, OtherVersionError
from onebit.log.fold import Course
from onebit.records import Answer, EpochPlan, RunStatus, TrainingSetting
from onebit.store.store import Entry, Store
from onebit.study.about import About, about_from_json
from onebit.study.cards import Desk
from onebit.study.checks import Checks
from onebit.study.learners import Selection
from onebit.study.proof import end_differences, prove_selection, replayed
from onebit.study.seal import about_digest, shown_digest
from onebit.study.status import summary_of
from onebit.study.tasks import Task, build_task
from onebit.study.training import Training, read_features
from onebit.verify.certificate import Verdict


@dataclass(frozen=True, slots=True)
class Audit:
    """Whether a study bears out what it says; ``problems`` are sentences.

    ``verdict`` is the recomputed certificate; None for learners that give none, or where the replay failed already.
    ``stated_eps`` is the certified eps as the study tells it. ``accuracy`` is the recomputed interval of a classifier
    that was trained and audited. The log has ``n_events`` events, for which ``log_digest`` stands.
    """

    ok: bool
    problems: tuple[str, ...]
    n_events: int
    log_digest: str = ""
    verdict: Verdict | None = None
    accuracy: tuple[float, float] | None = None
    stated_eps: float | None = None


def verify_study(
    storage: str, name: str, progress: Callable[[int, int], None] | None = None, digest: str | None = None
) -> Audit:
    """Check the store's own order, the chain and the fold of the log, its replay, and all that it states.

    ``digest`` is one that was told of this log before: it must still be on the way to where the log ends. Nothing is
    written to the log; a store of an older version is upgraded, as by anyone who opens it.
    """
    with Store(storage) as store:
        store.check()
        entry = store.entry(name)
        try:
            log = store.log(entry.id)
        except OtherVersionError:
            raise
        except LogError as error:
            return Audit(False, (str(error),), entry.n_events)
        created = log.events[0] if log.events else None
        if not isinstance(created, Created):
            raise InvalidInputError(f"the study {name!r} has no log")
        problems = [*digest_faults(log.events, log.head, digest), *_seal_faults(store, entry, created)]
        if problems:
            return _audit(log.head, problems)
        about = about_from_json(entry.about)
        task, _ = build_task(store, entry.id, log.events, about)
        if isinstance(task, Training):
            features = read_features(store, entry.id, created.table)
            return _verify_training(log.head, log.events, about, task, features)
    if not isinstance(task, Selection):
        raise TypeError(f"a study of kind {created.kind} has a task {type(task).__name__}")
    return _verify_selection(log.head, log.events, about, task, progress)


def digest_faults(log: Sequence[Event], head: Head, kept: str | None) -> list[str]:
    """Whether the events are all that was linked, and whether a digest that somebody kept is one of this log."""
    found = digests(log)
    if found[-1] != head.digest:
        return ["an event of the log holds something that onebit does not write; the log was changed and linked anew"]
    if kept is None or kept in found:
        return []
    return [
        f"the digest {kept} is none of this log, neither of its end nor of an earlier event: the log was written "
        "anew since it was told, or it is that of another log"
    ]


def _audit(
    head: Head,
    problems: Sequence[str],
    verdict: Verdict | None = None,
    accuracy: tuple[float, float] | None = None,
) -> Audit:
    return Audit(not problems, tuple(problems), head.n_events, head.digest, verdict, accuracy)


def _seal_faults(store: Store, entry: Entry, created: Created) -> Iterator[str]:
    """What raters are told and shown, and the sizes of the table, against the first event."""
    if about_digest(entry.about) != created.about:
        yield (
            "what raters are told (instructions, labels, gold, names of models) is not what the study was created with"
        )
        return
    about, facts = about_from_json(entry.about), created.table
    if shown_digest(store, entry.id) != created.shown:
        yield "what raters are shown of the items is not what the study was created with"
    if (facts.n_models, facts.n_labels) != (len(about.models), len(about.labels)):
        yield (
            f"the log begins with {facts.n_models} models and {facts.n_labels} labels; the study has "
            f"{len(about.models)} and {len(about.labels)}"
        )


def _verify_selection(
    head: Head, log: Sequence[Event], about: About, task: Selection, progress: Callable[[int, int], None] | None
) -> Audit:
    proof = prove_selection(log, task, progress)
    if proof.course is None or proof.result is None:
        return _audit(head, proof.problems)
    summary = summary_of(about, proof.result)
    problems = [
        *proof.problems,
        *end_differences(proof.course.finished, proof.result, summary),
        *_check_faults(proof.course.created, about, task, log),
    ]
    suspended = proof.result.status is RunStatus.SUSPENDED
    stated = None if suspended else summary["certified_eps"]
    return replace(_audit(head, problems, proof.verdict), stated_eps=stated)


def _check_faults(created: Created, about: About, task: Task, log: Sequence[Event]) -> Iterator[str]:
    """Where raters were not checked as the study was created to: which check comes when is drawn by the seed."""
    desk = Desk(created.overlap, about.lease_seconds)
    checks = Checks(about, task, created.setting.seed)
    for number, event in enumerate(log):
        if isinstance(event, Checked) and checks.next(event.rater, desk) != event:
            yield f"event {number} checks {event.rater!r} by a question that was not due"
            return
        if isinstance(event, Asked) and event.rater is not None and checks.next(event.rater, desk) is not None:
            yield f"event {number} gives {event.rater!r} a new question where a check was due"
            return
        desk.take(event)


def _verify_training(head: Head, log: Sequence[Event], about: About, task: Training, features: np.ndarray) -> Audit:
    proof = replayed(log, task.learner)
    course, result = proof.course, proof.result
    if course is None or result is None or not isinstance(course.created.setting, TrainingSetting):
        return _audit(head, proof.problems)
    last = _last_audit(course.plans)
    accuracy = _interval(course, course.created.setting, last)
    problems = [
        *_audit_faults(course, last),
        *_guess_faults(task, features, last),
        *end_differences(course.finished, result, summary_of(about, result)),
        *_check_faults(course.created, about, task, log),
    ]
    if course.finished is not None:
        said = course.finished.summary.get("accuracy")
        if said != (None if accuracy is None else list(accuracy)):
            problems.append(f"the log ends with the accuracy {said}, and the answers show {accuracy}")
    return _audit(head, problems, accuracy=accuracy)


def _last_audit(plans: Sequence[EpochPlan]) -> list[EpochPlan]:
    """The epochs at the end of a log that audit the model as it is."""
    n_last = next((n for n, plan in enumerate(reversed(plans)) if not plan.audits), len(plans))
    return list(plans[len(plans) - n_last :])


def _interval(course: Course, setting: TrainingSetting, last: Sequence[EpochPlan]) -> tuple[float, float] | None:
    """The interval from the answers of the last audit."""
    numbers = {plan.number for plan in last}
    pairs = zip(course.questions, course.answers, strict=True)
    said = [answer for question, answer in pairs if question.epoch in numbers and answer is not None]
    if not said:
        return None
    share = setting.delta / (1 if setting.target is None else MOST_AUDITS)
    n_yes, n_cant_tell = (sum(answer is each for answer in said) for each in (Answer.YES, Answer.CANT_TELL))
    found = accuracy_interval(n_yes, len(said), share, n_cant_tell)
    return found.low, found.high


def _audit_faults(course: Course, last: Sequence[EpochPlan]) -> Iterator[str]:
    """Audits ask about what the model says, on items that were not asked about before."""
    numbers = {plan.number for plan in last}
    before = {question.item for question in course.questions if question.epoch not in numbers}
    for question in course.questions:
        if question.epoch in numbers and question.item in before:
            yield f"question {question.id} audits item {question.item}, which was asked about before"
    for plan in course.plans:
        if plan.audits and plan.labels != plan.guesses:
            yield f"epoch {plan.number} audits, and asks about other labels than the classifier's"


def _guess_faults(task: Training, features: np.ndarray, last: Sequence[EpochPlan]) -> Iterator[str]:
    """The labels of the last audit must be those that the classifier gives."""
    for plan in last:
        found = mean_belief(task.model, features[list(plan.items)]).argmax(axis=1)
        n_other = int((found != np.array(plan.guesses)).sum())
        if n_other:
            yield (
                f"epoch {plan.number} audits {len(plan.items)} labels, of which {n_other} are not those that the "
                "classifier gives: the log was changed, or the model comes out otherwise on this machine"
            )
