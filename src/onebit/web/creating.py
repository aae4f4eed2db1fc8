"""Making a study from the page: a table that is uploaded or lies on the server, its columns, a plan, the study."""

from __future__ import annotations

import csv
import re
import uuid
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from onebit.errors import InvalidInputError
from onebit.records import Setting
from onebit.tables import ModelTable, read_table
from onebit.web.calls import Call, Operation, limited
from onebit.web.limits import MOST_UPLOAD
from onebit.web.pages import page, render, require_owner
from onebit.web.schema import Schema, fields, text, whole

ENDINGS = (".csv", ".parquet", ".npz")
_UPLOADED = re.compile(r"[0-9a-f]{32}(\.csv|\.parquet|\.npz)")

SOURCE: dict[str, Schema] = {
    "upload": text(50, description="what the upload of a table gave"),
    "path": text(1000, description="a table on the server, below the folder in which it was started"),
}
ROLES: dict[str, Schema] = {
    "id": text(500, description="the column that names the items"),
    "truth": text(500, description="a column with right labels; it is left out"),
    "show": {"type": "array", "items": text(500), "maxItems": 100, "description": "columns that raters are shown"},
}
AIM: dict[str, Schema] = {
    "eps": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1, "default": 0.01},
    "delta": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1, "default": 0.05},
    "protocol": text(20, enum=["one-shot", "follow-up"], default="one-shot"),
    "budget": whole(1, 10**9, description="most answers to ask for"),
}
FOR_RATERS: dict[str, Schema] = {
    "instructions": text(20_000, least=0),
    "image": text(500, description="the column with paths of images"),
    "image_folder": text(1000, description="the folder that they are below, itself below that of the server"),
}


async def upload(call: Call) -> dict[str, Any]:
    """Take a table as it comes; it is never larger than allowed, on disk or in memory."""
    ending = Path(call.query["name"]).suffix.lower()
    if ending not in ENDINGS:
        raise InvalidInputError(f"{call.query['name']!r} is no table; tables end in {', '.join(ENDINGS)}")
    path = call.site.uploads / f"{uuid.uuid4().hex}{ending}"
    try:
        with path.open("wb") as file:
            async for chunk in limited(call.request, MOST_UPLOAD):
                await run_in_threadpool(file.write, chunk)
        columns = await run_in_threadpool(columns_of, path)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return {"upload": path.name, "columns": columns}


def columns(call: Call) -> dict[str, Any]:
    return {"columns": columns_of(_file(call))}


def columns_of(path: Path) -> list[str]:
    """The names of the columns; an NPZ has none."""
    if not path.is_file():
        raise InvalidInputError(f"there is no file {path.name}")
    if path.suffix.lower() == ".npz":
        return []
    try:
        if path.suffix.lower() == ".csv":
            with path.open(encoding="utf-8-sig", newline="") as file:
                return next(csv.reader(file), [])
        import pyarrow.parquet

        names: list[str] = pyarrow.parquet.read_schema(path).names
    # What pyarrow raises for a file that is no Parquet is a ValueError too.
    except (OSError, ValueError, csv.Error) as error:
        reason = str(error).splitlines()[0]
        raise InvalidInputError(f"the table cannot be read as {path.suffix[1:].upper()}: {reason}") from None
    return names


def plan(call: Call) -> dict[str, Any]:
    from onebit.web.foresee import SECONDS_PER_ANSWER, foresee

    table = _table(call)
    seen = foresee(table, _setting(call))
    return {
        "models": table.n_models,
        "items": table.n_items,
        "labels": table.n_labels,
        "answers": [seen.low, seen.high],
        "hours": list(seen.hours),
        "at_least": seen.at_least,
        "seconds_per_answer": SECONDS_PER_ANSWER,
    }


def create(call: Call) -> dict[str, Any]:
    from onebit.study.opening import create_study

    body, setting = call.body, _setting(call)
    table = _table(call)
    folder = body.get("image_folder")
    create_study(
        table,
        body["name"],
        storage=call.site.storage,
        eps=setting.eps,
        delta=setting.delta,
        protocol=setting.protocol,
        budget=setting.budget,
        instructions=body.get("instructions", ""),
        image=body.get("image"),
        image_root=None if folder is None else str(call.site.below_folder(folder)),
    ).close()
    entry = next(each for each in call.site.entries() if each.name == body["name"])
    return {"study": entry.id}


def _setting(call: Call) -> Setting:
    body = call.body
    protocol: Any = body.get("protocol", "one-shot")
    budget = body.get("budget")
    return Setting(
        body.get("eps", 0.01), body.get("delta", 0.05), protocol, budget=None if budget is None else int(budget)
    )


def _file(call: Call) -> Path:
    """The table that is meant: an upload, or a path on the server."""
    upload, path = call.body.get("upload"), call.body.get("path")
    if (upload is None) == (path is None):
        raise InvalidInputError("give either an upload or a path on the server")
    if path is not None:
        return call.site.below_folder(path)
    if not _UPLOADED.fullmatch(str(upload)) or not (call.site.uploads / str(upload)).is_file():
        raise InvalidInputError(f"there is no upload {upload!r}; upload the table again")
    return call.site.uploads / str(upload)


def _table(call: Call) -> ModelTable:
    body = call.body
    # The image's column is shown too, as a picture.
    show = dict.fromkeys([*body.get("show", ()), *([body["image"]] if "image" in body else [])])
    return read_table(_file(call), id=body.get("id"), truth=body.get("truth"), show=tuple(show))


def new_page(request: Request) -> Response:
    site = require_owner(request)
    return render("new.html", most_upload=MOST_UPLOAD, folder=site.folder)


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
        body=fields({}, {**SOURCE, **ROLES, **AIM, "image": FOR_RATERS["image"]}),
    ),
    Operation(
        "POST",
        "/api/v1/studies",
        "create",
        "Make a study",
        "owner",
        create,
        fields({"study": {"type": "integer"}}),
        body=fields({"name": text(200)}, {**SOURCE, **ROLES, **AIM, **FOR_RATERS}),
    ),
)
