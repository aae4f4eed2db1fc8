"""What every answer of the server carries, and which requests are refused before anything looks at them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from onebit.web.constants import RETRY_AFTER


def policy(hosts: Iterable[str] = ()) -> str:
    """Scripts and styles come from this server alone, and so do pictures, sounds and videos but for those of ``hosts``.

    Nothing inline runs, nothing is evaluated.
    """
    media = " ".join(["'self'", *(f"https://{host}" for host in hosts)])
    return (
        f"default-src 'none'; script-src 'self'; style-src 'self'; img-src {media}; media-src {media}; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    )


#: For the files of items and the report: they may be anything, so they run nothing at all.
POLICY_FOR_FILES = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
HEADERS = {
    "Content-Security-Policy": policy(),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # Links are secrets, so nobody is told where a click came from.
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
    "Cache-Control": "no-store",
}
STOPPED = "the server is being stopped, and did not wait for this to end; try again"
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


def host_name(host: str) -> str:
    """The name in a Host header, without its port.

    >>> host_name("example.org:8000"), host_name("[::1]:8000")
    ('example.org', '[::1]')
    """
    end = host.rfind(":")
    return (host if end < 0 or host.endswith("]") else host[:end]).lower()


class Shield:
    """Refuses unknown hosts (a page elsewhere may point its name at us) and writes that come from other pages."""

    def __init__(self, app: ASGIApp, hosts: Iterable[str], origins: Iterable[str] = ()) -> None:
        self._app, self._hosts = app, frozenset(host.lower() for host in hosts)
        self._origins = frozenset(origin.lower() for origin in origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        has_begun = False

        async def guarded(message: Message) -> None:
            nonlocal has_begun
            if message["type"] == "http.response.start":
                has_begun = True
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if host_name(host) not in self._hosts:
            told = f"this server is not {host_name(host)!r}; start it with --allow-host to let it be"
            await JSONResponse({"error": told}, 400)(scope, receive, guarded)
        elif scope["method"] not in SAFE_METHODS and not self._is_from_here(headers, host):
            told = "this request comes from another site, and was not done"
            await JSONResponse({"error": told}, 403)(scope, receive, guarded)
        else:
            try:
                await self._app(scope, receive, guarded)
            except asyncio.CancelledError:
                # The server is stopped, and waits no longer for what is under way: a write to a slow disk, say.
                if has_begun:
                    raise
                again = {"Retry-After": RETRY_AFTER, "Connection": "close"}
                await JSONResponse({"error": STOPPED}, 503, again)(scope, receive, guarded)

    def _is_from_here(self, headers: Headers, host: str) -> bool:
        """Whether our own page sends this, or something that is no browser and has no cookies of ours."""
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return False
        origin = headers.get("origin")
        return origin is None or origin.lower() in self._origins or _place(origin) == host.lower()


def _place(origin: str) -> str | None:
    """The host and port of an origin; None where it is no address."""
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return None
