"""NPZ: numpy's own arrays, never pickled objects. They have no names of columns, so an NPZ is read as a whole."""

from __future__ import annotations

import math
import zipfile
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from onebit.errors import InvalidInputError
from onebit.tables.data import Data, Wanted, data_of
from onebit.tables.formats import WITH_COLUMNS
from onebit.tables.judge import judge_of
from onebit.tables.labels import Labels
from onebit.tables.limits import MOST_NUMBERED, check_size, check_unpacked
from onebit.tables.record import ABSTAINS, ModelTable, make_table, narrow

#: The array of right labels: of the items of a table, or of examples.
TRUTH = "y"
HOLDS = "predictions are preds (N models x n items) with their truth y, examples are X with their labels y"


def read_npz(
    path: Path,
    id: str | None,
    truth: str | None,
    show: Sequence[str],
    labels: Sequence[str] | None,
    judge: str | None = None,
) -> ModelTable:
    """The table in an NPZ file; see :func:`onebit.tables.read_table`."""
    if id is not None or show:
        raise InvalidInputError(f"{path.name}: an NPZ holds no ids and no texts to show; --id and --show need columns")
    if truth not in (None, TRUTH):
        raise InvalidInputError(f"{path.name}: the truth of an NPZ is its array {TRUTH!r}; give --truth {TRUTH}")
    needed = [name for name in (TRUTH if truth else None, judge) if name is not None]
    file = _Arrays(path, ["preds", *needed], ["models", "labels"])
    predictions = file.get("preds", "iu", (None, None), "whole numbers in 2 dimensions, N models x n items")
    n_models, n_items = predictions.shape
    if n_models < 2 or n_items < 1:
        needs = "it needs at least two models (rows) and one item (column)"
        raise InvalidInputError(f"{path.name}: preds has shape {predictions.shape}; {needs}")
    check_size(path.name, n_items, n_models)
    models = _told_apart(path, file.names("models", n_models) or ("model",) * n_models)
    right = file.get(TRUTH, "iu", (n_items,), f"a whole number for each of the {n_items} items") if truth else None
    if right is not None and (right < 0).any():
        said = "is negative: the truth is missing, and every item needs one"
        raise InvalidInputError(f"{path.name}: {TRUTH}[{int(np.argmax(right < 0))}] {said}")
    known = labels if labels is not None else file.names("labels", None)
    if known is None:
        most = max(int(predictions.max()), -1 if right is None else int(right.max()))
        if most >= MOST_NUMBERED:
            told = f"a label is the number {most:,}, so there would be {most + 1:,} labels of at most {MOST_NUMBERED:,}"
            raise InvalidInputError(f"{path.name}: {told}; number them from 0, or give their names as labels")
        known = tuple(str(label) for label in range(most + 1))
    texts = tuple(Labels(known).number)
    for model, row in zip(models, predictions, strict=True):
        _check_within(path, f"model {model!r}: the prediction", row, len(texts))
    if right is not None:
        _check_within(path, f"array {TRUTH!r}: the truth", right, len(texts))
    kept = predictions.astype(narrow(len(texts)))
    kept[predictions < 0] = ABSTAINS
    table = make_table(kept, models, texts, None if right is None else right.astype(np.int64), path.name)
    return table if judge is None else replace(table, judge=judge_of(kept, file.arrays[judge]))


def read_examples(path: Path, wanted: Wanted) -> Data:
    """The examples in an NPZ file; see :func:`onebit.tables.data.read_data`."""
    if wanted.text or wanted.id or wanted.show:
        raise InvalidInputError(f"{path.name}: an NPZ has no columns; --text, --id and --show need {WITH_COLUMNS}")
    if wanted.label not in (None, TRUTH):
        raise InvalidInputError(f"{path.name}: the labels of an NPZ are its array {TRUTH!r}; give --label {TRUTH}")
    file = _Arrays(path, ["X", *([TRUTH] if wanted.label else [])])
    data = data_of(file.arrays["X"], f"{path.name}: X")
    if not wanted.label:
        return data
    must = f"a text or whole number for each of the {data.n_items} examples"
    labels = file.get(TRUTH, "iuU", (data.n_items,), must).astype(np.str_)
    if (labels == "").any():
        raise InvalidInputError(f"{path.name}: y[{int(np.argmax(labels == ''))}] is empty; every row needs a label")
    return replace(data, labels=labels)


class _Arrays:
    """Arrays of a file; InvalidInputError if one is missing, it is no NPZ, or would have to be unpickled."""

    def __init__(self, path: Path, needed: list[str], optional: Sequence[str] = ()) -> None:
        self._path = path
        try:
            # Opened here, since numpy leaves a file open that it finds to be no NPZ.
            with path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
                if not isinstance(file, np.lib.npyio.NpzFile):
                    raise InvalidInputError(f"{path.name} is a single numpy array and no NPZ; save it by numpy.savez")
                _check_members(path, file)
                self.arrays = {name: file[name] for name in (*needed, *optional) if name in file}
        except (ValueError, EOFError, KeyError, zipfile.BadZipFile, zlib.error, RuntimeError) as error:
            if isinstance(error, InvalidInputError):
                raise
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            if "allow_pickle" in reason:
                reason = "it holds pickled objects, which are never loaded; save texts and whole numbers"
            raise InvalidInputError(f"{path.name} cannot be read as NPZ: {reason}") from None
        for name in needed:
            if name not in self.arrays:
                raise InvalidInputError(f"{path.name} has no array {name!r}; {HOLDS}")

    def get(self, name: str, kinds: str, shape: tuple[int | None, ...], must: str) -> NDArray[Any]:
        """An array of one of the ``kinds`` of numpy; a length that is None may be any. ``must`` says so in words."""
        array = self.arrays[name]
        fits = len(shape) == array.ndim and all(n in (None, m) for n, m in zip(shape, array.shape, strict=True))
        if not fits or array.dtype.kind not in kinds:
            raise InvalidInputError(
                f"{self._path.name}: {name} has shape {array.shape} and type {array.dtype}; it must be {must}"
            )
        return array

    def names(self, name: str, n: int | None) -> tuple[str, ...] | None:
        """An array of n texts, None if the file has none."""
        if name not in self.arrays:
            return None
        each = "each" if n is None else f"each of the {n}"
        texts = tuple(map(str, self.get(name, "Uiu", (n,), f"one text for {each} in one dimension").tolist()))
        if "" in texts:
            raise InvalidInputError(f"{self._path.name}: {name}[{texts.index('')}] is empty; each needs a name")
        return texts


def _check_members(path: Path, file: np.lib.npyio.NpzFile) -> None:
    """Refuse arrays that claim more than the file holds, before memory is asked for."""
    archive = file.zip
    if archive is None:
        return
    check_unpacked(path, sum(member.file_size for member in archive.infolist()))
    for member in archive.infolist():
        with archive.open(member) as stream:
            claimed = _n_bytes_claimed(stream)
        if claimed > member.file_size:
            raise InvalidInputError(
                f"{path.name}: {member.filename} says that it has {claimed:,} bytes, and has {member.file_size:,}; it "
                "is damaged"
            )


def _n_bytes_claimed(stream: IO[bytes]) -> int:
    """How large the header of an array says that it is; 0 where there is none, which numpy says itself."""
    try:
        version = np.lib.format.read_magic(stream)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, kind = read(stream)
    except ValueError:
        return 0
    # Python's whole numbers: those of numpy would wrap around.
    return math.prod(int(n) for n in shape) * int(kind.itemsize)


def _told_apart(path: Path, names: tuple[str, ...]) -> tuple[str, ...]:
    """The models' names; those that several have are told apart by their rows."""
    count = Counter(names)
    told_apart = tuple(name if count[name] == 1 else f"{name} (row {h})" for h, name in enumerate(names))
    if len(set(told_apart)) < len(names):
        raise InvalidInputError(f"{path.name}: models has names that cannot be told apart; give each its own")
    return told_apart


def _check_within(path: Path, what: str, row: NDArray[np.integer[Any]], n_labels: int) -> None:
    if row.max() >= n_labels:
        item = int(np.argmax(row >= n_labels))
        raise InvalidInputError(
            f"{path.name}, item {item}, {what} is {row[item]}, and there are {n_labels} labels, 0 to {n_labels - 1}; "
            "name all labels in the array labels"
        )
