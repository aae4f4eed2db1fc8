"""Raters who answer over HTTP as the page does, without a browser: a hundred of them cost little.

What ``static/outbox.js`` does is done here in the same order: questions are kept at hand, an answer is sent when the
next one is given or after a moment of grace, and calls of one rater follow each other on one connection.
"""

from __future__ import annotations

import asyncio
import json
import random
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

#: As in ``static/outbox.js``.
GRACE, AT_HAND, MOST = 2.5, 3, 5
POLL = {"waiting": 1.5, "paused": 5.0, "done": 20.0}


@dataclass
class Times:
    """Seconds of every call and every key that began after a moment, and what went wrong at any time."""

    since: float
    tell: list[float] = field(default_factory=list)
    ask: list[float] = field(default_factory=list)
    #: From a key to the next question: those that there were questions for, and those that had to wait for others.
    key: list[float] = field(default_factory=list)
    key_waiting: list[float] = field(default_factory=list)
    n_at_hand: int = 0
    errors: list[str] = field(default_factory=list)


class Connection:
    """One connection that stays open, as a browser keeps it."""

    def __init__(self, url: str, headers: dict[str, str]) -> None:
        parts = urlsplit(url)
        self._address = parts.hostname, parts.port
        lines = {"Host": parts.netloc, "Origin": url, "Content-Type": "application/json", **headers}
        self._headers = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def send(self, method: str, path: str, body: bytes = b"") -> asyncio.StreamReader:
        """Send a request; where its answer can be read."""
        if self._streams is None or self._streams[1].is_closing() or self._streams[0].at_eof():
            self._streams = await asyncio.open_connection(*self._address)
        reader, writer = self._streams
        writer.write(f"{method} {path} HTTP/1.1\r\n{self._headers}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        return reader

    async def call(self, method: str, path: str, body: bytes = b"") -> tuple[int, bytes]:
        """The status and content of the answer."""
        reader = await self.send(method, path, body)
        status, length = head(await reader.readuntil(b"\r\n\r\n"))
        return status, await reader.readexactly(length)

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()


def head(lines: bytes) -> tuple[int, int]:
    """The status of an answer, and the length of what follows."""
    first, *rest = lines.decode("latin-1").split("\r\n")
    fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in rest if line)}
    return int(first.split(" ")[1]), int(fields.get("content-length", 0))


def meant(question: dict[str, Any]) -> dict[str, Any]:
    """A question's number, and what the rater saw."""
    label = question["label"]
    return {
        "question": question["question"],
        "item": question["item"]["id"],
        "label": None if label is None else label["name"],
    }


def new_token() -> str:
    return secrets.token_hex(16)


class PageRater:
    """One rater with a page. ``right`` is the answer to a question, as the rater knows it."""

    def __init__(self, url: str, token: str, right: Callable[[dict[str, Any]], str], seed: int, times: Times) -> None:
        self._connection = Connection(url, {"Authorization": f"Bearer {token}"})
        self._right, self._times, self._rng = right, times, random.Random(seed)
        self._questions: list[dict[str, Any]] = []
        #: Answers that are not sent yet: when they were given, and what to send.
        self._unsent: list[tuple[float, dict[str, Any]]] = []
        self._state = "asking"
        self._work = asyncio.Lock()
        self._shown = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def answer_until(self, end: float, thinking: float) -> None:
        """Look, think, press a key, again and again."""
        await asyncio.sleep(self._rng.uniform(0, thinking))
        await self._pump()
        while await self._is_shown(end):
            await asyncio.sleep(thinking * self._rng.uniform(0.5, 1.5))
            if time.perf_counter() >= end:
                break
            # What is shown may have been taken back meanwhile; then the page takes no key.
            if self._questions:
                await self._press(end)
        if self._timer is not None:
            self._timer.cancel()
        await asyncio.gather(*self._tasks)
        self._connection.close()

    async def _press(self, end: float) -> None:
        """Answer what is shown, and measure how long it takes until the next question is."""
        pressed = time.perf_counter()
        question = self._questions.pop(0)
        self._unsent.append((pressed, {**meant(question), "answer": self._right(question), "token": new_token()}))
        at_hand = bool(self._questions)
        self._state = "asking"
        self._begin_pump()
        await self._is_shown(end)
        took = time.perf_counter() - pressed
        if pressed >= self._times.since:
            self._times.n_at_hand += at_hand
            (self._times.key_waiting if self._state == "waiting" else self._times.key).append(took)

    async def _is_shown(self, end: float) -> bool:
        """Wait for a question, no longer than to the end; whether there is one."""
        while not self._questions and time.perf_counter() < end:
            self._shown.clear()
            try:
                async with asyncio.timeout(max(0.0, end - time.perf_counter())):
                    await self._shown.wait()
            except TimeoutError:
                return False
        return bool(self._questions)

    def _begin_pump(self) -> None:
        task = asyncio.get_running_loop().create_task(self._pump())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _pump(self) -> None:
        """Send what is due, then get questions; one thing at a time, in order."""
        if self._timer is not None:
            self._timer.cancel()
        async with self._work:
            while self._is_due():
                await self._send()
            if len(self._questions) < AT_HAND:
                await self._ask()
            while not self._questions and self._unsent:
                await self._send()
                if not self._unsent:
                    await self._ask()
        self._schedule()

    def _is_due(self) -> bool:
        return len(self._unsent) > 1 or (bool(self._unsent) and time.perf_counter() - self._unsent[0][0] >= GRACE)

    def _schedule(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._unsent:
            wait = max(0.0, self._unsent[0][0] + GRACE - time.perf_counter())
        elif not self._questions:
            wait = POLL.get(self._state, POLL["waiting"])
        else:
            return
        self._timer = asyncio.get_running_loop().call_later(wait, self._begin_pump)

    async def _send(self) -> None:
        await self._call("tell", self._unsent[0][1], self._times.tell)
        del self._unsent[0]

    async def _ask(self) -> None:
        told = await self._call("ask", {"n": min(MOST, AT_HAND + len(self._unsent))}, self._times.ask)
        answered = {answer["question"] for _, answer in self._unsent}
        wanted = [each for each in told.get("questions", ()) if each["question"] not in answered]
        current = self._questions[0]["question"] if self._questions else None
        # What is shown stays where it is.
        self._questions = sorted(wanted, key=lambda each: each["question"] != current)
        if told.get("state") == "waiting":
            self._state = "waiting"
        if self._questions:
            self._shown.set()

    async def _call(self, name: str, body: dict[str, Any], took: list[float]) -> dict[str, Any]:
        begin = time.perf_counter()
        try:
            status, content = await self._connection.call("POST", f"/api/v1/{name}", json.dumps(body).encode())
        except (OSError, asyncio.IncompleteReadError) as error:
            self._times.errors.append(f"{name}: {error!r}")
            return {}
        if begin >= self._times.since:
            took.append(time.perf_counter() - begin)
        told: dict[str, Any] = json.loads(content)
        if status != 200:
            self._times.errors.append(f"{name}: {status} {told}")
            return {}
        return told


async def watch(url: str, token: str, study: int, times: Times) -> None:
    """The owner's dashboard: gets itself anew whenever the server says that something happened, until cancelled."""
    headers = {"Cookie": f"onebit_owner={token}"}
    signs, pages = Connection(url, headers), Connection(url, headers)
    reader = await signs.send("GET", f"/api/v1/studies/{study}/live")
    try:
        while line := await reader.readline():
            if line.startswith(b"data:"):
                status, _ = await pages.call("GET", f"/studies/{study}/live")
                if status != 200:
                    times.errors.append(f"dashboard: {status}")
        times.errors.append("dashboard: the server hung up")
    finally:
        signs.close()
        pages.close()
