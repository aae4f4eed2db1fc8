"""The built-in model: networks, and beside them names or a forest, which speak as long as they help."""

from __future__ import annotations

import numpy as np
import pytest

from onebit.classifier import YesNoClassifier
from onebit.errors import InvalidInputError
from onebit.learners.training.constants import BESIDE_FOREST, FEW_LABELS, FOREST_STRENGTHS, STRENGTHS
from onebit.learners.training.model import Floats, Known, mean_belief
from onebit.learners.training.network import NetworkEnsemble
from onebit.learners.training.pooled import Beside, NamesBeside, PooledModel, built_in

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


def taught(x: np.ndarray, networks_know: bool) -> PooledModel:
    networks = Fixed()
    networks.belief = np.full((N, K), 1 / K) if not networks_know else 0.94 * np.eye(K)[Y] + 0.01
    model = PooledModel(networks, NamesBeside(NAMES))
    model.learn(Known(x, np.eye(K, dtype=np.bool_)[Y], np.ones(N), N, is_new=np.ones(N, dtype=np.bool_)), RNG)
    return model


def test_before_the_first_answer_names_speak() -> None:
    networks = Fixed()
    networks.belief = np.eye(K)[(Y + 1) % K] * 0.9 + 0.1 / K
    model = PooledModel(networks, NamesBeside(NAMES))
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


class Said(Beside):
    """Says the same of the examples it is shown, whatever it learns."""

    heeded, strengths = BESIDE_FOREST, FOREST_STRENGTHS

    def __init__(self, belief: Floats) -> None:
        self._belief = belief

    def logs(self, x: np.ndarray) -> Floats:
        return np.log(self._belief[: len(x)])

    def learn(self, known: Known, rng: np.random.Generator) -> None:
        pass


def pooled(of_networks: Floats, of_forest: Floats) -> PooledModel:
    networks = Fixed()
    networks.belief = of_networks
    model = PooledModel(networks, Said(of_forest))
    is_new = np.ones(N, dtype=np.bool_)
    model.learn(Known(FAR, np.eye(K, dtype=np.bool_)[Y], np.ones(N), N, is_new=is_new), RNG)
    return model


def test_whoever_was_right_is_heeded() -> None:
    good, bad = 0.9 * np.eye(K)[Y] + 0.1 / K, 0.9 * np.eye(K)[(Y + 1) % K] + 0.1 / K
    assert pooled(good, bad).heeded == pytest.approx((1.0, 0.0), abs=0.05)
    alpha, beta = pooled(bad, good).heeded
    assert alpha < 0.3
    assert beta == pytest.approx(max(FOREST_STRENGTHS), abs=0.05)


def test_two_that_err_on_different_items_are_better_together() -> None:
    """Each knows half of the items, and is unsure of the others."""
    sure, unsure = 0.9 * np.eye(K)[Y] + 0.1 / K, 0.4 * np.eye(K)[(Y + 1) % K] + 0.6 / K
    first = np.arange(N)[:, None] < N // 2
    halves = np.where(first, sure, unsure), np.where(first, unsure, sure)
    assert (mean_belief(pooled(*halves), FAR).argmax(axis=1) == Y).all()
    assert all((half.argmax(axis=1) == Y).mean() == 0.5 for half in halves)


def test_a_forest_where_labels_are_few_and_have_no_names() -> None:
    assert isinstance(built_in(D, K, None, RNG), PooledModel)
    assert isinstance(built_in(D, K, NAMES, RNG), PooledModel)
    assert isinstance(built_in(D, FEW_LABELS + 1, None, RNG), NetworkEnsemble)
