"""What a report says, before it is put into words and pictures."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from onebit.records import Setting

#: "budget" is every end other than a certificate for the eps asked for; what was shown until then holds as well.
Outcome = Literal["certified", "budget"]


@dataclass(frozen=True)
class Point:
    """How far the run was after so many answers."""

    answers: int
    survivors: int
    certified_eps: float


@dataclass(frozen=True)
class Entry:
    """A line of the leaderboard: models that predict the same on every item share one.

    If it is the best, it is ahead of the chosen one by at most ``ahead_at_most``; None: it is shown not to be the best.
    ``accuracy`` is known only where the truth is.
    """

    names: tuple[str, ...]
    ahead_at_most: float | None
    accuracy: float | None = None


@dataclass(frozen=True)
class Price:
    """What one way to choose costs: ``answers`` (labels, if it asks for labels), and how that is known."""

    way: str
    answers: int
    unit: Literal["answers", "labels"]
    source: str


@dataclass(frozen=True)
class Report:
    """A selection and its outcome.

    ``chosen`` has several names where models predict the same on every item, and none where the learner has not chosen.
    ``survivors`` and the leaderboard are what only the certified learner knows. ``excess`` is the true excess error,
    where the truth is known and raters were simulated. The log that all of this is from had ``n_events`` events, for
    which ``log_digest`` stands; both are None where there is no log.
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
    excess: float | None = None
    course: tuple[Point, ...] = ()
    leaderboard: tuple[Entry, ...] = ()
    prices: tuple[Price, ...] = ()
    n_events: int | None = None
    log_digest: str | None = None


def as_json(report: Report) -> dict[str, Any]:
    """All of the report as plain JSON; unknown values are null."""
    return {"version": 1, **asdict(report)}
