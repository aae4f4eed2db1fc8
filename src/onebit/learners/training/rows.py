"""Rows as a user gives them: made such that some can be taken, their columns, and those that have gaps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AnySet
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from onebit.errors import InvalidInputError, shown
from onebit.learners.training.model import Bools, Ints

#: What data frames call a value that is missing, by the name of its type: pandas need not be there.
MISSING = ("NoneType", "NAType", "NaTType")


def as_rows(x: Any) -> Any:
    """``x``, with sparse numbers such that rows can be taken; InvalidInputError for what has no rows in an order."""
    if issparse(x):
        return x.tocsr()
    if isinstance(x, str | bytes):
        raise InvalidInputError(f"X is {shown(x)}; give a list of texts, one for each row, such as [{shown(x)}]")
    if hasattr(x, "__array__") and not hasattr(x, "shape"):
        x = np.asarray(x)
    counted = getattr(x, "shape", None) != () and (hasattr(x, "shape") or hasattr(x, "__len__"))
    if isinstance(x, Mapping | AnySet | Iterator) or not counted:
        raise InvalidInputError(
            f"X is of type {type(x).__name__}; rows must be counted and have an order. Give an array, a data frame, or "
            "a list"
        )
    return x


def list_as_rows(x: Any) -> Any:
    """A list for an estimator: an array where all rows are numbers, None among them being NaN; else as it is."""
    given = list(x)
    array = as_array(given)
    if array.dtype.kind in "biuf":
        return array
    if array.dtype.kind == "O" and not any(isinstance(each, str) for each in array.flat):
        try:
            return array.astype(np.float64)
        except (TypeError, ValueError):
            return given
    return given


def as_array(x: Any) -> NDArray[Any]:
    """An array of whatever ``x`` holds; with one dimension if its rows differ in length."""
    try:
        return np.asarray(x)
    except ValueError:
        rows = np.empty(len(x), dtype=object)
        rows[:] = list(x)
        return rows


def is_frame(x: Any) -> bool:
    """Whether ``x`` has named columns: a data frame or a table."""
    return hasattr(x, "columns") and hasattr(x, "shape")


def columns_of(x: Any) -> list[Any]:
    """The columns of a data frame or an array, in their order; names need not differ."""
    if hasattr(x, "iloc"):
        return [x.iloc[:, at] for at in range(x.shape[1])]
    if isinstance(x, np.ndarray):
        return list(x.reshape(len(x), -1).T)
    return list(x.get_columns() if hasattr(x, "get_columns") else x.columns)


def with_gaps(x: Any) -> Ints:
    """For each column that has gaps (NaN, None, infinite numbers) a row that has one."""
    if issparse(x):
        entries = x.tocoo()
        gaps = ~np.isfinite(entries.data) if entries.data.dtype.kind == "f" else np.zeros(entries.nnz, dtype=np.bool_)
        _, first = np.unique(entries.col[gaps], return_index=True)
        return np.unique(entries.row[gaps][first]).astype(np.int64)
    if is_frame(x):
        gaps_of = [_by_row(as_array(column)).any(axis=1) for column in columns_of(x)]
        return np.unique(np.array([each.argmax() for each in gaps_of if each.any()], dtype=np.int64))
    gaps = _by_row(as_array(x))
    return np.unique(gaps.argmax(axis=0)[gaps.any(axis=0)]).astype(np.int64)


def gaps_in(values: NDArray[Any]) -> Bools:
    """Where there is no value, or an infinite number."""
    kind = values.dtype.kind
    gaps: Bools = np.zeros(values.shape, dtype=np.bool_)
    if kind in "fc":
        gaps = ~np.isfinite(values)
    elif kind in "mM":
        gaps = np.isnat(values)
    elif kind == "O":
        gaps = np.array([is_gap(each) for each in values.flat], dtype=np.bool_).reshape(values.shape)
    return gaps


def _by_row(values: NDArray[Any]) -> Bools:
    """The gaps in all that each row holds; shape (n, d)."""
    return gaps_in(values.reshape(len(values), -1))


def is_gap(value: Any) -> bool:
    """Whether ``value`` is none: NaN, None, what data frames have for them, or an infinite number."""
    if isinstance(value, float | np.floating):
        return not np.isfinite(value)
    return type(value).__name__ in MISSING
