"""The built-in model with names: they speak as long as they help."""

from __future__ import annotations

import numpy as np
import pytest

from onebit.classifier import YesNoClassifier
from onebit.errors import InvalidInputError
from onebit.learners.training.constants import STRENGTHS
from onebit.learners.training.model import Floats, Known, mean_belief
from onebit.learners.training.named import NamedModel

K, N, D = 6, 300, 12
RNG = np.random.default_rng(0)
NAMES = RNG.standard_normal((K, D)).astype(np.float32)
Y = RNG.integers(0, K, N)
NEAR = (NAMES[Y] + 0.5 * RNG.standard_normal((N, D))).astype(np.float32)
FAR = RNG.standard_normal((N, D)).astype(np.float32)


class Fixed:
    """Networks that believe what they are given of the examples they are shown, and never learn."""

    gamma, weights = 0.0, np.full(2, 0.5)
    belief: Floats

    def beliefs(self, x: np.ndarray) -> Floats:
        return np.tile(self.belief[: len(x)], (2, 1, 1))

    def learn(self, known: Known, rng: np.random.Generator) -> None:
        pass


def taught(x: np.ndarray, networks_know: bool) -> NamedModel:
    networks = Fixed()
    networks.belief = np.full((N, K), 1 / K) if not networks_know else 0.94 * np.eye(K)[Y] + 0.01
    model = NamedModel(networks, NAMES)
    model.learn(Known(x, np.eye(K, dtype=np.bool_)[Y], np.ones(N), N, is_new=np.ones(N, dtype=np.bool_)), RNG)
    return model


def test_before_the_first_answer_names_speak() -> None:
    networks = Fixed()
    networks.belief = np.eye(K)[(Y + 1) % K] * 0.9 + 0.1 / K
    model = NamedModel(networks, NAMES)
    assert (mean_belief(model, NEAR).argmax(axis=1) == Y).mean() > 0.9
    np.testing.assert_allclose(mean_belief(model, NEAR).sum(axis=1), 1.0, rtol=1e-5)


def test_names_that_say_something_are_heeded_and_others_are_not() -> None:
    assert taught(NEAR, networks_know=False).heeded[1] > 2
    assert taught(FAR, networks_know=False).heeded[1] < 0.5
    assert taught(FAR, networks_know=True).heeded == pytest.approx((1.0, 0.0), abs=0.05)


def test_what_was_learned_from_is_not_counted_again() -> None:
    model = taught(NEAR, networks_know=True)
    before = model.heeded
    model.learn(Known(FAR, np.eye(K, dtype=np.bool_)[Y], np.ones(N), N, is_new=np.zeros(N, dtype=np.bool_)), RNG)
    assert model.heeded == before
    assert 0 <= before[1] <= max(STRENGTHS)


def test_features_of_labels_given_by_the_user_name_them() -> None:
    """With so few answers that no network could have learned six labels; given in an order that is not sorted."""
    order = [3, 0, 5, 1, 4, 2]
    found = {}
    for features in (NAMES[order], None):
        model = YesNoClassifier(budget=30, audit=0, seed=0)
        model.fit(NEAR, answer=lambda row, label: bool(Y[row] == label), labels=order, label_features=features)
        found[features is None] = model.score(NEAR, Y)
    assert found[False] > 0.9 > found[True] + 0.1
    with pytest.raises(InvalidInputError, match=r"label_features has shape \(6, 3\)"):
        YesNoClassifier().fit(NEAR, answer=lambda row, label: True, labels=order, label_features=np.zeros((6, 3)))
