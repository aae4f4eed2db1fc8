"""Going on from a study: with other models or items (a sequel), or with a batch of fresh ones that watches its choice.

Raters may go on by the links that they have. What their pages still hold of the study before is refused, since an
answer says which item and label it is about.
"""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from onebit.errors import OptionError
from onebit.records import WatchSpec
from onebit.records.watch import FALSE_ALARM_EVERY
from onebit.web.calls import Call, Operation
from onebit.web.chosen import SEQUEL, WATCH
from onebit.web.constants import MOST_NAME, MOST_NUMBER
from onebit.web.creating import of_tables
from onebit.web.pages import page, render, require_owner
from onebit.web.schema import Schema, fields, text
from onebit.web.site import NoSuchStudyError


def sequel(call: Call) -> dict[str, Any]:
    if call.body["name"] in {entry.name for entry in call.site.entries()}:
        raise OptionError("name", f"there is a study {call.body['name']!r} already; give another name")
    return _go_on(call, "sequel")


def watch(call: Call) -> dict[str, Any]:
    return _go_on(call, "watch")


def _go_on(call: Call, task: str) -> dict[str, Any]:
    """Make the study that comes next in a process of its own; then let raters in by the links of the one before it."""
    number = int(call.path["study"])
    if number > MOST_NUMBER:
        raise NoSuchStudyError(f"there is no study {number} here")
    made = call.site.workroom.do(task, {**call.body, "study": call.site.entry(number).name})
    n_links = call.site.access.hand_on(made["before"], made["study"]) if call.body.get("takes_links") else 0
    return {"study": made["study"], "name": made["name"], "links": n_links}


def next_page(request: Request) -> Response:
    site = require_owner(request)
    entry = site.entry(request.path_params["study"])
    kind = site.room(entry.id).study.kind.name
    return render(
        "next.html",
        **of_tables(site),
        trains=False,
        study=entry,
        is_batch=kind == "watch",
        watches=kind == "watch" or request.query_params.get("as") == "watch",
        watch=WatchSpec,
        false_alarm_every=FALSE_ALARM_EVERY,
        instructions=entry.about.get("instructions", ""),
        markdown=entry.about.get("markdown", False),
        one_at_a_time=entry.about.get("one_at_a_time", False),
    )


ROUTES = [Route("/studies/{study:number}/next", page(next_page))]
_LINKS: dict[str, Schema] = {
    "takes_links": {
        "type": "boolean",
        "default": False,
        "description": "raters' links that work now open the new study, and the one before it is paused",
    }
}
_MADE: Schema = fields({"study": {"type": "integer"}, "name": {"type": "string"}, "links": {"type": "integer"}})
OPERATIONS = (
    Operation(
        "POST",
        "/api/v1/studies/{study}/sequel",
        "sequel",
        "Go on from a study with another table: models that came later, without some, or more items",
        "owner",
        sequel,
        _MADE,
        body=fields({"name": text(MOST_NAME)}, {**SEQUEL, **_LINKS}),
    ),
    Operation(
        "POST",
        "/api/v1/studies/{study}/watch",
        "watch",
        "Watch the choice of a study on fresh items: the next batch, a study of its own",
        "owner",
        watch,
        _MADE,
        body=fields({}, {**WATCH, **_LINKS}),
    ),
)
