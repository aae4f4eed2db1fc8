"""How often raters wait for each other, in time that is simulated: no server, no network, no noise of a busy machine.

Raters do in the order of events what the page does (``page_raters.py``), and think 1 to 3 seconds before each key. The
study is that of ``serving.py``; it never ends. Counted are the keys of a minute that begins six seconds after the first
rater came. ``waited`` is the share of them after which there was no question, ``for s`` how long that took on average.
"""

from __future__ import annotations

import heapq
import itertools
import random
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

import numpy as np
from benchmarks.harness import Case, run_cases
from benchmarks.page_raters import AT_HAND, GRACE, MOST, POLL
from benchmarks.serving import ARRIVING, SETTING
from benchmarks.study import THINKING, table

from onebit.records import Answer
from onebit.store.store import Entry
from onebit.study.opening import create_study
from onebit.study.study import Offer, Study
from onebit.web import room as rooms
from onebit.web.room import Room

SECONDS, N_SEEDS = 60.0, 3


class Clock:
    """The time of the simulation; it stands in for the module ``time``, too."""

    now = 0.0

    def __call__(self) -> float:
        return self.now

    monotonic = __call__


@dataclass(eq=False)
class Rater:
    name: str
    rng: random.Random
    questions: list[Offer] = field(default_factory=list)
    #: When each answer that is not sent yet was given.
    unsent: list[tuple[float, Offer]] = field(default_factory=list)
    is_thinking: bool = False
    waits_since: float | None = None


class Minute:
    """Raters at work; everything happens in the order of its time."""

    def __init__(self, room: Room, clock: Clock, truth: np.ndarray, n_raters: int, seed: int) -> None:
        self._room, self._clock, self._truth = room, clock, truth
        self._to_come: list[tuple[float, int, bool, Rater]] = []
        self._order = itertools.count()
        self.n_keys = self.n_waits = self.n_told = 0
        self.waited: list[float] = []
        for i in range(n_raters):
            rater = Rater(f"rater {i}", random.Random(f"{seed} {i}"))
            self._plan(rater.rng.uniform(0, THINKING), False, rater)

    def run(self) -> None:
        while self._to_come and self._to_come[0][0] < ARRIVING + SECONDS:
            self._clock.now, _, is_key, rater = heapq.heappop(self._to_come)
            if not is_key:
                self._pump(rater)
            elif rater.questions:
                self._press(rater)

    def _plan(self, at: float, is_key: bool, rater: Rater) -> None:
        heapq.heappush(self._to_come, (at, next(self._order), is_key, rater))

    @property
    def _counts(self) -> bool:
        return self._clock.now >= ARRIVING

    def _press(self, rater: Rater) -> None:
        rater.is_thinking = False
        rater.unsent.append((self._clock.now, rater.questions.pop(0)))
        self._pump(rater)
        self.n_keys += self._counts
        if not rater.questions:
            self.n_waits += self._counts
            rater.waits_since = self._clock.now if self._counts else None

    def _pump(self, rater: Rater) -> None:
        """As ``pump`` of the page: send what is due, then get questions."""
        now = self._clock.now
        while len(rater.unsent) > 1 or (rater.unsent and now >= rater.unsent[0][0] + GRACE):
            self._send(rater)
        if len(rater.questions) < AT_HAND:
            self._ask(rater)
        while not rater.questions and rater.unsent:
            self._send(rater)
            if not rater.unsent:
                self._ask(rater)
        if not rater.questions:
            self._plan(now + POLL["waiting"], False, rater)
            return
        if rater.waits_since is not None:
            self.waited.append(now - rater.waits_since)
            rater.waits_since = None
        if not rater.is_thinking:
            rater.is_thinking = True
            self._plan(now + THINKING * rater.rng.uniform(0.5, 1.5), True, rater)
        if rater.unsent:
            self._plan(rater.unsent[0][0] + GRACE, False, rater)

    def _send(self, rater: Rater) -> None:
        _, offer = rater.unsent.pop(0)
        right = Answer.YES if self._truth[offer.item] == offer.label else Answer.NO
        self._room.tell(offer.id, right, rater.name, f"{rater.name} {offer.id}")
        self.n_told += self._counts

    def _ask(self, rater: Rater) -> None:
        hand = self._room.hand(rater.name, min(MOST, AT_HAND + len(rater.unsent)), paused=False)
        answered = {offer.id for _, offer in rater.unsent}
        rater.questions = [offer for offer in hand.offers if offer.id not in answered]


@contextmanager
def new_study(n_items: int, seed: int) -> Iterator[tuple[Study, np.ndarray]]:
    predictions, truth = table(n_items)
    with tempfile.TemporaryDirectory() as folder:
        given: dict[str, Any] = {"eps": SETTING.eps, "delta": SETTING.delta, "f_no": SETTING.f_no, "seed": seed}
        with create_study(predictions, "s", storage=f"sqlite:///{folder}/s.db", **given) as study:
            yield study, truth


def measure(case: Case) -> Case:
    runs = []
    for seed in range(N_SEEDS):
        clock = Clock()
        with new_study(case["items"], seed) as (study, truth), mock.patch.object(rooms, "time", clock):
            study._clock = clock
            minute = Minute(Room(study, Entry(1, "s", "", {}, 0)), clock, truth, case["raters"], seed)
            minute.run()
            runs.append(minute)
    waited = [seconds for run in runs for seconds in run.waited]
    return {
        "answers/s": sum(run.n_told for run in runs) / SECONDS / N_SEEDS,
        "waited": sum(run.n_waits for run in runs) / sum(run.n_keys for run in runs),
        "for s": float(np.mean(waited)) if waited else None,
    }


if __name__ == "__main__":
    run_cases("waiting", [{"items": 1000, "raters": raters} for raters in (2, 10, 30, 100)], measure)
