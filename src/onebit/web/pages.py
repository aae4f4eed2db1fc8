"""The pages: how they are written, the rater's, and the ways in."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.convertors import IntegerConvertor, register_url_convertor
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from onebit.errors import OnebitError
from onebit.report.writing import TEMPLATES, writer
from onebit.web.access import UnknownLinkError
from onebit.web.calls import COOKIE, ForbiddenError, identify, status_of
from onebit.web.constants import LINK_DAYS
from onebit.web.elsewhere import ElsewhereError, pass_on
from onebit.web.languages import ENGLISH, LANGUAGES, Language, language_for
from onebit.web.shield import POLICY_FOR_FILES, policy
from onebit.web.site import NoSuchStudyError, Site

templates = writer(Path(__file__).with_name("templates"))


class NumberConvertor(IntegerConvertor):
    """A whole number in an address: no more digits than any of ours has. Python refuses to read thousands of them."""

    regex = "[0-9]{1,18}"


register_url_convertor("number", NumberConvertor())


def day(moment: str) -> str:
    """A moment of the store as a person writes it.

    >>> day("2026-03-01T09:30:00+00:00")
    '1 March 2026'
    """
    return f"{datetime.fromisoformat(moment):%-d %B %Y}"


templates.filters["day"] = day


def render(template: str, status: int = 200, **given: Any) -> HTMLResponse:
    return HTMLResponse(templates.get_template(template).render(**given), status)


Page = Callable[[Request], Response]


def page(
    function: Page, problem: Callable[[Request, OnebitError], Response] | None = None
) -> Callable[[Request], Awaitable[Response]]:
    """A page that is made in a thread, and says what went wrong as a page: ``problem``, or what owners are told."""
    tell = problem or problem_page

    async def answer(request: Request) -> Response:
        try:
            try:
                return await run_in_threadpool(function, request)
            except ElsewhereError as error:
                return await pass_on(request, error)
        except OnebitError as error:
            return tell(request, error)

    return answer


def problem_page(request: Request, error: OnebitError) -> Response:
    """What went wrong, for owners."""
    words = str(error)
    told = {"title": "That did not work", "problem": f"{words[0].upper()}{words[1:]}."}
    return render("problem.html", status_of(error), language=ENGLISH, direction="ltr", **told)


def rater_problem(request: Request, error: OnebitError) -> Response:
    """What went wrong, for a rater, whose link does not say in which language."""
    status, language = status_of(error), _language(request)
    key = {401: "bad_link", 403: "bad_link", 404: "bad_link", 429: "too_many"}.get(status, "not_now")
    told = {"title": language.say(key), "problem": language.say(f"{key}_more")}
    return render("problem.html", status, language=language.code, direction=language.texts["direction"], **told)


def _language(request: Request) -> Language:
    return language_for(request.headers.get("accept-language", ""), request.query_params.get("language"))


def site_of(request: Request) -> Site:
    site: Site = request.app.state.site
    return site


def rater_page(request: Request) -> Response:
    link, token = identify(request, request.path_params["token"])
    if link.kind != "rater" or link.study_id is None:
        raise ForbiddenError("this is not a rater's link")
    site = site_of(request)
    entry = site.entry(link.study_id)
    # From the store, not from the study: that may take seconds to open, and the page should be there.
    about = entry.about
    language = _language(request)
    response = render(
        "rater.html",
        texts=language.texts,
        languages=[(code, each.texts["name"]) for code, each in LANGUAGES.items()],
        study=entry.name,
        rater=link.rater,
        instructions=str(about.get("instructions", "")),
        none_of_these=bool(about.get("none_of_these")),
        token=token,
        # Where a browser keeps answers that are not sent yet. A study that has the number of a deleted one is another.
        who=f"{entry.id} {entry.created_at} {link.rater}",
    )
    response.headers["Content-Security-Policy"] = policy(about.get("media_hosts", ()))
    return response


def media(request: Request) -> Response:
    """The picture, sound or video of an item, from below the folder that the study declares; parts of it on request."""
    link, _ = identify(request, request.path_params["token"])
    if link.kind != "rater" or link.study_id is None:
        raise ForbiddenError("this is not a rater's link")
    study = site_of(request).room(link.study_id).study
    row = request.path_params["row"]
    # A rater is given the files of the rater's own questions, and no others.
    found = study.item(row).media if study.was_given(row, str(link.rater)) else None
    if found is None or found.file is None or not found.file.is_file():
        raise NoSuchStudyError("there is nothing to see or hear here")
    headers = {"Content-Security-Policy": POLICY_FOR_FILES, "Cache-Control": "private, max-age=3600"}
    return FileResponse(found.file, media_type=found.type, headers=headers)


def come_in(request: Request) -> Response:
    """The owner's link: the token goes into a cookie, and out of the address bar."""
    link, token = identify(request, request.path_params["token"])
    if link.kind != "owner":
        raise ForbiddenError("this is not an owner's link")
    secure = request.url.scheme == "https" or site_of(request).public_url.startswith("https:")
    response = RedirectResponse("/", 303)
    response.set_cookie(
        COOKIE, token, max_age=LINK_DAYS * 24 * 3600, httponly=True, samesite="lax", secure=secure, path="/"
    )
    return response


def require_owner(request: Request) -> Site:
    token = request.cookies.get(COOKIE)
    if token is None:
        raise UnknownLinkError("this page is for the owner; open the owner's link that the server printed")
    link, _ = identify(request, token)
    if link.kind != "owner":
        raise ForbiddenError("this page is for the owner of the studies")
    return site_of(request)


async def common_style(request: Request) -> Response:
    """The style that the pages share with the report, so it lies with the report."""
    return FileResponse(TEMPLATES / "common.css")


ROUTES = [
    Route("/static/common.css", common_style),
    Route("/o/{token}", page(come_in)),
    Route("/r/{token}", page(rater_page, rater_problem)),
    Route("/r/{token}/media/{row:number}", page(media, rater_problem)),
]
