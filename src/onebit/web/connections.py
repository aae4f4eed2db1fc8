"""Connections of clients that keep a server busy without asking anything: none of them may keep others out.

A connection waits while no whole request has come over it, and is busy from then until the answer is sent. Whoever is
honest waits for milliseconds. So those that wait too long are closed, and where there are too many, those that have
waited longest make room. Requests whose body hardly moves, and answers that nobody takes, are given up too.
"""

from __future__ import annotations

import asyncio
import resource
import time
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from onebit.web.constants import (
    BODY_GRACE,
    BODY_RATE,
    LOOK_AT_CONNECTIONS,
    MOST_CONNECTIONS,
    MOST_OF_AN_ADDRESS,
    RESERVED_FILES,
    STALLED_SECONDS,
    WAITING_SECONDS,
)


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """How many connections there may be, in all and of one address, and how long each may wait or stall."""

    most: int = MOST_CONNECTIONS
    most_of_an_address: int = MOST_OF_AN_ADDRESS
    waiting_seconds: float = WAITING_SECONDS
    stalled_seconds: float = STALLED_SECONDS
    body_grace: float = BODY_GRACE
    body_rate: float = BODY_RATE


class Doorkeeper:
    """The connections of a server. ``proxies`` are addresses behind which many clients are."""

    def __init__(
        self,
        limits: ConnectionLimits,
        proxies: Iterable[str] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._limits, self._proxies, self._clock = limits, frozenset(proxies), clock
        #: Connections that wait, by address, the longest first; and since when.
        self._waiting: dict[str, OrderedDict[Connection, float]] = defaultdict(OrderedDict)
        self._busy: dict[Connection, float] = {}
        self._n_of: dict[str, int] = defaultdict(int)
        self.n_connections = 0
        self._is_looking = False

    def protocol(self) -> type[H11Protocol]:
        """The protocol of uvicorn, watched by this doorkeeper."""
        return type("Watched", (Connection,), {"keeper": self})

    def came(self, connection: Connection) -> None:
        """A new connection; others that wait make room for it, or it is closed."""
        address = connection.address
        self._n_of[address] += 1
        self.n_connections += 1
        if address not in self._proxies and self._n_of[address] > self._limits.most_of_an_address:
            self._make_room(address, connection)
        elif self.n_connections > self._limits.most:
            most_waiting = max(self._waiting, key=lambda each: len(self._waiting[each]), default=address)
            self._make_room(most_waiting, connection)
        self.waits(connection)
        if not self._is_looking:
            self._look_later()

    def waits(self, connection: Connection) -> None:
        """The connection has no request under way."""
        self._busy.pop(connection, None)
        self._waiting[connection.address][connection] = self._clock()

    def is_busy(self, connection: Connection) -> None:
        """A whole request has come, but for its body."""
        self._waiting[connection.address].pop(connection, None)
        self._busy.setdefault(connection, self._clock())

    def went(self, connection: Connection) -> None:
        """The connection is closed."""
        address = connection.address
        self._busy.pop(connection, None)
        self._waiting[address].pop(connection, None)
        self._n_of[address] -= 1
        self.n_connections -= 1
        if self._n_of[address] <= 0:
            self._n_of.pop(address)
            self._waiting.pop(address, None)

    def look(self) -> None:
        """Close those that wait or stall for too long."""
        now = self._clock()
        for queue in list(self._waiting.values()):
            for connection, since in list(queue.items()):
                if now - since < self._limits.waiting_seconds:
                    break
                connection.transport.abort()
        for connection, began in list(self._busy.items()):
            if connection.is_stalled(now, now - began, self._limits):
                connection.transport.abort()

    def _make_room(self, address: str, newcomer: Connection) -> None:
        oldest = next(iter(self._waiting[address]), newcomer)
        self._waiting[address].pop(oldest, None)
        oldest.transport.abort()

    def _look_later(self) -> None:
        self._is_looking = bool(self._n_of)
        if self._is_looking:
            asyncio.get_running_loop().call_later(LOOK_AT_CONNECTIONS, self._look_and_go_on)

    def _look_and_go_on(self) -> None:
        self.look()
        self._look_later()


class Connection(H11Protocol):
    """A connection that tells its doorkeeper when it waits and when it is busy."""

    keeper: Doorkeeper

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._n_bytes = 0
        self._takes_nothing_since: float | None = None

    @property
    def address(self) -> str:
        return self.client[0] if self.client else ""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.keeper.came(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self.keeper.went(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._n_bytes += len(data)
        super().data_received(data)
        if self._has_request:
            self.keeper.is_busy(self)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        # The next request may have come meanwhile.
        if not self._has_request and not self.transport.is_closing():
            self._n_bytes = 0
            self.keeper.waits(self)

    def is_stalled(self, now: float, seconds: float, limits: ConnectionLimits) -> bool:
        """Whether what is under way, for so many seconds, does not move: its body does not come, or its answer go."""
        if not self.flow.write_paused:
            self._takes_nothing_since = None
        elif self._takes_nothing_since is None:
            self._takes_nothing_since = now
        elif now - self._takes_nothing_since > limits.stalled_seconds:
            return True
        # Where reading is paused, the client waits for us.
        is_coming = self._has_request and self.cycle.more_body and not self.flow.read_paused
        return is_coming and self._n_bytes < (seconds - limits.body_grace) * limits.body_rate

    @property
    def _has_request(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete


def room_for_connections() -> ConnectionLimits:
    """The limits for this process: as many connections as it may have files open, but for some that it needs."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_CONNECTIONS + RESERVED_FILES
    if soft != resource.RLIM_INFINITY and soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    n_files = wanted if soft == resource.RLIM_INFINITY else soft
    most = max(1, min(MOST_CONNECTIONS, n_files - RESERVED_FILES))
    return ConnectionLimits(most=most, most_of_an_address=min(MOST_OF_AN_ADDRESS, most))
