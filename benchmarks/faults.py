"""A server under faults for an hour on each store: what was acknowledged is in the log, once, and nobody stays out.

Raters answer over HTTP without a pause, and keep every answer that was acknowledged. Meanwhile, one after the other and
at random: the server is killed or stopped and started again; clients leave half requests; somebody guesses links;
PostgreSQL hangs up, is started anew, or its replies to COMMIT are lost. After each fault, the time is taken until the
next answer is acknowledged. At the end the log is held against what raters kept. ``ONEBIT_FAULT_MINUTES`` sets how
long.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np
from benchmarks.harness import Case, run_cases
from benchmarks.page_raters import Connection, meant, new_token
from benchmarks.serving import make_study, right_answer
from tests.proxies import CommitEater

from onebit.log.events import Answered
from onebit.store.store import Store
from onebit.study.proof import verify_study
from onebit.web.access import Access

MINUTES = float(os.environ.get("ONEBIT_FAULT_MINUTES", "60"))
#: Items of the study: enough not to run out of questions.
N_ITEMS = 20_000
N_RATERS = 20
#: Seconds without a fault before the next, and those in which an answer must have been acknowledged again.
APART, PATIENCE = 3.0, 60.0
#: Half requests, guesses and lost replies of one fault.
N_HALF, N_GUESSES, N_REPLIES = 500, 100, 3
HALF = b"POST /api/v1/ask HTTP/1.1\r\nHost: 127.0.0.1\r\nX-a: b"
HANG_UP = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid();"


class Server:
    """``onebit serve``, which can be killed and started again at the same port."""

    def __init__(self, storage: str, folder: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port: int = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        command = "from onebit.cli.main import main; main()"
        self._command = [sys.executable, "-c", command, "serve", "--storage", storage, "--port", str(self.port)]
        self._folder = folder
        self.start()

    def start(self) -> None:
        self._process = subprocess.Popen(self._command, cwd=self._folder, stdout=subprocess.DEVNULL)

    def end(self, how: signal.Signals) -> None:
        self._process.send_signal(how)
        self._process.wait()


@dataclass
class Kept:
    """What raters know: tokens of acknowledged answers, when the last came, and how often each status did."""

    acknowledged: list[str] = field(default_factory=list)
    last: float = 0.0
    statuses: Counter[str] = field(default_factory=Counter)


async def answer_until(end: float, server: Server, token: str, truth: np.ndarray, kept: Kept) -> None:
    """One rater: ask, answer, and send the same again until the server says what became of it."""
    headers = {"Authorization": f"Bearer {token}"}
    connection = Connection(server.url, headers)

    async def call(name: str, body: dict[str, Any]) -> tuple[int, Any]:
        nonlocal connection
        try:
            async with asyncio.timeout(30):
                status, content = await connection.call("POST", f"/api/v1/{name}", json.dumps(body).encode())
        except (OSError, EOFError, TimeoutError, asyncio.IncompleteReadError):
            connection.close()
            connection = Connection(server.url, headers)
            return 0, None
        return status, json.loads(content)

    while time.monotonic() < end:
        status, told = await call("ask", {"n": 1})
        if status != 200 or not told["questions"]:
            await asyncio.sleep(0.2)
            continue
        (question,) = told["questions"]
        said = right_answer(truth, question["item"]["id"], question["label"]["name"])
        once = new_token()
        while True:
            status, _ = await call("tell", {**meant(question), "answer": said, "token": once})
            kept.statuses[str(status)] += 1
            if status == 200:
                kept.acknowledged.append(once)
                kept.last = time.monotonic()
            if status not in (0, 429, 503) or time.monotonic() > end + PATIENCE:
                break
            await asyncio.sleep(0.2)
    connection.close()


async def kill(server: Server) -> None:
    server.end(signal.SIGKILL)
    server.start()


async def stop(server: Server) -> None:
    server.end(signal.SIGTERM)
    server.start()


async def half_requests(server: Server) -> None:
    for _ in range(N_HALF):
        with contextlib.suppress(OSError):
            _, writer = await asyncio.open_connection("127.0.0.1", server.port)
            writer.write(HALF)
            # Nobody closes them: that is the fault.
            LEFT_OPEN.append(writer)


LEFT_OPEN: list[asyncio.StreamWriter] = []


async def guesses(server: Server) -> None:
    connection = Connection(server.url, {"Authorization": "Bearer wrong"})
    for _ in range(N_GUESSES):
        with contextlib.suppress(OSError, EOFError, asyncio.IncompleteReadError):
            await connection.call("POST", "/api/v1/ask", b"{}")
    connection.close()


Fault = Callable[[Server], Awaitable[None]]


@contextlib.contextmanager
def store_with_faults(kind: str, folder: Path) -> Iterator[tuple[str, str, dict[str, Fault]]]:
    """An empty store: its URL, that for the server, and its faults."""
    faults: dict[str, Fault] = {
        "server killed": kill,
        "server stopped": stop,
        "half requests": half_requests,
        "guesses": guesses,
    }
    if kind == "sqlite":
        url = f"sqlite:///{folder}/studies.db"
        yield url, url, faults
        return
    os.environ["XDG_RUNTIME_DIR"] = str(folder)
    from pgserver.postgres_server import get_server

    pg_ctl = import_module("pgserver._commands").pg_ctl

    postgres = get_server(folder / "data", cleanup_mode="stop")
    (sockets,) = parse_qs(urlsplit(postgres.get_uri()).query)["host"]

    async def hang_up(_: Server) -> None:
        await asyncio.to_thread(postgres.psql, HANG_UP)

    async def restart(_: Server) -> None:
        given = ["-w", "-m", "fast", "-o", f'-h "" -k {sockets}', "-l", str(postgres.log), "restart"]
        await asyncio.to_thread(pg_ctl, given, pgdata=postgres.pgdata, user=postgres.system_user, timeout=60)

    with CommitEater(f"{sockets}/.s.PGSQL.5432") as eater:

        async def lose_replies(_: Server) -> None:
            eater.hungry = N_REPLIES

        faults |= {"hung up": hang_up, "database restarted": restart, "COMMIT replies lost": lose_replies}
        through = f"postgresql://postgres:@127.0.0.1:{eater.port}/postgres"
        try:
            yield postgres.get_uri(), through, faults
        finally:
            postgres.cleanup()


async def run(server: Server, tokens: list[str], truth: np.ndarray, faults: dict[str, Fault]) -> tuple[Kept, Case]:
    """Raters and faults until the time is over; what raters kept, and the longest way back after each fault."""
    kept, draw = Kept(), random.Random(1)
    end = time.monotonic() + 60 * MINUTES
    raters = [asyncio.create_task(answer_until(end, server, token, truth, kept)) for token in tokens]
    longest: Counter[str] = Counter()
    tried: Counter[str] = Counter()
    while kept.last == 0 and time.monotonic() < end:
        await asyncio.sleep(0.1)
    while time.monotonic() < end:
        await asyncio.sleep(APART)
        name = draw.choice(list(faults))
        began = time.monotonic()
        await faults[name](server)
        done = time.monotonic()
        while kept.last < done and time.monotonic() < done + PATIENCE:
            await asyncio.sleep(0.02)
        tried[name] += 1
        longest[name] = max(longest[name], round(1000 * (time.monotonic() - began)))
        while LEFT_OPEN:
            LEFT_OPEN.pop().close()
    await asyncio.gather(*raters)
    return kept, {f"{name}, n and longest s": f"{n}, {longest[name] / 1000:.1f}" for name, n in sorted(tried.items())}


def measure(case: Case) -> Case:
    with (
        tempfile.TemporaryDirectory() as place,
        store_with_faults(case["store"], Path(place)) as (storage, through, faults),
    ):
        folder = Path(place)
        truth = make_study(storage, folder, N_ITEMS, 0)
        with Store(storage) as store:
            access = Access(store)
            tokens = [access.make("rater", 1, f"rater {i}")[1] for i in range(N_RATERS)]
        server = Server(through, folder)
        try:
            kept, after = asyncio.run(run(server, tokens, truth, faults))
        finally:
            server.end(signal.SIGTERM)
        with Store(storage) as store:
            events = store.log(1).events
        logged = Counter(event.token for event in events if isinstance(event, Answered))
        refused = {status: n for status, n in sorted(kept.statuses.items()) if status != "200"}
        return {
            "acknowledged": len(kept.acknowledged),
            "lost": sum(token not in logged for token in kept.acknowledged),
            "doubled": sum(n > 1 for n in logged.values()),
            "log verifies": verify_study(storage, "s").ok,
            "other statuses of answers": json.dumps(refused),
            **after,
        }


if __name__ == "__main__":
    run_cases("faults", [{"store": store, "minutes": MINUTES} for store in ("sqlite", "postgresql")], measure)
