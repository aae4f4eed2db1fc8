"""The frozen records that pass between the parts: question, answer, status."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Literal

from onebit.randomness import fresh_seed

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

    id: int
    item: int
    label: int | None
    propensity: float
    epoch: int


@dataclass(frozen=True, slots=True)
class Setting:
    """What a selection was created with; nothing of it changes later.

    Raters are taken to say no to a right label with probability at most ``f_no``, and yes to a wrong one with at most
    ``f_yes``. ``exhaustive``: the right label of every item is one of the table's labels. ``seed_given``: somebody
    chose the seed; otherwise it came from the operating system.
    """

    eps: float
    delta: float = 0.05
    protocol: Protocol = "one-shot"
    population: Population = "pool"
    passive: bool = False
    budget: int | None = None
    seed: int = field(default_factory=fresh_seed)
    f_no: float = 0.0
    f_yes: float = 0.0
    exhaustive: bool = False
    seed_given: bool = True


@dataclass(frozen=True, slots=True)
class TrainingSetting:
    """What the training of a classifier was created with; nothing of it changes later.

    At most ``budget`` answers, of which ``audit`` (None: a share) are kept for the accuracy interval, which may be
    wrong with probability ``delta``. With ``target``, training ends once that accuracy is shown. ``seed_given`` as in
    :class:`Setting`.
    """

    budget: int
    protocol: TrainingProtocol = "one-shot"
    target: float | None = None
    audit: int | None = None
    delta: float = 0.05
    seed: int = field(default_factory=fresh_seed)
    seed_given: bool = True


@dataclass(frozen=True, slots=True)
class EpochPlan:
    """What an epoch of training asks, fixed when it began: ``labels`` about ``items``, drawn with ``propensities``.

    ``guesses`` are the labels that the model held likeliest; in follow-up they are asked first. ``fresh`` says which
    items are a random sample that was never asked about. An epoch that ``audits`` asks whether the guesses are right.
    At most ``most_each`` questions are asked about an item.
    """

    number: int
    audits: bool
    items: tuple[int, ...]
    labels: tuple[int, ...]
    propensities: tuple[float, ...]
    guesses: tuple[int, ...]
    fresh: tuple[bool, ...]
    most_each: int = 1


@dataclass(frozen=True, slots=True)
class EpochRecord:
    """What was frozen before the first example of an epoch was drawn. Models are numbered as in the table.

    ``mixture`` holds the rivals of the leader that the law of the questions serves, and by how much: what each needs,
    of what the one needs that needs most. Of several equal models the first stands for all. ``trust`` has the weight of
    each vote behind the guesses, for the survivors of the first epoch in their order, and ``guess`` the coefficients;
    an item whose score is at least ``sure_from`` is always asked about. What a protocol does not use is empty.
    """

    number: int
    first_round: int
    n_rounds: int
    leader: int
    survivors: tuple[int, ...]
    mixture: tuple[tuple[int, float], ...]
    gamma: float
    trust: tuple[float, ...] = ()
    guess: tuple[float, ...] = ()
    sure_from: float = 0.0


@dataclass(frozen=True, slots=True)
class Closing:
    """What was shown when an epoch closed, from the first ``n_rounds`` rounds and ``n_answers`` answers of the run.

    In follow-up, one more label was asked in ``n_checks`` rounds to test what the protocol assumes, and
    ``n_contradicted`` of these contradicted it: a second label of an item got a yes, say.
    """

    epoch: int
    n_rounds: int
    n_answers: int
    leader: int
    survivors: tuple[int, ...]
    certified_eps: float
    n_checks: int = 0
    n_contradicted: int = 0
