"""A study that goes on from another: what is taken over, what is refused, and what verify finds."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.unit.study.edits import relinked

import onebit
from onebit.errors import InvalidInputError
from onebit.records import Answer, Question
from onebit.store.store import Store
from onebit.study.constants import ANSWERED_BEFORE
from onebit.study.proof import verify_study
from onebit.study.study import Offer, Study

Columns = dict[str, list[str]]


def columns(accuracies: dict[str, float], n: int = 120, first: int = 0, seed: int = 0) -> tuple[Columns, list[str]]:
    """An id for each item, what models say, and the truth, which the id decides."""
    rng = np.random.default_rng(seed)
    truth = (np.arange(first, first + n) * 7) % 4
    said: Columns = {"name": [f"item {i}" for i in range(first, first + n)]}
    for model, accuracy in accuracies.items():
        is_right = rng.random(n) < accuracy
        said[model] = [f"L{label}" for label in np.where(is_right, truth, (truth + 1) % 4)]
    return said, [f"L{label}" for label in truth]


def rater(study: Study) -> Callable[[Question], Answer]:
    """Who knows the truth, and is asked nothing twice."""

    def answer(question: Question) -> Answer:
        assert question.label is not None
        item = int(study.item(question.item).id.removeprefix("item "))
        return Answer.YES if study.items.label(question.label).name == f"L{item * 7 % 4}" else Answer.NO

    return answer


@pytest.fixture(params=["panel", "one-shot"])
def storage(tmp_path: Path, request: pytest.FixtureRequest) -> str:
    """A store with a study "first" that was answered to its end."""
    url = f"sqlite:///{tmp_path}/studies.db"
    table, _ = columns({"a": 0.85, "b": 0.7, "c": 0.6})
    with onebit.create_study(table, "first", storage=url, id="name", eps=0.1, protocol=request.param) as study:
        study.answer_by(rater(study), 1)
    return url


def extended(storage: str, name: str = "second", after: str = "first", **more: Any) -> tuple[Any, int]:
    """A sequel with a newcomer, answered to its end; its status, and how many answers were new."""
    table, _ = columns({"a": 0.85, "b": 0.7, "c": 0.6})
    table |= {"d": columns({"d": 0.8}, seed=3)[0]["d"]} | more
    n_new = 0
    with onebit.extend_study(after, name, table, storage=storage, id="name") as study:
        asked = rater(study)

        def counting(question: Question) -> Answer:
            nonlocal n_new
            n_new += 1
            return asked(question)

        study.answer_by(counting, 1)
        return study.status(), n_new


def test_what_was_answered_is_taken_over_and_the_rest_is_asked(storage: str) -> None:
    status, n_new = extended(storage)
    recalled = {each.rater: each.n_answers for each in status.raters}[ANSWERED_BEFORE]
    assert recalled > 0
    assert recalled + n_new == status.n_answers
    assert status.is_safe_to_stop
    assert "sequel 1" in status.lines()[-1]
    assert verify_study(storage, "second").ok
    assert verify_study(storage, "first").ok


def test_each_sequel_has_its_own_share_of_delta(storage: str) -> None:
    for number, (name, after) in enumerate([("second", "first"), ("third", "second"), ("other", "first")], start=1):
        newcomer = {f"new {number}": columns({"x": 0.5}, seed=10 + number)[0]["x"]}
        extended(storage, name, after, **newcomer)
        with Store(storage) as store:
            created: Any = store.first_event(store.entry(name).id)
        assert created.setting.delta == pytest.approx(0.05 / (number * (number + 1)))
        assert verify_study(storage, name).ok


def test_a_model_is_withdrawn_and_items_are_added(storage: str) -> None:
    table, _ = columns({"a": 0.85, "b": 0.7, "c": 0.6})
    more, _ = columns({"a": 0.2, "b": 0.7}, first=120, seed=5)
    both = {name: table[name] + more[name] for name in ("name", "a", "b")}
    with onebit.extend_study("first", "second", both, storage=storage, id="name") as study:
        study.answer_by(rater(study), 1)
        status: Any = study.status()
    assert (status.n_models, status.n_items, status.chosen) == (2, 240, ("b",))
    assert verify_study(storage, "second").ok


def test_raters_are_checked_as_in_any_study(storage: str) -> None:
    table, _ = columns({"a": 0.85, "b": 0.7, "c": 0.6})
    table |= {"d": columns({"d": 0.8}, seed=3)[0]["d"]}
    with onebit.extend_study("first", "second", table, storage=storage, id="name", repeat_share=0.3) as study:
        asked = rater(study)
        while isinstance(offer := study.ask("ann"), Offer):
            assert offer.label is not None
            study.tell(offer, asked(Question(offer.id, offer.item, offer.label, 1.0, 0)))
        assert {each.rater for each in study.status().raters} == {"ann", ANSWERED_BEFORE}
    assert verify_study(storage, "second").problems == ()


def test_another_verdict_than_before_is_found(storage: str) -> None:
    extended(storage)
    with Store(storage) as store:
        study_id = store.entry("second").id
        with store.writing() as connection:
            rows = connection.exec_driver_sql(
                f"SELECT seq, event FROM events WHERE study_id = {study_id} ORDER BY seq"
            ).all()
            events = [json.loads(row.event) for row in rows]
            last = max(
                place
                for place, event in enumerate(events)
                if event["event"] == "answered" and event["rater"] == ANSWERED_BEFORE
            )
            # A new answer is passed off as an old one, and an old one as new.
            for event in events:
                if event["event"] in ("answered", "offered") and event.get("id") == events[last]["id"]:
                    event["rater"] = None
            for row, event in zip(rows, relinked(events), strict=True):
                update = f"UPDATE events SET event = ? WHERE study_id = {study_id} AND seq = {row.seq}"
                connection.exec_driver_sql(update, (json.dumps(event),))
    assert any("was answered before" in problem for problem in verify_study(storage, "second").problems)


def test_what_cannot_go_on_is_refused(storage: str) -> None:
    table, _ = columns({"a": 0.85, "b": 0.7, "c": 0.6})
    with pytest.raises(InvalidInputError, match="is that of 'first'"):
        onebit.extend_study("first", "second", table, storage=storage, id="name")
    changed = table | {"a": ["L3"] * 120, "d": table["a"]}
    with pytest.raises(InvalidInputError, match="a model that was changed is a new one"):
        onebit.extend_study("first", "second", changed, storage=storage, id="name")
    refused: list[tuple[dict[str, Any], str]] = [
        ({"population": "stream"}, "is about a stream"),
        ({"f_no": 0.1, "protocol": "one-shot"}, "raters who err"),
        ({"protocol": "follow-up"}, "one-shot or by panel"),
        ({"protocol": "one-shot", "top": 2}, "the best K"),
        ({"protocol": "one-shot", "tiers": True}, "for tiers"),
        ({"protocol": "one-shot", "eps": None, "budget": 50}, "spends a budget"),
    ]
    for number, (options, why) in enumerate(refused):
        onebit.create_study(table, f"other {number}", storage=storage, id="name", **options).close()
        with pytest.raises(InvalidInputError, match=why):
            onebit.extend_study(f"other {number}", "third", table | {"d": table["a"]}, storage=storage, id="name")
