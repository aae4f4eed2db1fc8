"""A study that is served: raters come in by its methods, and owners watch it."""

from __future__ import annotations

import math
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Literal

from onebit.errors import OnebitError
from onebit.records import Answer, Status
from onebit.report.record import Price, Report
from onebit.store.listing import rename
from onebit.store.store import Entry, Store
from onebit.study.rehearsal import Rehearsal
from onebit.study.study import Offer, Receipt, Study, Undo
from onebit.web.constants import AHEAD, MOST_TOGETHER, PLENTY, REFRESH, SCARCE, SHARE
from onebit.web.languages import ENGLISH, LANGUAGES, Language
from onebit.web.overview import Overview, Watcher
from onebit.web.workroom import Workroom

State = Literal["asking", "waiting", "paused", "done"]


@dataclass(frozen=True, slots=True)
class Hand:
    """The questions that a rater holds, and if there are none, why."""

    offers: tuple[Offer, ...]
    state: State


class Room:
    """A study with what is remembered about it between requests."""

    def __init__(self, study: Study, entry: Entry) -> None:
        self.study, self.entry = study, entry
        self._watcher = Watcher(study)
        self._rehearsal = Rehearsal(study.kind)
        self._rehearsal.start()
        self._scarce_until = 0.0
        self._closings_when_scarce = 0
        #: The questions that each rater was given last and has not answered.
        self._held: dict[str, set[int]] = {}
        self._look_lock, self._price_lock = threading.Lock(), threading.Lock()
        #: What other ways would have cost, once somebody asked for it.
        self._prices: tuple[Price, ...] | None = None
        #: What raters are told of how many answers are needed, and when it is worked out again.
        self._forecast: tuple[int, int, int] | None = None
        self._seen_closings = -1
        self._look_again_at = 0.0
        self._has_looked_ahead = False
        #: Whether there is a forecast.
        self.is_foreseen = False

    def hand(self, rater: str, n: int, paused: bool, together: bool = False) -> Hand:
        """Up to ``n`` questions for a rater: those given before that still want an answer, then new ones.

        ``together``: more than that, until all about the first item are there, as far as they can be had.
        """
        if paused:
            return Hand((), "paused")
        if self._is_scarce():
            # What a rater has at hand stays there: the page shows it, and nobody else would be given it.
            n = min(n, max(1, n - AHEAD, len(self._held.get(rater, ()))))
        offers = self.study.ask_several(rater, n)
        while together and isinstance(offers, tuple) and _wants_more(offers, n):
            n = min(2 * n, MOST_TOGETHER)
            offers = self.study.ask_several(rater, n)
        if isinstance(offers, tuple):
            self._held[rater] = {offer.id for offer in offers}
            return Hand(offers, "asking")
        self._scarce_until = time.monotonic() + SCARCE
        self._closings_when_scarce = len(self.study.view.closings)
        return Hand((), "done" if offers is Status.DONE else "waiting")

    def _is_scarce(self) -> bool:
        """Whether others would wait for questions that are given ahead."""
        if time.monotonic() >= self._scarce_until:
            return False
        closings = self.study.view.closings
        if len(closings) <= self._closings_when_scarce:
            return True
        # An epoch has about as many questions as the one before it.
        n_before = closings[-2].n_answers if len(closings) > 1 else 0
        return closings[-1].n_answers - n_before < PLENTY * len(self._held)

    def tell(self, question: int, answer: Answer | int, rater: str, token: str) -> Receipt:
        receipt = self.study.tell(question, answer, rater=rater, token=token)
        self._held.get(rater, set()).discard(question)
        return receipt

    def undo(self, question: int, rater: str) -> Undo:
        return self.study.undo(question, rater=rater)

    def overview(self) -> Overview:
        """The state of the study now."""
        with self._look_lock:
            overview = self._watcher.look()
            self._forecast = overview.board.forecast
            return overview

    def _forecast_of_late(self) -> tuple[int, int, int] | None:
        """One that raters can do with: it is renewed by and by, and nobody waits for it; None before the first."""
        is_due = self.study.kind.can_foresee and time.monotonic() >= self._look_again_at
        if is_due and self._look_lock.acquire(blocking=False):
            threading.Thread(target=self._renew, name="forecasting a study").start()
        return self._forecast

    def _renew(self) -> None:
        """Forecast the study if an epoch has closed. Lets go of the lock that was taken for it."""
        try:
            began = time.monotonic()
            self._look_again_at = began + REFRESH
            n_closings = len(self.study.view.closings)
            if n_closings != self._seen_closings:
                self._forecast, self._seen_closings = self._watcher.forecast(), n_closings
                now = time.monotonic()
                self._look_again_at = now + max(REFRESH, (now - began) / SHARE)
        except OnebitError:
            # Raters are told what was known; whoever asks the store for something else is told what is wrong with it.
            pass
        finally:
            self._look_lock.release()

    def look_ahead(self, workroom: Workroom) -> None:
        """Make the forecasts possible, once, in a process of its own; the next forecast has one."""
        if self._has_looked_ahead or not self.study.kind.can_foresee or self.study.is_over:
            return
        self._has_looked_ahead = True
        self.study.kind.foresee(workroom.do("look_ahead", {"study": self.entry.name}, is_patient=True))
        self._seen_closings = -1
        self.is_foreseen = True

    def report(self, workroom: Workroom) -> Report:
        """The report as it is now; forecasts of other ways are made in a process of their own, once it is over."""
        report = self.study.report()
        if not self.study.is_over:
            return report
        with self._price_lock:
            if self._prices is None:
                self._prices = ()
                # A study whose forecasts take too long is told without them.
                with suppress(OnebitError):
                    told = workroom.do("prices", {"study": self.entry.name}, is_patient=True)
                    self._prices = tuple(Price(**price) for price in told)
        return replace(report, prices=(*self._prices, *report.prices))

    def progress(self, state: State, rater: str, language: Language = LANGUAGES[ENGLISH]) -> dict[str, Any]:
        """How far the study is, for a rater: in words, and as numbers."""
        forecast = self._forecast_of_late()
        n_answers = len(self.study.view.answers)
        most = self.study.kind.most_answers
        return {
            "words": in_words(state, n_answers, forecast, most, language),
            "answers": n_answers,
            "own": self.study.n_answers_of(rater),
            "forecast": None if forecast is None else list(forecast),
        }

    def rename(self, store: Store, name: str) -> None:
        """Give the study another name, in the store and here."""
        rename(store, self.entry.id, name)
        self.entry = replace(self.entry, name=name)
        self.study.name = self.study.kind.study = name

    def close(self) -> None:
        """Let go of the study, when nobody looks at it any more."""
        with self._look_lock:
            self._look_again_at = math.inf
            self._rehearsal.stop()
            self.study.close()


def _wants_more(offers: tuple[Offer, ...], n: int) -> bool:
    """Whether there may be more about the item of the first of ``n`` questions."""
    return len(offers) == n < MOST_TOGETHER and offers[-1].item == offers[0].item


def in_words(
    state: State,
    n_answers: int,
    forecast: tuple[int, int, int] | None,
    most: int | None = None,
    language: Language = LANGUAGES[ENGLISH],
) -> str:
    """Progress as a person would say it; ``most`` answers are taken where no aim can be foreseen.

    >>> in_words("asking", 120, (300, 343, 500))
    'about 340 to go'
    """
    if state != "asking":
        return language.say(f"progress_{state}")
    if most is not None:
        return language.say("progress_of", n=n_answers, most=most)
    if forecast is None:
        return "" if n_answers else language.say("progress_begun")
    middle = forecast[1]
    if middle <= 10:
        return language.say("progress_near")
    size = 10 ** max(1, len(str(middle)) - 2)
    return language.say("progress_to_go", n=round(middle / size) * size)
