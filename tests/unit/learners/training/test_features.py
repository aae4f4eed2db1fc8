"""Features: many columns become their main directions, and rows are made dense some at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_array

from onebit.errors import InvalidInputError
from onebit.learners.training import features
from onebit.learners.training.features import Features


def test_many_columns_become_few_that_keep_near_rows_near(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of 3 dimensions seen through 40 columns: 5 directions keep all distances, up to one scale."""
    monkeypatch.setattr(features, "N_DIRECTIONS", 5)
    rng = np.random.default_rng(0)
    x = rng.standard_normal((200, 3)) @ rng.standard_normal((3, 40))
    made = Features(x, seed=0)(x)
    assert made.shape == (200, 5)
    assert made.dtype == np.float32
    assert np.isclose((made**2).mean(), 1.0, rtol=1e-3)
    whole = (x - x.mean(axis=0)) / x.std(axis=0)
    before, after = (np.linalg.norm(of[:100] - of[100:], axis=1) for of in (whole, made))
    np.testing.assert_allclose(after / before, np.full(100, (after / before).mean()), rtol=1e-3)


def test_few_columns_are_standardised_and_constant_ones_are_0() -> None:
    x = np.column_stack([np.arange(10.0), np.full(10, 7.0)])
    made = Features(x, seed=0)(x)
    np.testing.assert_allclose(made[:, 0], (x[:, 0] - 4.5) / x[:, 0].std(), rtol=1e-6)
    assert not made[:, 1].any()


@pytest.mark.parametrize("kind", [np.float64, np.float16])
def test_rows_of_one_length_keep_how_much_each_column_tells(kind: type) -> None:
    x: NDArray[np.floating] = of_one_length(np.array([1.0, 1.0, 0.1, 0.01])).astype(kind)
    made = Features(np.vstack([x, np.zeros((2, 4))]), seed=0)(x)
    np.testing.assert_allclose(made.std(axis=0) / made.std(), x.std(axis=0) / x.std(), rtol=0.02)
    assert np.isclose((made**2).mean(), 1.0, rtol=0.05)


def test_rows_of_other_lengths_are_standardised() -> None:
    x = of_one_length(np.array([1.0, 1.0, 0.1, 0.01])) * np.linspace(1, 1.01, 100)[:, None]
    np.testing.assert_allclose(Features(x, seed=0)(x).std(axis=0), np.ones(4), rtol=1e-5)


@pytest.mark.parametrize(
    "column",
    [np.linspace(1.70e9, 1.70e9 + 5e5, 100), np.linspace(2025, 2026, 100), np.resize([-1000, 1000], 100)],
    ids=["seconds", "years", "signs"],
)
def test_one_column_does_not_make_rows_of_one_length(column: NDArray[np.float64]) -> None:
    x = np.column_stack([column, np.random.default_rng(0).random((100, 3))])
    np.testing.assert_allclose(Features(x, seed=0)(x).std(axis=0), np.ones(4), rtol=1e-5)


def test_many_columns_of_rows_of_one_length_become_more_directions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(features, "N_DIRECTIONS", 2)
    monkeypatch.setattr(features, "N_DIMENSIONS", 5)
    x = of_one_length(np.geomspace(1, 0.2, 8))
    assert Features(x, seed=0)(x).shape == (100, 5)
    assert Features(x[:, :4], seed=0)(x[:, :4]).shape == (100, 2)


def test_what_comes_out_for_a_row_does_not_hang_on_others() -> None:
    x = np.random.default_rng(0).standard_normal((300, 400))
    made = Features(x, seed=0)
    together, alone = made(x), np.concatenate([made(row[None]) for row in x])
    np.testing.assert_allclose(alone, together, atol=1e-6)
    assert (alone == together).mean() > 0.999


@pytest.mark.parametrize("x", [np.array(["a b"] * 20, dtype=object), csr_array((20, 5))], ids=["texts", "sparse"])
def test_equal_rows_have_features_without_a_warning(x: Any) -> None:
    assert np.isfinite(Features(x, seed=0)(x)).all()


def of_one_length(spread: NDArray[np.float64]) -> NDArray[np.float64]:
    """A hundred rows of length 1, whose columns vary about as ``spread`` says."""
    rows = spread * np.random.default_rng(0).standard_normal((100, spread.size))
    made: NDArray[np.float64] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return made


@pytest.mark.parametrize("value", [0.1, -7.3, 123456.789, 1e100, 1e300])
@pytest.mark.parametrize("n_rows", [3, 600])
def test_a_constant_column_is_0_even_if_its_mean_is_rounded(value: float, n_rows: int) -> None:
    rows = np.stack([np.full(n_rows, value), np.arange(n_rows)], axis=1)
    made = Features(rows, 0)
    assert not made(rows)[:, 0].any()


@pytest.mark.parametrize("kind", ["numbers", "texts"])
def test_rows_made_dense_some_at_a_time_are_the_same(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    words = ["pool", "short", "texts", "weather", "money", "travel", "food", "rain", "cash", "train", "bread", "storm"]
    texts = np.array([" ".join(rng.choice(words, 6)) for _ in range(50)], dtype=object)
    x = texts if kind == "texts" else rng.standard_normal((50, 4))
    at_once = Features(x, seed=0)(x)
    monkeypatch.setattr(features, "ROWS_AT_ONCE", 7)
    np.testing.assert_allclose(Features(x, seed=0)(x), at_once, atol=1e-5)


@pytest.mark.parametrize("scale", [1e99, 1e200, 1e307])
def test_vast_numbers_are_as_good_as_others(scale: float) -> None:
    x = np.random.default_rng(0).standard_normal((50, 3))
    vast = x * np.array([scale, 1.0, 1.0])
    np.testing.assert_allclose(Features(vast, seed=0)(vast), Features(x, seed=0)(x), rtol=1e-5)


@pytest.mark.parametrize("n_columns", [1, 8])
def test_vast_sparse_numbers_are_as_good_as_others(n_columns: int) -> None:
    x = csr_array(np.random.default_rng(0).integers(0, 2, (50, n_columns)).astype(float))
    vast = x * 1e300
    np.testing.assert_allclose(Features(vast, seed=0)(vast), Features(x, seed=0)(x), atol=1e-5)


def test_a_row_far_from_all_others_has_features_that_end() -> None:
    x = np.random.default_rng(0).standard_normal((50, 3)) / 1e9
    assert np.isfinite(Features(x, seed=0)(np.full((1, 3), 1e308))).all()


@pytest.mark.parametrize("texts", [["😀", "😡", "😀😀"] * 9, ["a", "b", "c"] * 9, ["", "!", "?"] * 9 + ["one word"]])
def test_texts_without_words_go_by_characters(texts: list[str]) -> None:
    made = Features(texts, seed=0)(texts)
    np.testing.assert_allclose(made[1], made[4], atol=1e-5)
    assert np.linalg.norm(made[1] - made[2]) > 0.5


def test_empty_texts_are_one_clear_error() -> None:
    with pytest.raises(InvalidInputError, match="all 3 texts are empty"):
        Features(["", "", ""], seed=0)
