"""Making a study from the page: a table that is uploaded or lies on the server, its columns, a plan, the study."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from onebit.errors import InvalidInputError, OptionError
from onebit.records import EPS, SelectionSpec, TrainingSpec
from onebit.records.selection_spec import MARGIN
from onebit.records.spec import GOLD_SHARE
from onebit.tables.formats import ENDINGS, LOG_NAMES, NAMES, one_of
from onebit.web.calls import Call, Operation, limited
from onebit.web.chosen import CHOICES, SOURCE
from onebit.web.constants import MOST_UPLOAD
from onebit.web.pages import page, render, require_owner
from onebit.web.schema import Schema, fields, text
from onebit.web.site import Site


async def upload(call: Call) -> dict[str, Any]:
    """Take a table as it comes; it is never larger than allowed, on disk or in memory."""
    ending = Path(call.query["name"]).suffix.lower()
    if ending not in ENDINGS:
        raise InvalidInputError(f"{call.query['name']!r} is no table; tables end in {one_of(ENDINGS)}")
    path = await run_in_threadpool(call.site.new_upload, ending)
    try:
        with path.open("wb") as file:
            async for chunk in limited(call.request, MOST_UPLOAD):
                await run_in_threadpool(file.write, chunk)
        found = await run_in_threadpool(call.site.workroom.do, "columns", {"upload": path.name})
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return {"upload": path.name, **found}


def columns(call: Call) -> Any:
    return call.site.workroom.do("columns", call.body)


def plan(call: Call) -> Any:
    return call.site.workroom.do("plan", call.body)


def create(call: Call) -> Any:
    name = call.body["name"]
    if name in {entry.name for entry in call.site.entries()}:
        raise OptionError("name", f"there is a study {name!r} already; give another name")
    return {"study": call.site.workroom.do("create", call.body)}


def of_tables(site: Site) -> dict[str, Any]:
    """What a page says about the tables that it reads."""
    return {"folder": site.folder, "endings": ",".join(ENDINGS), "formats": NAMES, "logs": LOG_NAMES}


def new_page(request: Request) -> Response:
    site = require_owner(request)
    return render(
        "new.html",
        **of_tables(site),
        trains=True,
        markdown=False,
        selection=SelectionSpec,
        eps=EPS,
        training=TrainingSpec,
        gold_share=GOLD_SHARE,
        margin=MARGIN,
    )


ROUTES = [Route("/new", page(new_page))]
_NAMES: Schema = {"type": "array", "items": {"type": "string"}}
_NOTES: Schema = {**_NAMES, "description": "what was left out, repeated or counted otherwise than it looks"}
_COLUMNS: dict[str, Schema] = {
    "columns": _NAMES,
    "of_no_model": {**_NAMES, "description": "those that are no model's, as a log says"},
    "long": {
        "type": ["object", "null"],
        "description": "the columns of item, model and output, where a table has all three by their usual names",
    },
    "notes": _NOTES,
}
OPERATIONS = (
    Operation(
        "POST",
        "/api/v1/tables",
        "upload",
        "Upload a table",
        "owner",
        upload,
        fields({"upload": {"type": "string"}, **_COLUMNS}),
        query={"name": text(500, required=True)},
        streams=True,
    ),
    Operation(
        "POST",
        "/api/v1/columns",
        "columns",
        "The columns of a table",
        "owner",
        columns,
        fields(_COLUMNS),
        body=fields({}, SOURCE),
    ),
    Operation(
        "POST",
        "/api/v1/plan",
        "plan",
        "How many answers a study is likely to take, low, middle and high; that of models, by rehearsal on its table",
        "owner",
        plan,
        fields(
            {
                "models": {"type": "integer"},
                "items": {"type": "integer"},
                "labels": {"type": "integer"},
                "answers": {"type": "array", "items": {"type": "integer"}},
                "hours": {"type": "array", "items": {"type": "number"}},
                "at_least": {"type": "boolean"},
                "seconds_per_answer": {"type": "number"},
                "notes": _NOTES,
            }
        ),
        body=fields({}, CHOICES),
    ),
    Operation(
        "POST",
        "/api/v1/studies",
        "create",
        "Make a study",
        "owner",
        create,
        fields({"study": {"type": "integer"}}),
        body=fields({"name": text(200)}, CHOICES),
    ),
)
