"""What a training has learned so far, and what is said of it."""

from __future__ import annotations

from dataclasses import dataclass

from onebit.estimate.accuracy import AccuracyInterval
from onebit.learners.contract import Result
from onebit.learners.training.knowledge import VerifiedLabel

PROMISE = (
    "none on the excess error; the accuracy interval, where there is one, holds for the model as it is, whenever one "
    "looks, if the pool is a random sample of the population and raters err no more often than was stated; can't tell "
    "counts against both of its ends"
)


def missing_label(n_without_label: int, n_asked_to_end: int) -> str | None:
    """What is said where raters denied every label of an item; None where they never did."""
    if n_without_label == 0:
        return None
    return (
        f"none of the labels was right for {n_without_label:,} of {n_asked_to_end:,} items that were asked to the end; "
        "a label may be missing"
    )


@dataclass(frozen=True, eq=False)
class TrainingResult(Result):
    """What was learned so far; ``chosen`` is the model.

    ``accuracy`` is the audit's interval for the model as it is now; None if it was trained since the last audit.
    ``recent_accuracy`` is an estimate from the last answers about fresh items, without a promise; ``progress`` has it
    for every epoch, with the number of answers. ``recent_yes_rate`` is how many of the last answers were yes. Of
    ``n_asked_to_end`` items that were asked about until the last label, ``n_without_label`` have none of the labels.
    ``n_refits`` is how often the model learned.
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
