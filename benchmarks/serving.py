"""What raters feel when a hundred of them answer at once: `onebit serve`, its public API, and a real browser.

A hundred raters who think two seconds do for a minute what the page does (``page_raters.py``), while the owner watches
the dashboard and one more rater answers in Chromium. The study never ends, and a new one differs from one with many
answers: an epoch closes when all of its questions have answers, and early epochs have fewer questions than there are
raters, so some must wait for others, however fast the server is. Those waits are counted apart. Everything runs on one
machine: ``cores`` says how much processor time the server and the raters took in a second, and all others together,
which are Chromium, PostgreSQL, and what should better not run meanwhile.
"""

from __future__ import annotations

import asyncio
import contextlib
import csv
import os
import random
import re
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.harness import Case, run_cases
from benchmarks.page_raters import PageRater, Times, watch
from benchmarks.running_server import Served, chromium, served, token_of
from benchmarks.study import N_LABELS, THINKING, table
from playwright.async_api import Page

from onebit.log.chain import Chain
from onebit.log.events import Answered, Created
from onebit.log.recorder import Recorder
from onebit.records import Answer, Setting, Status
from onebit.store.store import Store
from onebit.study.kinds.selection.selectors import build_selection
from onebit.study.opening import create_study
from onebit.tables import read_table

N_RATERS = 100
#: Seconds before the measured ones, in which the raters come.
ARRIVING = 6.0
#: Raters who err are asked afresh each time, so that the study does not run out of questions.
SETTING = Setting(eps=1e-5, delta=1e-12, population="pool", f_no=0.001)
TEXT = "The text of item {} is about as long as what people write when they ask for help, some twenty words or so."

#: Measures in the page from a key to the frame that shows the next question, and whether others were waited for.
WATCH_KEYS = """() => {
  window.took = [];
  let pressed = null, waited = false;
  const item = document.getElementById("item"), question = document.getElementById("question");
  addEventListener("keydown", (event) => { [pressed, waited] = [event.timeStamp, false]; }, { capture: true });
  new MutationObserver(() => {
    if (question.textContent.startsWith("Waiting")) waited = true;
    if (pressed === null || !item.childElementCount) return;
    const since = pressed;
    pressed = null;
    requestAnimationFrame(() => window.took.push([performance.now() - since, waited]));
  }).observe(document.querySelector("main"), { childList: true, subtree: true, characterData: true });
}"""


def right_answer(truth: np.ndarray, item: str, label: str) -> str:
    return "yes" if int(label) == truth[int(item)] else "no"


def make_study(storage: str, folder: Path, n_items: int, n_answers: int) -> np.ndarray:
    """A study with so many items and answers, each right; the truth about its items."""
    predictions, truth = table(n_items)
    path = folder / "table.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "text", *(f"model {h}" for h in range(len(predictions)))])
        writer.writerows([i, TEXT.format(i), *column] for i, column in enumerate(predictions.T.tolist()))
    items = read_table(path, id="id", show=["text"], labels=[str(label) for label in range(N_LABELS)])
    create_study(items, "s", storage=storage, eps=SETTING.eps, delta=SETTING.delta, f_no=SETTING.f_no).close()
    with Store(storage) as store:
        log = store.log(1)
        created = log.events[0]
        assert isinstance(created, Created)
        recorder = Recorder(build_selection(created.selection, "certified", predictions, N_LABELS).learner, created)
        while len(recorder.course.answered) < n_answers:
            asked = recorder.ask(min(1000, n_answers - len(recorder.course.answered)))
            if isinstance(asked, Status):
                break
            for question in asked:
                is_right = truth[question.item] == question.label
                recorder.take(Answered(question.id, Answer.YES if is_right else Answer.NO))
        chain = Chain(log.head)
        if events := recorder.drain():
            store.append(1, 1, [chain.link(event) for event in events])
    return truth


@contextlib.contextmanager
def storage_of(kind: str, folder: Path) -> Iterator[str]:
    """An empty store of that kind."""
    if kind == "sqlite":
        yield f"sqlite:///{folder}/studies.db"
        return
    # The wheel keeps its sockets and logs there.
    os.environ["XDG_RUNTIME_DIR"] = str(folder)
    from pgserver.postgres_server import get_server

    server = get_server(folder / "data", cleanup_mode="stop")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()


@contextlib.asynccontextmanager
async def rater_page(link: str) -> AsyncIterator[Page]:
    """The rater's page in Chromium, with the first question shown."""
    async with chromium() as browser:
        page = await browser.new_page()
        await page.goto(link)
        await page.wait_for_selector("#yes:enabled", timeout=120_000)
        await page.evaluate(WATCH_KEYS)
        yield page


async def answer_in(page: Page, truth: np.ndarray, end: float) -> None:
    """Answer as the other raters do, with keys."""
    rng = random.Random("browser")
    while time.perf_counter() < end:
        await asyncio.sleep(THINKING * rng.uniform(0.5, 1.5))
        if not await page.is_enabled("#yes"):
            continue
        item, label = await page.inner_text("#item"), await page.inner_text("#question b")
        right = right_answer(truth, re.findall(r"\d+", item)[0], label)
        await page.keyboard.press("y" if right == "yes" else "n")


def processor_seconds(process_id: int) -> float:
    """What a process has used so far, as Linux counts it."""
    fields = Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def busy_seconds() -> float:
    """What all processors together have worked so far."""
    user, nice, system, _, _, irq, soft, *_ = map(int, Path("/proc/stat").read_text().split()[1:11])
    return (user + nice + system + irq + soft) / os.sysconf("SC_CLK_TCK")


async def load(server: Served, truth: np.ndarray, seconds: float) -> Case:
    """A hundred raters, the dashboard and the browser, for so long; what they felt."""

    def right(question: dict[str, Any]) -> str:
        return right_answer(truth, question["item"]["id"], question["label"]["name"])

    def used() -> np.ndarray:
        return np.array([time.process_time(), processor_seconds(server.process_id), busy_seconds()])

    in_browser, *raters = server.raters
    async with rater_page(in_browser) as page:
        begin = time.perf_counter() + ARRIVING
        end = begin + seconds
        times = Times(since=begin)
        answering = [
            PageRater(server.url, token_of(link), right, seed, times).answer_until(end, THINKING)
            for seed, link in enumerate(raters)
        ]
        dashboard = asyncio.create_task(watch(server.url, token_of(server.owner), 1, times))
        everybody = asyncio.gather(*answering, answer_in(page, truth, end))
        await asyncio.sleep(begin - time.perf_counter())
        before = used()
        await asyncio.sleep(end - time.perf_counter())
        by_raters, by_server, by_all = (used() - before) / seconds
        await everybody
        dashboard.cancel()
        in_page: list[tuple[float, bool]] = await page.evaluate("window.took")
    cores = {"server cores": by_server, "raters cores": by_raters, "other cores": by_all - by_server - by_raters}
    return {**figures(times, seconds), **browser_figures(in_page), **cores}


def figures(times: Times, seconds: float) -> Case:
    for error in times.errors[:3]:
        print(error, file=sys.stderr)
    n_keys = len(times.key) + len(times.key_waiting)
    return {
        "errors": len(times.errors),
        "tells/s": len(times.tell) / seconds,
        "tell p50 ms": _ms(times.tell, 0.5),
        "tell p99 ms": _ms(times.tell, 0.99),
        "ask p50 ms": _ms(times.ask, 0.5),
        "ask p99 ms": _ms(times.ask, 0.99),
        "key p50 ms": _ms(times.key, 0.5),
        "key p99 ms": _ms(times.key, 0.99),
        "at hand": times.n_at_hand / n_keys,
        "waited for others": len(times.key_waiting) / n_keys,
        "for s": float(np.mean(times.key_waiting)) if times.key_waiting else None,
    }


def browser_figures(in_page: Sequence[tuple[float, bool]]) -> Case:
    took = [ms for ms, waited in in_page if not waited]
    return {
        "browser keys": len(took),
        "browser p50 ms": float(np.median(took)) if took else None,
        "browser max ms": max(took, default=None),
    }


def _ms(took: Sequence[float], share: float) -> float | None:
    return float(np.quantile(took, share)) * 1000 if took else None


def measure(case: Case) -> Case:
    with tempfile.TemporaryDirectory() as name, storage_of(case["store"], Path(name)) as storage:
        folder = Path(name)
        truth = make_study(storage, folder, case["items"], case["answers before"])
        raters = [f"rater {i}" for i in range(N_RATERS + 1)]
        with served(storage, folder, raters) as server:
            return asyncio.run(load(server, truth, case["seconds"]))


if __name__ == "__main__":
    run_cases(
        "serving",
        [
            {"store": store, "items": items, "answers before": answers, "seconds": 60}
            for items, answers in ((20_000, 50_000), (1000, 0))
            for store in ("sqlite", "postgresql")
        ],
        measure,
    )
