"""What evaluation tools log, whatever the tool: what a model said about an item, once."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

#: What scorers say in place of a number.
GRADES = {"c": 1.0, "i": 0.0, "p": 0.5, "n": 0.0, "yes": 1.0, "no": 0.0, "true": 1.0, "false": 0.0}


@dataclass(frozen=True, slots=True)
class Sample:
    """What ``model`` said about an item.

    ``output`` is None where the model failed. ``target`` is the reference answer, ``score`` what a scorer gave. The
    same item may be asked again, in a later ``epoch``. Runs of one model that differ in ``setup`` are two candidates.
    """

    model: str
    id: str
    input: str
    output: str | None
    target: str | None = None
    score: float | None = None
    epoch: int = 1
    setup: str = ""


@dataclass(frozen=True)
class Log:
    """The samples of one file, and sentences about what is in it and not used."""

    where: str
    samples: tuple[Sample, ...]
    notes: tuple[str, ...] = field(default=())


def as_score(value: Any) -> float | None:
    """A score as a number; None where it is none.

    >>> as_score("C"), as_score(True), as_score(0.5), as_score({"a": 1})
    (1.0, 1.0, 0.5, None)
    """
    if isinstance(value, str):
        return GRADES.get(value.strip().lower())
    if not isinstance(value, bool | int | float) or not math.isfinite(value):
        return None
    return float(value)


def as_words(value: Any) -> str:
    """What is shown of a value that may be a text, messages, or an object of named values."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return "\n".join(f"{name}: {as_words(each)}" for name, each in value.items())
    if isinstance(value, list):
        return "\n".join(map(as_words, value))
    return "" if value is None else str(value)
