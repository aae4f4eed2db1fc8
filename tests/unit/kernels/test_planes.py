"""Weighted agreement and the best rows against plain sums in numpy, and the error against its bound."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from tests.problems import random_right

from onebit.errors import InvalidInputError
from onebit.kernels import bits, planes
from onebit.kernels.bits import TILE, PackedTable
from onebit.kernels.planes import agreement, best, error_bound, exact_agreement

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

#: The accuracy that is promised, relative to sum |weight|, with all planes.
PROMISED = 5e-6

WEIGHTS: dict[str, Callable[[np.random.Generator, int], Floats]] = {
    "positive": lambda rng, m: rng.exponential(size=m),
    "of both signs": lambda rng, m: rng.normal(size=m),
    "negative": lambda rng, m: -rng.exponential(size=m),
    "all equal": lambda rng, m: np.full(m, 0.3),
    "all zero": lambda rng, m: np.zeros(m),
    "mostly zero": lambda rng, m: rng.normal(size=m) * (rng.random(m) < 0.01),
    "of a huge range": lambda rng, m: rng.normal(size=m) * 10.0 ** rng.integers(-300, 300, m),
    "of a large range": lambda rng, m: rng.normal(size=m) * 10.0 ** rng.integers(-6, 6, m),
    "tiny": lambda rng, m: rng.normal(size=m) * 1e-310,
    "one huge": lambda rng, m: np.where(np.arange(m) == m // 2, -1e9, rng.random(m)),
}


def packed(right: Bools, **settings: Any) -> PackedTable:
    table = PackedTable(right.shape[0], **settings)
    table.append(right.astype(np.uint8), np.arange(right.shape[1]), np.ones(right.shape[1], int))
    return table


def expected_best(right: Bools, weight: Floats, n: int) -> list[int]:
    """The n best rows, ties to the lowest; exact for whole weights."""
    return np.argsort(-(right @ weight), kind="stable")[:n].tolist()


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("n_samples", [1, 63, 64, 65, TILE, 3 * TILE + 17])
def test_agreement_is_that_of_numpy(weights: str, n_samples: int) -> None:
    rng = np.random.default_rng(n_samples)
    right = random_right(rng, 70, n_samples)
    weight = WEIGHTS[weights](rng, n_samples)
    table, expected = packed(right), right @ weight
    rounding = 1e-12 * np.abs(weight).sum() + 1e-320
    np.testing.assert_allclose(exact_agreement(table, np.arange(70), weight), expected, rtol=0, atol=rounding)
    for n_planes in (2, 4):
        error = np.abs(agreement(table, weight, n_planes) - expected).max()
        assert error <= error_bound(weight, n_planes) + rounding
    if np.abs(weight).max() > 1e-290:
        assert error <= PROMISED * np.abs(weight).sum()


def test_a_table_without_samples_agrees_with_nothing() -> None:
    table = PackedTable(5)
    assert agreement(table, []).tolist() == [0.0] * 5
    assert agreement(table, np.zeros((3, 0))).shape == (3, 5)
    rows, scores = best(table, [], 2)
    assert (rows.tolist(), scores.tolist()) == ([0, 1], [0.0, 0.0])


weights_and_rows = st.integers(1, 40).flatmap(
    lambda m: st.tuples(
        arrays(np.float64, m, elements=st.floats(-1e30, 1e30, allow_subnormal=False)),
        arrays(np.bool_, st.tuples(st.integers(1, 5), st.just(m))),
    )
)


@given(weights_and_rows, st.sampled_from([2, 4]))
def test_no_error_exceeds_the_bound(drawn: tuple[Floats, Bools], n_planes: int) -> None:
    weight, right = drawn
    table = packed(right)
    error = np.abs(agreement(table, weight, n_planes) - exact_agreement(table, np.arange(right.shape[0]), weight))
    assert error.max() <= error_bound(weight, n_planes)


@given(weights_and_rows)
def test_the_bound_is_within_the_promise(drawn: tuple[Floats, Bools]) -> None:
    weight = drawn[0]
    total = np.abs(weight).sum()
    if total > 1e-290:
        assert error_bound(weight) <= PROMISED * total


def test_the_promise_holds_for_the_worst_weights() -> None:
    """One group takes the whole range, and all others of the tile are off by nearly half a step, the same way."""
    weight = np.full(TILE, 0.0)
    weight[::4] = 0.499 / (2**24 - 1)
    weight[0] = 1.0
    table = packed(np.ones((1, TILE), bool))
    error = abs(agreement(table, weight)[0] - weight.sum())
    assert 0.9 * error_bound(weight) < error <= error_bound(weight) < PROMISED * weight.sum()


@pytest.mark.parametrize("n_planes", [2, 4])
def test_the_largest_digits_do_not_overflow(n_planes: int) -> None:
    table = packed(np.ones((33, 2 * TILE), bool))
    np.testing.assert_allclose(agreement(table, np.full(2 * TILE, 0.7), n_planes), 0.7 * 2 * TILE, rtol=1e-12)


@pytest.mark.parametrize("n_planes", [2, 4])
def test_several_vectors_at_once_are_each_alone(n_planes: int) -> None:
    rng = np.random.default_rng(0)
    table = packed(random_right(rng, 100, 2 * TILE + 5))
    vectors = np.stack([make(rng, 2 * TILE + 5) for make in WEIGHTS.values()])
    together = agreement(table, vectors, n_planes)
    for vector, row in zip(vectors, together, strict=True):
        np.testing.assert_array_equal(row, agreement(table, vector, n_planes))
    np.testing.assert_array_equal(error_bound(vectors), [error_bound(vector) for vector in vectors])


def test_results_do_not_depend_on_threads_or_on_where_the_table_lies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    right = random_right(rng, 300, 2 * TILE + 100)
    weight = rng.normal(size=right.shape[1])
    plain = packed(right)
    monkeypatch.setattr(bits, "CHUNK_TILES", 1)
    mapped = packed(right, memory_share=0.0, folder=tmp_path)
    monkeypatch.setattr(planes, "SWEEP_GRAIN", 1)
    monkeypatch.setattr(planes, "RESCORE_GRAIN", 1)
    for table, n_threads in ((plain, 3), (mapped, 1), (mapped, 3)):
        np.testing.assert_array_equal(agreement(table, weight, n_threads=n_threads), agreement(plain, weight))
        for got, expected in zip(best(table, weight, 7, n_threads=n_threads), best(plain, weight, 7), strict=True):
            np.testing.assert_array_equal(got, expected)


def test_more_hypotheses_than_a_strip() -> None:
    rng = np.random.default_rng(0)
    right = random_right(rng, 3 * planes.STRIP * bits.BLOCK + 1, 100)
    weight = rng.normal(size=100)
    bound = float(error_bound(weight))
    np.testing.assert_allclose(agreement(packed(right), weight), right @ weight, rtol=0, atol=bound)


@given(
    right=arrays(np.bool_, st.tuples(st.integers(1, 12), st.integers(1, 12))),
    n=st.integers(1, 14),
    n_planes=st.sampled_from([2, 4]),
    data=st.data(),
)
def test_the_best_are_those_of_numpy_ties_to_the_lowest(right: Bools, n: int, n_planes: int, data: Any) -> None:
    weight = data.draw(arrays(np.float64, right.shape[1], elements=st.integers(-3, 3)))
    rows, scores = best(packed(right), weight, n, n_planes)
    assert rows.tolist() == expected_best(right, weight, n)
    np.testing.assert_array_equal(scores, (right @ weight)[rows])


@pytest.mark.parametrize("n_planes", [2, 4])
def test_identical_rows_tie_whatever_the_weights(n_planes: int) -> None:
    rng = np.random.default_rng(0)
    distinct = random_right(rng, 40, 1000)
    copies = rng.permutation(np.repeat(np.arange(40), 5))
    weight = rng.normal(size=1000) * 10.0 ** rng.integers(-6, 6, 1000)
    table = packed(distinct[copies])
    rows, scores = best(table, weight, 10, n_planes)
    winner, second = (np.flatnonzero(copies == copies[row]) for row in (rows[0], rows[5]))
    assert rows.tolist() == [*winner, *second]
    assert np.unique(scores).size == 2


def test_the_best_of_close_rows_is_found_by_exact_sums() -> None:
    """Rows that differ by less than the kernel resolves, in an order that it cannot see."""
    weight = np.full(TILE, 1.0)
    weight[-5:] = [1e-12, 5e-12, 3e-12, 2e-12, 4e-12]
    right = np.zeros((5, TILE), bool)
    right[:, :-5] = True
    right[np.arange(5), np.arange(TILE - 5, TILE)] = True
    table = packed(right)
    assert np.unique(agreement(table, weight)).size == 1
    assert best(table, weight, 5)[0].tolist() == [1, 4, 2, 3, 0]


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (np.ones(4), "each of the 3 samples"),
        (np.ones((2, 4)), "each of the 3 samples"),
        (np.ones((0, 3)), "each of the 3 samples"),
        (np.ones((1, 1, 3)), "each of the 3 samples"),
        ([1.0, np.nan, 1.0], "NaN or infinite"),
        ([1.0, np.inf, 1.0], "NaN or infinite"),
        ([1e308, -1e308, 1e308], "more than float64 can hold"),
    ],
)
def test_weights_that_make_no_sense_are_refused(weight: Any, message: str) -> None:
    table = packed(np.ones((2, 3), bool))
    for call in (agreement, best):
        with pytest.raises(InvalidInputError, match=message):
            call(table, weight)


def test_other_nonsense_is_refused() -> None:
    table, weight = packed(np.ones((2, 3), bool)), np.ones(3)
    with pytest.raises(InvalidInputError, match="n_planes is 3"):
        agreement(table, weight, 3)
    with pytest.raises(InvalidInputError, match="n is 0"):
        best(table, weight, 0)
    with pytest.raises(InvalidInputError, match="2 vectors"):
        best(table, np.ones((2, 3)))
    with pytest.raises(InvalidInputError, match="no hypothesis 2"):
        exact_agreement(table, [2], weight)
