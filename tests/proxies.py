"""A proxy before PostgreSQL that loses replies to COMMIT, and the ends of writes, as a network does."""

from __future__ import annotations

import re
import socket
import threading
from contextlib import suppress
from types import TracebackType


class CommitEater:
    """Passes everything on, over TCP, to the server at ``server``.

    While ``hungry``, hangs up instead of passing on the reply to a COMMIT of events; the commit itself reaches the
    server. While ``tearing``, passes on half of a message that writes events, and hangs up.
    """

    def __init__(self, server_socket: str) -> None:
        self.server = server_socket
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self.hungry = self.tearing = 0
        self.n_eaten = 0
        self._open: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client = self._listening.accept()[0]
                server = socket.socket(socket.AF_UNIX)
                try:
                    server.connect(self.server)
                except OSError:
                    # It is down for a while, and whoever came is told so.
                    hang_up(client)
                    continue
                self._open += [client, server]
                _Line(self, client, server)

    def __enter__(self) -> CommitEater:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for each in (self._listening, *self._open):
            hang_up(each)


class _Line:
    """One connection, both ways."""

    def __init__(self, eater: CommitEater, client: socket.socket, server: socket.socket) -> None:
        self._eater, self._client, self._server = eater, client, server
        self._writes = self._eats = False
        self._named: set[bytes] = set()
        for work in (self._to_server, self._to_client):
            threading.Thread(target=self._until_the_end, args=(work,), daemon=True).start()

    def _until_the_end(self, work: object) -> None:
        with suppress(OSError):
            while callable(work) and work():
                pass
        hang_up(self._client)
        hang_up(self._server)

    def _to_server(self) -> bool:
        data = self._client.recv(65536)
        # A statement that is sent often is named, and then called by its name.
        self._named |= set(re.findall(rb"(_pg3_\d+\0)INSERT INTO events", data))
        self._writes |= any(text in data for text in (b"INSERT INTO events", *self._named))
        if self._writes and self._eater.tearing:
            self._eater.tearing -= 1
            self._server.sendall(data[: len(data) // 2])
            return False
        if b"COMMIT\0" in data:
            if self._writes and self._eater.hungry:
                self._eater.hungry -= 1
                self._eats = True
            self._writes = False
        self._server.sendall(data)
        return bool(data)

    def _to_client(self) -> bool:
        data = self._server.recv(65536)
        if self._eats:
            self._eater.n_eaten += 1
            return False
        self._client.sendall(data)
        return bool(data)


def hang_up(line: socket.socket) -> None:
    """Close a connection, also while somebody waits for it."""
    with suppress(OSError):
        line.shutdown(socket.SHUT_RDWR)
    line.close()
