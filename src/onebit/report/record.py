"""What a report says, before it is put into words and pictures."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from onebit.records import GateVerdict, Setting
from onebit.report.judge_card import JudgeCard

#: "budget": it ended, or was stopped, before the eps asked for was shown; what was shown until then holds as well.
#: "suspended": raters accept several labels of one item, which the way of asking takes to be impossible, so nothing is
#: shown.
Outcome = Literal["certified", "budget", "suspended"]


@dataclass(frozen=True)
class Point:
    """How far the run was after so many answers.

    ``evidence`` is that about the rival of the chosen model which is the furthest from being ruled out, as a share of
    what ends the run; None where it is not known.
    """

    answers: int
    survivors: int
    certified_eps: float
    evidence: float | None = None


@dataclass(frozen=True)
class Span:
    """An interval, and an ``estimate`` within it, None where nothing is known yet."""

    estimate: float | None
    low: float
    high: float


@dataclass(frozen=True)
class Entry:
    """A line of the leaderboard: models that predict the same on every item share one.

    If it is the best, it is ahead of the chosen one by at most ``ahead_at_most``; None: it is shown not to be the best.
    ``accuracy`` is known only where the truth is. ``accepted`` is how often raters accept what it says, on the items
    that the report counts for this; ``difference`` is by how much more often than the chosen one, on all items.
    """

    names: tuple[str, ...]
    ahead_at_most: float | None
    accuracy: float | None = None
    accepted: Span | None = None
    difference: Span | None = None


@dataclass(frozen=True)
class GateLine:
    """A candidate of a gate beside the baseline: the verdict, and how far it may be behind it or ahead of it.

    ``difference`` is the accuracy of the candidate less that of the baseline, where the truth is known.
    """

    name: str
    verdict: GateVerdict
    behind_at_most: float
    ahead_at_most: float
    difference: float | None = None


@dataclass(frozen=True)
class PlaceLine:
    """Models that say the same, and where they stand among all; as in ``records.Placing``, with names.

    ``n_open`` pairs with others are not settled, where all are compared. ``accuracy`` is known only where the truth is.
    """

    names: tuple[str, ...]
    tier: int
    best_rank: int
    worst_rank: int
    better_than: tuple[str, ...] = ()
    tied_with: tuple[str, ...] = ()
    n_open: int = 0
    accuracy: float | None = None


@dataclass(frozen=True)
class Price:
    """What one way to choose costs: ``answers`` (labels, if it asks for labels), and how that is known."""

    way: str
    answers: int
    unit: Literal["answers", "labels"]
    source: str


@dataclass(frozen=True)
class Mistake:
    """An output of an item that raters denied: which ``models`` gave it, and what they ``accepted`` instead, if asked.

    ``shown`` is what raters saw of the item.
    """

    models: tuple[str, ...]
    item: str
    shown: dict[str, str]
    output: str
    accepted: tuple[str, ...]


@dataclass(frozen=True)
class Report:
    """A selection and its outcome.

    ``chosen`` has several names where models predict the same on every item, and none where the learner has not chosen.
    ``survivors`` and the leaderboard are what only the certified learner knows. ``simulated``: the answers come from
    the truth in the table, not from people; ``excess`` is the true excess error, where the truth is known. In
    follow-up, one more label was asked in ``n_checks`` rounds to test what the protocol assumes, and ``n_contradicted``
    of these contradicted it. The log that all of this is from had ``n_events`` events, for which ``log_digest`` stands;
    both are None where there is no log. ``judge`` is the report card of its judge, if it has one.

    How often models are ``accepted`` is counted on the ``n_counted`` items of a pool on which they differ, or on all
    items if ``all_count``. ``closest`` predict alike, and are the furthest from being ruled out. ``mistakes`` are
    examples. Of a gate, ``chosen`` is the baseline, ``gate`` has its candidates, and no candidate is behind by more
    than ``certified_eps``. Where several best models are looked for, ``chosen`` has all of them. There and in tiers,
    ``placings`` has what is shown of each model, the best first.
    """

    setting: Setting
    learner: str
    table: str
    digest: str
    n_models: int
    n_items: int
    n_labels: int
    status: Outcome
    reason: str | None
    chosen: tuple[str, ...]
    answers: int
    rounds: int
    free_rounds: int
    cant_tell: int
    survivors: int | None
    certified_eps: float | None
    promise: str
    seconds: float
    simulated: bool = False
    n_checks: int = 0
    n_contradicted: int = 0
    excess: float | None = None
    course: tuple[Point, ...] = ()
    leaderboard: tuple[Entry, ...] = ()
    prices: tuple[Price, ...] = ()
    n_events: int | None = None
    log_digest: str | None = None
    judge: JudgeCard | None = None
    all_count: bool = False
    n_counted: int | None = None
    closest: tuple[str, ...] = ()
    mistakes: tuple[Mistake, ...] = ()
    gate: tuple[GateLine, ...] = ()
    placings: tuple[PlaceLine, ...] = ()


def as_json(report: Report) -> dict[str, Any]:
    """All of the report as plain JSON; unknown values are null."""
    return {"version": 1, **asdict(report)}
