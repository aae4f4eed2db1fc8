"""The frozen records that pass between the parts: question, answer, status."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from enum import Enum
from typing import Annotated, Literal

from msgspec import Meta

from onebit.randomness import fresh_seed

#: What numbers may be; a log that says otherwise is refused where it is read.
Count = Annotated[int, Meta(ge=0)]
Finite = Annotated[float, Meta(ge=-sys.float_info.max, le=sys.float_info.max)]
#: The probability of what was drawn. A sum of masses may be above 1 by rounding.
Propensity = Annotated[float, Meta(gt=0, le=1 + 1e-9)]

#: How the certified learner asks: one question about an example, until a yes, or for the label itself.
Protocol = Literal["one-shot", "follow-up", "labels"]
#: How a classifier is trained: one question about each item drawn, or items chosen and asked about until a yes.
TrainingProtocol = Literal["one-shot", "follow-up"]
#: Answers for each item where training is given no budget.
ANSWERS_PER_ITEM = 2
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


@dataclass(frozen=True, slots=True)
class Setting:
    """What a selection was created with; nothing of it changes later.

    Raters are taken to say no to a right label with probability at most ``f_no``, and yes to a wrong one with at most
    ``f_yes``. ``exhaustive``: the right label of every item is one of the table's labels. ``seed_given``: somebody
    chose the seed; otherwise it came from the operating system.
    """

    eps: Finite
    delta: Finite = 0.05
    protocol: Protocol = "one-shot"
    population: Population = "pool"
    passive: bool = False
    budget: Count | None = None
    seed: Count = field(default_factory=fresh_seed)
    f_no: Finite = 0.0
    f_yes: Finite = 0.0
    exhaustive: bool = False
    seed_given: bool = True


@dataclass(frozen=True, slots=True)
class TrainingSetting:
    """What the training of a classifier was created with; nothing of it changes later.

    At most ``budget`` answers, of which ``audit`` (None: a share) are kept for the accuracy interval, which may be
    wrong with probability ``delta``. With ``target``, training ends once that accuracy is shown. ``seed_given`` as in
    :class:`Setting`.
    """

    budget: Count
    protocol: TrainingProtocol = "one-shot"
    target: Finite | None = None
    audit: Count | None = None
    delta: Finite = 0.05
    seed: Count = field(default_factory=fresh_seed)
    seed_given: bool = True


@dataclass(frozen=True, slots=True)
class EpochPlan:
    """What an epoch of training asks, fixed when it began: ``labels`` about ``items``, drawn with ``propensities``.

    ``guesses`` are the labels that the model held likeliest; in follow-up they are asked first. ``fresh`` says which
    items are a random sample that was never asked about. An epoch that ``audits`` asks whether the guesses are right.
    At most ``most_each`` questions are asked about an item.
    """

    number: Count
    audits: bool
    items: tuple[Count, ...]
    labels: tuple[Count, ...]
    propensities: tuple[Propensity, ...]
    guesses: tuple[Count, ...]
    fresh: tuple[bool, ...]
    most_each: Count = 1


@dataclass(frozen=True, slots=True)
class EpochRecord:
    """What was frozen before the first example of an epoch was drawn. Models are numbered as in the table.

    ``mixture`` holds the survivors with mass, and their masses; of several equal models the first stands for all.
    """

    number: Count
    first_round: Count
    n_rounds: Count
    leader: Count
    survivors: tuple[Count, ...]
    mixture: tuple[tuple[Count, Finite], ...]
    gamma: Finite


@dataclass(frozen=True, slots=True)
class Closing:
    """What was shown when an epoch closed, from the first ``n_rounds`` rounds and ``n_answers`` answers of the run.

    In follow-up, one more label was asked in ``n_checks`` rounds to test what the protocol assumes, and
    ``n_contradicted`` of these contradicted it: a second label of an item got a yes, say.
    """

    epoch: Count
    n_rounds: Count
    n_answers: Count
    leader: Count
    survivors: tuple[Count, ...]
    certified_eps: Finite
    n_checks: Count = 0
    n_contradicted: Count = 0
