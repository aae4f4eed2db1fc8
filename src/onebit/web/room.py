"""A study that is served: raters come in by its methods, and owners watch it."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import Any, Literal

from onebit.records import Answer, Status
from onebit.study.store import Entry, Store
from onebit.study.study import Offer, Receipt, Study, Undo
from onebit.web.follow import Follower
from onebit.web.overview import Overview, Watcher

#: An overview is made anew at most so often, in seconds, and takes at most this share of the time.
REFRESH, SHARE = 1.0, 0.1
#: Seconds after a rater had to wait in which nobody is given questions ahead: others would wait for those.
SCARCE = 5.0

State = Literal["asking", "waiting", "paused", "done"]


@dataclass(frozen=True, slots=True)
class Hand:
    """The questions that a rater holds, and if there are none, why."""

    offers: tuple[Offer, ...]
    state: State


class Room:
    """A study with what is remembered about it between requests."""

    def __init__(self, study: Study, entry: Entry, store: Store) -> None:
        self.study, self.entry = study, entry
        self.follower = Follower(store, entry.id)
        self._watcher = Watcher(study, self.follower, entry.created_at)
        self._scarce_until = 0.0
        self._look_lock = threading.Lock()
        self._overview: Overview | None = None
        self._seen_closings = -1
        self._look_again_at = 0.0

    def hand(self, rater: str, n: int, paused: bool) -> Hand:
        """Up to ``n`` questions for a rater: those given before that still want an answer, then new ones."""
        if paused:
            return Hand((), "paused")
        is_scarce = time.monotonic() < self._scarce_until
        offers = self.study.ask_several(rater, 1 if is_scarce else n)
        if isinstance(offers, tuple):
            return Hand(offers, "asking")
        self._scarce_until = time.monotonic() + SCARCE
        return Hand((), "done" if offers is Status.DONE else "waiting")

    def tell(self, question: int, answer: Answer | int, rater: str, token: str) -> Receipt:
        return self.study.tell(question, answer, rater=rater, token=token)

    def undo(self, question: int, rater: str) -> Undo:
        return self.study.undo(question, rater=rater)

    def overview(self) -> Overview:
        """The state of the study now."""
        with self._look_lock:
            return self._look()

    def _overview_of_late(self) -> Overview:
        """One that raters can do with: made anew when an epoch has closed, by whoever comes first; nobody waits."""
        if self._overview is None:
            return self.overview()
        if time.monotonic() >= self._look_again_at and self._look_lock.acquire(blocking=False):
            try:
                self.follower.update()
                self._look_again_at = time.monotonic() + REFRESH
                if len(self.follower.closings) != self._seen_closings:
                    return self._look()
            finally:
                self._look_lock.release()
        return self._overview

    def _look(self) -> Overview:
        began = time.monotonic()
        self._overview = self._watcher.look()
        self._seen_closings = len(self.follower.closings)
        now = time.monotonic()
        self._look_again_at = now + max(REFRESH, (now - began) / SHARE)
        return self._overview

    def progress(self, state: State) -> dict[str, Any]:
        """How far the study is, for raters: in words, and as numbers."""
        overview = self._overview_of_late()
        n_answers = len(self.follower.answers)
        return {
            "words": in_words(state, n_answers, overview.forecast),
            "answers": n_answers,
            "forecast": None if overview.forecast is None else list(overview.forecast),
        }

    def close(self) -> None:
        self.study.close()


def in_words(state: State, n_answers: int, forecast: tuple[int, int, int] | None) -> str:
    """Progress as a person would say it.

    >>> in_words("asking", 120, (300, 343, 500))
    'about 340 answers to go'
    """
    if state == "done":
        return "all questions are answered"
    if state == "paused":
        return "paused by the owner of the study"
    if state == "waiting":
        return "waiting for others to answer"
    if forecast is None:
        return "too early for an estimate" if n_answers else "just begun"
    middle = forecast[1]
    if middle <= 10:
        return "nearly there"
    size = 10 ** max(1, len(str(middle)) - 2)
    return f"about {round(middle / size) * size:,} answers to go"
