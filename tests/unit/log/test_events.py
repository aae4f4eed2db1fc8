"""Events are plain JSON and back; what is not known is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from tests.unit.study.runs import FACTS, FOLLOW_UP, ONE_SHOT, created

from onebit.errors import InvalidInputError
from onebit.log.codec import from_json, to_json
from onebit.log.events import (
    Answered,
    Asked,
    CheckAnswered,
    Checked,
    Closed,
    Created,
    Disputed,
    EpochBegan,
    Event,
    Finished,
    LogError,
    Offered,
    Undone,
    Unvoted,
    Voted,
    check_same,
)
from onebit.records import Answer, Closing, EpochPlan, EpochRecord, Question, RunStatus, Setting, TrainingSetting

EVENTS: list[Event] = [
    created(),
    Created(Setting(eps=0.1, budget=7, f_no=0.2, passive=True, protocol="labels"), "paper", FACTS, overlap=3),
    EpochBegan(EpochRecord(0, 0, 64, 2, (0, 2), ((0, 0.1), (2, 0.9)), 1 / 3)),
    Asked(Question(0, 17, 3, 0.1 + 0.2, 0)),
    Asked(Question(1, 17, None, 1.0, 0), "ann"),
    Offered(1, "bob"),
    Offered(1, None),
    Voted(1, Answer.NO, "ann", "t1", late=True),
    Unvoted(1, "ann"),
    Answered(0, Answer.CANT_TELL),
    Answered(1, 4, "bob", "t2", late=True),
    Undone(0, "bob"),
    Disputed(0, None),
    Checked(0, 3, 2, "ann", Answer.YES),
    Checked(1, 3, 2, "ann", Answer.NO, repeats=0),
    CheckAnswered(0, Answer.NO, "ann", "t3"),
    Closed(Closing(0, 64, 31, 2, (0, 2), 0.031)),
    Created(TrainingSetting(900, "follow-up", target=0.9, audit=50, seed=3), "networks", FACTS, kind="learning"),
    EpochBegan(EpochPlan(1, False, (3, 7), (0, 4), (0.1 + 0.2, 1.0), (0, 2), (True, False), 5)),
    Finished(RunStatus.BUDGET, {"chosen": "a", "certified_eps": None}),
]


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
def test_json_and_back_is_the_same_to_the_last_bit(event: Event) -> None:
    assert from_json(json.loads(json.dumps(to_json(event)))) == event


def changed(event: Event, **fields: Any) -> dict[str, Any]:
    return to_json(event) | fields


def without(event: Event, field: str) -> dict[str, Any]:
    return {name: value for name, value in to_json(event).items() if name != field}


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ([], "must be a JSON object"),
        ({}, "'event' is missing"),
        ({"event": "moved"}, "does not know"),
        (changed(created(), version=1), "onebit 0.1.0"),
        (changed(created(), kind="poetry"), "poetry"),
        (changed(created(), learner="oracle"), "oracle"),
        (changed(created(), setting={}), "'eps' is missing"),
        (changed(EVENTS[3], id=True), "'id' is True"),
        (changed(EVENTS[3], item=-1), "cannot be negative"),
        (changed(EVENTS[3], propensity="1"), "'propensity' is '1'"),
        (changed(EVENTS[3], propensity=float("nan")), "finite"),
        (changed(EVENTS[9], answer="maybe"), "maybe"),
        (changed(EVENTS[9], late=None), "'late' is None"),
        (changed(EVENTS[2], survivors=[0, "x"]), "'x'"),
        (changed(EVENTS[2], mixture=[[0]]), "'mass' is missing"),
        (changed(EVENTS[2], mixture=[3]), "list of lists"),
        (changed(EVENTS[-1], status="won"), "won"),
        (changed(EVENTS[-2], items=[3]), "different lengths"),
        (changed(EVENTS[-2], fresh=[True, 1]), "true or false"),
        (changed(EVENTS[-3], setting={}), "'budget' is missing"),
        (without(EVENTS[3], "label"), "'label' is missing"),
        (without(EVENTS[4], "rater"), "'rater' is missing"),
    ],
)
def test_damage_is_refused(data: Any, said: str) -> None:
    with pytest.raises(LogError, match=said):
        from_json(data)


def test_a_log_goes_on_only_as_what_it_was_created() -> None:
    check_same(created(), created())
    with pytest.raises(InvalidInputError, match="another table: its digest"):
        check_same(created(), replace(created(), table=replace(FACTS, digest="0")))
    with pytest.raises(InvalidInputError, match="another setting: its protocol is one-shot, and now it is follow-up"):
        check_same(created(ONE_SHOT), created(FOLLOW_UP))
    with pytest.raises(InvalidInputError, match="another run: its learner"):
        check_same(created(), created(learner="uniform"))
