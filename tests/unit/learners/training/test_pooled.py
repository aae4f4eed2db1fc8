"""The built-in model: networks, and beside them names, or a forest and lines, which speak as long as they help."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import coo_array

from onebit.classifier import YesNoClassifier
from onebit.errors import InvalidInputError
from onebit.learners.training.beside import Beside
from onebit.learners.training.constants import FEW_LABELS, FIRST_NAMES, LEAST_PARTS, N_PARTS, NAMED_POWERS, SHARPNESS
from onebit.learners.training.model import Floats, Known, mean_belief
from onebit.learners.training.pooled import PooledModel, built_in, weightings

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


def with_names(belief: Floats) -> PooledModel:
    model = built_in(D, K, NAMES, RNG)
    networks = Fixed()
    networks.belief, model.networks = belief, networks
    return model


def taught(x: np.ndarray, networks_know: bool) -> PooledModel:
    model = with_names(0.94 * np.eye(K)[Y] + 0.01 if networks_know else np.full((N, K), 1 / K))
    model.learn(Known(x, np.eye(K, dtype=np.bool_)[Y], N, is_new=np.ones(N, dtype=np.bool_)), RNG)
    return model


def test_before_the_first_answer_names_speak() -> None:
    model = with_names(np.eye(K)[(Y + 1) % K] * 0.9 + 0.1 / K)
    assert (mean_belief(model, NEAR).argmax(axis=1) == Y).mean() > 0.9
    np.testing.assert_allclose(mean_belief(model, NEAR).sum(axis=1), 1.0, rtol=1e-5)


def test_names_that_say_something_are_heeded_and_others_are_not() -> None:
    assert taught(NEAR, networks_know=False).heeded[1] > 0.5
    assert taught(FAR, networks_know=False).heeded[1] < 0.5 / FIRST_NAMES
    assert taught(FAR, networks_know=True).heeded == pytest.approx((1.0, 0.0), abs=0.05)


def test_what_was_learned_from_is_not_counted_again() -> None:
    model = taught(NEAR, networks_know=True)
    before = model.heeded
    model.learn(Known(FAR, np.eye(K, dtype=np.bool_)[Y], N, is_new=np.zeros(N, dtype=np.bool_)), RNG)
    np.testing.assert_array_equal(model.heeded, before)
    assert 0 <= before[1] <= max(NAMED_POWERS)


def test_features_of_labels_given_by_the_user_name_them() -> None:
    """With so few answers that no network could have learned six labels; given in an order that is not sorted."""
    order = [3, 0, 5, 1, 4, 2]
    found = []
    for features in (NAMES[order], coo_array(NAMES[order]), None):
        model = YesNoClassifier(budget=20, audit=0, seed=0)
        model.fit(NEAR, answer=lambda row, label: bool(Y[row] == label), labels=order, label_features=features)
        found.append(model.score(NEAR, Y))
    assert found[0] == found[1] > 0.9 > found[2] + 0.1
    with pytest.raises(InvalidInputError, match=r"label_features has shape \(6, 3\)"):
        YesNoClassifier().fit(NEAR, answer=lambda row, label: True, labels=order, label_features=np.zeros((6, 3)))


@pytest.mark.parametrize("labels", [[0, 1, 2, 3, 4], [5, 4, 3, 2, 1, 1, 0], [0, 0, 1, 2, 3, 4]])
def test_features_of_labels_are_for_those_that_there_are(labels: list[int]) -> None:
    """With right labels as y, labels may be left out or named twice; which of them a row is of is not known then."""
    with pytest.raises(
        InvalidInputError, match=r"are given for the labels .* there are \[0, 1, 2, 3, 4, 5\]; give all"
    ):
        YesNoClassifier(budget=20, audit=0).fit(NEAR, Y, labels=labels, label_features=NAMES)


class Said(Beside):
    """Says the same of the examples it is shown, whatever it learns."""

    def __init__(self, belief: Floats) -> None:
        self._belief = belief

    def logs(self, x: np.ndarray) -> Floats:
        return np.log(self._belief[: len(x)])

    def learn(self, known: Known, rng: np.random.Generator) -> None:
        pass


def pooled(*beliefs: Floats) -> PooledModel:
    """Networks who believe the first, and beside them others, held against the truth."""
    networks = Fixed()
    networks.belief = beliefs[0]
    may_be = weightings(len(beliefs) - 1)
    model = PooledModel(networks, [Said(belief) for belief in beliefs[1:]], may_be, np.zeros(len(may_be)))
    is_new = np.ones(N, dtype=np.bool_)
    model.learn(Known(FAR, np.eye(K, dtype=np.bool_)[Y], N, is_new=is_new), RNG)
    return model


GOOD, BAD = 0.9 * np.eye(K)[Y] + 0.1 / K, 0.9 * np.eye(K)[(Y + 1) % K] + 0.1 / K


@pytest.mark.parametrize("who", [0, 1, 2])
def test_whoever_was_right_is_heeded(who: int) -> None:
    """Not always right, and no surer than it should be, so that more than it says is not read into it."""
    often = 0.7 * np.eye(K)[np.where(RNG.random(N) < 0.75, Y, (Y + 2) % K)] + 0.3 / K
    heeded = pooled(*(often if each == who else BAD for each in range(3))).heeded
    # Networks are never silent.
    shares = heeded / heeded.sum()
    assert shares[who] == pytest.approx(1.0 if who == 0 else 1 - LEAST_PARTS / N_PARTS, abs=0.05)


def test_two_that_err_on_different_items_are_better_together() -> None:
    """Each knows half of the items, and is unsure of the others."""
    unsure = 0.4 * np.eye(K)[(Y + 1) % K] + 0.6 / K
    first = np.arange(N)[:, None] < N // 2
    halves = np.where(first, GOOD, unsure), np.where(first, unsure, GOOD)
    assert (mean_belief(pooled(*halves), FAR).argmax(axis=1) == Y).all()
    assert all((half.argmax(axis=1) == Y).mean() == 0.5 for half in halves)


def test_what_all_agree_on_says_nothing_of_whom_to_heed() -> None:
    before = PooledModel(Fixed(), [Said(GOOD)], weightings(1), np.zeros(len(weightings(1)))).heeded
    np.testing.assert_array_equal(pooled(GOOD, 0.5 * GOOD + 0.5 / K).heeded, before)


def test_networks_are_not_silenced_for_the_little_that_names_know_better() -> None:
    """Both know most items, and names alone the last: counted by what they differ in, only names would speak."""
    late = np.arange(N)[:, None] >= N - 6
    model = with_names(np.where(late, BAD, 0.999 * np.eye(K)[Y] + 0.001 / K))
    model.learn(Known(NEAR, np.eye(K, dtype=np.bool_)[Y], N, is_new=np.ones(N, dtype=np.bool_)), RNG)
    assert model.heeded[0] > 0.2


def test_shares_sum_to_the_sharpness() -> None:
    found = weightings(2)
    np.testing.assert_allclose(np.unique(found.sum(axis=1)), SHARPNESS)
    assert (found[:, 0] * N_PARTS >= LEAST_PARTS * found.sum(axis=1) - 1e-9).all()
    # Out of 4 parts the networks have 1 to 4, and the others 3, 2, 1 or none between them: 4 + 3 + 2 + 1 ways.
    assert len(np.unique(found, axis=0)) == len(found) == 10 * len(SHARPNESS)


def test_before_the_first_answer_networks_are_heeded_most() -> None:
    heeded = built_in(D, K, None, RNG).heeded
    assert heeded[0] > 0.5 * heeded.sum()


@pytest.mark.parametrize("n_labels", [K, FEW_LABELS + 1])
def test_lines_and_a_spread_always_and_a_forest_where_labels_are_few(n_labels: int) -> None:
    assert built_in(D, n_labels, None, RNG).heeded.size == (4 if n_labels <= FEW_LABELS else 3)
    assert built_in(D, K, NAMES, RNG).heeded.size == 2
