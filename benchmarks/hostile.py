"""Files that are traps, read by a server while raters answer: one clear error each, and nobody waits for it.

``alone``: every file in a process of its own, with the limits that the server gives it; how many are one clear error,
the most seconds, and the most memory beyond what the process began with. ``served``: raters answer for a while in
quiet, then while an owner has the server read all of them, again and again; the ratio of the two is what matters.
"""

from __future__ import annotations

import asyncio
import json
import resource
import tempfile
import time
from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.connection import Connection as Pipe
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.harness import Case, run_cases
from benchmarks.page_raters import Connection, PageRater, Times
from benchmarks.running_server import Served, served, token_of
from benchmarks.serving import make_study, right_answer
from tests.hostile_files import BOMBS, FILES

from onebit.errors import InvalidInputError
from onebit.tables import read_table
from onebit.web.workroom import WorkLimits, _limit

N_ITEMS, N_RATERS, THINKING = 20_000, 20, 1.0
#: Seconds of quiet, and those in which files are read.
SECONDS = 60.0
#: Files that the owner sends at once.
AT_ONCE = 2
ALL = {**{f"bomb {name}": make for name, make in BOMBS.items()}, **FILES}


def read(path: Path, results: Pipe) -> None:
    """In a process of its own: what became of a file, the seconds, and the memory."""
    _limit(WorkLimits())
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.perf_counter()
    try:
        read_table(path)
        became = "was read"
    except InvalidInputError:
        became = "clear error"
    except BaseException as error:
        became = repr(error)
    seconds = time.perf_counter() - began
    results.send((became, seconds, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024))


def alone(folder: Path) -> Case:
    context, found = get_context("fork"), {}
    for name, make in ALL.items():
        path = folder / name
        make(path)
        ours, theirs = context.Pipe(duplex=False)
        process = context.Process(target=read, args=(path, theirs))
        process.start()
        theirs.close()
        try:
            found[name] = ours.recv()
        except EOFError:
            found[name] = ("ended without a word", 0.0, 0.0)
        process.join()
        path.unlink()
    others = {name: became for name, (became, *_) in found.items() if became != "clear error"}
    slowest, largest = (max(found, key=lambda name: found[name][i]) for i in (1, 2))
    return {
        "files": len(found),
        "clear errors": len(found) - len(others),
        "others": json.dumps(others),
        "most s": f"{found[slowest][1]:.1f} ({slowest})",
        "most MB": f"{found[largest][2]:.0f} ({largest})",
    }


async def send_files(server: Served, names: list[str], end: float, statuses: dict[int, int]) -> None:
    """An owner who has files read, one after the other."""
    connection = Connection(server.url, {"Authorization": f"Bearer {token_of(server.owner)}"})
    while time.perf_counter() < end:
        for name in names:
            status, _ = await connection.call("POST", "/api/v1/columns", json.dumps({"path": name}).encode())
            statuses[status] = statuses.get(status, 0) + 1
            if time.perf_counter() >= end:
                break
    connection.close()


async def answering(server: Served, truth: np.ndarray, names: list[str]) -> tuple[Times, dict[int, int]]:
    """Raters for so many seconds, while these files are sent."""

    def right(question: dict[str, Any]) -> str:
        return right_answer(truth, question["item"]["id"], question["label"]["name"])

    begin = time.perf_counter()
    end, times, statuses = begin + SECONDS, Times(since=begin + 3), dict[int, int]()
    raters = [PageRater(server.url, token_of(link), right, i, times) for i, link in enumerate(server.raters)]
    senders = [send_files(server, names[i::AT_ONCE], end, statuses) for i in range(AT_ONCE)] if names else []
    await asyncio.gather(*(rater.answer_until(end, THINKING) for rater in raters), *senders)
    return times, statuses


def beside_raters(folder: Path) -> Case:
    storage = f"sqlite:///{folder}/studies.db"
    truth = make_study(storage, folder, N_ITEMS, 0)
    for name, make in ALL.items():
        make(folder / name)
    with served(storage, folder, [f"rater {i}" for i in range(N_RATERS)]) as server:
        asyncio.run(answering(server, truth, []))  # until all is loaded
        quiet, _ = asyncio.run(answering(server, truth, []))
        meanwhile, statuses = asyncio.run(answering(server, truth, list(ALL)))
        after, _ = asyncio.run(answering(server, truth, []))
    p99 = [1000 * float(np.quantile(times.tell, 0.99)) for times in (quiet, meanwhile, after)]
    return {
        "files sent": sum(statuses.values()),
        "statuses": json.dumps(statuses),
        "errors of raters": sum(len(times.errors) for times in (quiet, meanwhile, after)),
        "p99 quiet ms": p99[0],
        "p99 meanwhile ms": p99[1],
        "p99 after ms": p99[2],
        "ratio": 2 * p99[1] / (p99[0] + p99[2]),
    }


WHAT: dict[str, Callable[[Path], Case]] = {"alone": alone, "served": beside_raters}


def measure(case: Case) -> Case:
    with tempfile.TemporaryDirectory() as name:
        return WHAT[case["what"]](Path(name))


if __name__ == "__main__":
    run_cases("hostile", [{"what": what} for what in WHAT], measure)
