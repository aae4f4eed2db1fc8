"""NPZ: numpy's own arrays, never pickled objects. They have no names of columns, so an NPZ is read as a whole."""

from __future__ import annotations

import zipfile
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onebit.errors import InvalidInputError
from onebit.tables.data import Data, Wanted, data_of
from onebit.tables.formats import WITH_COLUMNS
from onebit.tables.labels import Labels
from onebit.tables.record import ABSTAINS, ModelTable, make_table, narrow

#: The array of right labels: of the items of a table, or of examples.
TRUTH = "y"
#: The array of examples.
EXAMPLES = "X"


def read_npz(
    path: Path, id: str | None, truth: str | None, show: Sequence[str], labels: Sequence[str] | None
) -> ModelTable:
    """The table in an NPZ file; see :func:`onebit.tables.read_table`."""
    if id is not None or show:
        raise InvalidInputError(f"{path.name}: an NPZ holds no ids and no texts to show; --id and --show need columns")
    if truth not in (None, TRUTH):
        raise InvalidInputError(f"{path.name}: the truth of an NPZ is its array {TRUTH!r}; give --truth {TRUTH}")
    arrays = _load(path, ["preds", "models", "labels"] + ([TRUTH] if truth else []))
    if "preds" not in arrays:
        raise InvalidInputError(f"{path.name} has no array 'preds'; it must hold the predictions, N models x n items")
    predictions = _whole(path, "preds", arrays["preds"], n_dimensions=2)
    n_models, n_items = predictions.shape
    if n_models < 2 or n_items < 1:
        raise InvalidInputError(
            f"{path.name}: preds has shape {predictions.shape}; it needs at least two models (rows) and one item "
            "(column)"
        )
    models = _models(path, arrays.get("models"), n_models)
    right = None
    if truth:
        if TRUTH not in arrays:
            raise InvalidInputError(f"{path.name} has no array {TRUTH!r}, which --truth asks for")
        right = _truth(path, arrays[TRUTH], n_items)
    known = labels if labels is not None else _names(path, "labels", arrays.get("labels"), None)
    if known is None:
        most = max(int(predictions.max()), -1 if right is None else int(right.max()))
        known = tuple(str(label) for label in range(most + 1))
    texts = tuple(Labels(known).number)
    for model, row in zip(models, predictions, strict=True):
        _check_within(path, f"model {model!r}: the prediction", row, len(texts))
    if right is not None:
        _check_within(path, f"array {TRUTH!r}: the truth", right, len(texts))
    kept = predictions.astype(narrow(len(texts)))
    kept[predictions < 0] = ABSTAINS
    return make_table(kept, models, texts, right, path.name)


def read_examples(path: Path, wanted: Wanted) -> Data:
    """The examples in an NPZ file; see :func:`onebit.tables.data.read_data`."""
    if wanted.text or wanted.id or wanted.show:
        raise InvalidInputError(f"{path.name}: an NPZ has no columns; --text, --id and --show need {WITH_COLUMNS}")
    if wanted.label not in (None, TRUTH):
        raise InvalidInputError(f"{path.name}: the labels of an NPZ are its array {TRUTH!r}; give --label {TRUTH}")
    names = [EXAMPLES, *([TRUTH] if wanted.label else [])]
    arrays = _load(path, names)
    for name in names:
        if name not in arrays:
            raise InvalidInputError(f"{path.name} has no array {name!r}; X are the examples and y their labels")
    data = data_of(arrays[EXAMPLES], f"{path.name}: {EXAMPLES}")
    return replace(data, labels=_labels(path, arrays[TRUTH], data.n_items)) if wanted.label else data


def _labels(path: Path, y: NDArray[Any], n_items: int) -> NDArray[np.str_]:
    if y.shape != (n_items,) or y.dtype.kind not in "iuU":
        raise InvalidInputError(
            f"{path.name}: y has shape {y.shape} and type {y.dtype}; it must be a text or whole number for each of "
            f"the {n_items} examples"
        )
    labels = y.astype(np.str_)
    if (labels == "").any():
        raise InvalidInputError(f"{path.name}: y[{int(np.argmax(labels == ''))}] is empty; every row needs a label")
    return labels


def _load(path: Path, wanted: list[str]) -> dict[str, NDArray[Any]]:
    """The wanted arrays that a file has; InvalidInputError if it is no NPZ, or would have to be unpickled."""
    try:
        # Opened here, since numpy leaves a file open that it finds to be no NPZ.
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            if not isinstance(file, np.lib.npyio.NpzFile):
                raise InvalidInputError(f"{path.name} is a single numpy array and no NPZ; save it by numpy.savez")
            return {name: file[name] for name in wanted if name in file}
    except (ValueError, EOFError, KeyError, zipfile.BadZipFile, zlib.error) as error:
        if isinstance(error, InvalidInputError):
            raise
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        if "allow_pickle" in reason:
            reason = "it holds pickled objects, which are never loaded; save texts and whole numbers"
        raise InvalidInputError(f"{path.name} cannot be read as NPZ: {reason}") from None


def _whole(path: Path, name: str, array: NDArray[Any], n_dimensions: int) -> NDArray[np.integer[Any]]:
    if array.ndim != n_dimensions or array.dtype.kind not in "iu":
        raise InvalidInputError(
            f"{path.name}: {name} has shape {array.shape} and type {array.dtype}; it must be whole numbers in "
            f"{n_dimensions} dimension{'s' if n_dimensions > 1 else ''}"
        )
    return array


def _truth(path: Path, array: NDArray[Any], n_items: int) -> NDArray[np.int64]:
    right = _whole(path, TRUTH, array, n_dimensions=1)
    if right.size != n_items:
        raise InvalidInputError(f"{path.name}: {TRUTH} has {right.size} labels for {n_items} items; give one for each")
    if (right < 0).any():
        raise InvalidInputError(
            f"{path.name}: {TRUTH}[{int(np.argmax(right < 0))}] is negative: the truth is missing, and "
            "every item needs one"
        )
    return right.astype(np.int64)


def _names(path: Path, name: str, array: NDArray[Any] | None, n: int | None) -> tuple[str, ...] | None:
    if array is None:
        return None
    if array.ndim != 1 or array.dtype.kind not in "Uiu" or (n is not None and array.size != n):
        raise InvalidInputError(
            f"{path.name}: {name} has shape {array.shape} and type {array.dtype}; it must be one text for each"
            f"{' of the ' + str(n) if n is not None else ''} in one dimension"
        )
    texts = tuple(str(each) for each in array.tolist())
    if "" in texts:
        raise InvalidInputError(f"{path.name}: {name}[{texts.index('')}] is empty; each needs a name")
    return texts


def _models(path: Path, array: NDArray[Any] | None, n_models: int) -> tuple[str, ...]:
    """The models' names; those that several have are told apart by their rows."""
    texts = _names(path, "models", array, n_models) or ("model",) * n_models
    count = Counter(texts)
    told_apart = tuple(text if count[text] == 1 else f"{text} (row {h})" for h, text in enumerate(texts))
    if len(set(told_apart)) < n_models:
        raise InvalidInputError(f"{path.name}: models has names that cannot be told apart; give each its own")
    return told_apart


def _check_within(path: Path, what: str, row: NDArray[np.integer[Any]], n_labels: int) -> None:
    if row.max() >= n_labels:
        item = int(np.argmax(row >= n_labels))
        raise InvalidInputError(
            f"{path.name}, item {item}, {what} is {row[item]}, and there are {n_labels} labels, 0 to {n_labels - 1}"
        )
