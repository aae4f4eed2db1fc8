"""The API for owners: what a study shows, its files, its raters' links, and pausing it."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import AsyncIterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.responses import FileResponse, HTMLResponse, Response, StreamingResponse

from onebit.errors import InvalidInputError
from onebit.report import as_html
from onebit.store.listing import archive as put_away
from onebit.web.access import Link, UnknownLinkError
from onebit.web.calls import Call, Operation
from onebit.web.constants import ALIVE_EVERY, LOOK_EVERY, MOST_NAME, MOST_NUMBER
from onebit.web.room import Room
from onebit.web.schema import Schema, fields, text
from onebit.web.shield import POLICY_FOR_FILES
from onebit.web.site import NoSuchStudyError

STUDY: Schema = fields(
    {
        "study": {"type": "integer"},
        "name": {"type": "string"},
        "created_at": {"type": "string"},
        "paused": {"type": "boolean"},
        "archived": {"type": "boolean"},
    }
)
LINK: Schema = fields(
    {
        "link": {"type": "integer"},
        "rater": {"type": "string"},
        "made_at": {"type": "string"},
        "expires_at": {"type": "string"},
        "works": {"type": "boolean"},
    }
)
ANYTHING: Schema = {"type": "object"}
#: Media types of what is downloaded.
FILE, SQLITE = "application/octet-stream", "application/x-sqlite3"


def _number(call: Call, name: str) -> int:
    number = int(call.path[name])
    if not 0 <= number <= MOST_NUMBER:
        raise NoSuchStudyError(f"there is no {name} {number} here")
    return number


def room_of(call: Call) -> Room:
    return call.site.room(_number(call, "study"))


def studies(call: Call) -> dict[str, Any]:
    entries = call.site.entries()
    return {
        "studies": [
            {
                "study": entry.id,
                "name": entry.name,
                "created_at": entry.created_at,
                "paused": call.site.access.is_paused(entry.id),
                "archived": entry.archived,
            }
            for entry in entries
        ]
    }


def status(call: Call) -> dict[str, Any]:
    room = room_of(call)
    overview = room.overview()
    return {
        "study": room.entry.id,
        "name": room.entry.name,
        "kind": room.study.created.kind,
        "paused": call.site.access.is_paused(room.entry.id),
        "is_over": overview.is_over,
        "forecast": overview.board.forecast,
        "raters": [asdict(rater) for rater in overview.raters],
        "labels": [asdict(label) for label in overview.labels],
        "warnings": overview.warnings,
        **overview.board.plain,
    }


def _download(path: Path, name: str, media_type: str = FILE) -> Response:
    """A file that was made for this call, and is gone when it was sent."""
    return FileResponse(path, media_type=media_type, filename=name, background=BackgroundTask(path.unlink))


def export(call: Call) -> Response:
    from onebit.study.export import export_study

    entry = call.site.entry(_number(call, "study"))
    what: Any = call.query.get("what", "labels")
    ending = call.query.get("format", "csv")
    path = call.site.uploads / f"{uuid.uuid4().hex}.{ending}"
    export_study(call.site.storage, entry.name, path, what, anonymous=call.query.get("anonymous") == "yes")
    return _download(path, f"{entry.name} {what}.{ending}")


def backup(call: Call) -> Response:
    from onebit.store.backup import backup as copy

    path = call.site.uploads / f"{uuid.uuid4().hex}.db"
    copy(call.site.storage, str(path))
    return _download(path, "onebit-backup.db", SQLITE)


def model(call: Call) -> Response:
    """The classifier of a study that trains one; whoever answers meanwhile is not disturbed."""
    # Imported here: what learns takes seconds to load.
    from onebit.study.opening import load_study

    entry = call.site.entry(_number(call, "study"))
    path = call.site.uploads / f"{uuid.uuid4().hex}.skops"
    with load_study(entry.name, storage=call.site.storage, read_only=True) as study:
        study.write_model(path)
    return _download(path, f"{entry.name}.skops")


def report(call: Call) -> Response:
    room = room_of(call)
    page = as_html(room.report(call.site.workroom), study=room.entry.name)
    return HTMLResponse(page, headers={"Content-Security-Policy": POLICY_FOR_FILES})


def _shown(call: Call, link: Link) -> dict[str, Any]:
    return {
        "link": link.id,
        "rater": str(link.rater),
        "made_at": link.made_at,
        "expires_at": link.expires_at,
        "works": call.site.access.works(link),
    }


def links(call: Call) -> dict[str, Any]:
    entry = call.site.entry(_number(call, "study"))
    return {"links": [_shown(call, link) for link in call.site.access.of_study(entry.id)]}


def new_link(call: Call) -> dict[str, Any]:
    entry = call.site.entry(_number(call, "study"))
    link, token = call.site.access.make("rater", entry.id, call.body["rater"])
    return {**_shown(call, link), "url": call.site.link_url("rater", token)}


def revoke(call: Call) -> dict[str, Any]:
    call.site.access.revoke(_number(call, "link"), _number(call, "study"))
    return {"revoked": True}


def pause(call: Call) -> dict[str, Any]:
    entry = call.site.entry(_number(call, "study"))
    call.site.access.pause(entry.id, call.body["paused"])
    return {"paused": call.body["paused"]}


def rename(call: Call) -> dict[str, Any]:
    call.site.rename(_number(call, "study"), call.body["name"])
    return {"name": call.body["name"]}


def archive(call: Call) -> dict[str, Any]:
    entry = call.site.entry(_number(call, "study"))
    put_away(call.site.store, entry.id, call.body["archived"])
    return {"archived": call.body["archived"]}


def delete(call: Call) -> dict[str, Any]:
    entry = call.site.entry(_number(call, "study"))
    if call.body["name"] != entry.name:
        raise InvalidInputError(
            f"the name given is {call.body['name']!r}, and this study is called {entry.name!r}; nothing was deleted. "
            "Give the name of the study, since its answers cannot be brought back"
        )
    return {"deleted": call.site.delete(entry.id).name}


async def live(call: Call) -> Response:
    """Says whenever something happened, as server-sent events; ends when the owner's link does."""
    room = await run_in_threadpool(room_of, call)

    async def events() -> AsyncIterator[str]:
        seen, quiet = None, 0.0
        while not await call.request.is_disconnected():
            paused = await run_in_threadpool(_paused_or_ended, call, room.entry.id)
            if paused is None:
                return
            now = room.study.view.head.n_events, paused, room.is_foreseen
            if now != seen:
                seen, quiet = now, 0.0
                yield f"data: {json.dumps({'events': now[0], 'paused': now[1]})}\n\n"
            elif quiet >= ALIVE_EVERY:
                quiet = 0.0
                yield ": alive\n\n"
            await asyncio.sleep(LOOK_EVERY)
            quiet += LOOK_EVERY

    return StreamingResponse(events(), media_type="text/event-stream", headers={"X-Accel-Buffering": "no"})


def _paused_or_ended(call: Call, study_id: int) -> bool | None:
    """Whether a study is paused; None when the link of whoever asks has ended."""
    try:
        call.site.access.find(call.token)
    except UnknownLinkError:
        return None
    return call.site.access.is_paused(study_id)


_AT = "/api/v1/studies/{study}"
OPERATIONS = (
    Operation(
        "GET",
        "/api/v1/studies",
        "studies",
        "The studies of the store",
        "owner",
        studies,
        fields({"studies": {"type": "array", "items": STUDY}}),
    ),
    Operation(
        "GET", _AT, "status", "What is known, about models, raters and labels", "owner", status, ANYTHING, errors=(409,)
    ),
    Operation(
        "GET",
        f"{_AT}/export",
        "export",
        "The verified labels, or the whole log, as a file",
        "owner",
        export,
        FILE,
        query={
            "what": text(10, enum=["labels", "log"]),
            "format": text(10, enum=["csv", "jsonl", "parquet"]),
            "anonymous": text(10, enum=["yes", "no"]),
        },
    ),
    Operation(
        "GET",
        f"{_AT}/model",
        "model",
        "The classifier that a study trains, as it is now, as onebit predict reads it",
        "owner",
        model,
        FILE,
    ),
    Operation("GET", f"{_AT}/report", "report", "The report, one HTML file", "owner", report, "text/html"),
    Operation(
        "GET",
        "/api/v1/backup",
        "backup",
        "A copy of the whole store (SQLite)",
        "owner",
        backup,
        SQLITE,
    ),
    Operation(
        "GET",
        f"{_AT}/links",
        "links",
        "The raters' links, without their tokens",
        "owner",
        links,
        fields({"links": {"type": "array", "items": LINK}}),
    ),
    Operation(
        "POST",
        f"{_AT}/links",
        "new_link",
        "Make a link for a rater; its address is told once",
        "owner",
        new_link,
        {**LINK, "properties": {**LINK["properties"], "url": {"type": "string"}}},
        body=fields({"rater": text(200)}),
    ),
    Operation(
        "DELETE",
        f"{_AT}/links/{{link}}",
        "revoke",
        "End a link at once",
        "owner",
        revoke,
        fields({"revoked": {"type": "boolean"}}),
    ),
    Operation(
        "POST",
        f"{_AT}/pause",
        "pause",
        "Give out no questions, or go on",
        "owner",
        pause,
        fields({"paused": {"type": "boolean"}}),
        body=fields({"paused": {"type": "boolean"}}),
    ),
    Operation(
        "POST",
        f"{_AT}/rename",
        "rename",
        "Give the study another name; its log does not change",
        "owner",
        rename,
        fields({"name": {"type": "string"}}),
        body=fields({"name": text(MOST_NAME)}),
        errors=(409,),
    ),
    Operation(
        "POST",
        f"{_AT}/archive",
        "archive",
        "Put the study away, which pauses it, or list it again",
        "owner",
        archive,
        fields({"archived": {"type": "boolean"}}),
        body=fields({"archived": {"type": "boolean"}}),
    ),
    Operation(
        "POST",
        f"{_AT}/delete",
        "delete",
        "Delete the study, its answers and its links for good; its name says that this is meant",
        "owner",
        delete,
        fields({"deleted": {"type": "string"}}),
        body=fields({"name": text(MOST_NAME, least=0)}),
        errors=(409,),
    ),
    Operation(
        "GET",
        f"{_AT}/live",
        "live",
        "Server-sent events: something happened",
        "owner",
        live,
        "text/event-stream",
        errors=(409,),
        streams=True,
    ),
)
