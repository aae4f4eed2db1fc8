"""Connections of clients that keep a server busy without asking anything: none of them may keep others out.

The server waits for a client that has sent no whole request, its body included, or that does not take its answer.
Whoever is honest is waited for some milliseconds. So those for whom it waits too long are closed, and where there are
too many, those that have not moved for the longest time make room. While the server works on a request, its connection
stays.
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
        #: Connections whose client the server waits for, by address, with when each last moved; the longest ago first.
        self._waiting: dict[str, OrderedDict[Connection, float]] = defaultdict(OrderedDict)
        #: The others.
        self._busy: set[Connection] = set()
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
        if not connection.transport.is_closing():
            self.waits(connection)
        if not self._is_looking:
            self._look_later()

    def waits(self, connection: Connection) -> None:
        """The server waits for the client, who has just moved."""
        self._busy.discard(connection)
        queue = self._waiting[connection.address]
        queue[connection] = self._clock()
        queue.move_to_end(connection)

    def is_busy(self, connection: Connection) -> None:
        """The server has something to do for the client."""
        self._waiting[connection.address].pop(connection, None)
        self._busy.add(connection)

    def went(self, connection: Connection) -> None:
        """The connection is closed."""
        address = connection.address
        self._busy.discard(connection)
        self._waiting[address].pop(connection, None)
        self._n_of[address] -= 1
        self.n_connections -= 1
        if self._n_of[address] <= 0:
            self._n_of.pop(address)
            self._waiting.pop(address, None)

    def look(self) -> None:
        """Close those for whom the server has waited too long."""
        now = self._clock()
        waiting = [each for queue in self._waiting.values() for each in queue.items()]
        # Of those that are busy, some wait for the rest of a body that could not be taken before.
        for connection, since in (*waiting, *((each, now) for each in self._busy)):
            if connection.is_overdue(now, now - since, self._limits):
                connection.transport.abort()

    def now(self) -> float:
        return self._clock()

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
    """A connection that tells its doorkeeper whether the server waits for its client."""

    keeper: Doorkeeper

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        #: The request that is under way, since when, and the bytes that have come since.
        self._request: object = None
        self._began = 0.0
        self._n_bytes = 0
        self._is_gone = False

    @property
    def address(self) -> str:
        return self.client[0] if self.client else ""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.keeper.came(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._is_gone = True
        self.keeper.went(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        # Before its head has come, a request does not count as moving: it is short, and honest clients send it at once.
        if self._has_request:
            self._note(len(data))

    def on_response_complete(self) -> None:
        # No honest client sends its next request before it has the answer; who does makes much work by little.
        if self.conn.trailing_data[0]:
            self.transport.close()
        super().on_response_complete()
        # Also where the connection is to be closed: that waits until the client has taken the answer.
        if not self._is_gone:
            self.keeper.waits(self)

    def pause_writing(self) -> None:
        super().pause_writing()
        self.keeper.waits(self)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._has_request:
            self._note(0)

    def is_overdue(self, now: float, seconds: float, limits: ConnectionLimits) -> bool:
        """Whether the client, who last moved so many seconds ago, is waited for no longer."""
        if self.flow.write_paused or (not self._has_request and self.transport.get_write_buffer_size()):
            return seconds > limits.stalled_seconds
        if self._has_request:
            return self._is_coming and self._n_bytes < (now - self._began - limits.body_grace) * limits.body_rate
        return seconds >= limits.waiting_seconds

    def _note(self, n_bytes: int) -> None:
        """A request is under way, and so many bytes of it have come."""
        if self.cycle is not self._request:
            self._request, self._began, self._n_bytes = self.cycle, self.keeper.now(), 0
        self._n_bytes += n_bytes
        if self.flow.write_paused:
            # Who sends more and takes nothing does not move.
            return
        if self._is_coming:
            self.keeper.waits(self)
        else:
            self.keeper.is_busy(self)

    @property
    def _has_request(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    @property
    def _is_coming(self) -> bool:
        """Whether the rest of a body is waited for; where reading is paused, the client waits for us."""
        return self._has_request and self.cycle.more_body and not self.flow.read_paused


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
