"""The cover against the patterns that a class is known to have, what it costs, and what it refuses."""

from __future__ import annotations

import re
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from onebit.errors import InvalidInputError
from onebit.hypotheses.base import Examples, HypothesisClass
from onebit.hypotheses.counting import CountingClass
from onebit.hypotheses.cover import Cover, CoverClass, CoverSize, build_cover, cover_size
from onebit.hypotheses.finite import PredictionTable
from onebit.hypotheses.intervals import IntervalClass
from onebit.hypotheses.natarajan import natarajan_dimension

Table = NDArray[np.int64]

N_LABELS = 3
tables = st.tuples(st.integers(1, 12), st.integers(1, 5)).flatmap(
    lambda shape: arrays(np.int64, shape, elements=st.integers(0, N_LABELS - 1))
)


def interval_patterns(n_points: int, n_cuts: int) -> set[tuple[int, ...]]:
    """Every labelling of points in increasing order that changes at most ``n_cuts`` times."""
    labellings = product(range(N_LABELS), repeat=n_points)
    return {labels for labels in labellings if np.count_nonzero(np.diff(labels)) <= n_cuts}


def assert_covers(cover: Cover, hypotheses: HypothesisClass, expected: set[tuple[int, ...]]) -> None:
    """The patterns are the expected ones, once each, and their representatives have them."""
    found = [tuple(pattern) for pattern in cover.patterns.tolist()]
    assert len(found) == len(cover.representatives) == len(expected)
    assert set(found) == expected
    for pattern, h in zip(cover.patterns, cover.representatives, strict=True):
        assert hypotheses.predict(h, cover.points).tolist() == pattern.tolist()


@given(tables)
def test_the_cover_of_a_table_is_its_distinct_rows(table: Table) -> None:
    counted = CountingClass(PredictionTable(table, N_LABELS))
    n_points = table.shape[1]
    cover = build_cover(counted, range(n_points))
    assert_covers(cover, counted, set(map(tuple, table.tolist())))
    assert counted.n_calls <= N_LABELS * n_points * len(cover.representatives)


@given(tables)
def test_size_and_calls_are_within_what_is_said_in_advance(table: Table) -> None:
    counted = CountingClass(PredictionTable(table, N_LABELS))
    said = cover_size(table.shape[1], N_LABELS, natarajan_dimension(table).dimension)
    cover = build_cover(counted, range(said.n_points))
    assert len(cover.representatives) <= said.max_patterns
    assert counted.n_calls <= said.max_calls


@pytest.mark.parametrize("n_cuts", [0, 1, 2])
def test_the_cover_of_an_infinite_class(n_cuts: int) -> None:
    counted = CountingClass(IntervalClass(n_cuts, N_LABELS))
    cover = build_cover(counted, np.arange(6.0))
    assert_covers(cover, counted, interval_patterns(6, n_cuts))
    assert counted.n_calls <= N_LABELS * 6 * len(cover.representatives)


def test_the_order_of_the_points_orders_the_columns() -> None:
    hypotheses = IntervalClass(2, N_LABELS)
    points = np.array([3.0, 0.0, 2.0, 1.0])
    place = points.astype(int)
    expected = {tuple(np.array(labels)[place].tolist()) for labels in interval_patterns(4, 2)}
    assert_covers(build_cover(hypotheses, points), hypotheses, expected)


def test_repeated_points_cost_nothing() -> None:
    once, repeated = (CountingClass(IntervalClass(1, N_LABELS)) for _ in range(2))
    small = build_cover(once, [0.0, 1.0, 2.0])
    large = build_cover(repeated, [0.0, 0.0, 1.0, 0.0, 2.0, 2.0])
    assert repeated.n_calls == once.n_calls
    assert large.representatives == small.representatives
    assert large.patterns.tolist() == small.patterns[:, [0, 0, 1, 0, 2, 2]].tolist()


def test_points_may_have_several_features() -> None:
    class Corner(PredictionTable):
        """Rows of two coordinates, of which the first is the item."""

        def _items(self, x: Examples) -> NDArray[np.int64]:
            return super()._items(np.asarray(x)[:, 0])

    table = np.array([[0, 1, 2], [2, 1, 0], [2, 1, 1]])
    points = np.array([[0, 7], [2, 7], [0, 7], [0, 8]])
    hypotheses = Corner(table, N_LABELS)
    assert_covers(build_cover(hypotheses, points), hypotheses, set(map(tuple, table[:, [0, 2, 0, 0]].tolist())))


def test_without_points_there_is_one_representative() -> None:
    cover = build_cover(IntervalClass(2, N_LABELS), [])
    assert cover.patterns.shape == (1, 0)
    assert len(cover.representatives) == 1


def test_a_single_hypothesis_is_found_with_one_call_for_each_other_label() -> None:
    counted = CountingClass(PredictionTable([[2, 0, 1, 1]], N_LABELS))
    assert build_cover(counted, range(4)).patterns.tolist() == [[2, 0, 1, 1]]
    assert counted.n_calls == 1 + (N_LABELS - 1) * 4


def test_progress_is_told_at_each_distinct_point() -> None:
    told: list[tuple[int, int]] = []
    build_cover(IntervalClass(1, 2), [1.0, 2.0, 2.0, 3.0], progress=lambda level, n: told.append((level, n)))
    # With one cut and two labels, i points have 2 i patterns.
    assert told == [(1, 2), (2, 4), (3, 6)]


def test_over_the_limit_it_says_what_fits() -> None:
    hypotheses = IntervalClass(1, 2)
    points = [1.0, 2.0, 2.0, 3.0, 4.0, 5.0]
    message = "more than 7 label patterns on the first 5 points.*the first 4 points fit, with 6: .* raise limit"
    with pytest.raises(InvalidInputError, match=message):
        build_cover(hypotheses, points, limit=7)
    assert len(build_cover(hypotheses, points[:4], limit=7).representatives) == 6
    assert len(build_cover(hypotheses, points[:5], limit=8).representatives) == 8


def test_over_the_limit_it_stops_at_once() -> None:
    # All functions: 3 points have 8 patterns, and each goes on at the fourth. As soon as one is found to do so in two
    # ways, there are more than 8.
    counted = CountingClass(PredictionTable(list(product((0, 1), repeat=10)), 2))
    with pytest.raises(InvalidInputError, match="first 3 points fit, with 8"):
        build_cover(counted, range(10), limit=8)
    assert counted.n_calls == 1 + (1 + 2 + 4) + 1


@pytest.mark.parametrize("limit", [0, -5])
def test_a_limit_without_room_is_refused(limit: int) -> None:
    with pytest.raises(InvalidInputError, match=f"limit is {limit}"):
        build_cover(IntervalClass(1, 2), [1.0], limit=limit)


def test_an_inexact_class_is_refused_before_any_call() -> None:
    counted = CountingClass(IntervalClass(1, 2))
    counted.exact = False
    with pytest.raises(InvalidInputError, match="CountingClass is not exact"):
        build_cover(counted, [1.0, 2.0])
    assert counted.n_calls == 0


@pytest.mark.parametrize("table", [[[0, 0], [-1, 0]], [[0, 0], [1, 0], [1, -1]], [[-1, -1]]])
def test_a_class_that_abstains_is_refused_even_where_labels_would_not_show_it(table: list[list[int]]) -> None:
    with pytest.raises(InvalidInputError, match=re.escape(f"hypothesis {len(table) - 1} abstains")):
        build_cover(PredictionTable(table, 2), [0, 1])


def test_abstaining_elsewhere_does_not_matter() -> None:
    cover = build_cover(PredictionTable([[0, 1, -1], [1, 1, 0]], 2), [0, 1])
    assert cover.patterns.tolist() == [[0, 1], [1, 1]]


def test_the_size_is_the_growth_bound_or_all_labellings() -> None:
    assert cover_size(10, 3, 1) == CoverSize(10, max_patterns=31, max_calls=1 + 2 * 10 * 31)
    assert cover_size(2, 3, 2) == CoverSize(2, max_patterns=9, max_calls=1 + 2 * 2 * 9)
    assert cover_size(0, 3, 2) == CoverSize(0, max_patterns=1, max_calls=1)


class TestCoverClass:
    inner = IntervalClass(2, N_LABELS)
    cover = build_cover(inner, [0.0, 1.0, 2.0, 3.0])
    hypotheses = CoverClass(inner, cover)
    x = np.array([-1.0, 0.4, 1.6, 1.6, 9.0])

    def test_it_is_the_finite_class_of_the_representatives(self) -> None:
        assert self.hypotheses.exact
        assert self.hypotheses.n_labels == N_LABELS
        assert self.hypotheses.n_hypotheses == len(self.cover.representatives)
        assert self.hypotheses.predictions(self.cover.points).tolist() == self.cover.patterns.tolist()

    def test_it_predicts_as_the_representatives_do(self) -> None:
        table = self.hypotheses.predictions(self.x)
        assert table.shape == (self.hypotheses.n_hypotheses, 5)
        for h, representative in enumerate(self.cover.representatives):
            expected = self.inner.predict(representative, self.x).tolist()
            assert table[h].tolist() == self.hypotheses.predict(h, self.x).tolist() == expected

    def test_its_oracle_is_exact_over_the_representatives(self) -> None:
        rng = np.random.default_rng(0)
        table = self.hypotheses.predictions(self.x)
        for _ in range(20):
            y, weight = rng.integers(0, N_LABELS, 5), rng.normal(size=5)
            loss = (table != y) @ weight
            h = self.hypotheses.erm(self.x, y, weight)
            assert isinstance(h, int)
            assert loss[h] == pytest.approx(loss.min(), abs=1e-12)

    def test_on_the_points_it_is_as_good_as_the_whole_class(self) -> None:
        rng = np.random.default_rng(1)
        points = self.cover.points
        for _ in range(20):
            y, weight = rng.integers(0, N_LABELS, 4), rng.normal(size=4)
            best, covered = (c.predict(c.erm(points, y, weight), points) for c in (self.inner, self.hypotheses))
            assert weight @ (covered != y) == pytest.approx(weight @ (best != y), abs=1e-12)

    def test_a_foreign_hypothesis_is_refused(self) -> None:
        with pytest.raises(InvalidInputError, match="not in this class"):
            self.hypotheses.predict(self.hypotheses.n_hypotheses, self.x)
