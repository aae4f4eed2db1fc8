"""The dimensions against plain enumeration and known families; the sizes against their formulas."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import chain, combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import ArrayLike, NDArray
from scipy.stats import binom

from onebit.errors import InvalidInputError
from onebit.hypotheses.natarajan import (
    GraphWitness,
    NatarajanWitness,
    cover_sample_size,
    graph_dimension,
    growth_bound,
    natarajan_dimension,
)

Table = NDArray[np.int64]
DimensionOf = Callable[[ArrayLike], NatarajanWitness | GraphWitness]


def tables(n_labels: int) -> st.SearchStrategy[Table]:
    shapes = st.tuples(st.integers(1, 40), st.integers(1, 5))
    return shapes.flatmap(lambda shape: arrays(np.int64, shape, elements=st.integers(0, n_labels - 1)))


any_table = st.integers(2, 4).flatmap(tables)
dimensions = pytest.mark.parametrize("dimension_of", [natarajan_dimension, graph_dimension])


def largest_shattered(table: Table, is_shattered: Callable[[set[tuple[int, ...]], int], bool]) -> int:
    """The size of the largest set of points on which the set of patterns is shattered, by trying all sets."""
    n_points = table.shape[1]
    return max(
        size
        for size in range(n_points + 1)
        for points in combinations(range(n_points), size)
        if is_shattered(set(map(tuple, table[:, points].tolist())), size)
    )


def plain_natarajan(table: Table) -> int:
    pairs = list(combinations(range(table.max() + 1), 2))

    def is_shattered(seen: set[tuple[int, ...]], size: int) -> bool:
        return any(all(labels in seen for labels in product(*chosen)) for chosen in product(pairs, repeat=size))

    return largest_shattered(table, is_shattered)


def plain_graph(table: Table) -> int:
    def is_shattered(seen: set[tuple[int, ...]], size: int) -> bool:
        return any(
            len({tuple(a == b for a, b in zip(labels, pivots, strict=True)) for labels in seen}) == 2**size
            for pivots in product(range(table.max() + 1), repeat=size)
        )

    return largest_shattered(table, is_shattered)


def plain_vc(table: Table) -> int:
    return largest_shattered(table, lambda seen, size: len(seen) == 2**size)


def piecewise_constant(n_points: int, n_cuts: int, n_labels: int) -> Table:
    """Every labelling of points on a line that changes at most ``n_cuts`` times."""
    labellings = np.array(list(product(range(n_labels), repeat=n_points)))
    n_changes = np.count_nonzero(np.diff(labellings, axis=1), axis=1)
    kept: Table = labellings[n_changes <= n_cuts]
    return kept


def planted(seed: int, dimension: int) -> Table:
    """200 random rows of 4 labels on 20 points, of which 2^dimension are made to shatter some points."""
    rng = np.random.default_rng(seed)
    table = rng.integers(0, 4, (200, 20))
    points = rng.choice(20, dimension, replace=False)
    rows = rng.choice(200, 2**dimension, replace=False)
    table[np.ix_(rows, points)] = list(product((1, 3), repeat=dimension))
    return table


@settings(max_examples=150)
@given(any_table)
def test_natarajan_equals_enumeration(table: Table) -> None:
    witness = natarajan_dimension(table)
    assert witness.dimension == plain_natarajan(table)
    assert witness.is_shattered_by(table)


@settings(max_examples=150)
@given(any_table)
def test_graph_equals_enumeration(table: Table) -> None:
    witness = graph_dimension(table)
    assert witness.dimension == plain_graph(table)
    assert witness.is_shattered_by(table)


@pytest.mark.parametrize("seed", range(40))
def test_both_equal_enumeration_on_dense_classes(seed: int) -> None:
    # Tables drawn by hypothesis repeat themselves; these reach dimensions up to 4 and 5.
    rng = np.random.default_rng(seed)
    n_labels = int(rng.integers(2, 5))
    table = rng.integers(0, n_labels, (rng.integers(4, n_labels**5), rng.integers(2, 6)))
    assert natarajan_dimension(table).dimension == plain_natarajan(table)
    assert graph_dimension(table).dimension == plain_graph(table)


@given(tables(n_labels=2))
def test_with_two_labels_both_are_the_vc_dimension(table: Table) -> None:
    assert natarajan_dimension(table).dimension == graph_dimension(table).dimension == plain_vc(table)


@given(any_table)
def test_graph_is_at_least_natarajan(table: Table) -> None:
    assert graph_dimension(table).dimension >= natarajan_dimension(table).dimension


@dimensions
@given(table=any_table)
def test_names_order_and_repetition_do_not_matter(dimension_of: DimensionOf, table: Table) -> None:
    rng = np.random.default_rng(table.sum())
    renamed = rng.permutation(10)[table][:, rng.permutation(table.shape[1])]
    assert dimension_of(np.concatenate([renamed[::-1], renamed])).dimension == dimension_of(table).dimension


@pytest.mark.parametrize("seed", range(3))
def test_a_planted_set_in_a_larger_class_is_found(seed: int) -> None:
    # Random rows reach dimension 4 here, so that 5 is found only if the search does not lose it.
    table = planted(seed, dimension=5)
    for witness in (natarajan_dimension(table), graph_dimension(table)):
        assert witness.dimension >= 5
        assert witness.is_shattered_by(table)


def test_a_witness_does_not_hold_for_a_class_that_lacks_a_row() -> None:
    table = np.array(list(product((0, 2), repeat=3)))
    natarajan, graph = natarajan_dimension(table), graph_dimension(table)
    assert natarajan.dimension == graph.dimension == 3
    for row in range(8):
        assert not natarajan.is_shattered_by(np.delete(table, row, axis=0))
        assert not graph.is_shattered_by(np.delete(table, row, axis=0))


@pytest.mark.parametrize("n_labels", [2, 3, 4])
@pytest.mark.parametrize("n_cuts", [0, 1, 2, 5])
def test_piecewise_constant_functions(n_cuts: int, n_labels: int) -> None:
    # k + 1 points lie on pieces of their own, so that any labels are possible. On k + 2 points, choose from left to
    # right a label of each pair that is not the one before: that takes k + 1 cuts. So d = k + 1, for any K.
    table = piecewise_constant(5, n_cuts, n_labels)
    assert natarajan_dimension(table).dimension == min(5, n_cuts + 1)


def test_piecewise_constant_functions_have_a_larger_graph_dimension_from_three_labels() -> None:
    # Pivots 0, 1, 1, 0: a choice needs 3 cuts only if no label suits two neighbours. The first pair and the last need
    # the pivots for that, and then the middle pair shares its pivot. So 2 cuts are enough for all 4 points.
    table = piecewise_constant(4, 2, 3)
    assert GraphWitness((0, 1, 2, 3), (0, 1, 1, 0)).is_shattered_by(table)
    assert graph_dimension(table).dimension == 4
    assert natarajan_dimension(table).dimension == 3


@pytest.mark.parametrize("n_points", [1, 2, 3, 4])
def test_the_two_dimensions_can_be_as_far_apart_as_wished(n_points: int) -> None:
    # h_A labels the points of A with "A" and the others with 0 (Daniely et al. 2011). With pivot 0 everything is
    # shattered. A label other than 0, of which each pair has one, tells the function: it leaves no choice elsewhere.
    points = range(n_points)
    subsets = list(chain.from_iterable(combinations(points, size) for size in range(n_points + 1)))
    table = np.array([[name if x in subset else 0 for x in points] for name, subset in enumerate(subsets)])
    assert graph_dimension(table).dimension == n_points
    assert natarajan_dimension(table).dimension == 1


@dimensions
@pytest.mark.parametrize(("n_points", "n_labels"), [(1, 5), (3, 4), (5, 2)])
def test_all_functions_shatter_everything(dimension_of: DimensionOf, n_points: int, n_labels: int) -> None:
    table = piecewise_constant(n_points, n_points, n_labels)
    assert dimension_of(table).dimension == n_points
    assert table.shape[0] <= growth_bound(n_points, n_labels, n_points)


@dimensions
@pytest.mark.parametrize(
    "patterns", [[], [[]], [[], []], np.empty((0, 3)), [[1, 2, 3]], [[1, 2, 3]] * 4], ids=lambda p: str(np.shape(p))
)
def test_without_two_different_rows_the_dimension_is_0(dimension_of: DimensionOf, patterns: ArrayLike) -> None:
    witness = dimension_of(patterns)
    assert witness.dimension == 0
    assert witness.is_shattered_by(patterns)


@dimensions
@pytest.mark.parametrize(
    ("patterns", "says"),
    [
        ([[0, 1], [2, -1]], "row 1 abstains at point 1.*a label of its own"),
        ([[0.0, 1.0]], "float64.*whole numbers"),
        ([0, 1, 2], r"shape \(3,\)"),
    ],
)
def test_bad_patterns_are_refused(dimension_of: DimensionOf, patterns: ArrayLike, says: str) -> None:
    with pytest.raises(InvalidInputError, match=says):
        dimension_of(patterns)


@given(st.data())
def test_no_class_exceeds_the_growth_bound(data: st.DataObject) -> None:
    n_labels = data.draw(st.integers(2, 4))
    table = data.draw(tables(n_labels))
    n_distinct = len(np.unique(table, axis=0))
    assert n_distinct <= growth_bound(table.shape[1], n_labels, natarajan_dimension(table).dimension)


@pytest.mark.parametrize("dimension", [0, 1, 2, 3, 6])
def test_the_growth_bound_is_reached_with_two_labels(dimension: int) -> None:
    table = np.array([row for row in product((0, 1), repeat=6) if sum(row) <= dimension])
    assert natarajan_dimension(table).dimension == dimension
    assert table.shape[0] == growth_bound(6, n_labels=2, dimension=dimension)


def test_the_growth_bound_is_not_reached_with_three_labels() -> None:
    # For K >= 3 and d >= 1 it never is. Its induction drops a point and counts a pattern with t extensions as
    # 1 + C(t, 2), so that equality on n points takes equality on n - 1, down to n = d; but there the bound is
    # (1 + C(K, 2))^d, more than all the K^d patterns. On 2 points with 3 labels and d = 1: the most entries of a
    # 3 by 3 matrix of which no four are the corners of a rectangle are 6 (Zarankiewicz), and the bound is 7.
    patterns = np.array(list(product(range(3), repeat=2)))
    largest = max(
        size
        for size in range(1, 10)
        for rows in combinations(range(9), size)
        if natarajan_dimension(patterns[list(rows)]).dimension <= 1
    )
    assert largest == 6
    assert growth_bound(2, n_labels=3, dimension=1) == 7


def test_growth_bound_is_an_exact_integer_however_large() -> None:
    assert growth_bound(0, 5, 3) == growth_bound(100, 5, 0) == 1
    assert growth_bound(3, 4, 2) == 1 + 3 * 6 + 3 * 36
    assert growth_bound(400, 3, 400) == 4**400


def log_failure(s: int, n_labels: int, d: int, eps: float) -> float:
    """The logarithm of 2 (2es/d)^(2d) K^(4d) exp(-eps s / 4), the bound of Eq. (6) as printed."""
    return math.log(2) + 2 * d * math.log(2 * math.e * s / d) + 4 * d * math.log(n_labels) - eps * s / 4


@pytest.mark.parametrize("n_labels", [2, 10, 1000])
@pytest.mark.parametrize("dimension", [1, 2, 7, 300])
@pytest.mark.parametrize(("eps", "delta"), [(0.999, 0.999), (0.1, 0.05), (0.01, 1e-6), (1e-5, 1e-300)])
def test_cover_sample_size_is_the_smallest(n_labels: int, dimension: int, eps: float, delta: float) -> None:
    s = cover_sample_size(n_labels, dimension, eps / 2, delta / 2)
    failure = [log_failure(i, n_labels, dimension, eps) for i in (s - 1, s, s + 1, s + s // 10, 2 * s, 100 * s)]
    assert failure[0] > math.log(delta / 2) >= failure[1]
    assert failure[1:] == sorted(failure[1:], reverse=True)
    assert s > 8 * dimension / eps


@pytest.mark.parametrize("harder", [(4, 2, 0.1, 0.05), (3, 3, 0.1, 0.05), (3, 2, 0.09, 0.05), (3, 2, 0.1, 0.04)])
def test_a_harder_problem_needs_a_larger_sample(harder: tuple[int, int, float, float]) -> None:
    assert cover_sample_size(*harder) > cover_sample_size(3, 2, 0.1, 0.05)


def test_a_single_function_needs_no_sample() -> None:
    assert cover_sample_size(n_labels=10, dimension=0, radius=0.1, failure=0.05) == 0


def test_the_double_sample_bound_holds_with_base_e() -> None:
    # The two facts by which cover_sample_size justifies base e, where the usual argument has base 2.
    for s, p in product([1, 2, 5, 17, 100, 1001], np.linspace(0.001, 0.999, 97)):
        assert binom.sf(math.floor(s * p) - 1, s, p) >= 0.5
    for radius_s in np.linspace(3, 30, 5401):
        assert 2.0 ** -math.floor(radius_s) <= math.exp(-radius_s / 2)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: growth_bound(-1, 3, 1), "n_points is -1"),
        (lambda: growth_bound(5, 3, -1), "dimension is -1"),
        (lambda: growth_bound(5, 1, 1), "n_labels is 1"),
        (lambda: cover_sample_size(1, 1, 0.1, 0.1), "n_labels is 1"),
        (lambda: cover_sample_size(3, -2, 0.1, 0.1), "dimension is -2"),
        (lambda: cover_sample_size(3, 1, 0.0, 0.1), "radius is 0.0"),
        (lambda: cover_sample_size(3, 1, 0.1, 1.0), "failure is 1.0"),
        (lambda: cover_sample_size(3, 1, float("nan"), 0.1), "radius is nan"),
    ],
)
def test_bad_sizes_are_refused(call: Callable[[], int], says: str) -> None:
    with pytest.raises(InvalidInputError, match=says):
        call()
