"""The events of a study, as frozen records. Their form as plain JSON is in ``event_json``.

The log of events is the truth about a study; everything else is that log replayed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal

from onebit.errors import InvalidInputError, OnebitError
from onebit.records import Answer, Closing, EpochPlan, EpochRecord, Question, RunStatus, Setting, TrainingSetting

#: The version of the events that this onebit writes and reads.
VERSION = 2

#: What a study is for: to select the best of several models, or to learn one.
Kind = Literal["selection", "learning"]
SelectorName = Literal["certified", "paper", "uniform"]
LearnerName = Literal["certified", "paper", "uniform", "networks"]


class LogError(OnebitError):
    """A log that cannot be what this version of onebit wrote: damaged, of another version, or of another run."""


class OtherVersionError(LogError):
    """A log that another version of onebit wrote, and this one does not read."""


@dataclass(frozen=True, slots=True)
class TableFacts:
    """The table that a log belongs to: its digest and its size. What is learned from has no models."""

    digest: str
    n_models: int
    n_items: int
    n_labels: int


@dataclass(frozen=True, slots=True)
class Created:
    """The first event: what the run was created with.

    ``overlap`` is the number of raters who answer each question. ``simulated``: answers come from the truth in the
    table, not from people. ``about`` is the digest of what raters are told, ``shown`` that of the items as they are
    shown; of a run at the terminal the latter covers ids and truth too.
    """

    setting: Setting | TrainingSetting
    learner: LearnerName
    table: TableFacts
    overlap: int = 1
    kind: Kind = "selection"
    simulated: bool = False
    about: str = ""
    shown: str = ""
    version: int = VERSION

    @property
    def selection(self) -> Setting:
        """The setting of a selection; LogError if this is no selection."""
        if not isinstance(self.setting, Setting):
            raise LogError(f"a selection is wanted, and this is a study of kind {self.kind}")
        return self.setting

    @property
    def training(self) -> TrainingSetting:
        """The setting of a training; LogError if this is none."""
        if not isinstance(self.setting, TrainingSetting):
            raise LogError(f"a training is wanted, and this is a study of kind {self.kind}")
        return self.setting


@dataclass(frozen=True, slots=True)
class EpochBegan:
    """An epoch was frozen, before its first example was drawn."""

    record: EpochRecord | EpochPlan


@dataclass(frozen=True, slots=True)
class Asked:
    """The learner asked a question; ``rater`` is who was given it, if that is known.

    ``question.item`` is the learner's number: on a stream the place in the order drawn, not the row of the table.
    """

    question: Question
    rater: str | None = None


@dataclass(frozen=True, slots=True)
class Offered:
    """An open question was given to a rater, again or to one more."""

    question_id: int
    rater: str | None


@dataclass(frozen=True, slots=True)
class Voted:
    """One rater's answer to a question that several answer; it is no answer of the question yet."""

    question_id: int
    answer: Answer | int
    rater: str | None
    token: str | None = None
    late: bool = False


@dataclass(frozen=True, slots=True)
class Answered:
    """A question has its answer: of one rater, or of several (``rater`` is None then, and their votes stand before)."""

    question_id: int
    answer: Answer | int
    rater: str | None = None
    token: str | None = None
    late: bool = False


@dataclass(frozen=True, slots=True)
class Unvoted:
    """A rater took a vote back."""

    question_id: int
    rater: str | None


@dataclass(frozen=True, slots=True)
class Undone:
    """The answer of a question was taken back while its epoch was open; the question is open again."""

    question_id: int
    rater: str | None = None


@dataclass(frozen=True, slots=True)
class Disputed:
    """A rater would take back an answer whose epoch is closed. It changes nothing; it is known."""

    question_id: int
    rater: str | None


@dataclass(frozen=True, slots=True)
class Checked:
    """A question was given to a rater to learn about the rater; its answer never enters the estimate.

    ``item`` is a row of the table. ``expected`` is the right answer of a planted question, or what was answered before
    to a repeated one, ``repeats``.
    """

    check_id: int
    item: int
    label: int
    rater: str
    expected: Answer
    repeats: int | None = None


@dataclass(frozen=True, slots=True)
class CheckAnswered:
    """The rater's answer to a question of the kind ``checked``."""

    check_id: int
    answer: Answer
    rater: str
    token: str | None = None


@dataclass(frozen=True, slots=True)
class CheckUndone:
    """The rater took the answer to a check back."""

    check_id: int
    rater: str


@dataclass(frozen=True, slots=True)
class Closed:
    """An epoch closed: what was shown."""

    closing: Closing


@dataclass(frozen=True, slots=True)
class Finished:
    """The run ended, with what is known at its end; what follows (disputes, late votes, checks) changes nothing."""

    status: RunStatus
    summary: Mapping[str, Any]


Event = (
    Created
    | EpochBegan
    | Asked
    | Offered
    | Voted
    | Unvoted
    | Answered
    | Undone
    | Disputed
    | Checked
    | CheckAnswered
    | CheckUndone
    | Closed
    | Finished
)


def check_same(found: Created, wanted: Created) -> None:
    """InvalidInputError, with the first difference, unless a log that began with ``found`` may go on as ``wanted``."""
    if found.simulated != wanted.simulated:
        was, now = ("simulated", "of people") if found.simulated else ("of people", "simulated")
        raise InvalidInputError(
            f"the answers of this run are {was} so far, and now they would be {now}; a certificate from both would be "
            f"about neither. Go on {'with' if found.simulated else 'without'} the column of right labels (--truth), or "
            "begin a new run in another place"
        )
    for what, a, b in (
        ("table", found.table, wanted.table),
        ("setting", found.setting, wanted.setting),
        ("run", found, wanted),
    ):
        for field in fields(a):
            was, now = getattr(a, field.name), getattr(b, field.name)
            if was != now and field.name == "shown":
                raise InvalidInputError(
                    "the log belongs to another run: the items have other ids, shown columns or right labels than when "
                    "it began. Give the table and the columns it was created with, or another place"
                )
            if was != now and field.name not in ("table", "setting"):
                raise InvalidInputError(
                    f"the log belongs to another {what}: its {field.name.replace('_', ' ')} is {was}, and now it is "
                    f"{now}; a run cannot be changed once it has begun. Give what it was created with, or another place"
                )
