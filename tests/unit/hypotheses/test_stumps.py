"""Stumps against brute force: every cut between two values of every feature, every pair of labels."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from onebit.errors import InvalidInputError
from onebit.hypotheses.base import Hypothesis
from onebit.hypotheses.stumps import Stump, StumpClass
from onebit.kernels.splits import WEIGHT_BITS, threshold_between, whole_weights

Sample = tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.float64]]

LARGEST = float(np.finfo(np.float64).max)
SMALLEST = float(np.nextafter(0.0, 1.0))


def loss(stumps: StumpClass, h: Hypothesis, sample: Sample) -> float:
    x, y, weight = sample
    return float(weight[stumps.predict(h, x) != y].sum())


def losses_along(feature: int, sample: Sample, n_labels: int) -> Iterator[float]:
    """The weighted error of every stump along one feature, constants included."""
    x, y, weight = sample
    for value in (-math.inf, *x[:, feature]):
        for left, right in itertools.product(range(n_labels), repeat=2):
            yield float(weight[np.where(x[:, feature] < value, left, right) != y].sum())


def least_loss(sample: Sample, n_labels: int) -> float:
    return min(min(losses_along(f, sample, n_labels)) for f in range(sample[0].shape[1]))


def random_sample(seed: int, n: int, n_features: int, n_labels: int) -> Sample:
    """Few distinct values, so that there are ties; weights of both signs."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 4, size=(n, n_features)).astype(np.float64)
    return x, rng.integers(0, n_labels, size=n), rng.normal(size=n)


@st.composite
def samples(draw: st.DrawFn) -> tuple[Sample, int]:
    n, n_features, n_labels = draw(st.integers(0, 8)), draw(st.integers(1, 3)), draw(st.integers(2, 5))
    number = st.floats(-4, 4) | st.sampled_from([-1.0, 0.0, 1.0])
    x = draw(st.lists(st.lists(number, min_size=n_features, max_size=n_features), min_size=n, max_size=n))
    y = draw(st.lists(st.integers(0, n_labels - 1), min_size=n, max_size=n))
    weight = draw(st.lists(number, min_size=n, max_size=n))
    return (np.array(x).reshape(n, n_features), np.array(y, dtype=np.int64), np.array(weight)), n_labels


@settings(max_examples=50, deadline=None)
@given(samples())
def test_erm_is_as_good_as_any_stump(drawn: tuple[Sample, int]) -> None:
    sample, n_labels = drawn
    stumps = StumpClass(sample[0].shape[1], n_labels)
    assert loss(stumps, stumps.erm(*sample), sample) == pytest.approx(least_loss(sample, n_labels), abs=1e-12)


@pytest.mark.parametrize("n_labels", [2, 3, 4, 5])
@pytest.mark.parametrize("sign", ["mixed", "negative", "positive"])
def test_erm_is_as_good_as_any_stump_on_larger_samples(n_labels: int, sign: str) -> None:
    stumps = StumpClass(3, n_labels)
    for seed in range(5):
        x, y, weight = random_sample(seed, 25, 3, n_labels)
        sample = x, y, {"mixed": weight, "negative": -abs(weight), "positive": abs(weight)}[sign]
        assert loss(stumps, stumps.erm(*sample), sample) == pytest.approx(least_loss(sample, n_labels), abs=1e-12)


def test_a_label_that_never_occurs_is_best_under_negative_weights() -> None:
    assert StumpClass(1, 3).erm([[0.0], [1.0]], [0, 1], [-1.0, -2.0]) == Stump.constant(2)


@pytest.mark.parametrize(("weight", "label"), [(2.0, 1), (-2.0, 0), (0.0, 0)])
def test_one_example(weight: float, label: int) -> None:
    assert StumpClass(2, 3).erm([[5.0, 6.0]], [1], [weight]) == Stump.constant(label)


def test_no_examples_give_a_fixed_constant() -> None:
    assert StumpClass(2, 3).erm_columns(np.empty((0, 2)), [], [], 4) == (Stump.constant(0),)


def test_constant_features_leave_only_constants() -> None:
    assert StumpClass(2, 3).erm_columns([[1.0, 2.0]] * 3, [1, 2, 2], [1.0, 1.0, 1.0], 9) == (Stump.constant(2),)


def test_ties_go_to_the_first_feature_the_lowest_threshold_and_the_lowest_labels() -> None:
    x = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]])
    assert StumpClass(2, 3).erm(x, [0, 1, 0], [1.0, 1.0, 1.0]) == Stump.constant(0)
    assert StumpClass(2, 3).erm(x, [0, 1, 2], [1.0, 1.0, 1.0]) == Stump(0, 0.5, 0, 1)


def test_columns_are_the_best_stump_of_each_feature() -> None:
    n_labels = 4
    stumps = StumpClass(5, n_labels)
    for seed in range(5):
        sample = random_sample(seed, 40, 5, n_labels)
        columns = stumps.erm_columns(*sample, 5)
        assert columns[0] == stumps.erm(*sample)
        assert len(set(columns)) == len(columns)
        found = [loss(stumps, h, sample) for h in columns]
        # These samples have no constant among the best, so that each feature gives a column of its own.
        assert found == pytest.approx(sorted(min(losses_along(f, sample, n_labels)) for f in range(5)))
        assert stumps.erm_columns(*sample, 2) == columns[:2]


def test_the_order_of_the_examples_does_not_matter() -> None:
    x, y, weight = random_sample(0, 60, 3, 3)
    shuffled = np.random.default_rng(1).permutation(60)
    stumps = StumpClass(3, 3)
    assert stumps.erm_columns(x, y, weight, 3) == stumps.erm_columns(x[shuffled], y[shuffled], weight[shuffled], 3)


def test_predict_puts_the_threshold_itself_on_the_right() -> None:
    x = np.array([[9.0, 1.0], [9.0, 1.5], [9.0, 2.0]])
    np.testing.assert_array_equal(StumpClass(2, 6).predict(Stump(1, 1.5, 4, 5), x), [4, 5, 5])


@pytest.mark.parametrize(
    ("low", "high"),
    [
        (1.0, np.nextafter(1.0, 2.0)),
        (np.nextafter(-1.0, -2.0), -1.0),
        (0.0, SMALLEST),
        (-SMALLEST, 0.0),
        (3 * SMALLEST, 4 * SMALLEST),
        (-LARGEST, LARGEST),
        (np.nextafter(LARGEST, 0.0), LARGEST),
    ],
)
def test_values_however_close_or_far_are_told_apart(low: float, high: float) -> None:
    assert low < threshold_between(low, high) <= high
    x = np.array([[high], [low]])
    stumps = StumpClass(1, 2)
    np.testing.assert_array_equal(stumps.predict(stumps.erm(x, [1, 0], [1.0, 1.0]), x), [1, 0])


@pytest.mark.parametrize("scale", [SMALLEST, 1e-300, 1.0, LARGEST])
def test_weights_of_any_size_are_weighed(scale: float) -> None:
    assert StumpClass(1, 2).erm([[0.0]] * 3, [0, 1, 1], np.array([1.0, 1.0, 1.0]) * scale) == Stump.constant(1)


def test_whole_weights_are_exact_where_they_can_be() -> None:
    weight = np.array([0.75, -3.0, 0.0, 1024.5])
    whole = whole_weights(weight)
    np.testing.assert_array_equal(whole / whole[0], weight / weight[0])
    assert 2 ** (WEIGHT_BITS - 1) <= np.abs(whole).sum() <= 2**WEIGHT_BITS


@pytest.mark.parametrize(
    "stump", [Stump(3, 2.0, 1, 1), Stump(2, -math.inf, 0, 1), Stump(2, math.inf, 1, 0), Stump(1, math.nan, 0, 1)]
)
def test_a_stump_that_says_the_same_everywhere_has_one_name(stump: Stump) -> None:
    assert stump == Stump.constant(1)
    assert hash(stump) == hash(Stump.constant(1))
    assert stump.is_constant


@pytest.mark.parametrize(("n_features", "n_labels"), [(0, 2), (1, 1)])
def test_a_class_without_features_or_choice_is_refused(n_features: int, n_labels: int) -> None:
    with pytest.raises(InvalidInputError):
        StumpClass(n_features, n_labels)


@pytest.mark.parametrize("x", [[1.0, 2.0], [[1.0], [2.0]], [[1.0, 2.0, 3.0]] * 2, [[1.0, math.nan]] * 2])
def test_examples_of_the_wrong_shape_or_not_finite_are_refused(x: object) -> None:
    stumps = StumpClass(2, 2)
    with pytest.raises(InvalidInputError, match="the examples h"):
        stumps.erm(x, [0, 1], [1.0, 1.0])
    with pytest.raises(InvalidInputError, match="the examples h"):
        stumps.predict(Stump.constant(0), x)


@pytest.mark.parametrize("h", [0, Stump(2, 0.5, 0, 1), Stump(-1, 0.5, 0, 1), Stump(0, 0.5, 0, 2), Stump(0, 0.5, -1, 0)])
def test_predict_refuses_what_is_not_in_the_class(h: Hypothesis) -> None:
    with pytest.raises(InvalidInputError, match="not a member"):
        StumpClass(2, 2).predict(h, [[0.0, 0.0]])
