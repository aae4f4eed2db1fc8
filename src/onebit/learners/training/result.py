"""What a training has learned so far, and what is said of it."""

from __future__ import annotations

from dataclasses import dataclass

from onebit.estimate.accuracy import AccuracyInterval
from onebit.estimate.learning_curve import CurvePoint, ForecastPoint
from onebit.learners.contract import Result
from onebit.learners.training.knowledge import VerifiedLabel
from onebit.records import RunStatus

PROMISE = (
    "none on the excess error; the accuracy interval, where there is one, holds for the model as it is, whenever one "
    "looks, if the pool is a random sample of the population and raters err no more often than was stated; can't tell "
    "counts against both of its ends"
)


def missing_label(n_without_label: int, n_left: int, n_items_asked: int) -> str | None:
    """What is said where items have, or seem to have, none of the labels; None where there are none."""
    if n_without_label + n_left == 0:
        return None
    asked = f"{n_items_asked:,} item{' was' if n_items_asked == 1 else 's were'} asked about"
    of_labels = "" if n_without_label else " of the labels"
    told = [
        f"{n_without_label:,} {'has' if n_without_label == 1 else 'have'} none of the labels, by what raters said"
        if n_without_label
        else "",
        f"{n_left:,} {'seems' if n_left == 1 else 'seem'} to have none{of_labels}, and "
        f"{'is' if n_left == 1 else 'are'} no longer asked about"
        if n_left
        else "",
    ]
    return f"{asked}: {'; '.join(filter(None, told))}. A label may be missing"


def how_it_ended(status: RunStatus, n_answers: int, budget: int) -> str:
    """How far a training is; where it ended without its target, why."""
    if status is not RunStatus.BUDGET:
        return str(status.value)
    why = "the budget was used" if n_answers >= budget else "there was nothing left to ask that teaches or audits"
    return f"the target was not shown: {why}"


@dataclass(frozen=True, eq=False)
class TrainingResult(Result):
    """What was learned so far; ``chosen`` is the model.

    ``accuracy`` is the audit's interval for the model as it is now; None if it was trained since the last audit.
    ``recent_accuracy`` is an estimate from the last answers about fresh items, without a promise; ``progress`` has it
    for every epoch, with the number of answers. ``recent_yes_rate`` is how many of the last answers were yes. Of
    ``n_asked_to_end`` items that were asked about until the last label, ``n_without_label`` have none of the labels.
    The items ``without_label`` are these, and those of which a rater said so; the items ``left`` seem to have none, and
    are no longer asked about; ``n_items_asked`` were asked about. ``n_refits`` is how often the model learned.
    ``curve`` has intervals for the accuracy on the way, which hold all together with probability at least 1 - delta,
    as a statement beside ``accuracy``; ``forecast`` is what it may become, without a promise.
    """

    n_refits: int
    n_answers: int
    n_cant_tell: int
    accuracy: AccuracyInterval | None
    recent_accuracy: float | None
    recent_yes_rate: float | None
    verified: tuple[VerifiedLabel, ...]
    progress: tuple[tuple[int, float], ...]
    n_asked_to_end: int = 0
    n_without_label: int = 0
    without_label: tuple[int, ...] = ()
    left: tuple[int, ...] = ()
    n_items_asked: int = 0
    curve: tuple[CurvePoint, ...] = ()
    forecast: tuple[ForecastPoint, ...] = ()
