"""Banditron: its mean step is the perceptron's, and it learns what is separable."""

from __future__ import annotations

import numpy as np
import pytest

from onebit.errors import InvalidInputError
from onebit.learners.base import run
from onebit.learners.items import Pool
from onebit.learners.rivals.banditron import BanditronLearner, Linear, LinearClass
from onebit.learners.rivals.online import Rounds
from onebit.raters import SimulatedRater

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


def test_learns_separable_labels_and_does_not_without_their_features() -> None:
    rng = np.random.default_rng(1)
    truth = rng.integers(0, K, 400)
    x = np.eye(K)[truth] + 0.1 * rng.normal(size=(400, K))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    learner = BanditronLearner(K, K, Pool(x), 1500, gamma=0.2)
    result = run(learner, SimulatedRater(truth))
    assert (learner.linear.predict(result.chosen, x) == truth).mean() > 0.97
    noise = rng.normal(size=(400, K))
    blind = BanditronLearner(K, K, Pool(noise), 1500, gamma=0.2)
    chosen = run(blind, SimulatedRater(truth)).chosen
    assert (blind.linear.predict(chosen, noise) == truth).mean() < 0.5


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
