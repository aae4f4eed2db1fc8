"""What the built-in model and the labels may be: what is meant well and cannot be taken is refused in plain words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from onebit.errors import InvalidInputError, shown
from onebit.learners.training.rows import columns_of


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


def _check_frame(frame: Any) -> None:
    # A table of pyarrow has its columns themselves in the place of their names.
    names = list(getattr(frame, "column_names", frame.columns))
    if twice := [name for at, name in enumerate(names) if name in names[:at]]:
        raise InvalidInputError(f"two columns are called {twice[0]!r}; give each a name of its own")
    for name, column in zip(names, columns_of(frame), strict=True):
        texts = [each for each in np.asarray(column).tolist() if isinstance(each, str)]
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


def as_labels(labels: Sequence[Any]) -> NDArray[Any]:
    """Labels as an array; InvalidInputError if some are texts and some are not, since all would become texts."""
    given = list(labels)
    texts = [isinstance(each, str) for each in given]
    if any(texts) and not all(texts):
        odd = given[texts.index(not texts[0])]
        raise InvalidInputError(
            f"of the labels {given[0]!r} and {odd!r} one is a text and one is not; give all as texts, or none"
        )
    return np.asarray(given)
