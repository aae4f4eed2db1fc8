"""What the built-in model and the labels may be: what is meant well and cannot be taken is refused in plain words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from onebit.errors import InvalidInputError, shown
from onebit.learners.training.features import is_text
from onebit.learners.training.rows import columns_of, is_gap

#: What labels may be; a truth value is a whole number to Python, so it comes first.
KINDS_OF_LABEL = {
    "a truth value": bool,
    "a whole number": int,
    "a number with a point": float,
    "a text": str,
}


def check_built_in_takes(x: Any) -> None:
    """Refuse texts with gaps, columns that are no numbers, and items of more than one row of numbers."""
    n_dimensions = len(getattr(x, "shape", (0,)))
    if hasattr(x, "columns"):
        _check_frame(x)
    elif n_dimensions > 2:
        raise InvalidInputError(
            f"X has shape {tuple(x.shape)}; the built-in model takes one row of numbers per item. Found array with dim "
            f"{n_dimensions}: give X.reshape(len(X), -1), or an estimator that takes such items"
        )
    elif n_dimensions == 1 and not issparse(x) and hasattr(x, "__len__"):
        texts = [isinstance(each, str) for each in x]
        if any(texts) and not all(texts):
            row = texts.index(False)
            raise InvalidInputError(
                f"row {row} is {shown(list(x)[row])}, and others are texts; give a text for each row, an empty one if "
                "need be"
            )


def check_is_as_learned(x: Any, learned_texts: bool) -> None:
    """Refuse numbers where the built-in model has learned texts, and texts where it has learned numbers."""
    if is_text(x) == learned_texts:
        return
    if learned_texts:
        check_built_in_takes(x)
        raise InvalidInputError(
            f"the classifier has learned texts, and X, of type {type(x).__name__}, holds none; give a list of "
            "texts, one for each row"
        )
    raise InvalidInputError(
        f"the classifier has learned numbers, and X holds texts, such as {shown(next(iter(x)))}; give the same "
        "columns of numbers"
    )


def _check_frame(frame: Any) -> None:
    # A table of pyarrow has its columns themselves in the place of their names.
    names = list(getattr(frame, "column_names", frame.columns))
    if twice := [name for at, name in enumerate(names) if name in names[:at]]:
        raise InvalidInputError(f"two columns are called {twice[0]!r}; give each a name of its own")
    columns = [np.asarray(column) for column in columns_of(frame)]
    for name, column in zip(names, columns, strict=True):
        texts = [each for each in column.tolist() if isinstance(each, str)]
        if texts and len(names) == 1:
            raise InvalidInputError(
                f"X has one column, {name!r}, and it holds texts, such as {shown(texts[0])}; the built-in model takes "
                f"texts as a list or a single column: give X[{name!r}]"
            )
        if texts:
            raise InvalidInputError(
                f"column {name!r} holds texts, such as {shown(texts[0])}; the built-in model takes numbers, or one "
                "column of texts by itself. Give an estimator for columns of several kinds, such as a pipeline with a "
                "ColumnTransformer"
            )
    # What polars and Arrow hold are numbers to numpy, times too; pandas makes one array of columns of one kind alone.
    are_alike = not hasattr(frame, "iloc") or len({column.dtype.kind for column in columns}) == 1
    for name, column in zip(names, columns, strict=True):
        if (other := _no_number_in(column, are_alike)) is not None:
            raise InvalidInputError(
                f"column {name!r} holds {shown(other)}, of type {type(other).__name__}; the built-in model takes "
                "numbers. Give it as numbers, such as days since a date, leave it out, or give an estimator for "
                "columns of several kinds, such as a pipeline with a ColumnTransformer"
            )


def _no_number_in(column: NDArray[Any], times_are_numbers: bool) -> Any:
    """What a column holds that is no number; None if there is no such thing, gaps being refused elsewhere."""
    if column.dtype.kind in "mM":
        return None if times_are_numbers else column[0]
    if column.dtype.kind != "O":
        return None
    others = (each for each in column if not (is_gap(each) or hasattr(each, "__float__") or isinstance(each, bytes)))
    return next(others, None)


def as_labels(labels: Iterable[Any], what: str = "the labels") -> NDArray[Any]:
    """Labels as an array (n,); InvalidInputError unless all are texts, or all whole numbers, and so on.

    An array has one type, so labels of several would be changed: with a text among them all would be texts.
    """
    if isinstance(labels, str | bytes) or not isinstance(labels, Iterable) or getattr(labels, "shape", None) == ():
        raise InvalidInputError(f"{what} are {shown(labels)}; give a list of them")
    given = [each.item() if isinstance(each, np.number | np.bool_ | np.str_) else each for each in labels]
    kinds = [_kind_of_label(each, what) for each in given]
    if (other := next((at for at, kind in enumerate(kinds) if kind != kinds[0]), None)) is not None:
        raise InvalidInputError(
            f"of {what} {shown(given[0])} and {shown(given[other])} one is {kinds[0]} and one is {kinds[other]}; give "
            "all as one of these, or as texts"
        )
    return np.asarray(given)


def as_truth(y: Any) -> NDArray[Any]:
    """The labels of all rows as an array (n,), by the same rules; columns are taken as scikit-learn takes them."""
    listed = list(y) if isinstance(y, list | tuple | Iterator) else None
    if listed is not None and not any(isinstance(each, list | tuple | np.ndarray) for each in listed):
        truth = as_labels(listed, "the labels in y")
    else:
        truth = column_or_1d(y if listed is None else listed, warn=True)
        assert_all_finite(truth, input_name="y")
        if truth.dtype.kind not in "biufU":
            truth = as_labels(truth, "the labels in y")
    check_classification_targets(truth)
    return truth


def _kind_of_label(label: Any, what: str) -> str:
    """Of what kind a label is, in words."""
    if is_gap(label):
        raise InvalidInputError(f"among {what} there is {label}, which is no label; leave it out, or give it a name")
    vast = isinstance(label, int) and not -(2**63) <= label < 2**63
    for kind, types in KINDS_OF_LABEL.items():
        if isinstance(label, types) and not vast:
            return kind
    raise InvalidInputError(
        f"among {what} there is {shown(label)}, of type {type(label).__name__}; labels are texts, numbers up to 2**63 "
        "or truth values. Give it as a text, such as str(label)"
    )
