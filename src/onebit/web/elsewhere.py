"""Several servers behind one address: a request about a study that another server has open is passed on to it.

Each study has one writer, who holds its lock in the database; the session of the lock says how others reach that
server. When a server dies its sessions end, and whoever is asked for the study next opens it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from urllib.parse import urlsplit

import h11
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from onebit.store.database import InUseError
from onebit.web.constants import CONNECT_SECONDS, REPLY_SECONDS

#: What a request that was passed on carries: it is not passed on again.
PASSED = "x-onebit-passed"
#: What belongs to one connection and not to the request, and what is said anew.
OF_A_CONNECTION = {"connection", "keep-alive", "transfer-encoding", "te", "upgrade", "expect"}
OF_A_REQUEST, OF_AN_ANSWER = {*OF_A_CONNECTION, "content-length", "x-forwarded-for"}, {*OF_A_CONNECTION, "date"}
#: Read at a time.
CHUNK = 65536


class ElsewhereError(InUseError):
    """A study that the server at ``url`` has open."""

    def __init__(self, url: str) -> None:
        super().__init__("another server has this study open, and cannot be reached just now; try again")
        self.url = url


async def pass_on(request: Request, elsewhere: ElsewhereError, body: bytes = b"") -> Response:
    """What the other server answers; ElsewhereError where it does not, or where the request was passed on before."""
    if PASSED in request.headers:
        raise elsewhere
    parts = urlsplit(elsewhere.url)
    is_tls = parts.scheme == "https"
    try:
        connecting = asyncio.open_connection(parts.hostname, parts.port or (443 if is_tls else 80), ssl=is_tls or None)
        reader, writer = await asyncio.wait_for(connecting, CONNECT_SECONDS)
    except (OSError, TimeoutError):
        raise elsewhere from None
    talk = h11.Connection(h11.CLIENT)
    try:
        writer.write(_written(talk, request, body))
        told = await asyncio.wait_for(_next(talk, reader), REPLY_SECONDS)
    except (OSError, TimeoutError, h11.RemoteProtocolError):
        writer.close()
        raise elsewhere from None
    if not isinstance(told, h11.Response):
        writer.close()
        raise elsewhere
    answer = StreamingResponse(_content(talk, reader, writer), told.status_code)
    answer.raw_headers = [(name, value) for name, value in told.headers if name.decode() not in OF_AN_ANSWER]
    return answer


def _written(talk: h11.Connection, request: Request, body: bytes) -> bytes:
    """The request as bytes: the same, from the same client, marked as passed on."""
    headers = [(name, value) for name, value in request.headers.raw if name.decode() not in OF_A_REQUEST]
    headers += [(PASSED.encode(), b"1"), (b"connection", b"close"), (b"content-length", str(len(body)).encode())]
    if request.client is not None:
        headers.append((b"x-forwarded-for", request.client.host.encode()))
    path, query = request.scope["raw_path"], request.scope["query_string"]
    begins = h11.Request(method=request.method, target=path + b"?" + query if query else path, headers=headers)
    events = [begins, *([h11.Data(data=body)] if body else []), h11.EndOfMessage()]
    return b"".join(talk.send(event) or b"" for event in events)


async def _next(talk: h11.Connection, reader: asyncio.StreamReader) -> object:
    """The next that the other side says."""
    while (event := talk.next_event()) is h11.NEED_DATA:
        talk.receive_data(await reader.read(CHUNK))
    return event


async def _content(
    talk: h11.Connection, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> AsyncIterator[bytes]:
    """The body of the answer as it comes; TimeoutError, which breaks the client's connection off, where it stops.

    Pages that watch a study never end by themselves, and are sent signs of life.
    """
    try:
        while isinstance(event := await asyncio.wait_for(_next(talk, reader), REPLY_SECONDS), h11.Data):
            yield bytes(event.data)
    finally:
        writer.close()
