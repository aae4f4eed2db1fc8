"""Explore first: as long as was said, by the oracle alone, and then the one it found."""

from __future__ import annotations

import numpy as np
import pytest
from tests.problems import models_of_accuracy

from onebit.errors import InvalidInputError
from onebit.hypotheses.finite import PredictionTable
from onebit.hypotheses.stumps import StumpClass
from onebit.learners.contract import run
from onebit.learners.items import Pool
from onebit.learners.paper.uniform import UniformLearner
from onebit.raters import SimulatedRater
from onebit.records import Answer
from onebit.research.rivals import ExploreFirstLearner
from onebit.research.rivals.explore_first import exploring_rounds

K = 5
TABLE, TRUTH = models_of_accuracy(np.random.default_rng(0), np.array([0.3, 0.5, 0.9]), 200, K)
CLASS, POOL = PredictionTable(TABLE, K), Pool(np.arange(200))


def test_it_returns_what_uniform_guesses_return_and_plays_it() -> None:
    learner = ExploreFirstLearner(CLASS, POOL, 1000, n_exploring=300, seed=1)
    result = run(learner, SimulatedRater(TRUTH), at_a_time=77)
    assert result.chosen == run(UniformLearner(CLASS, POOL, 300, seed=1), SimulatedRater(TRUTH)).chosen == 2
    assert result.oracle_calls == 1
    first, second = learner._rounds(0)[0], learner._rounds(1)[0]
    assert (len(first), len(second)) == (300, 700)
    assert {q.propensity for q in first} == {1 / K}
    assert all(q.propensity == 1 and q.label == TABLE[2, q.item] for q in second)
    assert "after 300 rounds" in result.promise


@pytest.mark.parametrize("n_before", [0, 20], ids=["exploring", "abstaining"])
def test_guesses_are_uniform(n_before: int) -> None:
    """Exact: every cell of a grid of uniform numbers is equally likely, so label frequencies are probabilities."""
    learner = ExploreFirstLearner(PredictionTable([[-1] * 200], K), POOL, 100, n_exploring=20, seed=0)
    for _ in range(n_before):
        question = learner.ask(1)
        assert isinstance(question, tuple)
        learner.tell(question[0].id, Answer.NO)
    learner.ask(1)
    assert learner._epoch == (n_before > 0)
    uniform = np.repeat((np.arange(4 * K) + 0.5)[:, None] / (4 * K), 3, axis=1)
    label, propensity = learner._choose(np.arange(4 * K), uniform)
    assert np.bincount(label, minlength=K).tolist() == [4] * K
    assert propensity.tolist() == [1 / K] * (4 * K)


def test_the_rounds_of_exploration() -> None:
    """T^(2/3) (K ln(2 N / delta))^(1/3) by hand, and never more than there are."""
    assert exploring_rounds(8000, 10, 100, 0.05) == int(np.ceil(400 * (10 * np.log(4000)) ** (1 / 3)))
    assert exploring_rounds(10, 10, 100, 0.05) == 10
    assert ExploreFirstLearner(CLASS, POOL, 8000).n_exploring == exploring_rounds(8000, K, 3)


def test_who_abstains_is_replaced_by_a_guess() -> None:
    silent = PredictionTable(np.where(np.arange(200) % 2 == 0, -1, TRUTH)[None], K)
    learner = ExploreFirstLearner(silent, POOL, 400, n_exploring=50, seed=0)
    run(learner, SimulatedRater(TRUTH))
    propensities = {q.propensity for q in learner._rounds(1)[0]}
    assert propensities == {1.0, 1 / K}


def test_what_is_wrong_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="does not know its size"):
        ExploreFirstLearner(StumpClass(2, 2), Pool(np.zeros((3, 2))), 100)
    with pytest.raises(InvalidInputError, match="n_exploring is 200 of 100 rounds"):
        ExploreFirstLearner(CLASS, POOL, 100, n_exploring=200)
