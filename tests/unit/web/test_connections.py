"""Clients that hold connections and ask nothing: they are closed, and nobody else waits for them."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from onebit.web import connections
from onebit.web.connections import ConnectionLimits, Doorkeeper, room_for_connections
from onebit.web.constants import MOST_CONNECTIONS

REQUEST = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
HALF = b"POST / HTTP/1.1\r\nHost: a\r\nX-a: b"
BODY = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n{"

Knock = Callable[..., socket.socket]


async def answer(request: Request) -> Response:
    await request.body()
    return PlainTextResponse("here")


async def slow(request: Request) -> Response:
    await asyncio.sleep(30)
    return PlainTextResponse("here")


async def some(request: Request) -> Response:
    return PlainTextResponse("x" * 50_000)


async def much(request: Request) -> Response:
    return StreamingResponse(b"x" * 100_000 for _ in range(1000))


@contextmanager
def serving(limits: ConnectionLimits, proxies: tuple[str, ...] = ()) -> Iterator[tuple[Doorkeeper, Knock]]:
    """A server, and how to connect to it."""
    keeper = Doorkeeper(limits, proxies)
    listening = socket.create_server(("127.0.0.1", 0))
    # Connections inherit it, so that little of an answer is enough to fill what the system keeps of it.
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    routes = [
        Route("/", answer, methods=["GET", "POST"]),
        Route("/much", much),
        Route("/slow", slow),
        Route("/some", some),
    ]
    app = Starlette(routes=routes)
    config = uvicorn.Config(app, http=keeper.protocol(), ws="none", log_level="critical", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    opened: list[socket.socket] = []

    def knock(buffer: int | None = None) -> socket.socket:
        line = socket.socket()
        opened.append(line)
        if buffer is not None:
            line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        line.settimeout(20)
        line.connect(listening.getsockname())
        return line

    try:
        yield keeper, knock
    finally:
        server.should_exit = True
        for each in opened:
            each.close()
        thread.join()
        listening.close()


def gets_in(line: socket.socket) -> bool:
    with suppress(OSError):
        line.sendall(REQUEST)
        return line.recv(1000).startswith(b"HTTP/1.1 200")
    return False


def is_closed(line: socket.socket, within: float = 20) -> bool:
    line.settimeout(within)
    try:
        while line.recv(100_000):
            pass
    except TimeoutError:
        return False
    except OSError:
        pass
    return True


@pytest.fixture(autouse=True)
def look_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "LOOK_AT_CONNECTIONS", 0.05)


@pytest.mark.parametrize("sent", [b"", HALF])
def test_who_sends_no_whole_request_is_closed(sent: bytes) -> None:
    with serving(ConnectionLimits(waiting_seconds=0.5)) as (keeper, knock):
        line = knock()
        line.sendall(sent)
        assert is_closed(line)
        assert gets_in(knock())
        assert keeper.n_connections <= 1


def test_a_second_half_request_is_closed_too() -> None:
    with serving(ConnectionLimits(waiting_seconds=0.5)) as (_, knock):
        line = knock()
        assert gets_in(line)
        line.sendall(HALF)
        assert is_closed(line)


@pytest.mark.parametrize("limits", [ConnectionLimits(most=50), ConnectionLimits(most_of_an_address=50)])
def test_half_requests_without_end_keep_nobody_out(limits: ConnectionLimits) -> None:
    with serving(limits) as (keeper, knock):
        before = knock()
        assert gets_in(before)
        lines = []
        for _ in range(200):
            lines.append(knock())
            with suppress(OSError):
                lines[-1].sendall(HALF)
        assert gets_in(knock())
        assert keeper.n_connections <= 51
        # Those that had waited longest made room.
        assert is_closed(lines[0])


#: Clients who keep a server waiting: for the body of a request, and for taking answers to several at once.
UNTAKEN = REQUEST.replace(b"/ ", b"/much ", 1)
SLOW = REQUEST.replace(b"/ ", b"/slow ", 1)


def until_answers_are_sent(knock: Callable[..., socket.socket]) -> None:
    """As far as the buffers of both sides take them: until then their connections are busy, and nobody makes room."""
    until = time.monotonic() + 20
    while not gets_in(knock()) and time.monotonic() < until:
        time.sleep(0.05)


@pytest.mark.parametrize(
    "sent", [BODY, UNTAKEN, UNTAKEN * 20, (REQUEST + SLOW) * 20], ids=["body", "one", "many", "slow"]
)
@pytest.mark.parametrize("limit", ["most", "most_of_an_address"])
def test_half_bodies_and_answers_that_nobody_takes_keep_nobody_out(limit: str, sent: bytes) -> None:
    # They may stay for longer than the test takes.
    with serving(ConnectionLimits(**{limit: 50}, body_grace=600, stalled_seconds=600)) as (keeper, knock):
        lines = []
        for _ in range(200):
            lines.append(knock())
            with suppress(OSError):
                lines[-1].sendall(sent)
        until_answers_are_sent(knock)
        assert all(gets_in(knock()) for _ in range(20))
        assert keeper.n_connections <= 51
        assert is_closed(lines[0])


def test_the_last_answer_of_a_connection_that_nobody_takes_is_given_up() -> None:
    """Less than fills a buffer, over a connection that is closed after it: closing waits until it was taken."""
    last = b"GET /some HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
    with serving(ConnectionLimits(most_of_an_address=20, stalled_seconds=1)) as (keeper, knock):
        for _ in range(50):
            knock(buffer=4096).sendall(last)
        until_answers_are_sent(knock)
        assert all(gets_in(knock()) for _ in range(10))
        until = time.monotonic() + 20
        while keeper.n_connections > 10 and time.monotonic() < until:
            time.sleep(0.05)
        assert keeper.n_connections <= 10


def test_of_several_requests_at_once_the_first_is_answered() -> None:
    with serving(ConnectionLimits()) as (_, knock):
        line = knock()
        line.sendall(REQUEST * 3)
        answers = b""
        with suppress(OSError):
            while part := line.recv(1000):
                answers += part
        assert answers.count(b"HTTP/1.1 200") == 1
        assert answers.endswith(b"here")


def test_a_body_that_moves_stays_while_those_that_do_not_make_room() -> None:
    with serving(ConnectionLimits(most_of_an_address=10)) as (_, knock):
        moving = knock()
        moving.sendall(BODY)
        for _ in range(20):
            knock().sendall(BODY)
            moving.sendall(b"x" * 40)
            time.sleep(0.1)
        moving.sendall(b"x" * 199)
        assert moving.recv(1000).startswith(b"HTTP/1.1 200")


def test_who_sends_more_and_takes_nothing_is_given_up() -> None:
    with serving(ConnectionLimits(stalled_seconds=0.5)) as (keeper, knock):
        line = knock()
        until = time.monotonic() + 20
        with suppress(OSError):
            while keeper.n_connections and time.monotonic() < until:
                line.sendall(UNTAKEN)
                time.sleep(0.05)
        assert keeper.n_connections == 0


def test_the_end_of_an_answer_has_as_long_as_its_middle() -> None:
    """What is left in the buffer when an answer is complete is still on its way to a client with a slow line."""
    with serving(ConnectionLimits(waiting_seconds=0.5, stalled_seconds=20)) as (_, knock):
        line = knock()
        line.sendall(REQUEST.replace(b"/ ", b"/much ", 1))
        n_bytes = 0
        while n_bytes < 100_000_000 - 2_000_000:
            n_bytes += len(line.recv(1_000_000))
        time.sleep(2)
        line.settimeout(1)
        with suppress(TimeoutError):
            while part := line.recv(1_000_000):
                n_bytes += len(part)
        assert n_bytes > 100_000_000


def test_a_proxy_may_have_as_many_connections_as_there_are() -> None:
    with serving(ConnectionLimits(most_of_an_address=5), proxies=("127.0.0.1",)) as (keeper, knock):
        lines = [knock() for _ in range(20)]
        assert all(gets_in(line) for line in lines)
        assert keeper.n_connections == 20


def test_a_body_that_hardly_comes_is_given_up_and_a_slow_one_is_not() -> None:
    with serving(ConnectionLimits(body_grace=0.3, body_rate=1000)) as (_, knock):
        stuck, slow = knock(), knock()
        stuck.sendall(BODY)
        slow.sendall(BODY)
        for _ in range(9):
            time.sleep(0.1)
            slow.sendall(b"x" * 111)
        assert slow.recv(1000).startswith(b"HTTP/1.1 200")
        assert is_closed(stuck)


def test_an_answer_that_nobody_takes_is_given_up() -> None:
    with serving(ConnectionLimits(stalled_seconds=0.5)) as (keeper, knock):
        line = knock()
        line.sendall(REQUEST.replace(b"/ ", b"/much ", 1))
        until = time.monotonic() + 20
        while keeper.n_connections and time.monotonic() < until:
            time.sleep(0.05)
        assert keeper.n_connections == 0


def test_there_are_never_more_connections_than_files() -> None:
    assert 1 <= room_for_connections().most <= MOST_CONNECTIONS
