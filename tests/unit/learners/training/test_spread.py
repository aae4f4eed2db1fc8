"""How what is known spreads over the pool, held against the formula."""

from __future__ import annotations

import numpy as np
import pytest

from onebit.learners.training.around import Around
from onebit.learners.training.constants import REACH, SPREAD_STEPS
from onebit.learners.training.linear import Linear
from onebit.learners.training.model import Known
from onebit.learners.training.spread import Spread


def known_of(x: np.ndarray, items: np.ndarray, possible: np.ndarray, around: Around | None) -> Known:
    return Known(x[items], possible, n_answers=50, items=items, around=around)


def test_the_mass_is_what_the_formula_says() -> None:
    rng = np.random.default_rng(0)
    x, K = rng.standard_normal((60, 2)), 3
    around = Around(x, np.arange(50))
    # Two labels of three are met; item 55 is no row itself; label 0 is denied of item 4, which is not known.
    items, labels = np.array([1, 2, 3, 55, 4]), np.array([0, 2, 2, 0])
    possible = np.concatenate([np.eye(K, dtype=np.bool_)[labels], [[False, True, True]]])
    spread = Spread(K)
    spread.learn(known_of(x, items, possible, around), rng)
    given = np.zeros((50, 2))
    given[[1, 2, 3], [0, 1, 1]] = 1
    # The row that stands for item 55 may have a label of its own.
    given[around.places(np.array([55]))[0], 0] += 1
    given /= np.maximum(given.sum(axis=1, keepdims=True), 1)
    may_have = np.ones((50, 2))
    may_have[1, 1] = may_have[2, 0] = may_have[3, 0] = may_have[4, 0] = 0
    term, mass = given, given.copy()
    for _ in range(SPREAD_STEPS):
        term = REACH * may_have * (around.alike.toarray() @ term)
        mass += term
    np.testing.assert_allclose(spread._mass, mass, rtol=1e-4, atol=1e-6)
    assert spread._mass[4, 0] == 0 < spread._mass[4, 1]


def crescents(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Two crescents, one within the other's reach, which no line separates."""
    y, angle = np.arange(n) % 2, rng.random(n) * np.pi
    x = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    x[y == 1] = [1, 0.5] - x[y == 1]
    return x + 0.05 * rng.standard_normal(x.shape), y


def right_after_six_labels(with_around: bool) -> tuple[float, float]:
    """How often the spread, and a line, are right about new rows."""
    rng = np.random.default_rng(1)
    (x, y), (new, truth) = crescents(600, rng), crescents(400, rng)
    items = np.arange(6)
    known = known_of(x, items, np.eye(2, dtype=np.bool_)[y[items]], Around(x, np.arange(600)) if with_around else None)
    right = []
    for each in (Spread(2), Linear(2)):
        each.learn(known, rng)
        right.append(float((each.belief(new).argmax(axis=1) == truth).mean()))
    return right[0], right[1]


def test_a_few_labels_say_what_whole_crowds_are() -> None:
    spread, line = right_after_six_labels(with_around=True)
    assert spread > 0.9 > 0.8 > line
    # Without the rows that nobody was asked about it says nothing.
    assert right_after_six_labels(with_around=False)[0] == pytest.approx(0.5)


def test_far_from_all_that_is_known_labels_are_as_likely_as_frequent() -> None:
    """Two crowds with nothing between them, and known rows in the first alone."""
    rng = np.random.default_rng(2)
    x = rng.standard_normal((100, 2)) + 1e4 * (np.arange(100) >= 50)[:, None]
    spread = Spread(2)
    items = np.arange(9)
    spread.learn(known_of(x, items, np.eye(2, dtype=np.bool_)[(items < 3).astype(int)], Around(x, np.arange(100))), rng)
    np.testing.assert_allclose(spread._said(x[60:70]), np.tile([6 / 9, 3 / 9], (10, 1)))
    assert not np.allclose(spread._said(x[:10]), spread._said(x[60:70]))


def test_what_is_said_of_a_row_does_not_hang_on_those_beside_it() -> None:
    rng = np.random.default_rng(3)
    x = rng.standard_normal((500, 5))
    spread = Spread(3)
    items = np.arange(40)
    spread.learn(known_of(x, items, np.eye(3, dtype=np.bool_)[items % 3], Around(x, np.arange(500))), rng)
    new = rng.standard_normal((300, 5))
    each = np.concatenate([spread.belief(row[None]) for row in new])
    np.testing.assert_allclose(spread.belief(new), each, rtol=1e-9)


def test_rows_that_lie_together_far_from_the_mean_have_the_same_nearest_in_any_precision() -> None:
    """A classifier is audited in single precision and predicts in double."""
    rng = np.random.default_rng(2)
    x = (1 + 1e-5 * rng.standard_normal((400, 3))).astype(np.float32)
    items, y = np.arange(100), (x[:, 0] > 1).astype(np.int64)
    spread = Spread(2)
    spread.learn(known_of(x, items, np.eye(2, dtype=np.bool_)[y[items]], Around(x, np.arange(400))), rng)
    np.testing.assert_allclose(spread.belief(x), spread.belief(x.astype(np.float64)), atol=1e-6)
