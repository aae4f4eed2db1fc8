"""Any classifier as the model: what it is taught, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from onebit.errors import InvalidInputError, OnebitError
from onebit.learners.base import run
from onebit.learners.training.estimator import EstimatorMixture
from onebit.learners.training.learner import TrainingLearner
from onebit.learners.training.model import Known, mean_belief
from onebit.raters import SimulatedRater


def clusters(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, n)
    return 3 * rng.standard_normal((4, 5))[y] + rng.standard_normal((n, 5)), y


def test_it_learns_by_one_shot_questions_and_its_weights_are_a_mixture() -> None:
    x, y = clusters(600)
    model = EstimatorMixture(DecisionTreeClassifier(max_depth=5, random_state=0), 4)
    run(TrainingLearner(model, x[:400], 4, budget=400, audit=0), SimulatedRater(y))
    assert (mean_belief(model, x[400:]).argmax(axis=1) == y[400:]).mean() > 0.85
    assert model.weights.sum() == pytest.approx(1.0)
    assert (model.weights >= 0).all()


def test_gamma_begins_at_one_and_falls() -> None:
    x, y = clusters(100)
    model = EstimatorMixture(LogisticRegression(), 4)
    assert model.gamma == 1.0
    model.learn(Known(x, np.eye(4, dtype=np.bool_)[y], np.ones(100), n_answers=1600), np.random.default_rng(0))
    assert model.gamma == pytest.approx(0.1)


def test_an_estimator_without_weights_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="takes no sample_weight"):
        EstimatorMixture(KNeighborsClassifier(), 4)


class Raises(LogisticRegression):  # type: ignore[misc]
    def fit(self, X: object, y: object, sample_weight: object = None) -> Raises:
        raise RuntimeError("out of luck")


def test_an_estimator_that_raises_is_one_clear_error() -> None:
    x, y = clusters(50)
    model = EstimatorMixture(Raises(), 4)
    with pytest.raises(OnebitError, match="out of luck"):
        model.learn(Known(x, np.eye(4, dtype=np.bool_)[y], np.ones(50), n_answers=50), np.random.default_rng(0))
