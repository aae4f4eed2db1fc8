"""``verify``: replay a study's log, and recompute what it states from its table, seed and answers alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from onebit.errors import InvalidInputError, OnebitError
from onebit.estimate.accuracy import accuracy_interval
from onebit.estimate.certificate import Verdict
from onebit.estimate.certificate import verify as verify_certificate
from onebit.learners.base import Learner
from onebit.learners.training.audit import MOST_AUDITS
from onebit.records import Answer, EpochPlan, EpochRecord, Question, TrainingSetting
from onebit.study.about import about_from_json
from onebit.study.events import (
    Answered,
    Asked,
    Closed,
    Created,
    EpochBegan,
    Event,
    Finished,
    LogError,
    OtherVersionError,
    Undone,
)
from onebit.study.items import read_predictions
from onebit.study.learners import build_selection
from onebit.study.recorder import replay
from onebit.study.store import Store
from onebit.study.training import build_training, read_features


@dataclass(frozen=True, slots=True)
class Audit:
    """Whether a study bears out what it says; ``problems`` are sentences.

    ``verdict`` is the recomputed certificate; None for learners that give none, or where the replay failed already.
    ``accuracy`` is the recomputed interval of a classifier that was trained and audited.
    """

    ok: bool
    problems: tuple[str, ...]
    n_events: int
    verdict: Verdict | None = None
    accuracy: tuple[float, float] | None = None


def verify_study(storage: str, name: str, progress: Callable[[int, int], None] | None = None) -> Audit:
    """Check the store's own order, then that the log replays, then the certificate or the interval.

    Nothing is written to the log; a store of an older version is upgraded, as by anyone who opens it.
    """
    with Store(storage) as store:
        store.check()
        entry = store.entry(name)
        try:
            log = store.log(entry.id).events
        except OtherVersionError:
            raise
        except LogError as error:
            return Audit(False, (str(error),), entry.n_events)
        created = log[0] if log else None
        if not isinstance(created, Created):
            raise InvalidInputError(f"the study {name!r} has no log")
        if isinstance(created.setting, TrainingSetting):
            features = read_features(store, entry.id, created.table)
            # What was asked is in the log, so nothing need be learned to check it, and no names be read.
            training = build_training(created.setting, features, None, created.table.n_labels)
            training.learner.restore(len(log))
            return _verify_learning(created.setting, log, _failed(log, training.learner))
        predictions = read_predictions(store, entry.id, created.table, about_from_json(entry.about))
    n_labels = created.table.n_labels
    failed = _failed(log, build_selection(created.setting, created.learner, predictions, n_labels).learner)
    if failed is not None or created.learner != "certified":
        return failed or Audit(True, (), len(log))
    questions, answers = _questions_and_answers(log)
    verdict = verify_certificate(
        created.setting,
        predictions,
        n_labels,
        [each.record for each in log if isinstance(each, EpochBegan) and isinstance(each.record, EpochRecord)],
        questions,
        answers,
        [event.closing for event in log if isinstance(event, Closed)],
        progress,
    )
    return Audit(verdict.ok, verdict.problems, len(log), verdict)


def _failed(log: Sequence[Event], learner: Learner[Any]) -> Audit | None:
    """What a replay finds wrong, if anything."""
    try:
        replay(log, learner)
    except OnebitError as error:
        return Audit(False, (str(error),), len(log))
    return None


def _questions_and_answers(log: Sequence[Event]) -> tuple[list[Question], list[Answer | int | None]]:
    """The questions asked, and the answers in force."""
    answers: dict[int, Answer | int] = {}
    for event in log:
        if isinstance(event, Answered):
            answers[event.question_id] = event.answer
        elif isinstance(event, Undone):
            del answers[event.question_id]
    questions = [event.question for event in log if isinstance(event, Asked)]
    return questions, [answers.get(question.id) for question in questions]


def _verify_learning(setting: TrainingSetting, log: Sequence[Event], failed: Audit | None) -> Audit:
    """The interval from the answers of the last audit, none of whose items was asked about before."""
    if failed is not None:
        return failed
    plans = [each.record for each in log if isinstance(each, EpochBegan) and isinstance(each.record, EpochPlan)]
    n_last = next((n for n, plan in enumerate(reversed(plans)) if not plan.audits), len(plans))
    last = {plan.number for plan in plans[len(plans) - n_last :]}
    questions, answers = _questions_and_answers(log)
    before = {question.item for question in questions if question.epoch not in last}
    audited = [pair for pair in zip(questions, answers, strict=True) if pair[0].epoch in last and pair[1] is not None]
    problems = [
        f"question {question.id} audits item {question.item}, which was asked about before"
        for question, _ in audited
        if question.item in before
    ]
    share = setting.delta / (1 if setting.target is None else MOST_AUDITS)
    found = accuracy_interval(sum(said is Answer.YES for _, said in audited), len(audited), share) if audited else None
    accuracy = None if found is None else (found.low, found.high)
    for event in log:
        said = event.summary.get("accuracy") if isinstance(event, Finished) else None
        if isinstance(event, Finished) and said != (None if accuracy is None else list(accuracy)):
            problems.append(f"the log ends with the accuracy {said}, and the answers show {accuracy}")
    return Audit(not problems, tuple(problems), len(log), accuracy=accuracy)
