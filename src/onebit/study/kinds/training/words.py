"""What the dashboard says about the training of a classifier."""

from __future__ import annotations

import math

from markupsafe import Markup

from onebit.records import RunStatus
from onebit.report.charts import step_chart
from onebit.report.words import at_most
from onebit.study.constants import TOO_WIDE
from onebit.study.kinds.training.status import TrainingStatus


def percent(low: float, high: float) -> tuple[str, str]:
    """Both ends of an interval in percent, rounded outwards so that it stays true.

    >>> percent(0.8316, 0.8901)
    ('83.1%', '89.1%')
    """
    # What floats leave after the last digit is no reason to round further.
    return f"{math.floor(1000 * low + 1e-6) / 10:g}%", f"{math.ceil(1000 * high - 1e-6) / 10:g}%"


def interval_of(status: TrainingStatus) -> tuple[float, float] | None:
    """The accuracy interval, once it says anything."""
    return None if status.accuracy in (None, (0.0, 1.0)) else status.accuracy


def is_too_early(interval: tuple[float, float]) -> bool:
    """Whether an interval says so little that it is no headline.

    >>> is_too_early((0.017, 0.983)), is_too_early((0.6, 0.9))
    (True, False)
    """
    return interval[1] - interval[0] > TOO_WIDE


def title(status: TrainingStatus) -> str:
    """How good the classifier is, as far as that is known."""
    interval = interval_of(status)
    if interval is not None and is_too_early(interval):
        return "Too early to say"
    if interval is not None:
        return "{} to {} right".format(*percent(*interval))
    if status.recent_accuracy is not None:
        return f"About {status.recent_accuracy:.0%} right"
    return "Nothing is learned yet"


def headline(status: TrainingStatus) -> str:
    """What that means, in words that need no mathematics."""
    interval = interval_of(status)
    if interval is not None and is_too_early(interval):
        return (
            "The classifier was tested with so few answers that it may be right on anything from {} to {} of "
            "items.".format(*percent(*interval))
        )
    if interval is not None:
        return (
            "The classifier, as it is now, is right that often on items like these. Such a statement is wrong in "
            f"{at_most(status.delta)} studies."
        )
    if status.recent_accuracy is not None:
        return "An estimate from the last answers, without a promise. More is shown when the classifier is tested."
    return "The first estimate comes when the first round of questions is answered."


def promised(status: TrainingStatus) -> tuple[str, ...]:
    """What a reader may conclude, and what not."""
    sure = f"{1 - status.delta:.4g}"
    return (
        f"An accuracy interval comes from answers that are kept for it and teach nothing. With probability at least "
        f"{sure} it holds for the classifier as it is, although the study is watched, if the items are a random sample "
        "of those that are meant.",
        f"{_errors(status)}, and no item to have two right labels. “Can't tell” counts against both ends of "
        "the interval, so it holds whatever the right answer would have been. On an item that has none of the labels "
        "every prediction is wrong, and counts so.",
        "Nothing is promised about how much better another classifier could be, nor about estimates from the last "
        "answers.",
    )


def _errors(status: TrainingStatus) -> str:
    if status.f_no + status.f_yes == 0:
        return "Raters are taken not to err"
    return (
        f"Raters are taken to say no to a right label at most in {status.f_no:.3g} of cases, and yes to a wrong one at "
        f"most in {status.f_yes:.3g}, whatever the item"
    )


def aim(status: TrainingStatus) -> str:
    """What the aim is, and why the training ended if it did."""
    budget = f"{status.budget:,} answers"
    is_over = status.status is not RunStatus.RUNNING
    if status.target is None:
        return f"It learned from all of its {budget}." if is_over else f"It learns from at most {budget}."
    told = f"The aim is to be right on at least {100 * status.target:.4g}% of items."
    if not is_over:
        return f"{told} It goes on until that is shown, or {budget} are used."
    if status.status is RunStatus.COMPLETE:
        return f"{told} It ended when that was shown."
    if status.n_answers < status.budget:
        return f"{told} It ended without showing that, because there was nothing left to ask."
    return f"{told} It ended because all of its {budget} were used."


def to_come(status: TrainingStatus) -> tuple[str, ...]:
    """The forecast, for as many answers as it will have, or twice as many if it is over."""
    if not status.forecast:
        return ()
    point = min(status.forecast, key=lambda each: abs(each.n_answers - status.budget))
    return (
        f"With {point.n_answers:,} answers it would be right on about {point.middle:.0%} of items, probably "
        f"{point.low:.0%} to {point.high:.0%}: a forecast from how it went so far, without a promise.",
    )


def accuracy_chart(status: TrainingStatus) -> Markup:
    """The estimated accuracy against answers, with the interval at its end; empty before there is an estimate."""
    if not status.progress:
        return Markup()
    interval = interval_of(status)
    target = status.target
    return step_chart(
        [n_answers for n_answers, _ in status.progress],
        [100 * accuracy for _, accuracy in status.progress],
        title="estimated accuracy in percent against answers",
        x_name="yes/no answers",
        top=100,
        mark=None if target is None else (100 * target, f"aim: {100 * target:g}%"),
        interval=None if interval is None else (100 * interval[0], 100 * interval[1]),
    )
