"""A study that is served: what raters hold, and what they are told about its progress."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from tests.unit.web.served import Served, right_answer

from onebit.records import Closing
from onebit.study.study import Offer
from onebit.web import tasks
from onebit.web.overview import Overview

Serving = Callable[..., Served]
#: Seconds in which a thread of the server has surely done what it should.
PATIENCE = 30.0


def test_where_questions_are_scarce_a_page_gets_the_next_for_each_answer_it_has_not_sent(served: Served) -> None:
    served.site.room(1)._scarce_until = float("inf")
    (shown,) = served.ask(served.ann, n=3)
    # Answered, and not sent yet: the page asks for one more than it keeps at hand.
    held = served.ask(served.ann, n=4)
    assert held[0] == shown
    assert len(held) == 2
    served.tell(served.ann, shown, "no")
    assert served.ask(served.ann, n=3) == held[1:]


def test_a_new_epoch_with_enough_for_everybody_ends_the_scarcity(served: Served) -> None:
    room = served.site.room(1)
    room._scarce_until = float("inf")
    assert len(served.ask(served.ann, n=3)) == 1
    room.study.view.closings.append(Closing(0, 200, 6 * 20, 0, (0,), 1.0))
    assert len(served.ask(served.ann, n=3)) == 3
    room._held |= {f"rater {i}": set() for i in range(20)}
    assert len(served.ask(served.bob, n=3)) == 1


def test_progress_follows_the_epochs_while_nobody_waits(serving: Serving) -> None:
    served = serving(eps=0.01)
    room = served.site.room(1)
    assert served.post("ask", served.ann, n=1).json()["progress"]["forecast"] is None
    room.study.look_ahead()
    made, made_by = room._watcher.forecast, []

    def forecast() -> tuple[int, int, int] | None:
        made_by.append(threading.current_thread().name)
        return made()

    def look() -> Overview:
        raise AssertionError("the whole overview was made for a rater")

    room._watcher.forecast = forecast  # type: ignore[method-assign]
    room._watcher.look = look  # type: ignore[method-assign]
    end = time.monotonic() + PATIENCE
    told = None
    while told is None and time.monotonic() < end:
        room._look_again_at = 0.0
        answer = served.post("ask", served.ann, n=3).json()
        assert answer["state"] == "asking", "the study ended before anything was foreseen"
        told = answer["progress"]["forecast"]
        for question in answer["questions"]:
            served.tell(served.ann, question, right_answer(question))
    assert told is not None
    assert set(made_by) == {"forecasting a study"}


def test_no_rater_waits_for_the_first_forecast_of_a_study(served: Served) -> None:
    room = served.site.room(1)
    looking, go_on, made = threading.Event(), threading.Event(), room._watcher.forecast

    def slow() -> tuple[int, int, int] | None:
        looking.set()
        go_on.wait(PATIENCE)
        return made()

    room._watcher.forecast = slow  # type: ignore[method-assign]
    try:
        # Would wait as long as the forecast takes, if it waited at all.
        assert served.post("ask", served.ann, n=1).json()["questions"]
        assert looking.wait(PATIENCE)
        assert served.post("ask", served.bob, n=1).json()["progress"]["forecast"] is None
        assert not go_on.is_set()
        assert room._forecast is None
    finally:
        go_on.set()


@dataclass
class AtHand:
    """A workroom without a process of its own, which takes a while to begin."""

    storage: str

    def do(self, task: str, body: dict[str, Any], is_patient: bool = False) -> Any:
        return getattr(tasks, task)(self.storage, None, body)


def test_a_server_forecasts_what_is_open_before_the_first_answer(serving: Serving) -> None:
    served = serving(eps=0.05)
    served.client.get(f"/o/{served.owner}")
    assert "working out how many" in served.client.get("/studies/1").text
    served.site.workroom = AtHand(served.site.storage)  # type: ignore[assignment]
    keeping = threading.Thread(target=served.site.keep_forecasts)
    keeping.start()
    try:
        end = time.monotonic() + PATIENCE
        while (told := served.get("studies/1", served.owner).json()["forecast"]) is None and time.monotonic() < end:
            time.sleep(0.1)
    finally:
        served.site._closed.set()
        keeping.join(timeout=PATIENCE)
    low, middle, high = told
    assert 0 < low <= middle <= high
    assert f"{middle:,}" in served.client.get("/studies/1").text
    assert served.post("ask", served.ann, n=1).json()["progress"]["words"].startswith("about ")


def test_closing_waits_for_who_looks_at_the_study(served: Served) -> None:
    room = served.site.room(1)
    served.ask(served.ann)
    closing = threading.Thread(target=room.close)
    with room._look_lock:
        closing.start()
        closing.join(timeout=0.2)
        assert closing.is_alive()
    closing.join(timeout=PATIENCE)
    assert not closing.is_alive()
    room._forecast_of_late()
    assert "forecasting a study" not in {thread.name for thread in threading.enumerate()}


@dataclass
class OneAfterTheOther:
    """A study that gives out what it has in this order: questions about these items."""

    items: list[int]
    n_asked: list[int] = field(default_factory=list)

    def ask_several(self, rater: str, n: int) -> tuple[Offer, ...]:
        self.n_asked.append(n)
        return tuple(Offer(number, item, 0, rater) for number, item in enumerate(self.items[:n]))


@pytest.mark.parametrize(
    ("items", "n_given"),
    [([7] * 4 + [8] * 4, 6), ([7] * 9, 9), ([7, 8, 8, 8, 8], 3), ([7] * 200, 40)],
    ids=["until another item comes", "all there are", "no more than asked for", "at most 40"],
)
def test_all_outputs_of_an_item_are_given_together(served: Served, items: list[int], n_given: int) -> None:
    room, study = served.site.room(1), OneAfterTheOther(items)
    room.study, served_study = study, room.study  # type: ignore[assignment]
    try:
        assert len(room.hand("ann", 3, paused=False, together=True).offers) == n_given
        assert len(room.hand("ann", 3, paused=False).offers) == 3
    finally:
        room.study = served_study
