"""The API for raters: ask, tell, undo, progress. The rater's page uses it, and so may any other front end."""

from __future__ import annotations

from typing import Any

from onebit.errors import AlreadyAnsweredError, InvalidInputError
from onebit.records import Answer
from onebit.study.about import Label
from onebit.study.media import Media
from onebit.study.study import Offer, Study, Undo
from onebit.web.calls import Call, ForbiddenError, Operation
from onebit.web.constants import LONG_LABEL, MOST_BODY, MOST_HELD, MOST_MARKDOWN
from onebit.web.languages import Language, language_for
from onebit.web.markdown import to_html
from onebit.web.room import Room, State
from onebit.web.schema import Schema, fields, text, whole

QUESTION_NUMBER = whole(0, 2**53 - 1, description="the number of a question that was given to this rater")
#: What a client may send along with a number, so that it is never taken for a question that was not seen.
MEANT: dict[str, Schema] = {
    "item": text(MOST_BODY, least=0, description="the id of the item that was seen; refused if it is another's by now"),
    "label": {
        **text(MOST_BODY, least=0, description="the name of the label that was seen, null if none; refused likewise"),
        "type": ["string", "null"],
    },
}
#: A text as it is in the table, and as safe HTML where the study says that texts are Markdown.
TEXT: dict[str, Schema] = {"text": {"type": "string"}, "html": {"type": ["string", "null"]}}
ITEM: Schema = fields(
    {
        "id": {"type": "string"},
        "columns": {"type": "array", "items": fields({"name": {"type": "string"}, **TEXT})},
        "media": {
            **fields(
                {
                    "form": {"type": "string", "enum": ["image", "audio", "video"]},
                    "address": {"type": "string", "description": "on this server, or at a host that the owner named"},
                }
            ),
            "type": ["object", "null"],
            "description": "a picture, a sound or a video",
        },
    }
)
QUESTION: Schema = fields(
    {
        "question": QUESTION_NUMBER,
        "item": ITEM,
        "label": {
            **fields(
                {
                    "name": {"type": "string"},
                    "description": {"type": "string"},
                    "is_text": {"type": "boolean", "description": "an output to read, not the name of a label"},
                    "html": {"type": ["string", "null"]},
                }
            ),
            "type": ["object", "null"],
            "description": "is this label right? null where the label itself is asked for",
        },
    }
)
PROGRESS: Schema = fields(
    {
        "words": {"type": "string", "description": "in the language of Accept-Language, where it is one of ours"},
        "answers": {"type": "integer"},
        "own": {"type": "integer", "description": "answers of this rater"},
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


def _language(call: Call) -> Language:
    return language_for(call.request.headers.get("accept-language", ""))


def _rater(call: Call) -> str:
    return str(call.link.rater)


class OtherQuestionError(AlreadyAnsweredError):
    """The number of a question that is another one by now: an older backup was restored while a page was open."""


def _number_meant(call: Call, study: Study) -> int:
    """The number of the question; OtherQuestionError if it is not the one that was seen."""
    number = int(call.body["question"])
    offer = study.offer(number)
    is_now = {
        "item": study.item(offer.item).id,
        "label": None if offer.label is None else study.items.label(offer.label).name,
    }
    for what, now in is_now.items():
        if call.body.get(what, now) != now:
            raise OtherQuestionError(
                f"question {number} has another {what} by now, since the study went back to a backup; nothing was "
                "counted. Ask for questions anew"
            )
    return number


def show(call_token: str, room: Room, offer: Offer) -> dict[str, Any]:
    """A question as raters see it."""
    study = room.study
    item, about = study.item(offer.item), study.about
    label = None if offer.label is None else study.items.label(offer.label)
    shown = {name: text for name, text in item.shown.items() if name != about.media}
    return {
        "question": offer.id,
        "item": {
            "id": item.id,
            "columns": [{"name": name, "text": text, "html": _html(study, text)} for name, text in shown.items()],
            "media": None if item.media is None else _media(call_token, offer.item, item.media),
        },
        "label": None if label is None else _output(study, label),
    }


def _media(token: str, row: int, media: Media) -> dict[str, str]:
    return {"form": media.form, "address": media.address or f"/r/{token}/media/{row}"}


def _output(study: Study, label: Label) -> dict[str, Any]:
    """What raters are asked about: a label, or a text to read."""
    reads = study.about.is_open or is_text(label.name)
    html = _html(study, label.name) if reads else None
    return {"name": label.name, "description": label.description, "is_text": reads, "html": html}


def _html(study: Study, text: str) -> str | None:
    return to_html(text) if study.about.markdown and len(text) <= MOST_MARKDOWN else None


def is_text(output: str) -> bool:
    """Whether an output is something to read, and not the name of a label.

    >>> is_text("lost luggage"), is_text("Dear customer,\\nyour luggage is here.")
    (False, True)
    """
    return len(output) > LONG_LABEL or "\n" in output


def are_together(study: Study) -> bool:
    """Whether all outputs of an item are judged together."""
    return study.created.setting.protocol == "panel" and not study.about.one_at_a_time


def ask(call: Call) -> dict[str, Any]:
    room, rater = _room(call), _rater(call)
    together = are_together(room.study)
    hand = room.hand(rater, int(call.body.get("n", 1)), call.link.is_paused, together)
    return {
        "state": hand.state,
        "together": together,
        "none_of_these": room.study.kind.takes_none,
        "questions": [show(call.token, room, offer) for offer in hand.offers],
        "progress": room.progress(hand.state, rater, _language(call)),
    }


def tell(call: Call) -> dict[str, Any]:
    room, said = _room(call), call.body["answer"]
    asks_labels = room.study.created.setting.protocol == "labels"
    answer = _label(room.study, said) if asks_labels and said != Answer.CANT_TELL.value else _answer(said)
    receipt = room.tell(_number_meant(call, room.study), answer, _rater(call), call.body["token"])
    return {"late": receipt.late, "repeated": receipt.repeated}


def _label(study: Study, said: str) -> int:
    names = [label.name for label in study.about.labels]
    if said not in names:
        raise InvalidInputError(f"{said!r} is no label of this study")
    return names.index(said)


def _answer(said: str) -> Answer:
    try:
        return Answer(said)
    except ValueError:
        raise InvalidInputError(f"the answer is {said!r}; it must be yes, no, can't tell or none of these") from None


def undo(call: Call) -> dict[str, Any]:
    room = _room(call)
    outcome = room.undo(_number_meant(call, room.study), _rater(call))
    return {"undone": outcome is Undo.UNDONE, "words": outcome.value}


def progress(call: Call) -> dict[str, Any]:
    room = _room(call)
    state: State = "done" if room.study.is_over else "paused" if call.link.is_paused else "asking"
    return {"study": room.entry.name, "state": state, "progress": room.progress(state, _rater(call), _language(call))}


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
        fields(
            {
                "state": STATE,
                "together": {"type": "boolean", "description": "show questions about the same item together"},
                "none_of_these": {"type": "boolean", "description": "whether this answer is allowed"},
                "questions": {"type": "array", "items": QUESTION},
                "progress": PROGRESS,
            }
        ),
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
                "answer": text(
                    1000,
                    description="yes, no or can't tell; none of these, where it is allowed; or a label, where that was "
                    "asked for",
                ),
                "token": text(100, description="made anew for every answer, so that repeating is safe"),
            },
            MEANT,
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
        body=fields({"question": QUESTION_NUMBER}, MEANT),
        errors=(403, 404, 409),
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
