"""The owners' own links: listed, made, ended, and all replaced by a new one; as an API and as a page."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from onebit.web.access import Link
from onebit.web.calls import COOKIE, Call, Operation, identify
from onebit.web.constants import MOST_NUMBER
from onebit.web.pages import page, render, require_owner
from onebit.web.schema import Schema, fields, text
from onebit.web.site import NoSuchStudyError

LINK: Schema = fields(
    {
        "link": {"type": "integer"},
        "name": {"type": ["string", "null"], "description": "null if a server made it when it started"},
        "made_at": {"type": "string"},
        "expires_at": {"type": "string"},
        "is_yours": {"type": "boolean", "description": "whether this request came by it"},
    }
)
NEW_LINK: Schema = fields({**LINK["properties"], "url": {"type": "string"}})


def _shown(call: Call, link: Link) -> dict[str, Any]:
    return {
        "link": link.id,
        "name": link.rater,
        "made_at": link.made_at,
        "expires_at": link.expires_at,
        "is_yours": link.id == call.link.id,
    }


def links(call: Call) -> dict[str, Any]:
    return {"links": [_shown(call, link) for link in call.site.access.of_owners()]}


def make(call: Call) -> dict[str, Any]:
    link, token = call.site.access.make("owner", rater=call.body["name"])
    return {**_shown(call, link), "url": call.site.link_url("owner", token)}


def end(call: Call) -> dict[str, Any]:
    number = int(call.path["link"])
    if number > MOST_NUMBER:
        raise NoSuchStudyError(f"there is no link {number} here")
    call.site.access.revoke(number)
    return {"revoked": True}


def replace_all(call: Call) -> dict[str, Any]:
    access = call.site.access
    link, token = access.make("owner", rater=call.body["name"])
    access.end_others(link)
    return {**_shown(call, link), "url": call.site.link_url("owner", token)}


def links_page(request: Request) -> Response:
    site = require_owner(request)
    mine, _ = identify(request, request.cookies.get(COOKIE))
    return render("links.html", links=site.access.of_owners(), mine=mine.id)


ROUTES = [Route("/links", page(links_page))]
_NAME = fields({"name": text(200, description="whose link it is")})
_AT = "/api/v1/owner-links"
OPERATIONS = (
    Operation(
        "GET",
        _AT,
        "owner_links",
        "The owners' links that work, without their tokens",
        "owner",
        links,
        fields({"links": {"type": "array", "items": LINK}}),
    ),
    Operation(
        "POST",
        _AT,
        "new_owner_link",
        "Make a link for an owner; its address is told once",
        "owner",
        make,
        NEW_LINK,
        body=_NAME,
    ),
    Operation(
        "DELETE",
        f"{_AT}/{{link}}",
        "revoke_owner_link",
        "End a link of an owner at once",
        "owner",
        end,
        fields({"revoked": {"type": "boolean"}}),
    ),
    Operation(
        "POST",
        f"{_AT}/replace",
        "replace_owner_links",
        "Make a link for an owner, and end every other at once, also the one that this is asked by",
        "owner",
        replace_all,
        NEW_LINK,
        body=_NAME,
    ),
)
