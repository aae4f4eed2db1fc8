"""HedgeLearner: its law, its promise, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
from tests.problems import models_of_accuracy

from onebit.errors import InvalidInputError
from onebit.hypotheses.finite import ModelList, PredictionTable
from onebit.hypotheses.intervals import IntervalClass
from onebit.learners.contract import run
from onebit.learners.items import Pool
from onebit.learners.paper.hedge import HedgeLearner
from onebit.learners.paper.sequel_sizes import HedgePlan, hedge_plan
from onebit.raters import CallableRater, SimulatedRater
from onebit.records import Answer, Question, RunStatus, Status

K = 5
TABLE, TRUTH = models_of_accuracy(np.random.default_rng(3), np.array([0.3, 0.5, 0.7, 0.9]), 50, K)
CLASS = PredictionTable(TABLE, K)


def pool() -> Pool:
    return Pool(np.arange(TRUTH.size))


def test_propensities_are_the_law_of_the_questions() -> None:
    """Exact, from the mixture: gamma / K + (1 - gamma) Q, and all labels of an item add up to one."""
    learner = HedgeLearner(CLASS, pool(), HedgePlan(200, 3000), seed=1)
    seen: list[Question] = []

    def rater(question: Question) -> Answer:
        seen.append(question)
        return Answer.YES if TRUTH[question.item] == question.label else Answer.NO

    result = run(learner, rater)
    assert result.coverage is not None
    mixture = result.coverage.mixture
    assert abs(mixture.probabilities.sum() - 1) < 1e-12
    law = np.zeros((TRUTH.size, K))
    for h, p in zip(mixture.hypotheses, mixture.probabilities, strict=True):
        law[np.arange(TRUTH.size), TABLE[h]] += 0.5 * p
    law += 0.5 / K
    final = [q for q in seen if q.epoch == 1]
    assert [q.propensity for q in final] == pytest.approx([law[q.item, q.label] for q in final])
    assert all(q.propensity == 1 / K for q in seen if q.epoch == 0)
    # Labels are asked as often as their propensities say: a share of 3,000 has a deviation below .01.
    likely = np.mean([q.propensity > 0.5 for q in final])
    assert likely == pytest.approx(np.where(law > 0.5, law, 0).sum(axis=1).mean(), abs=0.05)


def test_a_phase_ends_with_its_last_round() -> None:
    """Asked one at a time, so that a phase which ends a round too early or too late shows it."""
    learner = HedgeLearner(CLASS, pool(), HedgePlan(20, 30), seed=2)
    epochs = []
    while not isinstance(asked := learner.ask(1), Status):
        epochs.append(asked[0].epoch)
        learner.tell(asked[0].id, Answer.YES if TRUTH[asked[0].item] == asked[0].label else Answer.NO)
    assert epochs == [0] * 20 + [1] * 30


def test_abstentions_are_spread_evenly() -> None:
    table = np.where(np.arange(50) % 2 == 0, -1, TABLE)
    learner = HedgeLearner(PredictionTable(table, K), pool(), HedgePlan(100, 400), seed=1)
    seen: list[Question] = []

    def rater(question: Question) -> Answer:
        seen.append(question)
        return Answer.NO

    run(learner, rater)
    assert all(q.propensity == pytest.approx(1 / K) for q in seen if q.epoch == 0 or q.item % 2 == 0)


def test_the_promise_is_the_theorems_with_its_own_plan_only() -> None:
    plan = hedge_plan(K, 4, 0.5, 0.2, sparsity=2)
    learner = HedgeLearner(CLASS, pool(), plan, seed=0)
    assert "Theorem 3 of the sequel: the excess error is at most 0.5 with probability at least 0.8" in (
        learner.result.promise
    )
    assert "more than 2 right labels" in learner.result.promise
    assert "achieved_eps" in HedgeLearner(CLASS, pool(), HedgePlan(10, 20), seed=0).result.promise
    five = PredictionTable(np.vstack([TABLE, TABLE[:1]]), K)
    assert "achieved_eps" in HedgeLearner(five, pool(), plan, seed=0).result.promise


def test_equal_hypotheses_share_nothing_and_the_first_is_chosen() -> None:
    doubled = PredictionTable(np.vstack([TABLE, TABLE]), K)
    assert run(HedgeLearner(doubled, pool(), HedgePlan(200, 2000), seed=4), SimulatedRater(TRUTH)).chosen == 3


def test_a_list_of_models_is_a_table() -> None:
    models = ModelList([lambda x, h=h: TABLE[h][x] for h in range(4)], K)
    plan = HedgePlan(100, 300)
    a = run(HedgeLearner(models, pool(), plan, seed=5), SimulatedRater(TRUTH))
    b = run(HedgeLearner(CLASS, pool(), plan, seed=5), SimulatedRater(TRUTH))
    assert a.intervals is not None
    assert b.intervals is not None
    assert a.chosen == b.chosen
    assert a.intervals.estimate.tolist() == b.intervals.estimate.tolist()


def test_nobody_says_yes() -> None:
    result = run(HedgeLearner(CLASS, pool(), HedgePlan(50, 50), seed=6), CallableRater(lambda item, label: False))
    assert result.status is RunStatus.COMPLETE
    assert result.coverage is not None
    assert result.coverage.n_confirmed == 0


def test_infinite_classes_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="does not list them"):
        HedgeLearner(IntervalClass(1, 2), Pool(np.linspace(0, 1, 9)), HedgePlan(10, 10))  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", [{"n_hedge": 0}, {"n_final": 1}, {"gamma": 0.7}, {"delta": 0}, {"sparsity": 0}])
def test_bad_plans_are_refused(bad: dict[str, float]) -> None:
    with pytest.raises(InvalidInputError):
        HedgePlan(**{"n_hedge": 10, "n_final": 10, **bad})  # type: ignore[arg-type]
