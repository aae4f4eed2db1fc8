"""Fields of JSON objects, read with their types checked."""

from __future__ import annotations

import math
from typing import Any

from onebit.log.events import LogError
from onebit.records import Answer, RunStatus

#: Answers by the word that stands for them.
ANSWERS = {answer.value: answer for answer in Answer}


class Reader:
    """Fields of a JSON object with their types checked, so that damage is an error and not a wrong certificate."""

    def __init__(self, data: object) -> None:
        if not isinstance(data, dict):
            raise LogError(f"an event must be a JSON object, and this is {shown(data)}")
        self.data: dict[str, Any] = data

    def _get(self, name: str, what: str, *types: type) -> Any:
        value = self.data.get(name, self)
        # JSON's true is an int to Python.
        if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
            given = "is missing" if value is self else f"is {shown(value)}"
            raise LogError(f"in an event {shown(self.data.get('event'))}, {name!r} {given}; it must be {what}")
        return value

    def text(self, name: str) -> str:
        return str(self._get(name, "a text", str))

    def text_or_none(self, name: str) -> str | None:
        value: str | None = self._get(name, "a text or null", str, type(None))
        return value

    def flag(self, name: str) -> bool:
        return bool(self._get(name, "true or false", bool))

    def count(self, name: str) -> int:
        value: int = self._get(name, "a whole number", int)
        if value < 0:
            raise LogError(f"in an event {shown(self.data.get('event'))}, {name!r} is {value}; it cannot be negative")
        return value

    def count_or_none(self, name: str) -> int | None:
        return None if self.data.get(name, 0) is None else self.count(name)

    def number(self, name: str) -> float:
        value = float(self._get(name, "a number", int, float))
        if not math.isfinite(value):
            raise LogError(f"in an event {shown(self.data.get('event'))}, {name!r} is {value}; it must be finite")
        return value

    def number_or_none(self, name: str) -> float | None:
        return None if self.data.get(name, 0) is None else self.number(name)

    def object(self, name: str) -> dict[str, Any]:
        value: dict[str, Any] = self._get(name, "an object", dict)
        return value

    def counts(self, name: str) -> tuple[int, ...]:
        return tuple(each.count("n") for each in self._each(name))

    def numbers(self, name: str) -> tuple[float, ...]:
        return tuple(each.number("n") for each in self._each(name))

    def flags(self, name: str) -> tuple[bool, ...]:
        return tuple(each.flag("n") for each in self._each(name))

    def _each(self, name: str) -> list[Reader]:
        """The elements of a list, each as the field n of an object."""
        return [Reader({"event": f"list {name}", "n": each}) for each in self._get(name, "a list", list)]

    def lists(self, name: str) -> list[list[Any]]:
        value: list[Any] = self._get(name, "a list", list)
        if not all(isinstance(each, list) for each in value):
            raise LogError(f"{name!r} is {shown(value)}; it must be a list of lists")
        return value

    def one_of(self, name: str, choices: tuple[str, ...]) -> Any:
        value = self.text(name)
        if value not in choices:
            raise LogError(f"{name!r} is {value!r}; this version of onebit knows {', '.join(choices)}")
        return value

    def answer(self, name: str) -> Answer:
        return ANSWERS[self.one_of(name, tuple(ANSWERS))]

    def answer_or_label(self, name: str) -> Answer | int:
        return self.answer(name) if isinstance(self.data.get(name), str) else self.count(name)

    def status(self, name: str) -> RunStatus:
        return RunStatus[self.one_of(name, tuple(each.name.lower() for each in RunStatus)).upper()]

    def rater_and_token(self) -> tuple[str | None, str | None]:
        return self.text_or_none("rater"), self.text_or_none("token")


def shown(value: object) -> str:
    """A value, short enough for a message."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
