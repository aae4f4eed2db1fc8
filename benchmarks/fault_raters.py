"""Raters who keep what was acknowledged, and send an answer again until they hear what became of it."""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from benchmarks.page_raters import Connection, meant, new_token
from benchmarks.serving import right_answer

#: Seconds that each thinks, on the average.
THINKING = 1.0
#: What a page sends again: there was no answer, or one that says so.
AGAIN = (0, 401, 429, 503)


@dataclass
class Kept:
    """What raters know: tokens of acknowledged answers and of refused ones, when the last came, what they were told."""

    acknowledged: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    last: float = 0.0
    last_of: dict[int, float] = field(default_factory=dict)
    statuses: Counter[int] = field(default_factory=Counter)

    def answered_since(self, moment: float) -> list[int]:
        """The raters who had an answer acknowledged since then."""
        return [number for number, last in self.last_of.items() if last > moment]


class Rater:
    """Asks, thinks, answers, and sends the same again until the server says what became of it."""

    def __init__(self, url: str, number: int, token: str, truth: np.ndarray, kept: Kept) -> None:
        self._url, self._number, self._truth, self._kept = url, number, truth, kept
        self._headers = {"Authorization": f"Bearer {token}"}
        self._connection = Connection(url, self._headers)
        self._rng = random.Random(number)

    async def answer_until(self, stop: asyncio.Event) -> None:
        while not stop.is_set():
            status, told = await self._call("ask", {"n": 1})
            if status != 200 or not told["questions"]:
                await asyncio.sleep(0.2)
                continue
            await asyncio.sleep(THINKING * self._rng.uniform(0.5, 1.5))
            await self._tell(told["questions"][0], stop)
        self._connection.close()

    async def _tell(self, question: dict[str, Any], stop: asyncio.Event) -> None:
        said = right_answer(self._truth, question["item"]["id"], question["label"]["name"])
        once, kept = new_token(), self._kept
        while not stop.is_set():
            status, _ = await self._call("tell", {**meant(question), "answer": said, "token": once})
            if status == 200:
                kept.acknowledged.append(once)
                kept.last = kept.last_of[self._number] = time.monotonic()
            elif status not in AGAIN:
                kept.refused.append(once)
            if status not in AGAIN:
                return
            await asyncio.sleep(0.2)

    async def _call(self, name: str, body: dict[str, Any]) -> tuple[int, Any]:
        try:
            async with asyncio.timeout(30):
                status, content = await self._connection.call("POST", f"/api/v1/{name}", json.dumps(body).encode())
        except (OSError, EOFError, TimeoutError, asyncio.IncompleteReadError):
            self._connection.close()
            self._connection = Connection(self._url, self._headers)
            status = 0
        self._kept.statuses[status] += 1
        return status, json.loads(content) if status == 200 else None
