"""A server under faults for an hour on each store: what was acknowledged is in the log, once, and nobody stays out.

Raters answer over HTTP, and keep every answer that was acknowledged. Meanwhile, one after the other in a random order:
the server is killed at every labelled point of a write (``faulty_server.py``), stopped and started again; writes are
torn; the disk is full; the clock is set; clients are slow, or leave half requests; somebody guesses links; PostgreSQL
hangs up, is started anew, killed, or another server takes its place; its replies to COMMIT are lost; bits are flipped
in copies of the store (``fault_stores.py``). After each fault, the time is taken until the next answer is acknowledged.
At the end the log is held against what raters kept.

An hour has parts of ten minutes, each with a store of its own; a part that was measured is kept. ``python -m
benchmarks.faults sqlite`` and ``... postgresql`` measure one store; ``ONEBIT_FAULT_MINUTES`` sets how long.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import signal
import statistics
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.fault_disks import own_mounts
from benchmarks.fault_raters import Kept, Rater
from benchmarks.fault_server import Server
from benchmarks.fault_stores import FaultyStore, faulty_store
from benchmarks.faulty_server import PARTIAL, POINTS
from benchmarks.harness import Case, run_cases
from benchmarks.page_raters import Connection
from benchmarks.serving import make_study, processor_seconds

from onebit.log.events import Answered
from onebit.store.store import Store
from onebit.study.proof import verify_study
from onebit.web.access import Access

MINUTES = float(os.environ.get("ONEBIT_FAULT_MINUTES", "60"))
#: Minutes of a part.
PART = min(10.0, MINUTES)
#: Items of the study: enough not to run out of questions.
N_ITEMS = 20_000
N_RATERS = 20
#: Seconds without a fault before the next, and those in which an answer must have been acknowledged again.
APART, PATIENCE = 2.0, 180.0
#: Half requests, slow ones, and guesses of one fault.
N_HALF, N_SLOW, N_GUESSES = 500, 100, 100
HALF = b"POST /api/v1/ask HTTP/1.1\r\nHost: 127.0.0.1\r\nX-a: b"
UNREAD = b"GET /static/rater.js HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 500
#: What is counted over all parts.
COUNTS = ("acknowledged", "lost", "doubled", "refused", "refused, but in the log", "left out", "not back")
#: Days by which the clock is set.
DAYS = 40


#: A fault, which is over when this returns: whether it could be done.
Fault = Callable[[], Awaitable[bool]]


class Faults:
    """The faults of a server and of its store, by name."""

    def __init__(self, server: Server, store: FaultyStore, kept: Kept, link: str) -> None:
        self._server, self._store, self._kept, self._link = server, store, kept, link
        self._left_open: list[asyncio.StreamWriter] = []
        self.all: dict[str, Fault] = {
            **{f"killed: {point}": self._killed_at(point) for point in self._points()},
            **{f"clock {days:+} days": self._clock(days) for days in (DAYS, -DAYS)},
            **{f"clock {days:+} days, started anew": self._clock_and_start(days) for days in (DAYS, -DAYS)},
            **{name: self._always(fault) for name, fault in store.faults().items()},
            "server stopped": self._always(self._stop),
            "half requests": self._always(lambda: self._slow(HALF, N_HALF)),
            "slow bodies": self._always(lambda: self._slow(self._body(), N_SLOW)),
            "answers not taken": self._always(lambda: self._slow(UNREAD, N_SLOW)),
            "guesses": self._always(self._guess),
            "disk full": self._fill_disk,
        }

    def _points(self) -> tuple[str, ...]:
        return (*POINTS, *PARTIAL) if self._store.url.startswith("sqlite") else POINTS

    def _always(self, fault: Callable[[], Awaitable[None]]) -> Fault:
        async def do() -> bool:
            await fault()
            return True

        return do

    def _killed_at(self, point: str) -> Fault:
        return lambda: self._server.die_at(point)

    def _clock(self, days: float) -> Fault:
        return self._always(lambda: self._server.set_clock(days))

    def _clock_and_start(self, days: float) -> Fault:
        """The clock is wrong when the server starts; forward, links have ended until it is right again."""

        async def jump() -> None:
            await self._server.set_clock(days)
            await self._server.end(signal.SIGTERM)
            self._server.start()
            if days > 0:
                before = self._kept.statuses[401]
                await wait_for(lambda: self._kept.statuses[401] > before)
                await self._server.set_clock(0)
                await self._server.end(signal.SIGTERM)
                self._server.start()

        return self._always(jump)

    async def _stop(self) -> None:
        await self._server.end(signal.SIGTERM)
        self._server.start()

    async def _slow(self, data: bytes, n: int) -> None:
        """Connections that send something, and then neither go on nor take an answer; nobody closes them."""
        for _ in range(n):
            with contextlib.suppress(OSError):
                _, writer = await asyncio.open_connection("127.0.0.1", self._server.port, limit=1024)
                writer.write(data)
                self._left_open.append(writer)

    def _body(self) -> bytes:
        lines = f"Host: 127.0.0.1:{self._server.port}\r\nAuthorization: Bearer {self._link}\r\nContent-Length: 1000"
        return f"POST /api/v1/ask HTTP/1.1\r\n{lines}\r\n\r\n{{".encode()

    async def _guess(self) -> None:
        connection = Connection(self._server.url, {"Authorization": "Bearer wrong"})
        for _ in range(N_GUESSES):
            with contextlib.suppress(OSError, EOFError, asyncio.IncompleteReadError):
                await connection.call("POST", "/api/v1/ask", b"{}")
        connection.close()

    async def _fill_disk(self) -> bool:
        """Until somebody is told that nothing can be written, and a moment more."""
        full = self._store.full_disk()
        if full is None:
            return False
        before = self._kept.statuses[503]
        with full:
            is_full = await wait_for(lambda: self._kept.statuses[503] > before)
            await asyncio.sleep(APART)
        return is_full

    async def mend(self, name: str) -> None:
        """Take away what a fault left."""
        while self._left_open:
            self._left_open.pop().close()
        await self._server.set_clock(0)
        await self._store.mend(name)


async def wait_for(is_so: Callable[[], bool], seconds: float = PATIENCE) -> bool:
    end = time.monotonic() + seconds
    while not is_so() and time.monotonic() < end:
        await asyncio.sleep(0.02)
    return is_so()


@dataclass
class Course:
    """What was tried in a part, and for each fault the seconds from its end to the next acknowledgement.

    ``work`` are the seconds of a processor that the server took meanwhile: so long it would have been on a machine that
    does nothing else.
    """

    ways_back: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    work: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    n_not_back: int = 0
    left_out: int = 0


async def run(server: Server, raters: list[Rater], faults: Faults, kept: Kept, seed: int) -> Course:
    """Raters and faults until the time is over."""
    course, draw, queue = Course(), random.Random(seed), list[str]()
    end = time.monotonic() + 60 * PART
    stop = asyncio.Event()
    answering = [asyncio.create_task(rater.answer_until(stop)) for rater in raters]
    await wait_for(lambda: kept.last > 0)
    while time.monotonic() < end:
        await asyncio.sleep(APART)
        # All of them, in a random order, before any comes again.
        queue = queue or draw.sample(sorted(faults.all), len(faults.all))
        name = queue.pop()
        was_done = await faults.all[name]()
        over, worked = time.monotonic(), processor_seconds(server.process.pid)
        is_back = await wait_for(lambda since=over: kept.last > since)  # type: ignore[misc]
        course.ways_back[name if was_done else f"{name} (not done)"].append(time.monotonic() - over)
        course.work[name].append(processor_seconds(server.process.pid) - worked)
        course.n_not_back += not is_back
        await faults.mend(name)
    quiet = time.monotonic()
    await wait_for(lambda: len(kept.answered_since(quiet)) == N_RATERS)
    course.left_out = N_RATERS - len(kept.answered_since(quiet))
    stop.set()
    await asyncio.gather(*answering)
    return course


async def part(case: Case, folder: Path) -> Case:
    servers: list[Server] = []
    async with faulty_store(case["store"], folder, lambda: servers[0].still()) as store:
        truth = make_study(store.url, folder, N_ITEMS, 0)
        with Store(store.url) as opened:
            access = Access(opened)
            links = [access.make("rater", 1, f"rater {i}")[1] for i in range(N_RATERS + 1)]
        servers.append(Server(store.through, folder))
        kept = Kept()
        try:
            raters = [Rater(servers[0].url, i, link, truth, kept) for i, link in enumerate(links[1:])]
            faults = Faults(servers[0], store, kept, links[0])
            course = await run(servers[0], raters, faults, kept, case["part"])
        finally:
            await servers[0].end(signal.SIGTERM)
            # Warnings of the server, and whatever it did not expect.
            sys.stderr.write((folder / "server.log").read_text())
        return figures(store, kept, course)


def figures(store: FaultyStore, kept: Kept, course: Course) -> Case:
    with Store(store.url) as opened:
        events = opened.log(1).events
    logged = Counter(event.token for event in events if isinstance(event, Answered))
    return {
        "acknowledged": len(kept.acknowledged),
        "lost": sum(token not in logged for token in kept.acknowledged),
        "doubled": sum(n > 1 for n in logged.values()),
        "refused": len(kept.refused),
        "refused, but in the log": sum(token in logged for token in kept.refused),
        "left out": course.left_out,
        "log verifies": verify_study(store.url, "s").ok,
        "statuses": {str(status): n for status, n in sorted(kept.statuses.items())},
        "flips": store.flips,
        "ways back": {name: [round(each, 2) for each in took] for name, took in sorted(course.ways_back.items())},
        "work": {name: round(max(took), 2) for name, took in sorted(course.work.items())},
        "not back": course.n_not_back,
    }


def measure(case: Case) -> Case:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
        return asyncio.run(part(case, Path(place)))


def tell(rows: list[Case]) -> None:
    """What was tried in all parts of each store, in lines that the docs can have."""
    for store in dict.fromkeys(row["store"] for row in rows):
        parts = [row for row in rows if row["store"] == store]
        total = {name: sum(row[name] for row in parts) for name in COUNTS}
        flips = dict(sum((Counter(row["flips"]) for row in parts), Counter[str]()))
        ways, work = defaultdict[str, list[float]](list), defaultdict[str, list[float]](list)
        for row in parts:
            for name, took in row["ways back"].items():
                ways[name] += took
            for name, most in row["work"].items():
                work[name].append(most)
        print(f"\n{store}, {sum(row['minutes'] for row in parts):g} minutes: {sum(map(len, ways.values()))} faults")
        print(", ".join(f"{n:,} {name}" for name, n in total.items()))
        print(f"logs that verify: {sum(row['log verifies'] for row in parts)} of {len(parts)}; bits flipped: {flips}")
        print("| fault | tried | median s | longest s | processor s |\n|---|---|---|---|---|")
        for name, took in sorted(ways.items()):
            most = max(work.get(name, [0.0]))
            print(f"| {name} | {len(took)} | {statistics.median(took):.1f} | {max(took):.1f} | {most:.1f} |")


if __name__ == "__main__":
    own_mounts()
    chosen = sys.argv[1:] or ["sqlite", "postgresql"]
    n_parts = max(1, round(MINUTES / PART))
    cases = [{"store": store, "part": i, "minutes": PART} for store in chosen for i in range(n_parts)]
    tell(run_cases("faults", cases, measure))
