"""A server with a thousand raters, and one that half requests and idle connections try to fill.

*Raters*: a thousand, who think 7.5 seconds on the average, so that some 130 answers a second come, do what the page
does (``page_raters.py``). *Clients*: twenty raters answer over connections that stay and over new ones, in quiet and
while somebody at the same address opens so many connections that send half a request, or nothing, and opens others for
those that the server closes. ``ONEBIT_CROWD_SECONDS`` sets how long (600). Server and raters share one machine;
``load`` is what waited for its processors at the end, those who should better not run meanwhile among them.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import resource
import tempfile
import time
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.harness import Case, run_cases
from benchmarks.page_raters import Connection, PageRater, Times, meant, new_token
from benchmarks.running_server import Served, served, token_of
from benchmarks.serving import figures, make_study, processor_seconds, right_answer, storage_of

SECONDS = float(os.environ.get("ONEBIT_CROWD_SECONDS", "600"))
N_ITEMS, N_BEFORE = 50_000, 20_000
N_RATERS, THINKING = 1000, 7.5
#: Raters while others attack, the seconds that each thinks, and those of each part.
N_FEW, THINKING_FEW, PART = 20, 1.0, 40.0
HALF = b"POST /api/v1/ask HTTP/1.1\r\nHost: 127.0.0.1\r\nX-a: b"
ATTACKS = {"half requests": (5000, HALF), "idle connections": (10_000, b"")}
Right = Callable[[dict[str, Any]], str]


def megabytes(process_id: int) -> float:
    """What a process holds in memory."""
    pages = int(Path(f"/proc/{process_id}/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


def knows(truth: np.ndarray) -> Right:
    return lambda question: right_answer(truth, question["item"]["id"], question["label"]["name"])


async def ready(server: Served) -> None:
    """Wait until the server has opened the study."""
    connection = Connection(server.url, {"Authorization": f"Bearer {token_of(server.raters[0])}"})
    while (await connection.call("GET", "/api/v1/progress"))[0] != 200:
        await asyncio.sleep(0.5)
    connection.close()


async def crowd(server: Served, right: Right, seconds: float = SECONDS, thinking: float = THINKING) -> Case:
    """All raters at once, for so long; their first minute, in which they come, is not counted."""
    await ready(server)
    begin = time.perf_counter() + min(60.0, seconds / 3)
    end, times = begin + seconds, Times(since=begin)
    raters = [PageRater(server.url, token_of(link), right, i, times) for i, link in enumerate(server.raters)]
    everybody = asyncio.gather(*(rater.answer_until(end, thinking) for rater in raters))
    await asyncio.sleep(begin - time.perf_counter())
    before, worked = megabytes(server.process_id), processor_seconds(server.process_id)
    await asyncio.sleep(end - time.perf_counter())
    grown, worked = megabytes(server.process_id) - before, processor_seconds(server.process_id) - worked
    await everybody
    felt = figures(times, seconds)
    per_answers = 1e5 * grown / max(1, len(times.tell))
    own = {"MB per 100,000 answers": per_answers, "server cores": worked / seconds, "load": os.getloadavg()[0]}
    return {**{name: felt[name] for name in FELT}, **own}


FELT = ("errors", "tells/s", "tell p50 ms", "tell p99 ms", "ask p99 ms", "waited for others", "for s")


def thousand(store: str) -> Case:
    with tempfile.TemporaryDirectory() as name, storage_of(store, Path(name)) as storage:
        truth = make_study(storage, Path(name), N_ITEMS, N_BEFORE)
        with served(storage, Path(name), [f"rater {i}" for i in range(N_RATERS)]) as server:
            return asyncio.run(crowd(server, knows(truth)))


class SteadyRater:
    """Asks and answers, and tries again over a new connection where one was closed; keeps what that took."""

    def __init__(self, url: str, link: str, seed: int, fresh: bool) -> None:
        self._url, self._headers, self._fresh = url, {"Authorization": f"Bearer {token_of(link)}"}, fresh
        self._rng, self._connection = random.Random(seed), Connection(url, self._headers)
        self.took: list[float] = []
        self.n_retries = self.n_refused = 0

    async def answer_until(self, end: float, right: Right) -> None:
        while time.perf_counter() < end:
            told = await self._call("ask", {"n": 1})
            for question in told.get("questions", ()):
                await asyncio.sleep(THINKING_FEW * self._rng.uniform(0.5, 1.5))
                await self._call("tell", {**meant(question), "answer": right(question), "token": new_token()})
            await asyncio.sleep(0 if told.get("questions") else 0.5)
        self._connection.close()

    async def _call(self, name: str, body: dict[str, Any]) -> dict[str, Any]:
        began = time.perf_counter()
        if self._fresh:
            self._renew()
        while time.perf_counter() < began + 30:
            try:
                async with asyncio.timeout(10):
                    status, content = await self._connection.call("POST", f"/api/v1/{name}", json.dumps(body).encode())
            except (OSError, EOFError, TimeoutError, asyncio.IncompleteReadError):
                self.n_retries += 1
                self._renew()
                continue
            self.took.append(time.perf_counter() - began)
            self.n_refused += status != 200
            return json.loads(content) if status == 200 else {}
        self.n_refused += 1
        return {}

    def _renew(self) -> None:
        self._connection.close()
        self._connection = Connection(self._url, self._headers)


def attack(port: int, n: int, sent: bytes, seconds: float) -> None:
    """In a process of its own: so many connections, and new ones for those that are closed."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(n + 500, hard)), hard))

    async def hold(end: float) -> None:
        while time.monotonic() < end:
            try:
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.write(sent)
                async with asyncio.timeout(max(0.1, end - time.monotonic())):
                    await reader.read()
                writer.close()
            except (OSError, TimeoutError):
                await asyncio.sleep(0.5)

    async def all_of_them() -> None:
        end = time.monotonic() + seconds
        holding = []
        for i in range(n):
            holding.append(asyncio.create_task(hold(end)))
            if i % 100 == 0:
                await asyncio.sleep(0.02)
        await asyncio.gather(*holding)

    asyncio.run(all_of_them())


def open_files(process_id: int) -> int:
    return len(os.listdir(f"/proc/{process_id}/fd"))


async def few(server: Served, right: Right) -> tuple[Case, int]:
    """What a few raters feel, and the most files that the server had open."""
    end, most = time.perf_counter() + PART, 0
    raters = [SteadyRater(server.url, link, i, fresh=i % 2 == 0) for i, link in enumerate(server.raters)]
    answering = asyncio.gather(*(rater.answer_until(end, right) for rater in raters))
    while time.perf_counter() < end:
        await asyncio.sleep(1)
        most = max(most, open_files(server.process_id))
    await answering
    took = [each for rater in raters for each in rater.took]
    told = {
        "calls": len(took),
        "refused": sum(rater.n_refused for rater in raters),
        "retries": sum(rater.n_retries for rater in raters),
        "p50 ms": 1000 * float(np.median(took)) if took else None,
        "p99 ms": 1000 * float(np.quantile(took, 0.99)) if took else None,
        "longest s": max(took, default=None),
    }
    return told, most


def under_attack(name: str) -> Case:
    n, sent = ATTACKS[name]
    with tempfile.TemporaryDirectory() as place:
        storage = f"sqlite:///{place}/studies.db"
        right = knows(make_study(storage, Path(place), 20_000, 0))
        with served(storage, Path(place), [f"rater {i}" for i in range(N_FEW)]) as server:
            while not asyncio.run(few(server, right))[0]["calls"]:  # until all is loaded
                pass
            quiet, _ = asyncio.run(few(server, right))
            port = int(server.url.rsplit(":", 1)[1])
            attacker = get_context("spawn").Process(target=attack, args=(port, n, sent, PART + 25))
            attacker.start()
            time.sleep(20)
            meanwhile, most = asyncio.run(few(server, right))
            attacker.join()
    return {**{f"quiet {key}": value for key, value in quiet.items()}, **meanwhile, "connections": most}


def measure(case: Case) -> Case:
    return thousand(case["store"]) if "store" in case else under_attack(case["clients"])


if __name__ == "__main__":
    attacks = [{"clients": name} for name in ATTACKS]
    crowds = [{"store": store, "raters": N_RATERS, "seconds": SECONDS} for store in ("sqlite", "postgresql")]
    run_cases("crowds", [*attacks, *crowds], measure)
