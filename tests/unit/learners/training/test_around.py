"""Who is near whom in the pool, held against all distances."""

from __future__ import annotations

import numpy as np
import pytest

from onebit.learners.training.around import Around
from onebit.learners.training.constants import N_ALIKE
from onebit.learners.training.learner import TrainingLearner
from onebit.learners.training.pooled import built_in
from onebit.records import Answer, TrainingProtocol

RNG = np.random.default_rng(0)
X = RNG.standard_normal((300, 3))
ITEMS = RNG.permutation(300)[:200]


def by_hand(rows: np.ndarray) -> np.ndarray:
    """The shares of likeness, from all distances."""
    distance = np.linalg.norm(rows[:, None] - rows[None], axis=2)
    np.fill_diagonal(distance, np.inf)
    near = np.argsort(distance, axis=1)[:, :N_ALIKE]
    scale = np.take_along_axis(distance, near, axis=1)[:, -1]
    is_near = np.zeros(distance.shape, dtype=np.bool_)
    np.put_along_axis(is_near, near, True, axis=1)
    alike = np.where(is_near | is_near.T, np.exp(-(distance**2) / (scale[:, None] * scale)), 0.0)
    return alike / alike.sum(axis=1, keepdims=True)


def test_rows_are_as_alike_as_all_distances_say() -> None:
    around = Around(X, ITEMS)
    np.testing.assert_allclose(around.alike.toarray(), by_hand(X[ITEMS]), atol=1e-5)


def test_an_item_is_stood_for_by_itself_or_by_the_nearest_row() -> None:
    around, all_items = Around(X, ITEMS), np.arange(300)
    nearest = np.linalg.norm(X[:, None] - X[ITEMS][None], axis=2).argmin(axis=1)
    np.testing.assert_array_equal(around.places(all_items[::2]), nearest[::2])
    np.testing.assert_array_equal(around.places(all_items), nearest)
    assert (ITEMS[around.places(ITEMS)] == ITEMS).all()
    np.testing.assert_array_equal(np.flatnonzero(around.holds), np.sort(ITEMS))


@pytest.mark.parametrize("n_rows", [2, 5, 40])
def test_equal_rows_are_as_alike_as_can_be(n_rows: int) -> None:
    """Warnings are errors here."""
    alike = Around(np.ones((n_rows, 2)), np.arange(n_rows)).alike.toarray()
    np.testing.assert_allclose(alike.sum(axis=1), 1, rtol=1e-6)
    assert (np.diag(alike) == 0).all()


@pytest.mark.parametrize("protocol", ["one-shot", "follow-up"])
def test_what_tries_the_classifier_is_not_among_the_rows(protocol: TrainingProtocol) -> None:
    y = (X[:, 0] > 0).astype(np.int64)
    model = built_in(3, 2, None, np.random.default_rng(1))
    learner = TrainingLearner(model, X, 2, budget=60, protocol=protocol, audit=20, near_are_alike=True)
    around = learner._run.teaching._around
    assert around is not None
    # 20 are audited, and a tenth of the others is kept to be drawn at random.
    assert around.holds.sum() == 280 - 28
    n_tried = 0
    while isinstance(questions := learner.ask(10), tuple):
        for question in questions:
            learner.tell(question.id, Answer.YES if y[question.item] == question.label else Answer.NO)
    for plan in learner.epochs:
        fresh = np.array(plan.items)[np.array(plan.fresh)]
        assert not around.holds[fresh].any()
        n_tried += fresh.size
    assert n_tried > 20
