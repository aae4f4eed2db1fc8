"""The regularised leader is the maximiser it says, and the learner finds the best."""

from __future__ import annotations

import numpy as np
import pytest
from tests.problems import models_of_accuracy

from onebit.errors import InvalidInputError
from onebit.hypotheses.finite import PredictionTable
from onebit.learners.contract import run
from onebit.learners.items import Pool
from onebit.raters import SimulatedRater
from onebit.records import Answer, RunStatus
from onebit.research.rivals.sparse_regret import SparseRegretLearner, regularised_leader


@pytest.mark.parametrize("rate", [0.001, 0.1, 5.0])
@pytest.mark.parametrize("barrier", [0.1, 1.0, 100.0])
@pytest.mark.parametrize("start", [0.0, 30.0, -30.0])
def test_first_order_conditions(rate: float, barrier: float, start: float) -> None:
    reward = np.random.default_rng(0).exponential(50, 30)
    p, _ = regularised_leader(reward, rate, barrier, start)
    assert p.sum() == pytest.approx(1)
    assert (p > 0).all()
    # The gradient is the same in every coordinate: no mass can move with profit.
    gradient = reward - (np.log(p) + 1) / rate + 1 / (barrier * p)
    assert np.ptp(gradient) < 1e-5 * np.abs(gradient).max() + 1e-4


def test_equal_rewards_give_the_uniform_distribution() -> None:
    p, _ = regularised_leader(np.full(7, 3.0), 0.5, 2.0)
    assert p == pytest.approx(np.full(7, 1 / 7))


def test_the_barrier_keeps_everyone_in_play() -> None:
    """With the entropy alone the worst weight falls exponentially; the barrier makes it about 1 / (barrier * gap)."""
    reward = np.array([0.0, 2000.0])
    with_barrier, _ = regularised_leader(reward, 0.1, 1.0)
    almost_none, _ = regularised_leader(reward, 0.1, 1e12)
    assert with_barrier[0] == pytest.approx(1 / 2000, rel=0.2)
    assert almost_none[0] < 1e-9


def test_finds_the_best() -> None:
    table, truth = models_of_accuracy(np.random.default_rng(1), np.array([0.2, 0.5, 0.4, 0.9]), 200, 20)
    learner = SparseRegretLearner(
        PredictionTable(table, 20), Pool(np.arange(200)), 1500, rate=0.05, barrier=1.0, block=4
    )
    result = run(learner, SimulatedRater(truth))
    assert result.chosen == 3
    assert result.promise.startswith("none")


def test_the_average_counts_every_round_of_a_block() -> None:
    """What is returned is the heaviest in the average of the laws in force, each as long as it was, not in the last."""
    table, truth = models_of_accuracy(np.random.default_rng(2), np.array([0.3, 0.6, 0.8]), 60, 4)
    pool, rater = Pool(np.arange(60)), SimulatedRater(truth)
    learner = SparseRegretLearner(PredictionTable(table, 4), pool, 50, rate=0.5, barrier=1.0, block=8, seed=1)
    in_force: list[np.ndarray] = []
    while isinstance(questions := learner.ask(8), tuple):
        assert [q.epoch for q in questions] == [len(in_force) // 8] * len(questions)
        in_force += [learner.weight] * len(questions)
        for question in questions:
            learner.tell(question.id, rater(question))
    assert learner.result.status is RunStatus.COMPLETE
    # Seven laws, the first six for eight rounds each and the last for two.
    average = np.mean(in_force, axis=0)
    assert learner._sum_of_weights / 50 == pytest.approx(average)
    assert learner._sum_of_weights.sum() == pytest.approx(50)
    assert learner.leader() == int(np.argmax(average))


def test_the_heaviest_of_the_average_is_not_that_of_the_last_law() -> None:
    """Label 0 is right in the first 36 rounds and label 1 in the last 24: the last law is for 1, the average for 0."""
    table = PredictionTable([[0] * 4, [1] * 4], 2)
    learner = SparseRegretLearner(table, Pool(np.arange(4)), 60, rate=2.0, barrier=1.0, block=4, seed=0)
    run(learner, lambda q: Answer.YES if q.label == (q.id >= 36) else Answer.NO, at_a_time=4)
    assert learner.weight[1] > 0.9
    assert learner.leader() == 0


@pytest.mark.parametrize("bad", [{"rate": 0.0}, {"barrier": -1.0}, {"block": 0}])
def test_refusals(bad: dict[str, float]) -> None:
    options = {"rate": 0.1, "barrier": 1.0, **bad}
    with pytest.raises(InvalidInputError):
        SparseRegretLearner(PredictionTable([[0], [1]], 2), Pool(np.arange(1)), 5, **options)  # type: ignore[arg-type]
