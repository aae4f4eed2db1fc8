"""Policy Elimination: low variance for every survivor, and the best survives."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.problems import models_of_accuracy

from onebit.errors import InvalidInputError
from onebit.hypotheses.finite import PredictionTable
from onebit.learners.base import run
from onebit.learners.items import Pool
from onebit.learners.rivals.policy_elimination import PolicyEliminationLearner
from onebit.raters import SimulatedRater

K, N, N_ITEMS = 4, 20, 200
TABLE, TRUTH = models_of_accuracy(np.random.default_rng(0), np.linspace(0.1, 0.9, N), N_ITEMS, K)
CLASS, POOL, RATER = PredictionTable(TABLE, K), Pool(np.arange(N_ITEMS)), SimulatedRater(TRUTH)
BEST = int(np.argmax((TABLE == TRUTH).mean(axis=1)))


@pytest.mark.parametrize("radius", [1.0, 0.1])
def test_the_law_has_low_variance_for_every_survivor(radius: float) -> None:
    learner = PolicyEliminationLearner(CLASS, POOL, 5000, radius=radius)
    run(learner, RATER)
    # The last law was found at round 4096, for those who survived then: a superset of those who do now.
    law = learner.law.table(CLASS, np.arange(N_ITEMS), N_ITEMS)
    V = (1 / law[np.arange(N_ITEMS), TABLE[learner.survivors]]).mean(axis=1)
    assert (V <= 2 * K + 1e-6).all()
    assert learner.law.gamma == pytest.approx(K * learner.mu(4096))


def test_the_best_survives_and_a_small_radius_drops_others() -> None:
    accuracy = (TABLE == TRUTH).mean(axis=1)
    for seed in range(5):
        learner = PolicyEliminationLearner(CLASS, POOL, 2000, seed=seed)
        assert accuracy[run(learner, RATER).chosen] > 0.75
        assert BEST in learner.survivors
    sharp = PolicyEliminationLearner(CLASS, POOL, 2000, radius=0.1)
    assert accuracy[run(sharp, RATER).chosen] > 0.75
    assert BEST in sharp.survivors
    assert 1 <= sharp.survivors.size < N / 2
    assert sharp.result.promise.startswith("none")


def test_who_is_dropped_by_hand() -> None:
    """A model that is never right against one that always is: dropped as soon as 2 b_t is below 1, at a doubling."""
    table = PredictionTable([[0] * 4, [1] * 4], n_labels=2)
    learner = PolicyEliminationLearner(table, Pool(np.arange(4)), 4096)
    rater = SimulatedRater([0] * 4)
    dropped_at = None
    while isinstance(questions := learner.ask(4096), tuple):
        if dropped_at is None and learner.survivors.size == 1:
            dropped_at = questions[0].id
        for question in questions:
            learner.tell(question.id, rater(question))
    assert dropped_at is not None

    def b(t: int) -> float:
        return 2 * math.sqrt(2 * 2 * math.log(4 * 2 * t**2 / 0.05) / t)

    assert 2 * b(dropped_at) < 1.2
    assert 2 * b(dropped_at // 2) > 0.9


def test_radius_must_be_positive() -> None:
    with pytest.raises(InvalidInputError, match="radius is 0"):
        PolicyEliminationLearner(CLASS, POOL, 10, radius=0)
