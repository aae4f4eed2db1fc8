"""What a study was made with besides its learner: what raters see, how long they have, how they are checked."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from onebit.errors import InvalidInputError, check_count
from onebit.records import Setting, TrainingSetting


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
class About:
    """Everything about a study that does not enter its certificate.

    ``lease_seconds`` is how long a question is kept for the rater who was given it. ``gold_share`` of what a rater is
    given are planted questions, ``repeat_share`` are some that the rater answered before. ``image`` names the column
    that holds a path below ``image_root``. A classifier learns from ``columns``, as texts if ``is_text``.
    """

    models: tuple[str, ...]
    labels: tuple[Label, ...]
    instructions: str = ""
    lease_seconds: float = 60.0
    gold: tuple[Gold, ...] = ()
    gold_share: float = 0.0
    repeat_share: float = 0.0
    image: str | None = None
    image_root: str | None = None
    columns: tuple[str, ...] = ()
    is_text: bool = False

    def __post_init__(self) -> None:
        if not 0 < self.lease_seconds < math.inf:
            raise InvalidInputError(f"a lease of {self.lease_seconds!r} seconds is none; it must be above 0 and finite")
        for name in ("gold_share", "repeat_share"):
            if not 0 <= getattr(self, name) <= 0.5:
                raise InvalidInputError(f"{name} is {getattr(self, name)!r}; it must be from 0 to 0.5")
        if self.gold_share > 0 and not self.gold:
            raise InvalidInputError("gold_share is above 0 and no gold is given; give items whose label is known")
        if (self.image is None) != (self.image_root is None):
            raise InvalidInputError(
                "an image column needs image_root, the folder that its paths are below, and vice versa"
            )

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
        "labels": tuple(Label(**label) for label in data["labels"]),
        "gold": tuple(Gold(gold["item"], tuple(gold["labels"])) for gold in data.get("gold", ())),
    }
    return About(**(known | lists))


def described(labels: Sequence[str], descriptions: Mapping[str, str]) -> tuple[Label, ...]:
    """Labels as raters see them; InvalidInputError where a description is of no label."""
    unknown = sorted(set(descriptions) - set(labels))
    if unknown:
        raise InvalidInputError(
            f"there is a description of {unknown[0]!r}, which is no label; labels are {tuple(labels[:9])}"
        )
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


def check_gold(about: About, n_items: int) -> None:
    """InvalidInputError where gold is about a row or a label that is not there."""
    for gold in about.gold:
        if not gold.labels:
            raise InvalidInputError(f"gold names no right label of row {gold.item}; give at least one, or leave it out")
        for label in gold.labels:
            if not (0 <= gold.item < n_items and 0 <= label < len(about.labels)):
                raise InvalidInputError(
                    f"gold says that row {gold.item} has label {label}; rows are 0 to {n_items - 1}, labels are "
                    f"0 to {len(about.labels) - 1}"
                )


def check_raters(setting: Setting | TrainingSetting, about: About, overlap: int) -> None:
    """InvalidInputError where questions cannot be given to raters in the way asked for."""
    check_count("overlap", overlap)
    if overlap % 2 == 0:
        raise InvalidInputError(f"overlap is {overlap}; it must be odd, so that a majority can be had")
    if isinstance(setting, Setting) and setting.exhaustive and setting.protocol != "follow-up":
        raise InvalidInputError(
            f"exhaustive is given with the protocol {setting.protocol}; it says that the last label need not be asked, "
            "and only follow-up asks one label after another. Leave it out"
        )
    if setting.protocol == "labels" and (overlap > 1 or about.has_checks):
        raise InvalidInputError("overlap and checks of raters are for yes/no questions; the protocol labels asks none")
