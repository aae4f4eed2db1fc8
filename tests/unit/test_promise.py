"""What a certificate promises and assumes: one text, whoever tells it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from onebit import CertifiedLearner, Pool, PredictionTable, Stream, promise
from onebit.records import Setting
from onebit.report.making import Candidates, make_report

PREDICTIONS = np.array([[0, 1, 1, 0], [0, 1, 0, 0], [1, 1, 1, 1]])
WAYS: list[dict[str, Any]] = [
    {"protocol": "one-shot"},
    {"protocol": "one-shot", "f_no": 0.1, "f_yes": 0.02},
    {"protocol": "follow-up"},
    {"protocol": "follow-up", "exhaustive": True},
    {"protocol": "labels"},
]


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_a_result_and_a_report_promise_the_same(way: dict[str, Any]) -> None:
    table = PredictionTable(PREDICTIONS, 2)
    learner = CertifiedLearner(table, Pool(np.arange(4)), eps=0.1, seed=3, **way)
    setting, candidates = Setting(eps=0.1, **way), Candidates("t", "d", ("a", "b", "c"), PREDICTIONS, 2)
    report = make_report(candidates, setting, "certified", learner.result, (), 0.0)
    assert report.promise == learner.result.promise == promise.in_full(setting, 4)


def test_the_text_has_every_sentence_of_what_is_promised_and_assumed() -> None:
    for way in WAYS:
        setting = Setting(eps=0.1, **way)
        told = promise.in_full(setting, 4)
        assert all(sentence in told for sentence in promise.promised(setting, 4) + promise.assumed(setting))


def test_a_stream_promises_about_its_population() -> None:
    told = CertifiedLearner(PredictionTable(PREDICTIONS, 2), Stream(range(4)), eps=0.1, seed=3).result.promise
    assert "the population that the items of this table were drawn from" in told
    assert "independent draws" in told


@pytest.mark.parametrize(
    ("way", "simulated", "about_accuracy"),
    [*zip(WAYS, [False] * 5, [False, True, False, True, True], strict=True), (WAYS[0], True, True)],
)
def test_what_is_promised_is_about_what_raters_accept_unless_they_say_what_is_right(
    way: dict[str, Any], simulated: bool, about_accuracy: bool
) -> None:
    setting = Setting(eps=0.1, **way)
    assert promise.is_about_accuracy(setting, simulated) == about_accuracy
    told = promise.in_full(setting, 4, simulated)
    assert ("right most often" in told) == about_accuracy
    assert ("accepted most often" in told) != about_accuracy


def test_where_checks_contradict_nothing_is_promised() -> None:
    told = promise.suspended(Setting(eps=0.1, protocol="follow-up", exhaustive=True))
    assert told.startswith("none: raters accepted two labels of one item or denied all labels of one too often")
    assert told.endswith(promise.ADVICE)
