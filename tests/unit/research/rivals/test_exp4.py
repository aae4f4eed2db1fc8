"""EXP4: its update by hand, its regret bound, its conversion to one hypothesis."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.problems import models_of_accuracy

from onebit.errors import InvalidInputError
from onebit.hypotheses.finite import PredictionTable
from onebit.hypotheses.intervals import IntervalClass
from onebit.learners.contract import run
from onebit.learners.items import Pool
from onebit.learners.paper.rates import exp4_draw_rounds
from onebit.raters import SimulatedRater
from onebit.records import Answer, Question
from onebit.research.rivals.exp4 import Exp4Learner, exp4_excess, exp4_gamma, exp4_rates_for_a_draw

K, N = 5, 10
TABLE, TRUTH = models_of_accuracy(np.random.default_rng(0), np.linspace(0.1, 0.9, N), 300, K)
CLASS, POOL, RATER = PredictionTable(TABLE, K), Pool(np.arange(300)), SimulatedRater(TRUTH)


def test_weights_and_propensities_are_the_publications() -> None:
    gamma, n_rounds = 0.3, 50
    learner = Exp4Learner(CLASS, POOL, n_rounds, gamma=gamma, seed=1)
    weight, total = np.ones(N), np.zeros(N)
    seen: list[Question] = []

    def rater(question: Question) -> Answer:
        nonlocal weight, total
        said = TABLE[:, question.item]
        p = (1 - gamma) * weight @ (said == question.label) / weight.sum() + gamma / K
        assert question.propensity == pytest.approx(p)
        yes = question.label == TRUTH[question.item]
        total += weight / weight.sum()
        weight = weight * np.exp(gamma / K * (said == question.label) * yes / p)
        seen.append(question)
        return Answer.YES if yes else Answer.NO

    run(learner, rater)
    assert len(seen) == n_rounds
    assert learner.average == pytest.approx(total / n_rounds)


def test_regret_is_within_the_theorem_and_that_says_something() -> None:
    """2 sqrt((e - 1) K ln(N) / T) bounds the mean regret; the yeses of one run have a variance of at most T / 4."""
    n_rounds, n_runs = 1500, 3
    bound = 2 * math.sqrt((math.e - 1) * n_rounds * K * math.log(N))
    best = (TABLE == TRUTH).mean(axis=1).max() * n_rounds
    regret = [best - run(Exp4Learner(CLASS, POOL, n_rounds, seed=s), RATER).n_yes for s in range(n_runs)]
    assert np.mean(regret) < bound + 4 * math.sqrt(n_rounds / 4 / n_runs)
    # Guessing uniformly all the time breaks the bound by more than four standard errors.
    uniform = run(Exp4Learner(CLASS, POOL, n_rounds, gamma=1.0, seed=0), RATER)
    assert best - uniform.n_yes > bound + 4 * math.sqrt(n_rounds / 4)


@pytest.mark.parametrize("n_labels", [2, 20])
def test_the_draw_is_within_its_bound_and_near_it(n_labels: int) -> None:
    """In expectation, between ln(N) / (rate T), if the weights end on the best, and the bound.

    The former since ln E[e^z] >= E[z] in the proof. Four standard errors of six runs are allowed; even weights lose far
    more.
    """
    table, truth = models_of_accuracy(np.random.default_rng(3), np.array([0.8] + [0.3] * 49), 500, n_labels)
    lost = (table[0] == truth).mean() - (table == truth).mean(axis=1)
    n_rounds, n_runs, excess = 4096, 6, []
    gamma = exp4_gamma(n_labels, 50, n_rounds)
    bound = exp4_excess(n_labels, 50, n_rounds, gamma, gamma / n_labels)
    assert bound is not None
    for seed in range(n_runs):
        learner = Exp4Learner(PredictionTable(table, n_labels), Pool(np.arange(500)), n_rounds, block=8, seed=seed)
        run(learner, SimulatedRater(truth))
        assert learner.law.mixture is not None
        assert learner.law.mixture.probabilities.max() > 0.99
        excess.append(float(learner.average @ lost))
    spread = 4 * np.std(excess, ddof=1) / math.sqrt(n_runs)
    assert math.log(50) / (gamma / n_labels * n_rounds) * 0.99 - spread < np.mean(excess) < bound + spread
    assert lost.mean() > 1.5 * bound


def test_the_bound_ends_at_the_rate_gamma_over_K() -> None:
    """Beyond it one round could add more than 1 to an exponent, and the proof ends."""
    assert exp4_excess(5, 10, 1000, 0.5, 0.1) is not None
    assert exp4_excess(5, 10, 1000, 0.5, 0.1001) is None


def test_rates_for_a_draw_reach_eps_after_the_rounds_of_the_bound() -> None:
    for n_labels, eps in ((5, 0.05), (500, 0.05), (5, 0.01)):
        n_rounds = exp4_draw_rounds(n_labels, 1000, eps)
        gamma, rate = exp4_rates_for_a_draw(n_labels, 1000, n_rounds)
        excess = exp4_excess(n_labels, 1000, n_rounds, gamma, rate)
        assert excess is not None
        assert excess <= eps * (1 + 1e-9)
    assert exp4_excess(5, 100, 1000, 0.1, 0.1) is None
    assert exp4_excess(5, 1, 1000, 0.0, 0.0) == 0


def test_weights_beyond_the_largest_float() -> None:
    """Two of three models are always right; their weights, exp(1000) and more after one yes, stay even."""
    table = PredictionTable([[0, 1], [0, 1], [1, 0]], n_labels=2)
    learner = Exp4Learner(table, Pool(np.arange(2)), 20, gamma=0.5, rate=1000.0, seed=0)
    assert run(learner, SimulatedRater([0, 1])).n_yes > 0
    assert learner._weight.tolist() == [0.5, 0.5, 0.0]


def test_gamma_by_hand() -> None:
    assert exp4_gamma(5, 10, 1000) == pytest.approx(math.sqrt(5 * math.log(10) / (1.718281828 * 1000)))
    assert exp4_gamma(1000, 10, 10) == 1


def test_a_draw_follows_the_average_and_only_it_is_promised() -> None:
    drawn = [Exp4Learner(CLASS, POOL, 2, seed=s) for s in range(300)]
    chosen = [run(learner, RATER).chosen for learner in drawn]
    # After two rounds the weights are nearly even, so nearly every hypothesis is drawn at some time.
    assert len(set(chosen)) > N - 3
    assert "in expectation" in drawn[0].result.promise
    heaviest = Exp4Learner(CLASS, POOL, 400, conversion="heaviest", seed=0)
    assert run(heaviest, RATER).chosen == int(np.argmax(heaviest.average))
    assert heaviest.result.promise.startswith("none")


def test_refusals() -> None:
    with pytest.raises(InvalidInputError, match="not a finite list"):
        Exp4Learner(IntervalClass(1, 2), Pool(np.linspace(0, 1, 9)), 10)
    with pytest.raises(InvalidInputError, match="gamma is 2"):
        Exp4Learner(CLASS, POOL, 10, gamma=2)
    with pytest.raises(InvalidInputError, match="conversion is 'vote'"):
        Exp4Learner(CLASS, POOL, 10, conversion="vote")  # type: ignore[arg-type]
