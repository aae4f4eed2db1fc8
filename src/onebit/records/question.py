"""A question, its answer, and how far a run is."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from onebit.records.numbers import Count, Propensity


class Answer(Enum):
    """What a rater says to "is this label right?".

    ``NONE`` is a no to this label and to every other of the list; only trainings take it.
    """

    YES = "yes"
    NO = "no"
    CANT_TELL = "can't tell"
    NONE = "none of these"


class Status(Enum):
    """What ``ask`` returns when there is no question to ask now."""

    WAIT = "waiting for the answers to open questions"
    DONE = "no further question"


class RunStatus(Enum):
    """How far a run is. Only ``COMPLETE`` means that everything planned was asked and answered."""

    RUNNING = "running"
    COMPLETE = "complete"
    BUDGET = "the round limit was reached first"
    EXHAUSTED = "there was nothing left to ask"
    SUSPENDED = "checks contradicted what follow-up assumes about the labels of an item"


@dataclass(frozen=True, slots=True)
class Question:
    """ "Is ``label`` the right label of ``item``?"

    ``item`` is the number of the example in the learner's item source. ``propensity`` is the probability with which
    this label was chosen for this example; it is fixed here, when the question is asked, and never computed again.
    ``epoch`` counts the phases of the learner from 0. ``label`` is None when the full label is asked for.
    """

    id: Count
    item: Count
    label: Count | None
    propensity: Propensity
    epoch: Count
