"""Events as plain JSON: one object each, with its name under ``"event"``.

The version of the whole log stands in its first event, ``created``. What this onebit does not know is refused, never
skipped: a log that is read in part would give another certificate.
"""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Any, get_args

from onebit.records import Answer, Closing, EpochRecord, Population, Protocol, Question, RunStatus, Setting
from onebit.study.events import (
    VERSION,
    Answered,
    Asked,
    CheckAnswered,
    Checked,
    CheckUndone,
    Closed,
    Created,
    Disputed,
    EpochBegan,
    Event,
    Finished,
    Kind,
    LearnerName,
    LogError,
    Offered,
    TableFacts,
    Undone,
    Unvoted,
    Voted,
)

_OF_A_RATER: dict[str, type[Offered | Unvoted | Undone | Disputed]] = {
    "offered": Offered,
    "unvoted": Unvoted,
    "undone": Undone,
    "disputed": Disputed,
}


_ANSWERS = {answer.value: answer for answer in Answer}


def to_json(event: Event) -> dict[str, Any]:
    """The event as one plain JSON object.

    >>> to_json(Undone(3, "ann"))
    {'event': 'undone', 'id': 3, 'rater': 'ann'}
    """
    match event:
        case Asked(question, rater):
            return {"event": "asked", **_flat(question), "rater": rater}
        case Answered() | Voted():
            answer = event.answer.value if isinstance(event.answer, Answer) else int(event.answer)
            name = "answered" if isinstance(event, Answered) else "voted"
            told = {"rater": event.rater, "token": event.token, "late": event.late}
            return {"event": name, "id": event.question_id, "answer": answer, **told}
        case Offered() | Unvoted() | Undone() | Disputed():
            return {"event": type(event).__name__.lower(), "id": event.question_id, "rater": event.rater}
        case Checked():
            return {"event": "checked", **_flat(event), "expected": event.expected.value}
        case CheckAnswered():
            return {"event": "check answered", **_flat(event), "answer": event.answer.value}
        case CheckUndone():
            return {"event": "check undone", **_flat(event)}
        case EpochBegan(record):
            lists = {"survivors": list(record.survivors), "mixture": [list(each) for each in record.mixture]}
            return {"event": "epoch", **_flat(record), **lists}
        case Closed(closing):
            return {"event": "closed", **_flat(closing), "survivors": list(closing.survivors)}
        case Finished(status, summary):
            return {"event": "finished", "status": status.name.lower(), "summary": dict(summary)}
        case Created():
            records = {"setting": _flat(event.setting), "table": _flat(event.table)}
            return {"event": "created", **_flat(event), **records}


def from_json(data: object) -> Event:
    """The event that a JSON object describes; LogError if this version knows no such event."""
    return _frequent(data) or _any(data)


def _frequent(data: Any) -> Asked | Answered | None:
    """The two events that logs consist of, quickly; None if this is another one, or something is wrong with it."""
    try:
        name, number, rater = data["event"], data["id"], data["rater"]
        if type(number) is not int or number < 0 or not (rater is None or type(rater) is str):
            return None
        if name == "answered":
            token, late = data["token"], data["late"]
            if (token is None or type(token) is str) and type(late) is bool:
                return Answered(number, _ANSWERS[data["answer"]], rater, token, late)
        elif name == "asked":
            whole, q = (data["item"], data["label"], data["epoch"]), data["propensity"]
            if all(type(each) is int and each >= 0 for each in whole) and type(q) is float and 0 < q <= 1:
                return Asked(Question(number, whole[0], whole[1], q, whole[2]), rater)
    except (KeyError, TypeError):
        pass
    return None


def _any(data: object) -> Event:
    read = _Reader(data)
    name = read.text("event")
    match name:
        case "asked":
            return Asked(_question(read), read.text_or_none("rater"))
        case "answered" | "voted":
            kind = Answered if name == "answered" else Voted
            return kind(
                read.count("id"), read.answer_or_label("answer"), *read.rater_and_token(), late=read.flag("late")
            )
        case "offered" | "unvoted" | "undone" | "disputed":
            return _OF_A_RATER[name](read.count("id"), read.text_or_none("rater"))
        case "checked" | "check answered" | "check undone":
            return _check(read, name)
        case "epoch":
            return EpochBegan(_epoch(read))
        case "closed":
            return Closed(_closing(read))
        case "finished":
            return Finished(read.status("status"), read.object("summary"))
        case "created":
            return _created(read)
    raise LogError(
        f"the log has an event {name!r}, which this version of onebit does not know; it was written by a newer one, or "
        "damaged. Use the version that wrote it"
    )


class _Reader:
    """Fields of a JSON object with their types checked, so that damage is an error and not a wrong certificate."""

    def __init__(self, data: object) -> None:
        if not isinstance(data, dict):
            raise LogError(f"an event must be a JSON object, and this is {_shown(data)}")
        self.data: dict[str, Any] = data

    def _get(self, name: str, what: str, *types: type) -> Any:
        value = self.data.get(name, self)
        # JSON's true is an int to Python.
        if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
            given = "is missing" if value is self else f"is {_shown(value)}"
            raise LogError(f"in an event {_shown(self.data.get('event'))}, {name!r} {given}; it must be {what}")
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
            raise LogError(f"in an event {_shown(self.data.get('event'))}, {name!r} is {value}; it cannot be negative")
        return value

    def count_or_none(self, name: str) -> int | None:
        return None if self.data.get(name, 0) is None else self.count(name)

    def number(self, name: str) -> float:
        value = float(self._get(name, "a number", int, float))
        if not math.isfinite(value):
            raise LogError(f"in an event {_shown(self.data.get('event'))}, {name!r} is {value}; it must be finite")
        return value

    def object(self, name: str) -> dict[str, Any]:
        value: dict[str, Any] = self._get(name, "an object", dict)
        return value

    def counts(self, name: str) -> tuple[int, ...]:
        return tuple(
            _Reader({"event": f"list {name}", "n": each}).count("n") for each in self._get(name, "a list", list)
        )

    def lists(self, name: str) -> list[list[Any]]:
        value: list[Any] = self._get(name, "a list", list)
        if not all(isinstance(each, list) for each in value):
            raise LogError(f"{name!r} is {_shown(value)}; it must be a list of lists")
        return value

    def one_of(self, name: str, choices: tuple[str, ...]) -> Any:
        value = self.text(name)
        if value not in choices:
            raise LogError(f"{name!r} is {value!r}; this version of onebit knows {', '.join(choices)}")
        return value

    def answer(self, name: str) -> Answer:
        return _ANSWERS[self.one_of(name, tuple(_ANSWERS))]

    def answer_or_label(self, name: str) -> Answer | int:
        return self.answer(name) if isinstance(self.data.get(name), str) else self.count(name)

    def status(self, name: str) -> RunStatus:
        return RunStatus[self.one_of(name, tuple(each.name.lower() for each in RunStatus)).upper()]

    def rater_and_token(self) -> tuple[str | None, str | None]:
        return self.text_or_none("rater"), self.text_or_none("token")


def _question(read: _Reader) -> Question:
    return Question(
        read.count("id"),
        read.count("item"),
        read.count_or_none("label"),
        read.number("propensity"),
        read.count("epoch"),
    )


def _check(read: _Reader, name: str) -> Checked | CheckAnswered | CheckUndone:
    if name == "check undone":
        return CheckUndone(read.count("check_id"), read.text("rater"))
    if name == "check answered":
        return CheckAnswered(
            read.count("check_id"), read.answer("answer"), read.text("rater"), read.text_or_none("token")
        )
    return Checked(
        read.count("check_id"),
        read.count("item"),
        read.count("label"),
        read.text("rater"),
        read.answer("expected"),
        read.count_or_none("repeats"),
    )


def _epoch(read: _Reader) -> EpochRecord:
    mixture = []
    for pair in read.lists("mixture"):
        entry = _Reader({"event": "mixture", **dict(zip(("model", "mass"), pair, strict=False))})
        mixture.append((entry.count("model"), entry.number("mass")))
    return EpochRecord(
        number=read.count("number"),
        first_round=read.count("first_round"),
        n_rounds=read.count("n_rounds"),
        leader=read.count("leader"),
        survivors=read.counts("survivors"),
        mixture=tuple(mixture),
        gamma=read.number("gamma"),
    )


def _closing(read: _Reader) -> Closing:
    return Closing(
        epoch=read.count("epoch"),
        n_rounds=read.count("n_rounds"),
        n_answers=read.count("n_answers"),
        leader=read.count("leader"),
        survivors=read.counts("survivors"),
        certified_eps=read.number("certified_eps"),
    )


def _created(read: _Reader) -> Created:
    version = read.count("version")
    if version != VERSION:
        raise LogError(
            f"the log has version {version}, and this version of onebit reads version {VERSION}; use the onebit that "
            "wrote it, or a newer one"
        )
    setting, table = _Reader(read.object("setting")), _Reader(read.object("table"))
    return Created(
        setting=Setting(
            eps=setting.number("eps"),
            delta=setting.number("delta"),
            protocol=setting.one_of("protocol", get_args(Protocol)),
            population=setting.one_of("population", get_args(Population)),
            passive=setting.flag("passive"),
            budget=setting.count_or_none("budget"),
            seed=setting.count("seed"),
            f_no=setting.number("f_no"),
            f_yes=setting.number("f_yes"),
        ),
        learner=read.one_of("learner", get_args(LearnerName)),
        table=TableFacts(
            table.text("digest"), table.count("n_models"), table.count("n_items"), table.count("n_labels")
        ),
        overlap=read.count("overlap"),
        kind=read.one_of("kind", get_args(Kind)),
        version=version,
    )


def _flat(record: Any) -> dict[str, Any]:
    """The fields of a record, as they are."""
    return {field.name: getattr(record, field.name) for field in fields(record)}


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
