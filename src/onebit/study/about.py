"""What a study was made with besides its learner: what raters see, how long they have, how they are checked."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from onebit.errors import OptionError
from onebit.records import StudySpec
from onebit.tables.columns import listed


@dataclass(frozen=True, slots=True)
class Label:
    """A label as raters see it."""

    name: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class Gold:
    """An item whose right labels are known, all of them, planted among the questions to learn about raters."""

    item: int
    labels: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Sequel:
    """What a study goes on from: another of its store, with the answers of its log up to the digest ``after``.

    ``of`` is the digest of the first event of the first study, whose delta was ``delta``; its sequels count from 1.
    """

    number: int
    of: str
    after: str
    delta: float


@dataclass(frozen=True, slots=True)
class About:
    """Everything about a study that does not enter its certificate.

    ``lease_seconds`` is how long a question is kept for the rater who was given it. ``gold_share`` of what a rater is
    given are planted questions, ``repeat_share`` are some that the rater answered before. ``media`` names the column
    that holds paths below ``media_root`` or addresses at ``media_hosts``, ``reference`` that of a right answer. A
    classifier learns from ``columns``, as texts if ``is_text``. Where outputs are free texts the study ``is_open``, has
    no ``labels`` here, and keeps the texts beside its items; ``one_at_a_time``: raters see one output of an item at a
    time. ``markdown``: what raters read is Markdown. ``none_of_these``: raters may say that no label is right. A
    ``sequel`` goes on from another study.
    """

    models: tuple[str, ...]
    labels: tuple[Label, ...]
    instructions: str = ""
    lease_seconds: float = StudySpec.lease_seconds
    gold: tuple[Gold, ...] = ()
    gold_share: float = 0.0
    repeat_share: float = 0.0
    media: str | None = None
    media_root: str | None = None
    media_hosts: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    is_text: bool = False
    is_open: bool = False
    one_at_a_time: bool = False
    reference: str | None = None
    markdown: bool = False
    sequel: Sequel | None = None
    none_of_these: bool = False

    @property
    def has_checks(self) -> bool:
        return self.gold_share + self.repeat_share > 0


def about_to_json(about: About) -> dict[str, Any]:
    return asdict(about)


def about_from_json(data: dict[str, Any]) -> About:
    """Back from JSON; fields that an older onebit did not write have their defaults."""
    known = {field.name: data[field.name] for field in fields(About) if field.name in data}
    lists = {
        "models": tuple(data["models"]),
        "columns": tuple(data.get("columns", ())),
        "media_hosts": tuple(data.get("media_hosts", ())),
        "labels": tuple(Label(**label) for label in data["labels"]),
        "gold": tuple(Gold(gold["item"], tuple(gold["labels"])) for gold in data.get("gold", ())),
    }
    sequel = data.get("sequel")
    return About(**(known | lists | {"sequel": None if sequel is None else Sequel(**sequel)}))


def described(labels: Sequence[str], descriptions: Mapping[str, str]) -> tuple[Label, ...]:
    """Labels as raters see them; OptionError where a description is of no label."""
    unknown = sorted(set(descriptions) - set(labels))
    if unknown:
        raise OptionError("descriptions", f"{unknown[0]!r} is described, and is no label; there are {listed(labels)}")
    return tuple(Label(label, descriptions.get(label, "")) for label in labels)


def gold_of(known: Mapping[int, int | Collection[int]] | None) -> tuple[Gold, ...]:
    """Gold from right labels by row: one label, or several.

    >>> gold_of({3: 1, 5: (0, 2)})
    (Gold(item=3, labels=(1,)), Gold(item=5, labels=(0, 2)))
    """
    return tuple(
        Gold(int(item), tuple(sorted({int(label) for label in said}) if isinstance(said, Collection) else (int(said),)))
        for item, said in (known or {}).items()
    )


def check_gold(about: About, n_items: int, n_labels: int) -> None:
    """OptionError where gold is about a row or a label that is not there."""
    for gold in about.gold:
        if not gold.labels:
            raise OptionError(
                "gold", f"gold names no right label of row {gold.item}; give at least one, or leave it out"
            )
        for label in gold.labels:
            if not (0 <= gold.item < n_items and 0 <= label < n_labels):
                raise OptionError(
                    "gold",
                    f"gold says that row {gold.item} has label {label}; rows are 0 to {n_items - 1}, labels are "
                    f"0 to {n_labels - 1}",
                )
