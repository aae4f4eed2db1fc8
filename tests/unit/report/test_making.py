"""From a learner's result to its report."""

from __future__ import annotations

import numpy as np
import pytest

from onebit.learners.certified.statement import CertifiedResult
from onebit.learners.contract import BoundedResult
from onebit.records import Closing, RunStatus, Setting
from onebit.report.making import Candidates, make_report

#: The second model predicts as the first does.
PREDICTIONS = np.array([[0, 1, 1, 0], [0, 1, 1, 0], [0, 0, 0, 0], [1, 1, 1, 1]])
NAMES = ("a", "a again", "b", "c")
CLOSINGS = (Closing(0, 4, 3, 0, (0, 2, 3), 0.7), Closing(1, 9, 6, 0, (0, 2), 0.2))


def result(status: RunStatus = RunStatus.RUNNING, eps: float | None = 0.2) -> CertifiedResult:
    return CertifiedResult(
        status=status,
        chosen=0,
        names=(0, 1),
        survivors=(0, 2),
        ahead_at_most=(0.0, 0.2),
        achieved_eps=eps,
        n_answers=6,
        n_rounds=9,
        n_free_rounds=3,
        n_cant_tell=1,
        promise="up to achieved_eps",
        eps=0.1,
        delta=0.05,
        n_checks=0,
        n_contradicted=0,
    )


def test_models_that_predict_the_same_stand_together() -> None:
    candidates = Candidates("t", "d", NAMES, PREDICTIONS, 2)
    assert candidates.groups == ((0, 1), (2,), (3,))
    assert candidates.n_left((0, 2)) == 3
    board = candidates.leaderboard(result())
    assert [(entry.names, entry.ahead_at_most, entry.accuracy) for entry in board] == [
        (("a", "a again"), 0.0, None),
        (("b",), 0.2, None),
        (("c",), None, None),
    ]


def test_what_is_known_is_reported() -> None:
    accuracy = np.array([0.5, 0.5, 0.75, 0.25])
    candidates = Candidates("t", "d", NAMES, PREDICTIONS, 2, accuracy)
    report = make_report(candidates, Setting(0.1), "certified", result(), CLOSINGS, seconds=2.00049)
    assert (report.status, report.reason, report.chosen) == ("budget", None, ("a", "a again"))
    assert (report.n_models, report.n_items, report.n_labels, report.survivors) == (4, 4, 2, 3)
    assert [(point.answers, point.survivors, point.certified_eps) for point in report.course] == [
        (3, 4, 0.7),
        (6, 3, 0.2),
    ]
    assert report.excess == pytest.approx(0.25)
    assert [entry.accuracy for entry in report.leaderboard] == [0.5, 0.75, 0.25]
    assert "no model more often than the chosen one by more than the certified eps" in report.promise
    assert report.seconds == 2.0


@pytest.mark.parametrize(
    ("status", "eps", "budget", "told"),
    [
        (RunStatus.COMPLETE, 0.1, None, ("certified", None)),
        (RunStatus.COMPLETE, 0.2, None, ("budget", "all questions of its plan were asked")),
        (RunStatus.BUDGET, 0.1, 50, ("budget", "the budget of 50 answers was used")),
        (
            RunStatus.EXHAUSTED,
            None,
            None,
            ("budget", "everything was asked, and 4 items cannot show more through errors as frequent as allowed for"),
        ),
    ],
)
def test_how_it_ended(status: RunStatus, eps: float | None, budget: int | None, told: tuple[str, str | None]) -> None:
    candidates = Candidates("t", "d", NAMES, PREDICTIONS, 2)
    report = make_report(candidates, Setting(0.1, budget=budget), "certified", result(status, eps), (), 0.0)
    assert (report.status, report.reason) == told


def test_a_stream_ends_when_its_examples_do() -> None:
    setting = Setting(0.1, population="stream")
    ended = result(RunStatus.EXHAUSTED, None)
    report = make_report(Candidates("t", "d", NAMES, PREDICTIONS, 2), setting, "certified", ended, (), 0.0)
    assert report.reason == "the examples ran out: each of the 4 items counts once in a stream"


def test_on_a_stream_models_that_are_equal_on_the_table_are_not_taken_for_equal() -> None:
    candidates = Candidates("t", "d", NAMES, PREDICTIONS, 2, population="stream")
    assert candidates.groups == ((0,), (1,), (2,), (3,))
    assert candidates.n_left((0, 2)) == 2
    assert [entry.names for entry in candidates.leaderboard(result())] == [("a",), ("a again",), ("b",), ("c",)]


def test_a_suspended_run_claims_nothing() -> None:
    candidates = Candidates("t", "d", NAMES, PREDICTIONS, 2, np.array([0.5, 0.5, 0.75, 0.25]))
    closings = (Closing(0, 9, 6, 0, (0, 2), 0.2, n_checks=40, n_contradicted=11),)
    setting = Setting(0.1, protocol="follow-up")
    report = make_report(candidates, setting, "certified", result(RunStatus.SUSPENDED), closings, 0.0)
    assert report.status == "suspended"
    assert report.reason is not None
    assert "11 of 40 checks" in report.reason
    assert "start again with one-shot" in report.reason
    assert report.promise.startswith("none: raters accepted two labels of one item too often")
    assert (report.chosen, report.certified_eps, report.survivors, report.excess) == ((), None, None, None)
    assert (report.course, report.leaderboard) == ((), ())


def test_learners_without_survivors_have_no_leaderboard() -> None:
    chosen = BoundedResult(status=RunStatus.COMPLETE, chosen=2, achieved_eps=0.05, n_rounds=9, promise="")
    report = make_report(Candidates("t", "d", NAMES, PREDICTIONS, 2), Setting(0.1), "paper", chosen, (), 0.0)
    assert (report.chosen, report.survivors, report.leaderboard, report.answers) == (("b",), None, (), 9)
