"""A judge: what the guess hears of it, that it is learned from, and that a run with one replays."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.problems import models_of_accuracy
from tests.unit.learners.certified.certified_kinds import (
    CLASS,
    FOLLOW_UP_POOL,
    N_ITEMS,
    ONE_SHOT_POOL,
    TABLE,
    TRUTH,
    Kind,
    everything,
    one_shot,
    run_telling,
)

from onebit.errors import InvalidInputError
from onebit.hypotheses.finite import ModelList, PredictionTable
from onebit.learners.certified import CertifiedLearner
from onebit.learners.certified.constants import PRIOR_COEFFICIENTS
from onebit.learners.certified.judges import Judge, log_odds
from onebit.learners.contract import run
from onebit.learners.items import Pool, Stream
from onebit.raters import SimulatedRater
from onebit.records import AskingProtocol

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
#: A judge that errs about one output in ten, and does not score the last model.
JUDGE = np.where(np.random.default_rng(6).random(TABLE.shape) < 0.9, TABLE == TRUTH, TABLE != TRUTH).astype(np.float32)
JUDGE[-1] = np.nan


def odds(score: float) -> float:
    return math.log((score + 0.05) / (1 - score + 0.05))


def test_those_who_say_the_same_share_the_mean_of_the_scores_that_are_there() -> None:
    said = np.array([[0, 1], [0, 2], [1, 2], [0, -1]])
    scores = np.array([[1.0, np.nan], [0.5, 0.25], [0.0, np.nan], [np.nan, 1.0]])
    found = log_odds(said, scores)
    assert found[:, 0] == pytest.approx([odds(0.75), odds(0.75), odds(0.0), odds(0.75)])
    # Nobody scored label 1, which says as much as a half; label 2 has one score for two models.
    assert found[:3, 1] == pytest.approx([0.0, odds(0.25), odds(0.25)])


def test_scores_are_found_by_the_examples_of_a_stream() -> None:
    """The third example drawn is column 1 of the table."""
    stream = Stream([2, 0, 1])
    stream.draw(np.zeros(3))
    scores = np.arange(TABLE.size).reshape(TABLE.shape) / TABLE.size
    found = Judge(CLASS, stream, scores).log_odds(np.array([2]))
    assert found[:, 0] == pytest.approx(log_odds(TABLE[:, [1]], scores[:, [1]])[:, 0])


@one_shot
def test_its_coefficient_begins_at_nothing_and_is_learned(kind: Kind) -> None:
    learner = kind.learner(judge=JUDGE, eps=0.05)
    run_telling(kind, learner)
    assert learner.epochs[0].guess == (*PRIOR_COEFFICIENTS, 0.0)
    assert all(len(epoch.guess) == 5 for epoch in learner.epochs)
    assert learner.epochs[-1].guess[-1] > 0.2


@one_shot
def test_a_judge_that_is_always_wrong_is_believed_the_other_way_round(kind: Kind) -> None:
    learner = kind.learner(judge=1 - JUDGE, eps=0.05)
    run_telling(kind, learner)
    assert learner.epochs[-1].guess[-1] < -0.2


@pytest.mark.parametrize("kind", [ONE_SHOT_POOL, FOLLOW_UP_POOL], ids=["one-shot", "follow-up"])
def test_a_judge_that_says_nothing_changes_nothing(kind: Kind) -> None:
    silent, without = kind.learner(judge=np.full(TABLE.shape, np.nan)), kind.learner()
    assert run_telling(kind, silent) == run_telling(kind, without)
    assert silent.closings == without.closings


@pytest.mark.parametrize("kind", [ONE_SHOT_POOL, FOLLOW_UP_POOL], ids=["one-shot", "follow-up"])
def test_a_run_with_a_judge_replays(kind: Kind) -> None:
    live = kind.learner(judge=JUDGE)
    told = run_telling(kind, live, at_a_time=7)
    again = kind.learner(judge=JUDGE)
    for record in live.epochs:
        again.adopt(record)
    answers = {(question.epoch, question.item, question.label): answer for question, answer in told}
    while isinstance(questions := again.ask(7), tuple):
        for question in questions:
            again.tell(question.id, answers[question.epoch, question.item, question.label])
    assert everything(again) == everything(live)


def test_a_log_is_replayed_with_its_judge_alone() -> None:
    live = ONE_SHOT_POOL.learner(judge=JUDGE)
    live.ask()
    without = ONE_SHOT_POOL.learner()
    without.adopt(live.epochs[0])
    with pytest.raises(InvalidInputError, match="5 coefficients, and there are 4 features"):
        without.ask()


def hard_table() -> tuple[Ints, Ints]:
    """Eight models on items that votes say little about, and the truth."""
    return models_of_accuracy(np.random.default_rng(8), np.linspace(0.3, 0.45, 8), 800, 5)


def judges() -> dict[str, Floats | None]:
    table, truth = hard_table()
    rng, items = np.random.default_rng(9), np.arange(800)
    errs = rng.random((5, 800))[table, items] > 0.92
    return {
        "none": None,
        "good": np.where(errs, table != truth, table == truth).astype(np.float64),
        "random": rng.random((5, 800))[table, items],
        "inverted": np.where(errs, table == truth, table != truth).astype(np.float64),
        "partial": (table == table[3]).astype(np.float64),
    }


@pytest.mark.parametrize("protocol", ["one-shot", "follow-up"])
def test_a_good_judge_saves_answers_and_a_bad_one_costs_few(protocol: AskingProtocol) -> None:
    """Means of four runs; one that is always wrong is as good as one that is always right."""
    answers = {
        name: np.mean([_answers(protocol, judge, seed) for seed in range(4)]) for name, judge in judges().items()
    }
    assert answers["good"] < 0.85 * answers["none"]
    assert answers["inverted"] < 0.9 * answers["none"]
    assert answers["random"] < 1.15 * answers["none"]
    assert answers["partial"] < 1.15 * answers["none"]


def _answers(protocol: AskingProtocol, judge: Floats | None, seed: int) -> int:
    table, truth = hard_table()
    hypotheses, pool = PredictionTable(table, 5), Pool(np.arange(truth.size))
    learner = CertifiedLearner(hypotheses, pool, eps=0.04, protocol=protocol, seed=seed, judge=judge)
    return run(learner, SimulatedRater(truth)).n_answers


def test_what_is_no_judge_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="shape"):
        ONE_SHOT_POOL.learner(judge=JUDGE[:, :-1])
    with pytest.raises(InvalidInputError, match="floating point"):
        ONE_SHOT_POOL.learner(judge=np.zeros(TABLE.shape, dtype=np.int64))
    with pytest.raises(InvalidInputError, match="from 0 to 1"):
        ONE_SHOT_POOL.learner(judge=np.full(TABLE.shape, 1.5))
    models = ModelList([lambda x: x % 2, lambda x: 0 * x], n_labels=2)
    with pytest.raises(InvalidInputError, match="table of predictions"):
        CertifiedLearner(models, Pool(np.arange(N_ITEMS)), eps=0.1, judge=np.zeros((2, N_ITEMS)))
