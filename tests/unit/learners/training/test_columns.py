"""Features of rows of any kind: what has a meaning as a number or a word is used, and the rest left out."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.naive_bayes import GaussianNB

from onebit.classifier import YesNoClassifier
from onebit.learners.training.columns import features_of_anything
from onebit.learners.training.rows import columns_of

N = 120
NUMBERS = np.random.default_rng(0).standard_normal(N)


def test_features_of_rows_of_every_kind() -> None:
    assert features_of_anything(np.zeros((5, 8, 8)), 0).shape == (5, 64)  # type: ignore[union-attr]
    assert features_of_anything(np.array([{}, {}]), 0) is None
    gaps = features_of_anything(np.array([[1.0, np.nan], [3.0, 2.0], [5.0, 4.0]]), 0)
    np.testing.assert_allclose(gaps[:, 1], np.sqrt(1.5) * np.array([0, -1, 1]), atol=1e-6)  # type: ignore[index]
    np.testing.assert_allclose(gaps[:, 2] > 0, [True, False, False])  # type: ignore[index]
    words = [f"word{number} other{number % 7}" for number in range(200)]
    frame = pd.DataFrame({"text": words, "color": ["red", "blue"] * 100, "n": range(200)})
    made = features_of_anything(frame, 0)
    assert made is not None
    assert made.shape[0] == 200
    assert made.shape[1] > 100
    assert np.isfinite(made).all()


def days(number: int) -> list[datetime.date]:
    return [datetime.date(2020, 1, 1) + datetime.timedelta(day) for day in range(number)]


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(pd.date_range("2020", periods=N)),
        pd.Series(pd.date_range("2020", periods=N, tz="UTC")),
        pd.Series(days(N), dtype=object),
        pl.Series(days(N)),
        pa.chunked_array([days(N)]),
        pd.Series(range(N), dtype="Int64"),
    ],
)
def test_times_are_numbers(column: Any) -> None:
    frame = pa.table({"at": column}) if isinstance(column, pa.ChunkedArray) else column.to_frame()
    made = features_of_anything(frame, 0)
    assert made is not None
    np.testing.assert_allclose(made[:, 0], (np.arange(N) - (N - 1) / 2) / np.arange(N).std(), rtol=1e-5)


class SeesTheFirst(GaussianNB):  # type: ignore[misc]
    """Takes a data frame with whatever columns, and looks at the first."""

    def fit(self, X: Any, y: np.ndarray) -> SeesTheFirst:
        return super().fit(np.asarray(columns_of(X)[0])[:, None], y)

    def predict_proba(self, X: Any) -> np.ndarray:
        found: np.ndarray = super().predict_proba(np.asarray(columns_of(X)[0])[:, None])
        return found


LISTS = [list(range(row % 3)) for row in range(N)]
TWICE = pd.DataFrame(np.column_stack([NUMBERS, NUMBERS]))
TWICE.columns = ["number", "number"]


@pytest.mark.parametrize(
    ("frame", "n_features"),
    [
        (pd.DataFrame({"number": NUMBERS, "list": LISTS}), 1),
        (pd.DataFrame({"number": NUMBERS, "array": [np.arange(3)] * N}), 1),
        (pl.DataFrame({"number": NUMBERS, "list": LISTS}), 1),
        (pl.DataFrame({"number": NUMBERS, "struct": [{"a": 1, "b": "x"}] * N}), 3),
        (pa.table({"number": NUMBERS, "list": LISTS, "struct": [{"a": 1}] * N}), 1),
        (TWICE, 2),
    ],
)
def test_what_has_no_number_is_left_out_and_an_estimator_has_it(frame: Any, n_features: int) -> None:
    made = features_of_anything(frame, 0)
    assert made is not None
    assert made.shape == (N, n_features)
    assert np.isfinite(made).all()
    model = YesNoClassifier(SeesTheFirst(), budget=40, seed=0)
    assert model.fit(frame, NUMBERS > 0).predict(frame).shape == (N,)


def test_nothing_but_lists_and_rows_that_differ_in_length() -> None:
    assert features_of_anything(pd.DataFrame({"list": LISTS}), 0) is None
    assert features_of_anything(LISTS, 0) is None
    assert features_of_anything(np.empty((N, 0)), 0) is None


def test_columns_of_an_array_of_texts() -> None:
    made = features_of_anything([["red", "1"], ["blue", "1"], ["red", "1"]], 0)
    assert made is not None
    np.testing.assert_array_equal(made[0], made[2])
    assert not np.array_equal(made[0], made[1])


def test_texts_of_one_character_and_vast_numbers() -> None:
    made = features_of_anything(pd.DataFrame({"sign": [chr(0x4E00 + row) for row in range(N)]}), 0)
    assert made is not None
    assert np.isfinite(made).all()
    vast = features_of_anything(np.column_stack([1e307 * NUMBERS, NUMBERS]), 0)
    assert vast is not None
    assert np.isfinite(vast).all()
    assert features_of_anything([""] * 5, 0) is not None
