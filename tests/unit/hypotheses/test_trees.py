"""Trees against brute force: every root, every split of either side, every label of every leaf."""

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
from onebit.hypotheses.trees import Tree, TreeClass

Sample = tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.float64]]
Mask = NDArray[np.bool_]


def loss(trees: TreeClass, h: Hypothesis, sample: Sample) -> float:
    x, y, weight = sample
    return float(weight[trees.predict(h, x) != y].sum())


def parts(x: NDArray[np.float64], features: range) -> Iterator[Mask]:
    """Every part of the sample that some split along these features puts on the left, the empty one included."""
    for feature, value in itertools.product(features, range(-1, len(x))):
        yield x[:, feature] < (-math.inf if value < 0 else x[value, feature])


def leaf_loss(leaf: Mask, y: NDArray[np.int64], weight: NDArray[np.float64], n_labels: int) -> float:
    return min(float(weight[leaf & (y != label)].sum()) for label in range(n_labels))


def least_loss(sample: Sample, n_labels: int, roots: range | None = None) -> float:
    """The least weighted error of a tree with its root along one of the features ``roots`` (by default, any)."""
    x, y, weight = sample
    features = range(x.shape[1])

    def stump_loss(side: Mask) -> float:
        return min(
            leaf_loss(side & left, y, weight, n_labels) + leaf_loss(side & ~left, y, weight, n_labels)
            for left in parts(x, features)
        )

    return min(stump_loss(left) + stump_loss(~left) for left in parts(x, roots or features))


def random_sample(seed: int, n: int, n_features: int, n_labels: int) -> Sample:
    """A column with many ties, the others continuous; weights of both signs."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, n_features))
    x[:, 0] = rng.integers(0, 4, size=n)
    return x, rng.integers(0, n_labels, size=n), rng.normal(size=n)


@st.composite
def samples(draw: st.DrawFn) -> tuple[Sample, int]:
    n, n_features, n_labels = draw(st.integers(0, 7)), draw(st.integers(1, 3)), draw(st.integers(2, 5))
    number = st.floats(-4, 4) | st.sampled_from([-1.0, 0.0, 1.0])
    x = draw(st.lists(st.lists(number, min_size=n_features, max_size=n_features), min_size=n, max_size=n))
    y = draw(st.lists(st.integers(0, n_labels - 1), min_size=n, max_size=n))
    weight = draw(st.lists(number, min_size=n, max_size=n))
    return (np.array(x).reshape(n, n_features), np.array(y, dtype=np.int64), np.array(weight)), n_labels


@settings(max_examples=50, deadline=None)
@given(samples())
def test_erm_is_as_good_as_any_tree(drawn: tuple[Sample, int]) -> None:
    sample, n_labels = drawn
    trees = TreeClass(sample[0].shape[1], n_labels)
    h = trees.erm(*sample)
    assert loss(trees, h, sample) == pytest.approx(least_loss(sample, n_labels), abs=1e-12)
    assert trees.erm_columns(*sample, 9)[0] == h


@pytest.mark.parametrize("n_labels", [2, 3, 4, 5])
@pytest.mark.parametrize("sign", ["mixed", "negative", "positive"])
def test_erm_is_as_good_as_any_tree_on_larger_samples(n_labels: int, sign: str) -> None:
    trees = TreeClass(3, n_labels)
    x, y, weight = random_sample(n_labels, 12, 3, n_labels)
    sample = x, y, {"mixed": weight, "negative": -abs(weight), "positive": abs(weight)}[sign]
    assert loss(trees, trees.erm(*sample), sample) == pytest.approx(least_loss(sample, n_labels), abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_columns_are_the_best_tree_of_each_root(seed: int) -> None:
    n_labels = 3
    trees = TreeClass(3, n_labels)
    sample = random_sample(seed, 14, 3, n_labels)
    columns = trees.erm_columns(*sample, 3)
    assert columns[0] == trees.erm(*sample)
    assert len(set(columns)) == len(columns)
    # Two roots may share their best tree: a grid of two splits has either for its root.
    best = sorted(least_loss(sample, n_labels, range(root, root + 1)) for root in range(3))
    found = [loss(trees, h, sample) for h in columns]
    assert found == sorted(found)
    assert all(any(math.isclose(b, f, abs_tol=1e-12) for f in found) for b in best)
    assert trees.erm_columns(*sample, 2) == columns[:2]


def test_a_planted_tree_is_found_in_a_large_sample() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2000, 6))
    trees = TreeClass(6, 4)
    planted = Tree(3, 0.2, Stump(1, -0.3, 0, 2), Stump(5, 0.4, 3, 1))
    y = trees.predict(planted, x)
    np.testing.assert_array_equal(trees.predict(trees.erm(x, y, rng.random(2000)), x), y)


def test_the_order_of_the_examples_does_not_matter() -> None:
    x, y, weight = random_sample(0, 60, 3, 3)
    shuffled = np.random.default_rng(1).permutation(60)
    trees = TreeClass(3, 3)
    assert trees.erm_columns(x, y, weight, 3) == trees.erm_columns(x[shuffled], y[shuffled], weight[shuffled], 3)


def test_where_a_stump_is_best_the_tree_is_that_stump() -> None:
    x = np.array([[0.0, 3.0], [1.0, 3.0], [2.0, 3.0], [3.0, 3.0]])
    y, weight = [2, 2, 0, 0], [1.0, 2.0, 3.0, 4.0]
    stump = StumpClass(2, 3).erm(x, y, weight)
    assert stump == Stump(0, 1.5, 2, 0)
    assert TreeClass(2, 3).erm_columns(x, y, weight, 5) == (Tree.without_root(stump),)


@pytest.mark.parametrize(("weight", "label"), [(2.0, 1), (-2.0, 0), (0.0, 0)])
def test_one_example(weight: float, label: int) -> None:
    assert TreeClass(2, 3).erm([[5.0, 6.0]], [1], [weight]) == Tree.without_root(Stump.constant(label))


def test_no_examples_give_a_fixed_constant() -> None:
    assert TreeClass(2, 3).erm_columns(np.empty((0, 2)), [], [], 4) == (Tree.without_root(Stump.constant(0)),)


def test_constant_features_leave_only_constants() -> None:
    h = TreeClass(2, 3).erm([[1.0, 2.0]] * 3, [1, 2, 2], [1.0, 1.0, 1.0])
    assert h == Tree.without_root(Stump.constant(2))


def test_adjacent_floats_are_told_apart() -> None:
    values = [1.0]
    for _ in range(3):
        values.append(float(np.nextafter(values[-1], 2.0)))
    x, y = np.array(values).reshape(4, 1), [0, 1, 2, 3]
    trees = TreeClass(1, 4)
    np.testing.assert_array_equal(trees.predict(trees.erm(x, y, [1.0] * 4), x), y)


def test_predict_follows_the_root_then_a_stump_and_puts_thresholds_on_the_right() -> None:
    tree = Tree(0, 1.0, Stump(1, 2.0, 0, 1), Stump(1, 3.0, 2, 3))
    x = np.array([[0.0, 1.0], [0.0, 2.0], [1.0, 2.0], [1.0, 3.0]])
    np.testing.assert_array_equal(TreeClass(2, 4).predict(tree, x), [0, 1, 2, 3])


def test_trees_are_equal_exactly_where_they_are_the_same_function() -> None:
    """Every tree with two thresholds on each of three features, labels 0 to 2, on one point for each region."""
    points = np.array(list(itertools.product([0.0, 1.0, 2.0], repeat=3)))
    splits = list(itertools.product(range(3), [0.5, 1.5]))
    stumps = {Stump(f, t, a, b) for (f, t), a, b in itertools.product(splits, range(3), range(3))}
    tree_of_labels: dict[bytes, Tree] = {}
    for (feature, threshold), left, right in itertools.product(splits, stumps, stumps):
        tree = Tree(feature, threshold, left, right)
        labels = np.where(points[:, feature] < threshold, left.predict(points), right.predict(points))
        np.testing.assert_array_equal(tree.predict(points), labels)
        assert tree_of_labels.setdefault(labels.tobytes(), tree) == tree


@pytest.mark.parametrize("threshold", [-math.inf, math.nan, math.inf])
def test_a_root_that_parts_nothing_is_left_out(threshold: float) -> None:
    left, right = Stump(1, 0.5, 0, 1), Stump(1, 0.5, 2, 1)
    assert Tree(3, threshold, left, right) == Tree.without_root(left if threshold == math.inf else right)


@pytest.mark.parametrize(("n_features", "n_labels"), [(0, 2), (1, 1)])
def test_a_class_without_features_or_choice_is_refused(n_features: int, n_labels: int) -> None:
    with pytest.raises(InvalidInputError):
        TreeClass(n_features, n_labels)


@pytest.mark.parametrize("x", [[1.0, 2.0], [[1.0], [2.0]], [[1.0, 2.0, 3.0]] * 2, [[1.0, math.inf]] * 2])
def test_examples_of_the_wrong_shape_or_not_finite_are_refused(x: object) -> None:
    trees = TreeClass(2, 2)
    with pytest.raises(InvalidInputError, match="the examples h"):
        trees.erm(x, [0, 1], [1.0, 1.0])
    with pytest.raises(InvalidInputError, match="the examples h"):
        trees.predict(Tree.without_root(Stump.constant(0)), x)


@pytest.mark.parametrize(
    "h",
    [
        Stump.constant(0),
        Tree(2, 0.5, Stump(0, 0.5, 0, 1), Stump.constant(0)),
        Tree(0, 0.5, Stump(2, 0.5, 0, 1), Stump.constant(0)),
        Tree(0, 0.5, Stump(1, 0.5, 0, 1), Stump.constant(2)),
    ],
)
def test_predict_refuses_what_is_not_in_the_class(h: Hypothesis) -> None:
    with pytest.raises(InvalidInputError, match="not a member"):
        TreeClass(2, 2).predict(h, [[0.0, 0.0]])
