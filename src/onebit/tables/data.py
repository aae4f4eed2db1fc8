"""Examples to learn from: numbers or texts, one row each, from a file of any format; and labels where known."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from onebit.errors import InvalidInputError
from onebit.records.pool import rows_of_pool
from onebit.tables.columns import Columns, Uses, read_columns
from onebit.tables.drawing import is_folder_of_parquet
from onebit.tables.formats import recognised
from onebit.tables.frames import source_of
from onebit.tables.model_shards import open_rows
from onebit.tables.parquet_rows import SUFFIX
from onebit.tables.record import Items

#: What a file of them must hold.
EXAMPLES = "examples, one per row"
ADVICE = "name a column of texts with --text, and one that is not learned from with --show or --id"


@dataclass(frozen=True)
class Wanted:
    """What each column is for. With ``text`` the examples are those texts; without, they are ``numbers``.

    ``numbers`` are None for every column that is nothing else. ``by_model``: a model asks for them, and no option.
    """

    text: tuple[str, ...] = ()
    numbers: tuple[str, ...] | None = None
    label: str | None = None
    id: str | None = None
    show: tuple[str, ...] = ()
    by_model: bool = False


@dataclass(frozen=True, eq=False)
class Data(Items):
    """The examples ``x``: numbers (n, d), or n texts; ``columns`` are where they are from (none in an NPZ).

    ``labels`` (n,) are texts; None unless they were asked for. ``drawn_from`` is how many rows there are, where these
    were drawn from more; None where they are all.
    """

    x: NDArray[Any]
    columns: tuple[str, ...]
    labels: NDArray[np.str_] | None
    drawn_from: int | None = None

    @property
    def n_items(self) -> int:
        return len(self.x)

    @property
    def is_text(self) -> bool:
        return self.x.ndim == 1

    def take(self, rows: NDArray[np.int64]) -> Data:
        """Some of the examples, in this order."""
        return Data(
            x=self.x[rows],
            columns=self.columns,
            labels=None if self.labels is None else self.labels[rows],
            _ids=pa.array([self.item_id(row) for row in rows.tolist()], pa.string()),
            _show={name: column.take(pa.array(rows)) for name, column in self._show.items()},
        )


def read_data(path: str | Path, wanted: Wanted) -> Data:
    """Read examples and check all of them.

    One row for each example (JSONL: one object). An NPZ holds ``X``, numbers with one row for each example (images are
    laid out flat) or texts, and may hold the labels ``y``. Texts are UTF-8, with column names first.
    Raises InvalidInputError, which names row and column where there is one.
    """
    file = Path(path)
    with recognised(file, EXAMPLES) as kind:
        if kind.has_columns:
            return _from_columns(kind.columns(file), wanted)
        from onebit.tables.npz_file import read_examples

        return read_examples(file, wanted)


def read_pool(path: str | Path, wanted: Wanted, budget: int | None, seed: int) -> Data:
    """The examples that a training chooses from.

    Of Parquet, a file or a folder of files, these are rows drawn at random where there are very many
    (``records/pool.py``); they are read by row groups, and named by their places in the whole. Other files are read
    whole.
    """
    place = Path(path)
    if place.suffix != SUFFIX and not is_folder_of_parquet(place):
        return read_data(path, wanted)
    rows = open_rows(place)
    drawn = rows_of_pool(rows.n_rows, budget, seed)
    if drawn is None and place.is_file():
        return read_data(path, wanted)
    numbers = np.arange(rows.n_rows) if drawn is None else drawn
    columns = replace(source_of(rows.take(numbers)).columns, where=place.name)
    data = _from_columns(columns, wanted)
    ids = pa.array([str(row + 1) for row in numbers.tolist()]) if data._ids is None else data._ids
    return replace(data, _ids=ids, drawn_from=None if drawn is None else rows.n_rows)


def data_of(examples: Any, where: str = "the examples") -> Data:
    """Examples that are at hand: numbers (n, ...), or n texts."""
    x = np.asarray(examples)
    if x.dtype.kind == "U" and x.ndim == 1 and x.size:
        texts = x.astype(object)
        return Data(texts, (), None, _show={"text": pa.array(texts, pa.string())})
    if x.dtype.kind not in "iufb" or x.ndim < 2 or x.size == 0:
        raise InvalidInputError(
            f"{where} has shape {x.shape} and type {x.dtype}; it must be numbers, one row for each example, or "
            "one text for each"
        )
    flat: NDArray[np.float64] = x.reshape(len(x), -1).astype(np.float64)
    if not np.isfinite(flat).all():
        row, column = (int(each) for each in np.argwhere(~np.isfinite(flat))[0])
        raise InvalidInputError(f"{where} has {flat[row, column]} in row {row}, place {column}; fill it in")
    return Data(flat, (), None)


def _from_columns(columns: Columns, wanted: Wanted) -> Data:
    learned = _learned(columns, wanted)
    shown = tuple(dict.fromkeys((*wanted.show, *wanted.text)))
    uses = Uses(
        labels=() if wanted.label is None else (wanted.label,),
        texts=shown if wanted.id is None else (*shown, wanted.id),
        numbers=() if wanted.text else learned,
        needed={} if wanted.label is None else {wanted.label: "label"},
        advice="the model learned from numbers there" if wanted.by_model else ADVICE,
    )
    read = read_columns(columns, uses)
    x: NDArray[Any] = read.numbers
    if wanted.text:
        rows = zip(*(read.texts[name].fill_null("").to_pylist() for name in learned), strict=True)
        x = np.array(["\n".join(row) for row in rows], dtype=object)
    labels = None if wanted.label is None else np.array(read.labels, dtype=np.str_)[read.codes[0]]
    ids = None if wanted.id is None else read.texts[wanted.id].fill_null("")
    return Data(x, learned, labels, _ids=ids, _show={name: read.texts[name] for name in shown})


def _learned(columns: Columns, wanted: Wanted) -> tuple[str, ...]:
    """The columns that are learned from."""
    reason = "the model learned from it" if wanted.by_model else "--text"
    asked = [("--label", wanted.label), ("--id", wanted.id), *(("--show", name) for name in wanted.show)]
    columns.check([*asked, *((reason, name) for name in wanted.text or wanted.numbers or ())])
    if wanted.label is not None and wanted.label in (wanted.id, *wanted.show, *wanted.text):
        raise InvalidInputError(f"{columns.where}: the column {wanted.label!r} is the label, and nothing else too")
    others = {wanted.label, wanted.id, *wanted.show}
    learned = wanted.text or wanted.numbers or tuple(name for name in columns.names if name not in others)
    if not learned:
        raise InvalidInputError(f"{columns.where}: no column is left to learn from besides the label, id and shown")
    return learned
