"""The owner's pages: the list of studies, and the dashboard of one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from onebit.store.store import Entry
from onebit.study.quality import Rate
from onebit.web.constants import MOST_LABELS
from onebit.web.pages import page, render, require_owner, templates
from onebit.web.room import Room, in_words
from onebit.web.site import Site


def home(request: Request) -> Response:
    site = require_owner(request)
    entries = site.entries()
    of_archive = request.query_params.get("archived") == "yes"
    chosen = [entry for entry in entries if entry.archived == of_archive]
    if len(entries) == 1 and len(chosen) == 1:
        return RedirectResponse(f"/studies/{chosen[0].id}", 303)
    n_archived = sum(entry.archived for entry in entries)
    return render(
        "home.html", rows=[_row(site, entry) for entry in chosen], of_archive=of_archive, n_archived=n_archived
    )


@dataclass(frozen=True)
class StudyRow:
    """A study in the list: its state in a word, and how far it is."""

    entry: Entry
    state: str
    progress: str


def _row(site: Site, entry: Entry) -> StudyRow:
    """A study that is being opened is listed without its progress: that takes seconds, and the list should not wait."""
    room = site.opened(entry.id)
    if room is None:
        # Of several servers, each opens what it is asked for.
        states = {True: "opening", False: "open it to see"}
        state = "on another server" if site.holder(entry.id) else states[site.address is None]
        return StudyRow(entry, state, "")
    overview, n = room.overview(), len(room.study.view.answers)
    paused = site.access.is_paused(entry.id) and not overview.is_over and not entry.archived
    answers = f"{n:,} answer{'' if n == 1 else 's'}"
    to_come = "" if overview.is_over else in_words("asking", n, overview.board.forecast)
    return StudyRow(entry, "paused" if paused else overview.board.badge, ", ".join(filter(None, (answers, to_come))))


def board(request: Request) -> Response:
    site = require_owner(request)
    room = site.room(request.path_params["study"])
    return render("board.html", many=len(site.entries()) > 1, **_shown(site, room))


def live_part(request: Request) -> Response:
    """What changes on the dashboard as answers come."""
    site = require_owner(request)
    room = site.room(request.path_params["study"])
    return render("board_live.html", **_shown(site, room))


def _shown(site: Site, room: Room) -> dict[str, Any]:
    overview = room.overview()
    board = overview.board
    paused = site.access.is_paused(room.entry.id)
    return {
        "study": room.entry,
        "kind": room.study.kind.name,
        "overview": overview,
        "board": board,
        "paused": paused,
        "archived": site.entry(room.entry.id).archived,
        "badge": "paused" if paused and not overview.is_over else board.badge,
        "links": site.access.working(room.entry.id),
        "most_labels": MOST_LABELS,
        **board.figures,
    }


def rate_in_words(rate: Rate | None) -> str:
    r"""A rate with its interval, or that nothing is known; where there is little room, the interval has a line.

    >>> rate_in_words(Rate(1, 20, 0.0013, 0.2487))
    '5% (0%\xa0to\xa025%)'
    """
    return "-" if rate is None else f"{rate.n_wrong / rate.n:.0%} ({rate.low:.0%}\xa0to\xa0{rate.high:.0%})"


templates.filters["rate"] = rate_in_words

ROUTES = [
    Route("/", page(home)),
    Route("/studies/{study:number}", page(board)),
    Route("/studies/{study:number}/live", page(live_part)),
]
