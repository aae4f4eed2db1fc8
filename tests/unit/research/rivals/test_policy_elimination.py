"""Policy Elimination: low variance for every survivor, and the best survives."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.problems import models_of_accuracy

from onebit.errors import InvalidInputError
from onebit.hypotheses.finite import PredictionTable
from onebit.learners.contract import run
from onebit.learners.items import Pool, Stream
from onebit.raters import SimulatedRater
from onebit.research.rivals.policy_elimination import PolicyEliminationLearner

K, N, N_ITEMS = 4, 20, 200
TABLE, TRUTH = models_of_accuracy(np.random.default_rng(0), np.linspace(0.1, 0.9, N), N_ITEMS, K)
CLASS, POOL, RATER = PredictionTable(TABLE, K), Pool(np.arange(N_ITEMS)), SimulatedRater(TRUTH)


@pytest.mark.parametrize("radius", [1.0, 0.1])
def test_the_law_has_low_variance_for_every_survivor(radius: float) -> None:
    learner = PolicyEliminationLearner(CLASS, POOL, 5000, radius=radius)
    run(learner, RATER)
    # The last law was found at round 4096, for those who survived then: a superset of those who do now.
    law = learner.law.table(CLASS, np.arange(N_ITEMS), N_ITEMS)
    V = (1 / law[np.arange(N_ITEMS), TABLE[learner.survivors]]).mean(axis=1)
    assert (V <= 2 * K + 1e-6).all()
    assert learner.law.gamma == pytest.approx(K * learner.mu(4096))


def test_no_survivors_estimate_varies_by_more_than_2_K() -> None:
    """The mean square error of every estimate after t rounds is at most 2 K / t.

    It is the mean of 60 squares. A square has a standard deviation of at most about sqrt(2) times its mean (as for a
    normal variable), so four standard errors are 4 sqrt(2 / 60) = .73 of the bound.
    """
    n_rounds, n_runs = 512, 60
    estimates = []
    for seed in range(n_runs):
        learner = PolicyEliminationLearner(CLASS, POOL, n_rounds, seed=seed)
        run(learner, RATER, at_a_time=n_rounds)
        assert learner.survivors.size == N
        estimates.append(learner._total / n_rounds)
    error = np.mean((np.array(estimates) - (TABLE == TRUTH).mean(axis=1)) ** 2, axis=0)
    assert (error <= 2 * K / n_rounds * (1 + 4 * math.sqrt(2 / n_runs))).all()
    assert error.min() > 0


def test_the_theorem_where_it_says_something() -> None:
    """After 2^15 rounds with K = 2, 4 b_T is .46 and 2 b_T is .23.

    So with probability .95 a run keeps the best, has dropped who is behind by more than .46, and returns one that is
    within .23. Of 20 runs at most 4 may fail: more would happen once in 400 times if each failed with probability .05.
    """
    table, truth = models_of_accuracy(np.random.default_rng(0), np.linspace(0.1, 0.9, 9), 200, 2)
    behind = (table == truth).mean(axis=1).max() - (table == truth).mean(axis=1)
    n_rounds, failed = 2**15, 0
    for seed in range(20):
        learner = PolicyEliminationLearner(PredictionTable(table, 2), Pool(np.arange(200)), n_rounds, seed=seed)
        chosen = run(learner, SimulatedRater(truth), at_a_time=n_rounds).chosen
        left = behind[learner.survivors]
        failed += left.min() > 0 or left.max() > 4 * learner.b(n_rounds) or behind[chosen] > 2 * learner.b(n_rounds)
    assert 4 * learner.b(n_rounds) < behind.max()
    assert failed <= 4
    assert "within 2 b_t" in learner.result.promise


def test_a_small_radius_drops_more_and_promises_nothing() -> None:
    sharp = PolicyEliminationLearner(CLASS, POOL, 2048, radius=0.1)
    run(sharp, RATER)
    published = PolicyEliminationLearner(CLASS, POOL, 2048)
    run(published, RATER)
    assert published.survivors.size == N
    assert sharp.survivors.size < N
    assert sharp.result.promise.startswith("none")
    stream = PolicyEliminationLearner(CLASS, Stream(np.arange(100)), 100)
    assert run(stream, RATER).promise.startswith("none")


def test_who_is_dropped_by_hand() -> None:
    """A model that is never right, of estimate 0, against one that always is, of an estimate within b_t of 1.

    It is dropped at the first doubling at which the latter is above 2 b_t: not while b_t > 1, and for certain once
    3 b_t < 1.
    """
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
    assert learner.b(dropped_at) <= 1
    assert 3 * learner.b(dropped_at // 2) >= 1


def test_delta_t_mu_t_and_b_t_by_hand() -> None:
    """delta_t = delta / (4 N t^2): with both sides, all policies and all t it adds up to less than delta."""
    learner = PolicyEliminationLearner(CLASS, POOL, 10, delta=0.02)
    for t in (1, 10, 1000, 10**6):
        delta_t = 0.02 / (4 * N * t**2)
        assert learner.log_term(t) == pytest.approx(math.log(1 / delta_t))
        assert learner.mu(t) == pytest.approx(min(1 / (2 * K), math.sqrt(math.log(1 / delta_t) / (2 * K * t))))
        assert learner.b(t) == pytest.approx(2 * math.sqrt(2 * K * math.log(1 / delta_t) / t))
    assert learner.mu(1) == 1 / (2 * K) > learner.mu(1000)
    spent = sum(2 * N * math.exp(-learner.log_term(t)) for t in range(1, 10_000))
    assert 0.8 * 0.02 < spent < 0.02


def test_b_t_is_what_freedman_gives() -> None:
    """(e - 2) 2 K mu_t + log(1 / delta_t) / (t mu_t) is at most b_t wherever mu_t is not cut off."""
    learner = PolicyEliminationLearner(CLASS, POOL, 10)
    for t in (1000, 10**4, 10**6):
        assert learner.mu(t) < 1 / (2 * K)
        off = (math.e - 2) * 2 * K * learner.mu(t) + learner.log_term(t) / (t * learner.mu(t))
        assert 0.8 * learner.b(t) < off <= learner.b(t)


def test_radius_must_be_positive() -> None:
    with pytest.raises(InvalidInputError, match="radius is 0"):
        PolicyEliminationLearner(CLASS, POOL, 10, radius=0)
