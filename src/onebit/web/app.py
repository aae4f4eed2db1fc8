"""The web application: its routes, and what stands before them."""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from onebit.web import answers, board, creating, going_on, owner_api, owner_links, pages, rater_api
from onebit.web.access_log import AccessLog, LogFile
from onebit.web.calls import Operation, endpoint, error_response
from onebit.web.openapi import document
from onebit.web.shield import Shield
from onebit.web.site import NoSuchStudyError, Site

STATIC = Path(__file__).with_name("static")
OPERATIONS: tuple[Operation, ...] = (
    *rater_api.OPERATIONS,
    *owner_api.OPERATIONS,
    *owner_links.OPERATIONS,
    *creating.OPERATIONS,
    *going_on.OPERATIONS,
    *answers.OPERATIONS,
)
#: Names of this machine, under which a server may always be called.
LOCAL = ("localhost", "127.0.0.1", "[::1]")


def make_app(
    site: Site, hosts: Iterable[str] = LOCAL, origins: Iterable[str] = (), access_log: LogFile | None = None
) -> Starlette:
    """The application that serves a site under these host names; requests are written to the log, if there is one."""
    middleware = [] if access_log is None else [Middleware(AccessLog, file=access_log)]
    middleware.append(Middleware(Shield, hosts=list(hosts), origins=list(origins)))

    async def openapi(request: Request) -> JSONResponse:
        return JSONResponse(document(OPERATIONS))

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        # Studies are opened while the first pages are served already.
        threading.Thread(target=site.open_all, name="opening studies", daemon=True).start()
        threading.Thread(target=site.keep_locks, name="keeping locks", daemon=True).start()
        threading.Thread(target=site.keep_forecasts, name="keeping forecasts", daemon=True).start()
        yield
        site.close()

    routes: list[BaseRoute] = [
        *(Route(_typed(each.path), endpoint(each), methods=[each.method]) for each in OPERATIONS),
        Route("/api/v1/openapi.json", openapi),
        *pages.ROUTES,
        *board.ROUTES,
        *creating.ROUTES,
        *going_on.ROUTES,
        *owner_links.ROUTES,
        *answers.ROUTES,
        Mount("/static", StaticFiles(directory=STATIC)),
    ]
    app = Starlette(
        routes=routes,
        lifespan=lifespan,
        middleware=middleware,
        exception_handlers={404: _not_found, 405: _not_found},
    )
    app.state.site = site
    return app


def _typed(path: str) -> str:
    """Numbers in a path are numbers; anything else is no page of ours."""
    return re.sub(r"{(study|link|row)}", r"{\1:number}", path)


def _not_found(request: Request, error: Any) -> Response:
    if error.status_code == 405:
        return JSONResponse({"error": f"{request.method} is not for this"}, 405, headers=error.headers)
    nothing = NoSuchStudyError("there is nothing here")
    if "text/html" in request.headers.get("accept", "") and not request.url.path.startswith("/api/"):
        return pages.problem_page(request, nothing)
    return error_response(nothing)
