"""The log of requests: one JSON object a line, without secrets, in a file that may be moved away at any time.

Links are in the addresses of pages, so of an address only what cannot be one is written; queries and headers never are.
"""

from __future__ import annotations

import json
import logging
import os
import re
import time
from contextlib import suppress
from datetime import UTC, datetime
from logging.handlers import WatchedFileHandler
from pathlib import Path

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from onebit.errors import InvalidInputError

#: Where a request keeps the number of the link that it came by.
LINK = "onebit.link"
#: What may be the token of a link, or a part of one; and what stands before one.
_SECRET, _BEFORE_SECRET = re.compile(r"[\w-]{20,}"), ("r", "o")


def without_secrets(path: str) -> str:
    """The path of a request, with stars for what may be a secret.

    >>> without_secrets("/r/x8Yw"), without_secrets("/api/v1/studies/3/links/7")
    ('/r/*', '/api/v1/studies/3/links/7')
    """
    parts = path.split("/")
    for i, part in enumerate(parts):
        if (i > 0 and parts[i - 1].lower() in _BEFORE_SECRET) or _SECRET.search(part):
            parts[i] = "*"
    return "/".join(parts)


class LogFile(WatchedFileHandler):
    """A file that is opened anew where it was moved away; one that cannot be written any more stops nobody."""

    def __init__(self, path: Path) -> None:
        try:
            # Addresses are personal, so the file is its owner's alone, unless it was there.
            with suppress(FileExistsError):
                os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
            super().__init__(path, encoding="utf-8")
        except OSError as error:
            raise InvalidInputError(f"the log {path} cannot be written: {error.strerror}; give another file") from None

    def handleError(self, record: logging.LogRecord) -> None:
        """Nothing: a full disk is told to whoever needs the store."""

    def close(self) -> None:
        with suppress(OSError):
            super().close()


class AccessLog:
    """Writes a line for every request when it has been answered, the refused ones among them."""

    def __init__(self, app: ASGIApp, file: LogFile) -> None:
        self._app, self._file = app, file

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status = time.monotonic(), None

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, noting)
        finally:
            self._write(scope, status, time.monotonic() - began)

    def _write(self, scope: Scope, status: int | None, seconds: float) -> None:
        client = scope.get("client")
        line = {
            "at": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "from": client[0] if client else None,
            "link": scope.get(LINK),
            "method": scope["method"],
            "path": without_secrets(scope["path"]),
            "status": status,
            "ms": round(1000 * seconds, 1),
        }
        self._file.emit(logging.makeLogRecord({"msg": json.dumps(line)}))
