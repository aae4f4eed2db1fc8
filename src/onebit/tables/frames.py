"""Tables at hand: data frames of pandas, polars or Arrow, and dicts of arrays; read in slices, not cell by cell.

Neither pandas nor polars is needed here: a frame is known by what it can do.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from onebit.errors import InvalidInputError
from onebit.tables.class_names import with_class_names
from onebit.tables.columns import Columns, is_no_label, listed
from onebit.tables.formats import Progress
from onebit.tables.labels import as_text
from onebit.tables.sampled import sample_notes
from onebit.tables.source import Source

WHERE = "the table"
#: Rows that are made into Arrow arrays at a time.
ROWS = 2**16
ADVICE = "give a data frame (pandas, polars, Arrow), a dict of columns, or the path of a file"
#: Columns by name, and how many rows they have.
Slice = Callable[[int, int], dict[str, Any]]


def has_columns(table: Any) -> bool:
    """Whether a table has columns with names, and is no array."""
    marks = ("iloc", "__arrow_c_stream__", "__arrow_c_array__", "column_names", "__dataframe__", "collect")
    return isinstance(table, Mapping) or any(hasattr(table, mark) for mark in marks)


def source_of(table: Any) -> Source:
    """The columns of a table at hand; InvalidInputError if it is none."""
    if hasattr(table, "collect") and hasattr(table, "collect_schema"):
        raise InvalidInputError(f"{WHERE} is of type {type(table).__name__}, which is still to be made; collect() it")
    if hasattr(table, "iloc") and hasattr(table, "columns"):
        return _of_pandas(table)
    if hasattr(table, "__arrow_c_stream__") and hasattr(table, "slice"):
        notes = sample_notes(table.schema.metadata) if isinstance(table, pa.Table) else ()
        return replace(_of_sliced(table), notes=notes)
    if hasattr(table, "__arrow_c_stream__"):
        return _of_arrow(lambda: pa.RecordBatchReader.from_stream(table))
    if isinstance(table, pa.RecordBatch | pa.RecordBatchReader):
        return _of_arrow(lambda: pa.Table.from_batches([table]).to_reader())
    if hasattr(table, "with_format") and hasattr(table, "column_names"):
        return _of_datasets(table)
    if isinstance(table, Mapping):
        return _of_dict(table)
    if hasattr(table, "__dataframe__"):
        from pyarrow.interchange import from_dataframe

        return _of_arrow(lambda: from_dataframe(table).to_reader())
    raise InvalidInputError(f"the table is of type {type(table).__name__}; {ADVICE}")


def _of_arrow(reader: Callable[[], Any]) -> Source:
    names = tuple(reader().schema.names)

    def batches(labels: Collection[str], progress: Progress) -> Iterator[Any]:
        for batch in reader():
            # In slices, so that what is made of it at a time stays small.
            for first in range(0, batch.num_rows, ROWS):
                part = with_class_names(WHERE, batch.slice(first, ROWS), labels)
                yield pa.RecordBatch.from_arrays([_known(each) for each in part.columns], names=list(names))

    return Source(Columns(WHERE, names, batches, _row))


def _of_datasets(table: Any) -> Source:
    """The columns of one of Hugging Face's data sets, which may also be a dict of splits, or a stream."""
    if isinstance(table, Mapping):
        splits = list(map(str, table))
        raise InvalidInputError(
            f"{WHERE} has {len(splits)} splits, {listed(splits)}; give one of them: table[{splits[-1]!r}]"
        )
    if not hasattr(table, "__len__"):
        raise InvalidInputError(
            f"{WHERE} is of type {type(table).__name__}, which is read once, row by row; load it without streaming"
        )
    return _of_arrow(lambda: table.with_format("arrow")[:].to_reader())


def _of_sliced(table: Any) -> Source:
    """The columns of a frame that can be cut without a copy: what it has to convert is then converted in parts."""
    names = tuple(pa.RecordBatchReader.from_stream(table.slice(0, 0)).schema.names)

    def batches(labels: Collection[str], progress: Progress) -> Iterator[Any]:
        for first in range(0, len(table), ROWS):
            for whole in pa.RecordBatchReader.from_stream(table.slice(first, ROWS)):
                part = with_class_names(WHERE, whole, labels)
                yield pa.RecordBatch.from_arrays([_known(each) for each in part.columns], names=list(names))
            progress(min(first + ROWS, len(table)), len(table))

    return Source(Columns(WHERE, names, batches, _row))


def _of_pandas(frame: Any) -> Source:
    """The columns of a pandas frame; an index that has a name is the id."""
    named = frame.index.name is not None
    if named:
        frame = frame.reset_index()
    names = tuple(map(str, frame.columns))

    def part(first: int, last: int) -> dict[str, Any]:
        rows = frame.iloc[first:last]
        return {name: rows.iloc[:, place] for place, name in enumerate(names)}

    return _of_slices(names, len(frame), part, id=names[0] if named else None)


def _of_dict(columns: Mapping[Any, Any]) -> Source:
    """The columns of a dict: arrays, lists, or series of any library."""
    kept = {str(name): each if hasattr(each, "__getitem__") else list(each) for name, each in columns.items()}
    lengths = {name: len(each) for name, each in kept.items()}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{name!r} {n:,}" for name, n in lengths.items())
        raise InvalidInputError(f"{WHERE} has columns of different lengths: {told}; each needs a value for every item")
    n_rows = next(iter(lengths.values()), 0)
    return _of_slices(tuple(kept), n_rows, lambda a, b: {name: each[a:b] for name, each in kept.items()})


def _of_slices(names: tuple[str, ...], n_rows: int, part: Slice, id: str | None = None) -> Source:
    values: dict[str, Any] = {}

    def batches(labels: Collection[str], progress: Progress) -> Iterator[Any]:
        for first in range(0, n_rows, ROWS):
            columns = part(first, min(first + ROWS, n_rows))
            arrays = [_array(name, columns[name], name in labels, values) for name in names]
            yield pa.RecordBatch.from_arrays(arrays, names=list(names))
            progress(min(first + ROWS, n_rows), n_rows)

    return Source(Columns(WHERE, names, batches, _row), id=id, values=values)


def _array(name: str, column: Any, is_label: bool, values: dict[str, Any]) -> Any:
    """A column as Arrow keeps it; labels that Arrow has no type for become texts, and ``values`` remembers them."""
    try:
        array = _known(pa.array(column, from_pandas=True))
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        array = None
    if array is not None and not pa.types.is_nested(array.type) and not (is_label and is_no_label(array.type)):
        if is_label and not pa.types.is_string(array.type):
            values.update((as_text(each) or "", each) for each in array.unique().to_pylist() if _is_text(each))
        return array
    return pa.array([_text(name, each, values) for each in column], pa.string())


def _is_text(value: Any) -> bool:
    try:
        return as_text(value) is not None
    except ValueError:
        return False


def _text(name: str, value: Any, values: dict[str, Any]) -> str | None:
    """The text of any hashable value; that of an object is what ``str`` says."""
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return None
    try:
        hash(value)
        text = as_text(value)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"{WHERE}, column {name!r}: {str(value)[:30]!r} is no label: {error}") from None
    if text is not None:
        values.setdefault(text, value)
    return text


def _known(array: Any) -> Any:
    """An array of a type that can be encoded: texts that only point into others are laid out."""
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    if pa.types.is_dictionary(array.type):
        return pa.DictionaryArray.from_arrays(array.indices, _known(array.dictionary))
    is_text = pa.types.is_string_view(array.type) or pa.types.is_large_string(array.type)
    return array.cast(pa.string()) if is_text else array


def _row(row: int) -> str:
    return f"row {row}"
