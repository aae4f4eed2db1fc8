"""The simulation by counts has the law of the learners themselves, and finds the rounds that are needed."""

from __future__ import annotations

import numpy as np
import pytest

from onebit.hypotheses.finite import PredictionTable
from onebit.learners.contract import run
from onebit.learners.items import Pool
from onebit.learners.paper.algorithm1 import PaperLearner
from onebit.learners.paper.full_information import FullInformationLearner
from onebit.learners.paper.schedule import Plan
from onebit.learners.paper.uniform import UniformLearner
from onebit.raters import SimulatedRater
from onebit.research.experiments.families import Problem, gap_family, random_errors, real_table, specialists
from onebit.research.experiments.simulation import (
    Needed,
    full_labels,
    paper,
    quantile_needed,
    ratio_with_error,
    rounds_needed,
    spider_steps,
    uniform_guesses,
)

K, N_ROUNDS, N_RUNS = 4, 150, 300


@pytest.fixture(scope="module")
def problem() -> Problem:
    return random_errors(K, np.array([0.7, 0.6, 0.5, 0.4]), 60, seed=1)


@pytest.mark.parametrize("name", ["full labels", "uniform", "paper", "paper, SPIDER"])
def test_the_mean_excess_is_the_learners(problem: Problem, name: str) -> None:
    hypotheses, pool = PredictionTable(problem.predictions, K), Pool(np.arange(60))
    rng = np.random.default_rng(0)
    lost = problem.accuracy.max() - problem.accuracy
    if name == "paper":
        simulated = paper(problem, rng, n_confirmed=20)
        learners = [PaperLearner(hypotheses, pool, Plan(20, N_ROUNDS), seed=seed) for seed in range(N_RUNS)]
    elif name == "paper, SPIDER":
        simulated = paper(problem, rng, n_confirmed=20, name=name)
        plan = Plan(20, N_ROUNDS, n_steps=spider_steps(20, K))
        learners = [PaperLearner(hypotheses, pool, plan, solver="spider", seed=seed) for seed in range(N_RUNS)]
    elif name == "uniform":
        simulated = uniform_guesses(problem)
        learners = [UniformLearner(hypotheses, pool, N_ROUNDS, seed=seed) for seed in range(N_RUNS)]  # type: ignore[misc]
    else:
        simulated = full_labels(problem)
        learners = [FullInformationLearner(hypotheses, pool, N_ROUNDS, seed=seed) for seed in range(N_RUNS)]  # type: ignore[misc]
    theirs = np.array([lost[run(learner, SimulatedRater(problem.truth)).chosen] for learner in learners])
    ours = simulated.excess(N_ROUNDS, 4000, rng)
    # Four standard errors of the learners' mean: a false alarm once in 5,000 for each of the three.
    assert abs(theirs.mean() - ours.mean()) < 4 * theirs.std() / np.sqrt(N_RUNS) + 1e-3
    assert theirs.std() > 0


def test_spider_takes_as_many_steps_as_the_samples_last_for() -> None:
    """b_t = 1, 2, 1, 4, 5, 6, 1, 8, ...: at K = 10 the resets at 1, 3, 7, 15 ask for one sample each."""
    assert spider_steps(20, 10) == 7
    assert spider_steps(19, 10) == 6
    assert spider_steps(1, 10) == 1


def test_rounds_needed_solves_for_delta() -> None:
    assert rounds_needed(lambda n: min(1, 100 / n), 0.05, 200).rounds == pytest.approx(2000, rel=0.05)
    assert rounds_needed(lambda n: 0.0, 0.05, 200).rounds == 16
    assert rounds_needed(lambda n: 1.0, 0.05, 200, most=1000).rounds is None
    assert rounds_needed(lambda n: 1.0, 0.05, 200, most=1000).row() == {"rounds": None, "error": None}


def test_the_standard_error_of_rounds_is_that_of_many_repetitions() -> None:
    """The share that fails is 100 / n, seen in 400 runs: the error must be what repeating it all shows, up to a third.

    The spread of 60 repetitions has a relative standard error of 1 / sqrt(120) = .09; a third is more than three of it.
    """
    rng = np.random.default_rng(0)
    found = [rounds_needed(lambda n: rng.binomial(400, min(1, 100 / n)) / 400, 0.05, 400) for _ in range(60)]
    spread = float(np.std(np.log([each.rounds for each in found if each.rounds is not None])))
    assert np.mean([each.error for each in found]) == pytest.approx(spread, rel=1 / 3)
    assert Needed(200.0, 0.1).row(before=1000.0) == {"rounds": 1200.0, "error": pytest.approx(20.0)}


def test_a_quantile_and_its_error() -> None:
    """For n exponential times the .75 quantile has the relative error sqrt(.75 .25 / n) / (.25 ln 4); a quarter off."""
    times = np.random.default_rng(0).geometric(1e-4, 2000)
    needed = quantile_needed(times, 0.75)
    assert needed.rounds == pytest.approx(1e4 * np.log(4), rel=0.15)
    assert needed.error == pytest.approx(np.sqrt(0.75 * 0.25 / 2000) / (0.25 * np.log(4)), rel=0.25)
    assert ratio_with_error((6.0, 0.3), (2.0, 0.2)) == pytest.approx((3.0, 3 * np.hypot(0.05, 0.1)))


def test_families_are_what_they_say() -> None:
    gap = gap_family(10, 6, eps=0.05, n_items=500)
    assert gap.accuracy == pytest.approx([0.6, *[0.5] * 5])
    parts = specialists(5, 20, 2000)
    own = np.arange(2000) % 10 == 3
    assert parts.right[3, own].mean() > 0.5
    assert parts.right[3, ~own].mean() < 0.25


def test_a_table_that_is_missing_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ONEBIT_DATA", raising=False)
    assert real_table("letter_models") is None
