"""Dense features of rows of any kind, for the guide of an estimator; the estimator itself takes rows as they are."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from onebit.learners.training.constants import MOST_VALUES
from onebit.learners.training.features import Features, is_text


def features_of_anything(x: Any, seed: int) -> NDArray[np.float32] | None:
    """Features (n, d) of texts, numbers with or without NaN, images, or a data frame; None of anything else.

    In a data frame numbers are standardised, columns of few different values have a feature for each value, and the
    texts of all other columns are joined.
    """
    if is_text(x) or issparse(x):
        return Features(x, seed)(x)
    if hasattr(x, "columns") and hasattr(x, "shape"):
        return _of_frame(x, seed)
    array = np.asarray(x)
    if array.ndim < 2 or array.dtype.kind not in "biuf":
        return None
    return _of_numbers(array.reshape(len(array), -1))


def _of_frame(frame: Any, seed: int) -> NDArray[np.float32]:
    numbers, texts = [], []
    for name in frame.columns:
        column = np.asarray(frame[name])
        if column.dtype.kind in "biuf":
            numbers.append(column[:, None])
            continue
        words = column.astype(str)
        values = np.unique(words)
        if values.size <= MOST_VALUES:
            numbers.append(words[:, None] == values)
        else:
            texts.append(words)
    made = [_of_numbers(np.hstack(numbers))] if numbers else []
    if texts:
        joined = np.array([" ".join(row) for row in zip(*texts, strict=True)], dtype=object)
        made.append(Features(joined, seed)(joined))
    return np.hstack(made)


def _of_numbers(x: NDArray[Any]) -> NDArray[np.float32]:
    """Standardised; what is no number becomes the mean, and has a column of its own."""
    known = np.isfinite(x.astype(np.float64))
    gaps = ~known[:, ~known.all(axis=0)]
    filled = np.where(known, x, 0.0)
    mean = filled.sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    whole = np.hstack([np.where(known, x, mean), gaps])
    return Features(whole, 0)(whole)
