"""Any classifier as the model: what it is taught, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from onebit.errors import OnebitError
from onebit.learners.contract import run
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


class Ignores(LogisticRegression):  # type: ignore[misc]
    """Takes weights, and does nothing with them."""

    def fit(self, X: object, y: object, sample_weight: object = None) -> Ignores:
        super().fit(X, y)
        return self


@pytest.mark.parametrize("estimator", [KNeighborsClassifier(3), Ignores(), LogisticRegression()])
def test_one_that_does_not_heed_weights_is_taught_by_drawing_rows(estimator: object) -> None:
    """Each row is taught twice, weight 9 on the truth and 1 on a wrong label."""
    x, y = clusters(400)
    model, rng = EstimatorMixture(estimator, 4), np.random.default_rng(0)
    wrong = (y + rng.integers(1, 4, 400)) % 4
    fitted = model._fitted(np.tile(x, (2, 1)), np.concatenate([y, wrong]), np.repeat([9.0, 1.0], 400), rng)
    assert fitted is not None
    assert model._heeds_weights is (type(estimator) is LogisticRegression)
    assert (fitted.predict(x) == y).mean() > 0.85


def test_without_drawing_such_an_estimator_would_learn_the_wrong_labels_as_well() -> None:
    x, y = clusters(400)
    model, rng = EstimatorMixture(Ignores(), 4), np.random.default_rng(0)
    model._heeds_weights = True
    wrong = np.repeat((y + 1) % 4, 3)
    rows = np.concatenate([np.arange(400), np.repeat(np.arange(400), 3)])
    weight = np.concatenate([np.full(400, 9.0), np.full(1200, 0.1)])
    fitted = model._fitted(x[rows], np.concatenate([y, wrong]), weight, rng)
    assert fitted is not None
    assert (fitted.predict(x) == y).mean() < 0.5


class Raises(LogisticRegression):  # type: ignore[misc]
    def fit(self, X: object, y: object, sample_weight: object = None) -> Raises:
        raise RuntimeError("out of luck")


def test_an_estimator_that_raises_is_one_clear_error() -> None:
    x, y = clusters(50)
    model = EstimatorMixture(Raises(), 4)
    with pytest.raises(OnebitError, match="out of luck"):
        model.learn(Known(x, np.eye(4, dtype=np.bool_)[y], np.ones(50), n_answers=50), np.random.default_rng(0))
