"""The owner's pages: the list of studies, and the dashboard of one."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from onebit.report import words
from onebit.report.charts import eps_chart, survivors_chart
from onebit.study.quality import Rate
from onebit.web import learning_words
from onebit.web.overview import LearningOverview, Overview, SelectionOverview
from onebit.web.pages import page, render, require_owner, templates
from onebit.web.room import Room
from onebit.web.site import Site

#: Labels that the dashboard lists; the others are in the export.
MOST_LABELS = 12


def home(request: Request) -> Response:
    site = require_owner(request)
    entries = site.entries()
    if len(entries) == 1:
        return RedirectResponse(f"/studies/{entries[0].id}", 303)
    paused = {entry.id for entry in entries if site.access.is_paused(entry.id)}
    return render("home.html", entries=entries, paused=paused)


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
    paused = site.access.is_paused(room.entry.id)
    return {
        "study": room.entry,
        "overview": overview,
        "paused": paused,
        "badge": badge(overview, paused),
        "links": site.access.working(room.entry.id),
        "most_labels": MOST_LABELS,
        **_own(overview),
    }


def _own(overview: Overview) -> dict[str, Any]:
    """What only studies of this kind show."""
    match overview:
        case SelectionOverview():
            return _selection(overview)
        case LearningOverview():
            return _learning(overview)
    raise TypeError(f"there is no dashboard for {type(overview).__name__}")


def _selection(overview: SelectionOverview) -> dict[str, Any]:
    report = overview.report
    return {
        "kind": "selection",
        "report": report,
        "title": " and ".join(report.chosen),
        "headline": words.headline(report),
        "sentences": (words.confidence(report), words.against_the_aim(report)),
        "eps_chart": eps_chart(report),
        "survivors_chart": survivors_chart(report),
        "forecast": _forecast(overview),
    }


def _learning(overview: LearningOverview) -> dict[str, Any]:
    status = overview.learning
    return {
        "kind": "learning",
        "learning": status,
        "title": learning_words.title(status),
        "headline": learning_words.headline(status),
        "sentences": (learning_words.aim(status),),
        "promised": learning_words.promised(status),
        "accuracy_chart": learning_words.accuracy_chart(status),
    }


def badge(overview: Overview, paused: bool) -> str:
    """How far a study is, in one word."""
    if isinstance(overview, SelectionOverview) and overview.report.status in ("certified", "suspended"):
        return overview.report.status
    if isinstance(overview, LearningOverview) and overview.is_over:
        return "trained"
    if overview.is_over:
        return "ended"
    return "paused" if paused else "running"


def _forecast(overview: Overview) -> tuple[str, str]:
    """What is still to come, as a figure and its words."""
    if overview.is_over:
        return "0", "answers still to come"
    if overview.forecast is None:
        return "-", "too early to say how many answers are still needed"
    low, middle, high = overview.forecast
    return f"{middle:,}", f"more answers needed, likely {low:,} to {high:,}"


def rate_in_words(rate: Rate | None) -> str:
    """A rate with its interval, or that nothing is known.

    >>> rate_in_words(Rate(1, 20, 0.0013, 0.2487))
    '5% (0% to 25%)'
    """
    return "-" if rate is None else f"{rate.n_wrong / rate.n:.0%} ({rate.low:.0%} to {rate.high:.0%})"


templates.filters["rate"] = rate_in_words

ROUTES = [
    Route("/", page(home)),
    Route("/studies/{study:int}", page(board)),
    Route("/studies/{study:int}/live", page(live_part)),
]
