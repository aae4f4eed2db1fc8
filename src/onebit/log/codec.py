"""Events as plain JSON: one object each, with its name under ``"event"``.

The version of the whole log stands in its first event, ``created``. What this onebit does not know is refused, never
skipped: a log that is read in part would give another certificate.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any, get_args

from onebit.log.events import (
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
    OtherVersionError,
    TableFacts,
    Undone,
    Unvoted,
    Voted,
)
from onebit.log.json_reader import ANSWERS, Reader
from onebit.records import (
    Answer,
    Closing,
    EpochPlan,
    EpochRecord,
    Population,
    Protocol,
    Question,
    Setting,
    TrainingProtocol,
    TrainingSetting,
)

_OF_A_RATER: dict[str, type[Offered | Unvoted | Undone | Disputed]] = {
    "offered": Offered,
    "unvoted": Unvoted,
    "undone": Undone,
    "disputed": Disputed,
}


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
            return {"event": "plan" if isinstance(record, EpochPlan) else "epoch", **_flat(record)}
        case Closed(closing):
            return {"event": "closed", **_flat(closing)}
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
                return Answered(number, ANSWERS[data["answer"]], rater, token, late)
        elif name == "asked":
            whole, q = (data["item"], data["label"], data["epoch"]), data["propensity"]
            if all(type(each) is int and each >= 0 for each in whole) and type(q) is float and 0 < q <= 1:
                return Asked(Question(number, whole[0], whole[1], q, whole[2]), rater)
    except (KeyError, TypeError):
        pass
    return None


def _any(data: object) -> Event:
    read = Reader(data)
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
        case "plan":
            return EpochBegan(_plan(read))
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


def _question(read: Reader) -> Question:
    return Question(
        read.count("id"),
        read.count("item"),
        read.count_or_none("label"),
        read.number("propensity"),
        read.count("epoch"),
    )


def _check(read: Reader, name: str) -> Checked | CheckAnswered | CheckUndone:
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


def _epoch(read: Reader) -> EpochRecord:
    mixture = []
    for pair in read.lists("mixture"):
        entry = Reader({"event": "mixture", **dict(zip(("model", "mass"), pair, strict=False))})
        mixture.append((entry.count("model"), entry.number("mass")))
    return EpochRecord(
        number=read.count("number"),
        first_round=read.count("first_round"),
        n_rounds=read.count("n_rounds"),
        leader=read.count("leader"),
        survivors=read.counts("survivors"),
        mixture=tuple(mixture),
        gamma=read.number("gamma"),
        trust=read.numbers("trust"),
        guess=read.numbers("guess"),
        sure_from=read.number("sure_from"),
    )


def _plan(read: Reader) -> EpochPlan:
    plan = EpochPlan(
        number=read.count("number"),
        audits=read.flag("audits"),
        items=read.counts("items"),
        labels=read.counts("labels"),
        propensities=read.numbers("propensities"),
        guesses=read.counts("guesses"),
        fresh=read.flags("fresh"),
        most_each=read.count("most_each"),
    )
    columns = (plan.items, plan.labels, plan.propensities, plan.guesses, plan.fresh)
    if len({len(column) for column in columns}) != 1 or not plan.items:
        raise LogError(f"the plan of epoch {plan.number} has lists of different lengths, or is empty")
    return plan


def _closing(read: Reader) -> Closing:
    return Closing(
        epoch=read.count("epoch"),
        n_rounds=read.count("n_rounds"),
        n_answers=read.count("n_answers"),
        leader=read.count("leader"),
        survivors=read.counts("survivors"),
        certified_eps=read.number("certified_eps"),
        n_checks=read.count("n_checks"),
        n_contradicted=read.count("n_contradicted"),
    )


def _selection(read: Reader) -> Setting:
    return Setting(
        eps=read.number("eps"),
        delta=read.number("delta"),
        protocol=read.one_of("protocol", get_args(Protocol)),
        population=read.one_of("population", get_args(Population)),
        passive=read.flag("passive"),
        budget=read.count_or_none("budget"),
        seed=read.count("seed"),
        f_no=read.number("f_no"),
        f_yes=read.number("f_yes"),
        exhaustive=read.flag("exhaustive"),
        seed_given=read.flag("seed_given"),
    )


def _training(read: Reader) -> TrainingSetting:
    return TrainingSetting(
        budget=read.count("budget"),
        protocol=read.one_of("protocol", get_args(TrainingProtocol)),
        target=read.number_or_none("target"),
        audit=read.count_or_none("audit"),
        delta=read.number("delta"),
        seed=read.count("seed"),
        seed_given=read.flag("seed_given"),
    )


#: How the setting of each kind of study is read.
SETTINGS: dict[Kind, Callable[[Reader], Setting | TrainingSetting]] = {"selection": _selection, "learning": _training}


def _created(read: Reader) -> Created:
    version = read.count("version")
    if version != VERSION:
        raise OtherVersionError(
            f"the log has version {version}, and this onebit reads version {VERSION}; what was promised has changed in "
            "between, so it is not carried on. Use the onebit that wrote it (version 1: onebit 0.1.0)"
        )
    table, kind = Reader(read.object("table")), read.one_of("kind", get_args(Kind))
    return Created(
        setting=SETTINGS[kind](Reader(read.object("setting"))),
        learner=read.one_of("learner", get_args(LearnerName)),
        table=TableFacts(
            table.text("digest"), table.count("n_models"), table.count("n_items"), table.count("n_labels")
        ),
        overlap=read.count("overlap"),
        kind=kind,
        simulated=read.flag("simulated"),
        about=read.text("about"),
        shown=read.text("shown"),
        version=version,
    )


def _flat(record: Any) -> dict[str, Any]:
    """The fields of a record; tuples become lists, as in JSON."""
    return {field.name: _plain(getattr(record, field.name)) for field in fields(record)}


def _plain(value: Any) -> Any:
    return [_plain(each) for each in value] if isinstance(value, tuple) else value
