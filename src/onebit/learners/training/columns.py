"""Dense features of rows of any kind, for the guide of an estimator; the estimator itself takes rows as they are."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from onebit.learners.training.constants import MOST_VALUES, VAST
from onebit.learners.training.features import Features, is_text
from onebit.learners.training.model import Floats
from onebit.learners.training.rows import as_array, columns_of, gaps_in, is_frame


def features_of_anything(x: Any, seed: int) -> NDArray[np.float32] | None:
    """Features (n, d) of texts, numbers with or without NaN, images, or a data frame; None of anything else.

    In a data frame numbers and times are standardised, columns of few different values have a feature for each value,
    and the texts of all other columns are joined. What is none of these, such as a list in each row, is left out.
    """
    if issparse(x):
        finite = x.copy()
        finite.data = np.clip(np.nan_to_num(x.data.astype(np.float64)), -VAST, VAST)
        return Features(finite, seed)(finite)
    if is_text(x):
        return _of_columns([as_array(x)], seed) if not any(map(str.strip, x)) else Features(x, seed)(x)
    if is_frame(x):
        return _of_columns(columns_of(x), seed)
    array = as_array(x)
    if array.size == 0:
        return None
    if array.dtype.kind in "biuf" and array.ndim > 1:
        return _of_numbers(array.reshape(len(array), -1))
    return _of_columns([array], seed) if array.ndim <= 2 else None


def _of_columns(columns: Iterable[Any], seed: int) -> NDArray[np.float32] | None:
    """Features of columns of several kinds; None if there are none."""
    numbers, texts = list[NDArray[Any]](), list[list[str]]()
    for column in columns:
        for values in _parts(as_array(column)):
            made = _numbers(values)
            words = _words(values) if made is None else None
            if words is None:
                numbers += [] if made is None else [made[:, None]]
                continue
            different = np.unique(words)
            if different.size <= MOST_VALUES:
                numbers.append(np.array(words)[:, None] == different)
            else:
                texts.append(words)
    features = [_of_numbers(np.hstack(numbers))] if numbers else []
    if texts:
        joined = np.array([" ".join(row) for row in zip(*texts, strict=True)], dtype=object)
        features.append(Features(joined, seed)(joined))
    return np.hstack(features) if features else None


def _parts(values: NDArray[Any]) -> list[NDArray[Any]]:
    """A column; or, where each row of it has several values, the columns that these make."""
    return [values] if values.ndim == 1 else columns_of(values)


def _numbers(values: NDArray[Any]) -> Floats | None:
    """Numbers and times as numbers, gaps as NaN; None if some value is neither."""
    kind, gaps = values.dtype.kind, gaps_in(values)
    if kind in "biuf":
        return values.astype(np.float64)
    if kind in "mM":
        return np.where(gaps, np.nan, values.astype(np.int64))
    there = values[~gaps].tolist() if kind == "O" else []
    numbers = [_number(each) for each in there]
    if not numbers or None in numbers:
        return None
    found: Floats = np.full(values.shape, np.nan)
    found[~gaps] = numbers
    return found


def _number(value: Any) -> float | None:
    """A number or a time as a number; None for anything else, and for whole numbers beyond all bounds."""
    try:
        if isinstance(value, bool | int | float | Decimal | np.number | np.bool_):
            return float(value)
        if hasattr(value, "timestamp"):
            return float(value.timestamp())
        return float(value.toordinal()) if hasattr(value, "toordinal") else None
    except (TypeError, ValueError, OverflowError):
        return None


def _words(values: NDArray[Any]) -> list[str] | None:
    """Values as texts, gaps as an empty one; None if one of them holds several things, or bytes that are no numbers."""
    if values.dtype.kind not in "OUS" or any(hasattr(each, "__len__") and not isinstance(each, str) for each in values):
        return None
    return ["" if gap else str(each) for each, gap in zip(values.tolist(), gaps_in(values), strict=True)]


def _of_numbers(x: NDArray[Any]) -> NDArray[np.float32]:
    """Standardised; what is no number becomes the mean, and has a column of its own."""
    given = x.astype(np.float64)
    known = np.isfinite(given)
    # The squares of larger numbers have no end.
    given = np.clip(given, -VAST, VAST)
    gaps = ~known[:, ~known.all(axis=0)]
    mean = np.where(known, given, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    whole = np.hstack([np.where(known, given, mean), gaps])
    return Features(whole, 0)(whole)
