"""How unequal labels are taken to be is learned from what answers were expected."""

from __future__ import annotations

import numpy as np
import pytest

from onebit.learners.training.constants import MAY_COUNT, UNEQUAL_FIRST
from onebit.learners.training.knowledge import Knowledge
from onebit.learners.training.neighbours import Neighbours
from onebit.learners.training.strength import ShareStrength
from onebit.records import Answer, Question

N_ITEMS, N_LABELS = 1000, 10
UNEQUAL = 0.5 ** np.arange(1, N_LABELS + 1)


def learned_from(truth: np.ndarray, order: np.ndarray, n_each: int = 10) -> Knowledge:
    """The labels of items are confirmed in ``order``, ten in an epoch; what is near says nothing of labels."""
    x = np.random.default_rng(0).standard_normal((truth.size, 3)).astype(np.float32)
    known = Knowledge(np.ones(truth.size, dtype=np.bool_), N_LABELS)
    strength = ShareStrength(known, Neighbours(x, np.arange(truth.size)))
    for epoch in order.reshape(-1, n_each):
        strength.expect(epoch)
        for item in epoch.tolist():
            known.take_in(Question(0, item, int(truth[item]), 1.0, 0), Answer.YES)
        strength.learn()
    return known


def test_unequal_labels_are_held_unequal_and_equal_ones_equal() -> None:
    rng = np.random.default_rng(1)
    order = rng.permutation(N_ITEMS)[:300]
    middle = float(np.exp(np.mean(np.log(MAY_COUNT))))
    assert learned_from(rng.integers(0, N_LABELS, N_ITEMS), order).items_before > 2 * middle
    unequal = rng.choice(N_LABELS, N_ITEMS, p=UNEQUAL / UNEQUAL.sum())
    assert learned_from(unequal, order).items_before < middle / 2


def test_labels_of_which_many_items_are_found_early_are_not_taken_for_frequent_for_that() -> None:
    """60 items of two labels come first, then any of ten equal ones: what came first was no rule, and is unlearned."""
    truth = np.random.default_rng(2).integers(0, N_LABELS, N_ITEMS)
    of_two = np.flatnonzero(truth < 2)[:60]
    others = np.setdiff1d(np.arange(N_ITEMS), of_two)[:240]
    known = learned_from(truth, np.concatenate([of_two, others]))
    assert known.items_before > float(np.exp(np.mean(np.log(MAY_COUNT))))


def test_before_the_first_answer_and_without_neighbours_nothing_is_learned() -> None:
    known = Knowledge(np.ones(20, dtype=np.bool_), N_LABELS)
    strength = ShareStrength(known, None)
    before = known.items_before
    logs = np.log(MAY_COUNT)
    assert before == pytest.approx(np.exp(np.average(logs, weights=np.exp(-UNEQUAL_FIRST * logs))))
    # Laplace's rule, or nearly.
    assert before == pytest.approx(1.0, abs=0.1)
    strength.expect(np.arange(5))
    known.take_in(Question(0, 0, 0, 1.0, 0), Answer.YES)
    strength.learn()
    assert known.items_before == before


def test_an_item_that_was_not_come_to_or_has_no_label_does_not_count() -> None:
    x = np.random.default_rng(0).standard_normal((40, 3)).astype(np.float32)
    known = Knowledge(np.ones(40, dtype=np.bool_), N_LABELS)
    strength = ShareStrength(known, Neighbours(x, np.arange(40)))
    before = known.items_before
    strength.expect(np.arange(2))
    known.take_in(Question(0, 0, 0, 1.0, 0), Answer.NONE)
    strength.learn()
    assert known.items_before == before
