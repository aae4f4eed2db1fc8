"""A call of the API: who calls, what was sent, and what an error becomes.

An operation is described once; from that description come its route, the check of its requests, and the OpenAPI
document.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

from onebit.errors import AlreadyAnsweredError, InvalidInputError, OnebitError, OptionError, UnknownQuestionError
from onebit.log.events import OtherVersionError
from onebit.store.database import InUseError
from onebit.study.desk import NotYoursError
from onebit.web.access import Kind, Link, UnknownLinkError
from onebit.web.access_log import LINK
from onebit.web.constants import MOST_BODY, RETRY_AFTER
from onebit.web.elsewhere import ElsewhereError, pass_on
from onebit.web.limits import TooLargeError, TooManyError
from onebit.web.schema import Schema, check
from onebit.web.site import NoSuchStudyError, Site

#: The owner's token in a browser. A page elsewhere cannot make a browser send it.
COOKIE = "onebit_owner"


class ForbiddenError(OnebitError):
    """A link that works, for something else."""


class NotJsonError(OnebitError):
    """A body that is no JSON."""


_STATUS: tuple[tuple[type[OnebitError], int], ...] = (
    (NotJsonError, 400),
    (UnknownLinkError, 401),
    (ForbiddenError, 403),
    (NotYoursError, 403),
    (UnknownQuestionError, 404),
    (NoSuchStudyError, 404),
    (AlreadyAnsweredError, 409),
    (OtherVersionError, 409),
    (TooLargeError, 413),
    (TooManyError, 429),
    (InvalidInputError, 422),
    # A store that cannot be reached or written, or a study that another process has: nothing was acknowledged, and the
    # same call may be made again. A page that was told of a conflict would drop the answer.
    (InUseError, 503),
    (OnebitError, 503),
)


#: What is wrong with the answer itself, and not with the way to the server.
_REFUSED = (NotYoursError, UnknownQuestionError, AlreadyAnsweredError, InvalidInputError)


@dataclass(frozen=True, slots=True)
class Call:
    """What a handler is given."""

    site: Site
    link: Link
    token: str
    body: dict[str, Any]
    path: dict[str, Any]
    query: dict[str, str]
    request: Request


Handler = Callable[[Call], Any]


@dataclass(frozen=True)
class Operation:
    """One operation of the API. ``answer`` is the schema of its JSON, or the media type of something else."""

    method: Literal["GET", "POST", "DELETE"]
    path: str
    name: str
    summary: str
    who: Kind
    handler: Handler
    answer: Schema | str
    body: Schema | None = None
    query: dict[str, Schema] = field(default_factory=dict)
    errors: tuple[int, ...] = ()
    #: The handler is given the request with its body unread.
    streams: bool = False


def status_of(error: OnebitError) -> int:
    return next(status for kind, status in _STATUS if isinstance(error, kind))


def error_response(error: OnebitError) -> JSONResponse:
    status = status_of(error)
    headers = {401: {"WWW-Authenticate": "Bearer"}, 429: {"Retry-After": "60"}, 503: {"Retry-After": RETRY_AFTER}}
    # The page says it at the field that it is about.
    field = {"field": error.option} if isinstance(error, OptionError) else {}
    # Such an answer will never be taken, so a page need not send it again; of any other error it should.
    refused = {"refused": True} if isinstance(error, _REFUSED) else {}
    return JSONResponse({"error": str(error), **field, **refused}, status, headers=headers.get(status))


def identify(request: Request, token: str | None = None) -> tuple[Link, str]:
    """Who calls; UnknownLinkError, or TooManyError where too many did not know.

    The link is looked up first, so that nobody is locked out by a neighbour who guesses.
    """
    site: Site = request.app.state.site
    token = token if token is not None else _sent_token(request)
    if not token:
        raise UnknownLinkError("this needs a link's token; send it as Authorization: Bearer TOKEN")
    try:
        link = site.access.find(token)
    except UnknownLinkError:
        site.failures.note(request.client.host if request.client is not None else "")
        raise
    request.scope[LINK] = link.id
    site.pace.take(link.id)
    return link, token


def _sent_token(request: Request) -> str | None:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else request.cookies.get(COOKIE)


async def limited(request: Request, most: int) -> AsyncIterator[bytes]:
    """The body of a request as it comes; TooLargeError as soon as it is too large."""
    told = request.headers.get("content-length", "")
    n_bytes = int(told) if told.isdecimal() else 0
    if n_bytes <= most:
        n_bytes = 0
        async for chunk in request.stream():
            n_bytes += len(chunk)
            if n_bytes > most:
                break
            yield chunk
    if n_bytes > most:
        raise TooLargeError(f"this is larger than the {most:,} bytes that the server takes")


async def read_body(request: Request) -> bytes:
    return b"".join([chunk async for chunk in limited(request, MOST_BODY)])


def as_json(content: bytes) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        raise NotJsonError("the body is no JSON") from None


def endpoint(operation: Operation) -> Callable[[Request], Awaitable[Response]]:
    """The function that answers requests for an operation."""

    async def answer(request: Request) -> Response:
        try:
            content = b"" if operation.body is None else await read_body(request)
            given = await _done(request, operation, content)
        except OnebitError as error:
            return error_response(error)
        except ClientDisconnect:
            # Nobody is there to read it.
            return Response(status_code=400)
        return given if isinstance(given, Response) else JSONResponse(given)

    return answer


async def _done(request: Request, operation: Operation, content: bytes) -> Any:
    """What a handler gives, or the server that has the study open."""

    def handled() -> Any:
        return operation.handler(_call_of(request, operation, content))

    try:
        if operation.streams:
            return await operation.handler(await run_in_threadpool(_call_of, request, operation, content))
        # One way to another thread and back: with a thousand raters these ways are most of the work.
        return await run_in_threadpool(handled)
    except ElsewhereError as error:
        return await pass_on(request, error, content)


def _call_of(request: Request, operation: Operation, content: bytes) -> Call:
    link, token = identify(request)
    if link.kind != operation.who:
        raise ForbiddenError(f"this is for {operation.who}s; your link is a {link.kind}'s")
    for name, value in request.query_params.multi_items():
        if name not in operation.query:
            raise InvalidInputError(f"the query has {name!r}, which is not known")
        check(value, operation.query[name], name)
    for name, schema in operation.query.items():
        if schema.get("required") and name not in request.query_params:
            raise InvalidInputError(f"the query lacks {name!r}")
    body: dict[str, Any] = {}
    if operation.body is not None:
        body = as_json(content)
        check(body, operation.body)
    query = dict(request.query_params.items())
    return Call(request.app.state.site, link, token, body, request.path_params, query, request)
