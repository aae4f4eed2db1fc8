"""Making a study from the page: a table that is uploaded or lies on the server, its columns, a plan, the study."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from onebit.errors import InvalidInputError
from onebit.tables.formats import ENDINGS, NAMES, column_names, one_of
from onebit.web.calls import Call, Handler, Operation, limited
from onebit.web.chosen import CHOICES, SOURCE, about_table, file_of, read_choice
from onebit.web.limits import MOST_UPLOAD
from onebit.web.pages import page, render, require_owner
from onebit.web.schema import FieldError, Schema, fields, text


async def upload(call: Call) -> dict[str, Any]:
    """Take a table as it comes; it is never larger than allowed, on disk or in memory."""
    ending = Path(call.query["name"]).suffix.lower()
    if ending not in ENDINGS:
        raise InvalidInputError(f"{call.query['name']!r} is no table; tables end in {one_of(ENDINGS)}")
    path = call.site.uploads / f"{uuid.uuid4().hex}{ending}"
    try:
        with path.open("wb") as file:
            async for chunk in limited(call.request, MOST_UPLOAD):
                await run_in_threadpool(file.write, chunk)
        with about_table(path, "upload"):
            columns = await run_in_threadpool(column_names, path)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return {"upload": path.name, "columns": list(columns)}


def naming_fields(handler: Handler) -> Handler:
    """A handler whose refusals say which field they are about, so that the page can show them there."""

    def answer(call: Call) -> Any:
        try:
            return handler(call)
        except FieldError as error:
            return JSONResponse({"error": str(error), "field": error.field}, 422)

    return answer


@naming_fields
def columns(call: Call) -> Any:
    file = file_of(call.site, call.body)
    with about_table(file, "path" if "path" in call.body else "upload"):
        return {"columns": list(column_names(file))}


@naming_fields
def plan(call: Call) -> Any:
    # Imported here: what learns takes seconds to load, and the first page should not wait for it.
    from onebit.web.foresee import foresee

    chosen = read_choice(call.site, call.body)
    seen = foresee(chosen.table, chosen.setting, chosen.overlap, chosen.check_share)
    return {
        "models": chosen.table.n_models,
        "items": chosen.table.n_items,
        "labels": chosen.table.n_labels,
        "answers": [seen.low, seen.high],
        "hours": list(seen.hours),
        "at_least": seen.at_least,
        "seconds_per_answer": seen.seconds_per_answer,
    }


@naming_fields
def create(call: Call) -> Any:
    from onebit.study.opening import create_study

    name = call.body["name"]
    if name in {entry.name for entry in call.site.entries()}:
        raise FieldError("name", f"there is a study {name!r} already; give another name")
    chosen = read_choice(call.site, call.body)
    setting = chosen.setting
    create_study(
        chosen.table,
        name,
        storage=call.site.storage,
        eps=setting.eps,
        delta=setting.delta,
        protocol=setting.protocol,
        budget=setting.budget,
        f_no=setting.f_no,
        f_yes=setting.f_yes,
        exhaustive=setting.exhaustive,
        overlap=chosen.overlap,
        instructions=chosen.instructions,
        descriptions=chosen.descriptions,
        gold=chosen.gold,
        gold_share=chosen.gold_share,
        repeat_share=chosen.repeat_share,
        image=chosen.image,
        image_root=chosen.image_root,
    ).close()
    entry = next(each for each in call.site.entries() if each.name == name)
    return {"study": entry.id}


def new_page(request: Request) -> Response:
    site = require_owner(request)
    return render("new.html", endings=",".join(ENDINGS), formats=NAMES, folder=site.folder)


ROUTES = [Route("/new", page(new_page))]
_COLUMNS: Schema = {"type": "array", "items": {"type": "string"}}
OPERATIONS = (
    Operation(
        "POST",
        "/api/v1/tables",
        "upload",
        "Upload a table of predictions",
        "owner",
        upload,
        fields({"upload": {"type": "string"}, "columns": _COLUMNS}),
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
        fields({"columns": _COLUMNS}),
        body=fields({}, SOURCE),
    ),
    Operation(
        "POST",
        "/api/v1/plan",
        "plan",
        "How many answers a study is likely to take, by simulation on its table",
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
