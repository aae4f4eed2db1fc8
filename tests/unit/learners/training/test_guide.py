"""Who is heeded in what is asked: the networks beside an estimator, or the estimator."""

from __future__ import annotations

import numpy as np
import pytest

from onebit.learners.training.constants import LEAST_TRIED, LEAST_TRUST
from onebit.learners.training.guide import Guide
from onebit.learners.training.model import Floats, Known, softened

K, N = 5, 400
TRUTH = np.random.default_rng(0).integers(0, K, N)


class Fixed:
    """Believes what it is given of each example, whose feature is its number."""

    gamma, weights = 0.0, np.full(2, 0.5)

    def __init__(self, belief: Floats) -> None:
        self._belief = belief

    def beliefs(self, x: np.ndarray) -> Floats:
        return np.tile(self._belief[x[:, 0].astype(np.int64)], (2, 1, 1))

    def learn(self, known: Known, rng: np.random.Generator) -> None:
        pass


GOOD, BAD = 0.8 * np.eye(K)[TRUTH] + 0.04, np.full((N, K), 1 / K)


@pytest.mark.parametrize("estimator_is_good", [True, False])
def test_whoever_foresees_the_answers_is_heeded(estimator_is_good: bool) -> None:
    own, theirs = (GOOD, BAD) if estimator_is_good else (BAD, GOOD)
    guide, items = Guide(Fixed(theirs), np.arange(N)[:, None].astype(np.float32)), np.arange(N)
    assert guide.trust == 0.5
    # A yes to half of the items, and a no to a wrong label of the others.
    possible = np.eye(K, dtype=np.bool_)[TRUTH]
    possible[200:] = True
    possible[np.arange(200, N), (TRUTH[200:] + 1) % K] = False
    guide.learn(items, Known(items, possible, N), np.random.default_rng(0))
    guide.judge(items, possible, own)
    assert guide.trust == pytest.approx(1 - LEAST_TRUST if estimator_is_good else LEAST_TRUST)
    shares, beliefs = guide.asking(items[:3], own[:3])
    assert shares.sum() == pytest.approx(1.0)
    assert shares[-1] == guide.trust
    assert beliefs.shape == (3, 3, K)


def test_what_was_long_ago_counts_less() -> None:
    guide, items = Guide(Fixed(BAD), np.arange(N)[:, None].astype(np.float32)), np.arange(N)
    possible = np.eye(K, dtype=np.bool_)[TRUTH]
    guide.learn(items, Known(items, possible, N), np.random.default_rng(0))
    guide.judge(items, possible, GOOD)
    assert guide.trust == pytest.approx(1 - LEAST_TRUST)
    for _ in range(3):
        guide.judge(items, possible, 0.5 * BAD + 0.5 * np.eye(K)[(TRUTH + 1) % K])
    assert guide.trust == pytest.approx(LEAST_TRUST)


@pytest.mark.parametrize(("share_right", "taught"), [(0.95, True), (0.6, False)])
def test_guesses_are_taught_while_they_are_right_as_often_as_believed(share_right: float, taught: bool) -> None:
    rng = np.random.default_rng(2)
    guess = np.where(rng.random(N) < share_right, TRUTH, (TRUTH + 1) % K)
    belief, items = 0.75 * np.eye(K)[guess] + 0.05, np.arange(N)
    guide = Guide(Fixed(belief), items[:, None].astype(np.float32))
    guide.judge(items[:200], np.eye(K, dtype=np.bool_)[TRUTH[:200]], BAD[:200])
    likely, label = guide.likely(items[200:])
    assert likely.size == 200 * taught
    np.testing.assert_array_equal(label, guess[likely])


def test_no_guess_is_taught_before_some_were_tried() -> None:
    belief, items = 0.75 * np.eye(K)[TRUTH] + 0.05, np.arange(N)
    guide = Guide(Fixed(belief), items[:, None].astype(np.float32))
    right = np.eye(K, dtype=np.bool_)[TRUTH]
    assert guide.likely(items)[0].size == 0
    guide.judge(items[: LEAST_TRIED - 1], right[: LEAST_TRIED - 1], BAD[: LEAST_TRIED - 1])
    assert guide.likely(items)[0].size == 0
    guide.judge(items[LEAST_TRIED:50], right[LEAST_TRIED:50], BAD[LEAST_TRIED:50])
    assert guide.likely(items)[0].size == N


def test_a_guess_that_nobody_asked_about_is_neither_right_nor_wrong() -> None:
    belief, items = 0.75 * np.eye(K)[TRUTH] + 0.05, np.arange(N)
    guide = Guide(Fixed(belief), items[:, None].astype(np.float32))
    guide.judge(items, np.eye(K, dtype=np.bool_)[TRUTH], BAD)
    guide.judge(items[:100], ~np.eye(K, dtype=np.bool_)[(TRUTH[:100] + 2) % K], BAD[:100])
    assert guide.likely(items)[0].size == N
    guide.judge(items, ~np.eye(K, dtype=np.bool_)[TRUTH], BAD)
    assert guide.likely(items)[0].size == 0


def test_a_label_never_met_is_not_ruled_out() -> None:
    soft = softened(np.array([[1.0, 0.0, 0.0]]), np.array([9, 3, 0]))
    np.testing.assert_allclose(soft.sum(), 1.0)
    # As if 3 rows more had come, 10/15, 4/15 and 1/15 of them with each label.
    np.testing.assert_allclose(soft[0], [(12 + 2) / 15, 0.8 / 15, 0.2 / 15])
