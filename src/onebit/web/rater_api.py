"""The API for raters: ask, tell, undo, progress. The rater's page uses it, and so may any other front end."""

from __future__ import annotations

from typing import Any

from onebit.errors import InvalidInputError
from onebit.records import Answer
from onebit.study.study import Offer, Undo
from onebit.web.calls import Call, ForbiddenError, Operation
from onebit.web.room import Room, State
from onebit.web.schema import Schema, fields, text, whole

#: Questions that a rater may hold at once: enough to go on through a short loss of the connection.
MOST_HELD = 5

QUESTION_NUMBER = whole(0, 2**53 - 1, description="the number of a question that was given to this rater")
ITEM: Schema = fields(
    {
        "id": {"type": "string"},
        "columns": {"type": "array", "items": fields({"name": {"type": "string"}, "text": {"type": "string"}})},
        "image": {"type": ["string", "null"], "description": "where its picture is on this server"},
    }
)
QUESTION: Schema = fields(
    {
        "question": QUESTION_NUMBER,
        "item": ITEM,
        "label": {
            **fields({"name": {"type": "string"}, "description": {"type": "string"}}),
            "type": ["object", "null"],
            "description": "is this label right? null where the label itself is asked for",
        },
    }
)
PROGRESS: Schema = fields(
    {
        "words": {"type": "string"},
        "answers": {"type": "integer"},
        "forecast": {
            "type": ["array", "null"],
            "items": {"type": "integer"},
            "description": "answers still needed: low, middle, high",
        },
    }
)
STATE: Schema = {"type": "string", "enum": ["asking", "waiting", "paused", "done"]}


def _room(call: Call) -> Room:
    if call.link.study_id is None:
        raise ForbiddenError("this link belongs to no study")
    return call.site.room(call.link.study_id)


def _rater(call: Call) -> str:
    return str(call.link.rater)


def show(call_token: str, room: Room, offer: Offer) -> dict[str, Any]:
    """A question as raters see it."""
    study = room.study
    item = study.item(offer.item)
    label = None if offer.label is None else study.about.labels[offer.label]
    return {
        "question": offer.id,
        "item": {
            "id": item.id,
            "columns": [
                {"name": name, "text": shown} for name, shown in item.shown.items() if name != study.about.image
            ],
            "image": None if item.image is None else f"/r/{call_token}/image/{offer.item}",
        },
        "label": None if label is None else {"name": label.name, "description": label.description},
    }


def ask(call: Call) -> dict[str, Any]:
    room = _room(call)
    hand = room.hand(_rater(call), int(call.body.get("n", 1)), call.site.access.is_paused(room.entry.id))
    return {
        "state": hand.state,
        "questions": [show(call.token, room, offer) for offer in hand.offers],
        "progress": room.progress(hand.state),
    }


def tell(call: Call) -> dict[str, Any]:
    room, said = _room(call), call.body["answer"]
    answer: Answer | int
    if room.study.created.setting.protocol == "labels" and said not in ("yes", "no", "can't tell"):
        names = [label.name for label in room.study.about.labels]
        if said not in names:
            raise InvalidInputError(f"{said!r} is no label of this study")
        answer = names.index(said)
    else:
        answer = _answer(said)
    receipt = room.tell(int(call.body["question"]), answer, _rater(call), call.body["token"])
    return {"late": receipt.late, "repeated": receipt.repeated}


def _answer(said: str) -> Answer:
    try:
        return Answer(said)
    except ValueError:
        raise InvalidInputError(f"the answer is {said!r}; it must be yes, no or can't tell") from None


def undo(call: Call) -> dict[str, Any]:
    outcome = _room(call).undo(int(call.body["question"]), _rater(call))
    return {"undone": outcome is Undo.UNDONE, "words": outcome.value}


def progress(call: Call) -> dict[str, Any]:
    room = _room(call)
    paused = call.site.access.is_paused(room.entry.id)
    room.follower.update()
    state: State = "done" if room.follower.finished is not None else "paused" if paused else "asking"
    return {"study": room.entry.name, "state": state, "progress": room.progress(state)}


def labels(call: Call) -> dict[str, Any]:
    return {"labels": [{"name": each.name, "description": each.description} for each in _room(call).study.about.labels]}


LABEL: Schema = fields({"name": {"type": "string"}, "description": {"type": "string"}})
OPERATIONS = (
    Operation(
        "GET",
        "/api/v1/labels",
        "labels",
        "All labels, for where the label itself is asked for",
        "rater",
        labels,
        fields({"labels": {"type": "array", "items": LABEL}}),
    ),
    Operation(
        "POST",
        "/api/v1/ask",
        "ask",
        "Get questions: those this rater holds, and more up to n",
        "rater",
        ask,
        fields({"state": STATE, "questions": {"type": "array", "items": QUESTION}, "progress": PROGRESS}),
        body=fields({}, {"n": whole(1, MOST_HELD, default=1)}),
    ),
    Operation(
        "POST",
        "/api/v1/tell",
        "tell",
        "Send an answer; the same token again is the same answer again",
        "rater",
        tell,
        fields({"late": {"type": "boolean"}, "repeated": {"type": "boolean"}}),
        body=fields(
            {
                "question": QUESTION_NUMBER,
                "answer": text(1000, description="yes, no or can't tell; or a label, where that was asked for"),
                "token": text(100, description="made anew for every answer, so that repeating is safe"),
            }
        ),
        errors=(403, 404, 409),
    ),
    Operation(
        "POST",
        "/api/v1/undo",
        "undo",
        "Take one's own answer back, while it has not been used",
        "rater",
        undo,
        fields({"undone": {"type": "boolean"}, "words": {"type": "string"}}),
        body=fields({"question": QUESTION_NUMBER}),
        errors=(403, 404),
    ),
    Operation(
        "GET",
        "/api/v1/progress",
        "progress",
        "How far the study is",
        "rater",
        progress,
        fields({"study": {"type": "string"}, "state": STATE, "progress": PROGRESS}),
    ),
)
