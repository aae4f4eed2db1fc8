"""The frozen records that pass between the parts: question, answer, status."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Literal

#: How the certified learner asks: one question about an example, until a yes, or for the label itself.
Protocol = Literal["one-shot", "follow-up", "labels"]
#: What "best" is about: the items of a table, or the distribution that they were drawn from.
Population = Literal["pool", "stream"]


class Answer(Enum):
    """What a rater says to "is this label right?"."""

    YES = "yes"
    NO = "no"
    CANT_TELL = "can't tell"


class Status(Enum):
    """What ``ask`` returns when there is no question to ask now."""

    WAIT = "waiting for the answers to open questions"
    DONE = "no further question"


class RunStatus(Enum):
    """How far a run is. Only ``COMPLETE`` means that everything planned was asked and answered."""

    RUNNING = "running"
    COMPLETE = "complete"
    BUDGET = "the round limit was reached first"
    EXHAUSTED = "the stream of examples ended first"


@dataclass(frozen=True, slots=True)
class Question:
    """ "Is ``label`` the right label of ``item``?"

    ``item`` is the number of the example in the learner's item source. ``propensity`` is the probability with which
    this label was chosen for this example; it is fixed here, when the question is asked, and never computed again.
    ``epoch`` counts the phases of the learner from 0. ``label`` is None when the full label is asked for.
    """

    id: int
    item: int
    label: int | None
    propensity: float
    epoch: int


@dataclass(frozen=True, slots=True)
class Setting:
    """What a selection was created with; nothing of it changes later.

    Raters are taken to say no to a right label with probability at most ``f_no``, and yes to a wrong one with at most
    ``f_yes``.
    """

    eps: float
    delta: float = 0.05
    protocol: Protocol = "one-shot"
    population: Population = "pool"
    passive: bool = False
    budget: int | None = None
    seed: int = 0
    f_no: float = 0.0
    f_yes: float = 0.0


@dataclass(frozen=True, slots=True)
class EpochRecord:
    """What was frozen before the first example of an epoch was drawn. Models are numbered as in the table.

    ``mixture`` holds the survivors with mass, and their masses; of several equal models the first stands for all.
    """

    number: int
    first_round: int
    n_rounds: int
    leader: int
    survivors: tuple[int, ...]
    mixture: tuple[tuple[int, float], ...]
    gamma: float


@dataclass(frozen=True, slots=True)
class Closing:
    """What was shown when an epoch closed, from the first ``n_rounds`` rounds and ``n_answers`` answers of the run."""

    epoch: int
    n_rounds: int
    n_answers: int
    leader: int
    survivors: tuple[int, ...]
    certified_eps: float
