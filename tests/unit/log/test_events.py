"""Events are plain JSON and back; what is not known is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import msgspec
import numpy as np
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
    Planned,
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
    Created(TrainingSetting(900, "follow-up", target=0.9, audit=50, seed=3), "networks", FACTS, kind="training"),
    Planned(EpochPlan(1, False, (3, 7), (0, 4), (0.1 + 0.2, 1.0), (0, 2), (True, False), 5)),
    Finished(RunStatus.BUDGET, {"chosen": "a", "certified_eps": None}),
]


#: A plan that leaves an item, and asks less about another.
LEAVES = Planned(EpochPlan(2, False, (3, 7), (0, 4), (1.0, 1.0), (0, 2), (True, False), 5, limits=(2, 5), left=(9,)))


@pytest.mark.parametrize("event", [*EVENTS, LEAVES], ids=lambda event: type(event).__name__)
def test_json_and_back_is_the_same_to_the_last_bit(event: Event) -> None:
    assert from_json(json.loads(json.dumps(to_json(event)))) == event


def changed(event: Event, **fields: Any) -> dict[str, Any]:
    return to_json(event) | fields


def without_key(data: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in data.items() if name != key}


def without(event: Event, field: str) -> dict[str, Any]:
    return without_key(to_json(event), field)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ([], "must be a JSON object"),
        ({}, "an event None, which .* does not know"),
        ({"event": []}, "does not know"),
        ({"event": "moved"}, "does not know"),
        (changed(created(), version=1), "onebit 0.1.0"),
        (changed(created(), kind="poetry"), "poetry"),
        (changed(created(), learner="oracle"), "oracle"),
        (changed(created(), setting={}), "'eps' is missing"),
        (changed(created(), setting=3), "`object`, got `int`"),
        (changed(created(), setting=without_key(to_json(created())["setting"], "seed")), "'seed' is missing"),
        (changed(created(), setting=to_json(created())["setting"] | {"note": 1}), "'note' is unknown"),
        (changed(created(), table=to_json(created())["table"] | {"note": 1}), "'note' is unknown"),
        (changed(created(), version=2.0), r"at `\$.version`"),
        (changed(EVENTS[3], id=True), r"'asked' .*got `bool` - at `\$.id`"),
        (changed(EVENTS[3], item=-1), r">= 0 - at `\$.item`"),
        (changed(EVENTS[3], item=-(2**70)), r">= 0 - at `\$.item`"),
        (changed(EVENTS[3], propensity="1"), r"`float`, got `str` - at `\$.propensity`"),
        (changed(EVENTS[3], propensity=float("nan")), r"at `\$.propensity`"),
        (changed(EVENTS[3], propensity=0), r"> 0.0 - at `\$.propensity`"),
        (changed(EVENTS[3], propensity=1.5), r"<= 1.* - at `\$.propensity`"),
        (changed(EVENTS[3], note=1), "'note' is unknown"),
        (changed(EVENTS[3], question=to_json(EVENTS[3])), "'question' is unknown"),
        (changed(EVENTS[9], answer="maybe"), r"'maybe' - at `\$.answer`"),
        (changed(EVENTS[9], answer=True), r"at `\$.answer`"),
        (changed(EVENTS[9], answer=-1), r"at `\$.answer`"),
        (changed(EVENTS[9], late=None), r"`bool`, got `null` - at `\$.late`"),
        (changed(EVENTS[9], note=1), "'note' is unknown"),
        (without(EVENTS[9], "late"), "'late' is missing"),
        (changed(EVENTS[2], survivors=[0, "x"]), r"`int`, got `str` - at `\$.survivors\[1\]`"),
        (changed(EVENTS[2], mixture=[[0]]), r"length 2, got 1 - at `\$.mixture\[0\]`"),
        (changed(EVENTS[2], mixture=[3]), r"`array`, got `int` - at `\$.mixture\[0\]`"),
        (changed(EVENTS[2], mixture=[[0, float("inf")]]), r"at `\$.mixture\[0\]\[1\]`"),
        (changed(EVENTS[2], gamma=float("nan")), r"at `\$.gamma`"),
        (changed(EVENTS[-1], status="won"), "'won'; it must be one of running, complete"),
        (changed(EVENTS[-1], status=RunStatus.BUDGET.value), "Invalid status"),
        (changed(EVENTS[-1], status=["won"]), "Invalid status"),
        (changed(EVENTS[-2], items=[]), "different lengths"),
        (changed(EVENTS[-2], items=[3]), "different lengths"),
        (changed(EVENTS[-2], fresh=[True, 1]), r"`bool`, got `int` - at `\$.fresh\[1\]`"),
        (changed(LEAVES, limits=[2]), "limits that are not those of its items"),
        (changed(LEAVES, limits=[0, 2]), "limits that are not those of its items"),
        (changed(LEAVES, left=[]), "left out where it is not given"),
        (changed(EVENTS[-3], setting={}), "'budget' is missing"),
        (without(EVENTS[3], "label"), "'label' is missing"),
        (without(EVENTS[4], "rater"), "'rater' is missing"),
    ],
)
def test_damage_is_refused(data: Any, said: str) -> None:
    with pytest.raises(LogError, match=said):
        from_json(data)


def test_numbers_of_numpy_are_written_as_numbers() -> None:
    answered = Answered(np.int64(3), np.int64(4))  # type: ignore[arg-type]
    assert json.dumps(to_json(answered)) == json.dumps(to_json(Answered(3, 4)))
    closing = Closing(0, 64, 31, 2, (0, 2), np.float64(0.031))
    assert json.dumps(to_json(Closed(closing))) == json.dumps(to_json(EVENTS[16]))


def test_a_log_goes_on_only_as_what_it_was_created() -> None:
    check_same(created(), created())
    with pytest.raises(InvalidInputError, match="another table: its digest"):
        check_same(created(), msgspec.structs.replace(created(), table=replace(FACTS, digest="0")))
    with pytest.raises(InvalidInputError, match="another setting: its protocol is one-shot, and now it is follow-up"):
        check_same(created(ONE_SHOT), created(FOLLOW_UP))
    with pytest.raises(InvalidInputError, match="another run: its learner"):
        check_same(created(), created(learner="uniform"))
