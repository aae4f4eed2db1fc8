"""What the log of a training shows of itself: the interval of its last audit, and where it cannot have been so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from onebit.learners.training.audit import audited_interval, items_aside
from onebit.learners.training.model import Model, mean_belief
from onebit.log.fold import Course
from onebit.records import Answer, EpochPlan, TrainingSetting


def last_audit(plans: Sequence[EpochPlan]) -> list[EpochPlan]:
    """The epochs at the end of a log that audit the model as it is."""
    n_last = next((n for n, plan in enumerate(reversed(plans)) if not plan.audits), len(plans))
    return list(plans[len(plans) - n_last :])


def accuracy_shown(course: Course, setting: TrainingSetting, last: Sequence[EpochPlan]) -> tuple[float, float] | None:
    """The interval from the answers of the last audit."""
    numbers = {plan.number for plan in last}
    pairs = zip(course.questions, course.answers, strict=True)
    said = [answer for question, answer in pairs if question.epoch in numbers and answer is not None]
    if not said:
        return None
    n_yes, n_cant_tell = (sum(answer is each for answer in said) for each in (Answer.YES, Answer.CANT_TELL))
    n_items = course.created.table.n_items
    n_fixed = None if setting.target is not None else items_aside(setting.audit, n_items, setting.budget, None)
    counts = n_yes, n_cant_tell, len(said)
    found = audited_interval(counts, n_fixed, setting.delta, (setting.f_no, setting.f_yes))
    return found.low, found.high


def none_faults(course: Course, allowed: bool) -> Iterator[str]:
    """Raters say that no label is right only where they may."""
    said = [number for number, event in course.answered.items() if event.answer is Answer.NONE]
    if said and not allowed:
        yield f'question {said[0]} has the answer "{Answer.NONE.value}", which this study does not allow'


def audit_faults(course: Course, last: Sequence[EpochPlan]) -> Iterator[str]:
    """Audits ask about what the model says, on items that were not asked about before."""
    numbers = {plan.number for plan in last}
    before = {question.item for question in course.questions if question.epoch not in numbers}
    for question in course.questions:
        if question.epoch in numbers and question.item in before:
            yield f"question {question.id} audits item {question.item}, which was asked about before"
    for plan in course.plans:
        if plan.audits and plan.labels != plan.guesses:
            yield f"epoch {plan.number} audits, and asks about other labels than the classifier's"


def guess_faults(model: Model, features: NDArray[np.float32], last: Sequence[EpochPlan]) -> Iterator[str]:
    """The labels of the last audit must be those that the classifier gives."""
    for plan in last:
        found = mean_belief(model, features[list(plan.items)]).argmax(axis=1)
        n_other = int((found != np.array(plan.guesses)).sum())
        if n_other:
            yield (
                f"epoch {plan.number} audits {len(plan.items)} labels, of which {n_other} are not those that the "
                "classifier gives: the log was changed, or the model comes out otherwise on this machine"
            )
