"""The events of a study, as frozen structs: their tags and fields are those of the JSON that is kept (``codec``).

The log of events is the truth about a study; everything else is that log replayed.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from onebit.errors import InvalidInputError, OnebitError
from onebit.records import (
    Answer,
    Closing,
    Count,
    EpochPlan,
    EpochRecord,
    Question,
    RunStatus,
    Setting,
    TrainingSetting,
    WatchSetting,
)

#: The version of the events that this onebit writes and reads.
VERSION = 2

#: What a study is for: to select the best of several models, to train one, or to watch a choice on fresh items.
Kind = Literal["selection", "training", "watch"]
SelectorName = Literal["certified", "paper", "uniform"]
LearnerName = Literal["certified", "paper", "uniform", "networks", "watch"]
if TYPE_CHECKING:
    AnySetting = Setting | TrainingSetting | WatchSetting
else:
    # In JSON they have no tags, so msgspec cannot tell them apart; the codec reads the one that the kind names.
    AnySetting = Any


class LogError(OnebitError):
    """A log that cannot be what this version of onebit wrote: damaged, of another version, or of another run."""


class OtherVersionError(LogError):
    """A log that another version of onebit wrote, and this one does not read."""


@dataclass(frozen=True, slots=True)
class TableFacts:
    """The table that a log belongs to: its digest and its size. What is learned from has no models."""

    digest: str
    n_models: Count
    n_items: Count
    n_labels: Count


class _Event(msgspec.Struct, frozen=True, tag_field="event", forbid_unknown_fields=True, rename={"question_id": "id"}):
    """What all events share: the name stands under "event", and the number of a question under "id"."""


class Created(_Event, frozen=True, tag="created"):
    """The first event: what the run was created with.

    ``overlap`` is the number of raters who answer each question. ``simulated``: answers come from the truth in the
    table, not from people. ``about`` is the digest of what raters are told, ``shown`` that of the items as they are
    shown and of what a judge says; of a run at the terminal the latter covers ids and truth too.
    """

    setting: AnySetting
    learner: LearnerName
    table: TableFacts
    overlap: Count = 1
    kind: Kind = "selection"
    simulated: bool = False
    about: str = ""
    shown: str = ""
    version: Count = VERSION

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

    @property
    def watch(self) -> WatchSetting:
        """The setting of a batch of a watch; LogError if this is none."""
        if not isinstance(self.setting, WatchSetting):
            raise LogError(f"a batch of a watch is wanted, and this is a study of kind {self.kind}")
        return self.setting


class EpochBegan(_Event, frozen=True, tag="epoch"):
    """An epoch of a selection was frozen, before its first example was drawn."""

    record: EpochRecord


class Planned(_Event, frozen=True, tag="plan"):
    """An epoch of a training was frozen, before its first question was asked."""

    record: EpochPlan

    def __post_init__(self) -> None:
        plan = self.record
        columns = (plan.items, plan.labels, plan.propensities, plan.guesses, plan.fresh)
        if len({len(column) for column in columns}) != 1 or not plan.items:
            raise ValueError(f"the plan of epoch {plan.number} has lists of different lengths, or is empty")
        if plan.limits and (len(plan.limits) != len(plan.items) or 0 in plan.limits):
            raise ValueError(f"the plan of epoch {plan.number} has limits that are not those of its items")


class Asked(_Event, frozen=True, tag="asked"):
    """The learner asked a question; ``rater`` is who was given it, if that is known.

    ``question.item`` is the learner's number: on a stream the place in the order drawn, not the row of the table.
    """

    question: Question
    rater: str | None = None


class Offered(_Event, frozen=True, tag="offered"):
    """An open question was given to a rater, again or to one more."""

    question_id: Count
    rater: str | None


class Voted(_Event, frozen=True, tag="voted"):
    """One rater's answer to a question that several answer; it is no answer of the question yet."""

    question_id: Count
    answer: Answer | Count
    rater: str | None
    token: str | None = None
    late: bool = False


class Answered(_Event, frozen=True, tag="answered"):
    """A question has its answer: of one rater, or of several (``rater`` is None then, and their votes stand before)."""

    question_id: Count
    answer: Answer | Count
    rater: str | None = None
    token: str | None = None
    late: bool = False


class Unvoted(_Event, frozen=True, tag="unvoted"):
    """A rater took a vote back."""

    question_id: Count
    rater: str | None


class Undone(_Event, frozen=True, tag="undone"):
    """The answer of a question was taken back while its epoch was open; the question is open again."""

    question_id: Count
    rater: str | None = None


class Disputed(_Event, frozen=True, tag="disputed"):
    """A rater would take back an answer whose epoch is closed. It changes nothing; it is known."""

    question_id: Count
    rater: str | None


class Checked(_Event, frozen=True, tag="checked"):
    """A question was given to a rater to learn about the rater; its answer never enters the estimate.

    Its number is of the same sequence as those of the learner's questions, so that raters cannot tell the two apart.
    ``item`` is a row of the table. ``expected`` is the right answer of a planted question, or what was answered before
    to a repeated one, ``repeats``.
    """

    question_id: Count
    item: Count
    label: Count
    rater: str
    expected: Answer
    repeats: Count | None = None


class CheckAnswered(_Event, frozen=True, tag="check answered"):
    """The rater's answer to a question of the kind ``checked``."""

    question_id: Count
    answer: Answer
    rater: str
    token: str | None = None


class CheckUndone(_Event, frozen=True, tag="check undone"):
    """The rater took the answer to a check back."""

    question_id: Count
    rater: str


class Closed(_Event, frozen=True, tag="closed"):
    """An epoch closed: what was shown."""

    closing: Closing


class Finished(_Event, frozen=True, tag="finished"):
    """The run ended, with what is known at its end; what follows (disputes, late votes, checks) changes nothing."""

    status: RunStatus
    summary: dict[str, Any]


Event = (
    Created
    | EpochBegan
    | Planned
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


def began(epoch: EpochRecord | EpochPlan) -> EpochBegan | Planned:
    """The event that an epoch begins with."""
    return Planned(epoch) if isinstance(epoch, EpochPlan) else EpochBegan(epoch)


def check_same(found: Created, wanted: Created) -> None:
    """InvalidInputError, with the first difference, unless a log that began with ``found`` may go on as ``wanted``."""
    if found.simulated != wanted.simulated:
        before, after = ("simulated", "of people") if found.simulated else ("of people", "simulated")
        raise InvalidInputError(
            f"the answers of this run are {before} so far, and now they would be {after}; a certificate from both "
            f"would be about neither. Go on {'with' if found.simulated else 'without'} the column of right labels "
            "(--truth), or begin a new run in another place"
        )
    records: tuple[tuple[str, dict[str, Any], dict[str, Any]], ...] = (
        ("table", asdict(found.table), asdict(wanted.table)),
        ("setting", _as_given(found.setting), _as_given(wanted.setting)),
        ("run", msgspec.structs.asdict(found), msgspec.structs.asdict(wanted)),
    )
    for what, a, b in records:
        for name, was in a.items():
            now = b.get(name)
            if was != now and name == "shown":
                raise InvalidInputError(
                    "the log belongs to another run: the items have other ids, shown columns, right labels or scores "
                    "of a judge than when it began. Give the table and the columns of its creation, or another place"
                )
            if was != now and name not in ("table", "setting"):
                raise InvalidInputError(
                    f"the log belongs to another {what}: its {name.replace('_', ' ')} is {_told(was)}, and now it is "
                    f"{_told(now)}; a run cannot be changed once it has begun. Give what it was created with, or "
                    "another place (--out)"
                )


def _as_given(setting: AnySetting) -> dict[str, Any]:
    """A setting by the names that it was given with, what is looked for first.

    Where a budget is spent nobody gave an eps, and that of a gate is its margin.
    """
    given = asdict(setting)
    if not isinstance(setting, Setting):
        return given
    aim = {name: given.pop(name) for name in ("baseline", "top", "tiers")}
    eps, spends = given.pop("eps"), given.pop("spends")
    return {**aim, "eps" if setting.baseline is None else "margin": None if spends else eps, **given}


def _told(value: object) -> object:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "not given" if value is None else value
