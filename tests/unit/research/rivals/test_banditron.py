"""Banditron: its mean step is the perceptron's, and its wrong guesses are within the bound."""

from __future__ import annotations

import numpy as np
import pytest

from onebit.errors import InvalidInputError
from onebit.learners.contract import run
from onebit.learners.items import Pool, Stream
from onebit.raters import SimulatedRater
from onebit.research.rivals.banditron import (
    BanditronLearner,
    Linear,
    LinearClass,
    banditron_gamma,
    mistake_bound,
)
from onebit.research.rivals.online import Rounds

K, GAMMA = 4, 0.2


def test_the_mean_step_is_the_perceptrons() -> None:
    """Over all labels that may be asked, weighted by their probabilities, from some U and for every true label."""
    rng = np.random.default_rng(0)
    U, row = rng.normal(size=(K, 3)), rng.normal(size=(1, 3))
    first = int(np.argmax(U @ row[0]))
    for truth in range(K):
        mean = np.zeros_like(U)
        for asked in range(K):
            p = (1 - GAMMA) * (asked == first) + GAMMA / K
            learner = BanditronLearner(3, K, Pool(row), 2, gamma=GAMMA)
            learner.U[:] = U
            learner._learn(Rounds(row, np.array([asked]), np.array([(asked == truth) / p])))
            mean += p * (learner.U - U)
        perceptron = np.zeros_like(U)
        perceptron[truth] += row[0]
        perceptron[first] -= row[0]
        assert mean == pytest.approx(perceptron)


def wrong_guesses(x: np.ndarray, truth: np.ndarray, gamma: float | None, seed: int) -> int:
    learner = BanditronLearner(K, K, Stream(x), truth.size, gamma=gamma, seed=seed)
    return truth.size - run(learner, SimulatedRater(truth)).n_yes


def test_wrong_guesses_are_within_the_bound() -> None:
    """Rows are unit vectors, one for each label: U = I - 1/K has hinge loss 0 and squared norm K - 1.

    The bound is 689 of 4000. The count varies by a standard deviation of at most sqrt(4000) / 2 = 32 about its mean
    given the path, so the mean of 3 runs may be above by 4 * 32 / sqrt(3). Guessing mostly uniformly breaks it.
    """
    n_rounds = 4000
    truth = np.random.default_rng(1).integers(0, K, n_rounds)
    x = np.eye(K)[truth]
    bound = mistake_bound(K, n_rounds, norm=np.sqrt(K - 1), hinge=0.0)
    assert bound == pytest.approx(689, abs=0.5)
    allowed = bound + 4 * np.sqrt(n_rounds) / 2 / np.sqrt(3)
    assert np.mean([wrong_guesses(x, truth, None, seed) for seed in range(3)]) < allowed
    assert wrong_guesses(x, truth, 0.9, 0) > allowed


def test_bound_by_hand_and_whom_it_is_for() -> None:
    assert mistake_bound(8, 64, norm=1.0, hinge=0.0) == pytest.approx(2 * 16 + 2 * 4 * 4 + 2**0.5 * 2**0.5 * 4)
    assert mistake_bound(8, 64, norm=1.0, hinge=32.0) == pytest.approx(32 + 2 * 32 + 32 + 8)
    assert banditron_gamma(8, 64) == pytest.approx(0.5)
    x = np.eye(K)
    assert "Theorem 4.7" in BanditronLearner(K, K, Pool(x), 100).result.promise
    assert BanditronLearner(K, K, Pool(x), 100, gamma=0.3).result.promise.startswith("none: the bound")


def test_refusals() -> None:
    linear = LinearClass(2, 3)
    with pytest.raises(InvalidInputError, match="no ERM oracle"):
        linear.erm(np.zeros((1, 2)), [0], [1.0])
    with pytest.raises(InvalidInputError, match="3 features"):
        linear.check_examples(np.zeros((1, 3)))
    with pytest.raises(InvalidInputError, match="is not a Linear"):
        linear.predict(Linear(((0.0,),)), np.zeros((1, 2)))
    with pytest.raises(InvalidInputError, match="gamma is 0"):
        BanditronLearner(2, 3, Pool(np.zeros((1, 2))), 5, gamma=0)
