"""A table of any size in Parquet files, read by need: single rows by random access, or one row group at a time.

The table is a file, or a folder whose ``*.parquet`` files are its parts in the order of their names; a path, or a URL
of fsspec (``s3://``, ``gs://``, ``memory://``), which needs the extra ``onebit[cluster]``. Opening reads the footers.

One row for each item. Models are columns, of one file or of several (``model_shards.py``); or, where there are
thousands of them, the numbers of one column ``outputs`` of lists, with the models' names as JSON under ``models`` in
the metadata of the schema: a row then lies in one place.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute
import pyarrow.parquet as arrow_parquet
from numpy.typing import NDArray

from onebit.errors import InvalidInputError
from onebit.tables.formats import Progress
from onebit.tables.record import ABSTAINS

if TYPE_CHECKING:
    from collections.abc import Iterator

#: The column of lists, and the key of the names of its models.
OUTPUTS, MODELS = "outputs", b"models"
SUFFIX = ".parquet"


@dataclass(frozen=True)
class RowGroup:
    """A part of a table that is read at once: so many rows, from row ``first`` of the whole table on."""

    path: str
    number: int
    first: int
    n_rows: int

    def names(self) -> tuple[str, ...]:
        """Its columns as they lie in the file."""
        with _parquet_file(self.path) as file:
            return tuple(file.schema_arrow.names)

    def read(self, columns: Sequence[str] | None = None) -> pa.Table:
        """Its rows as they lie in the file; models that are numbers of a list stay so (``widened``)."""
        with _parquet_file(self.path) as file:
            return file.read_row_group(self.number, columns=columns, use_threads=False)

    def rows_in(self, file: arrow_parquet.ParquetFile, rows: NDArray[np.int64]) -> pa.Table:
        """Some of its rows, by their numbers in the whole table, from the ``file`` that it lies in."""
        return file.read_row_group(self.number, use_threads=False).take(pa.array(rows - self.first))


@dataclass(frozen=True)
class Footer:
    """What a file says of itself: its columns, with one for each model, and how many rows its row groups have."""

    path: str
    schema: pa.Schema
    columns: tuple[str, ...]
    n_rows: tuple[int, ...]

    @classmethod
    def of(cls, path: str) -> Footer:
        with _parquet_file(path) as file:
            about = file.metadata
            n_rows = tuple(about.row_group(number).num_rows for number in range(about.num_row_groups))
            return cls(path, file.schema_arrow, tuple(widened(file.schema_arrow.empty_table()).schema.names), n_rows)


class ParquetRows:
    """The rows of a table in Parquet files, numbered from 0 on; ``footers`` are those of its files, if they are known.

    All files have the same columns; ``model_shards.open_rows`` also reads those of which some have other models.
    """

    def __init__(self, place: str | Path, footers: Sequence[Footer] | None = None) -> None:
        self.place = str(place)
        footers = [Footer.of(path) for path in files_of(self.place)] if footers is None else footers
        #: What tells whether a file was written anew: its size, and its time or tag.
        self.stamps = tuple(_stamp(footer.path) for footer in footers)
        groups: list[RowGroup] = []
        for footer in footers:
            if footer.columns != footers[0].columns:
                raise InvalidInputError(
                    f"{footer.path} has other columns than {footers[0].path}; they are parts of one table"
                )
            for number, n_rows in enumerate(footer.n_rows):
                first = groups[-1].first + groups[-1].n_rows if groups else 0
                groups.append(RowGroup(footer.path, number, first, n_rows))
        self.groups = tuple(group for group in groups if group.n_rows)
        if not self.groups:
            raise InvalidInputError(f"{self.place} has no rows")
        self._schema, self.names = footers[0].schema, footers[0].columns
        self._firsts = np.array([group.first for group in self.groups])

    @property
    def n_rows(self) -> int:
        return self.groups[-1].first + self.groups[-1].n_rows

    def take(self, rows: NDArray[np.int64], progress: Progress | None = None) -> pa.Table:
        """These rows, in this order, of which some may be the same; each row group that has one is read once."""
        return widened(self.take_raw(rows, progress))

    def take_raw(self, rows: NDArray[np.int64], progress: Progress | None = None) -> pa.Table:
        """The same as it lies in the files."""
        if rows.size == 0:
            return self._schema.empty_table()
        if not 0 <= rows.min() <= rows.max() < self.n_rows:
            raise InvalidInputError(f"{self.place} has the rows 0 to {self.n_rows - 1}, and others were asked for")
        of_group = np.searchsorted(self._firsts, rows, side="right") - 1
        order = np.argsort(of_group, kind="stable")
        wanted, begin = np.unique(of_group[order], return_index=True)
        parts: list[pa.Table] = []
        # In the order of the groups: a file is opened once.
        for path, groups in groupby(zip(wanted, np.split(rows[order], begin[1:]), strict=True), self._path_of):
            with _parquet_file(path) as file:
                for number, rows_of_group in groups:
                    if progress is not None:
                        progress(len(parts), wanted.size)
                    parts.append(self.groups[number].rows_in(file, rows_of_group))
        place = np.empty_like(order)
        place[order] = np.arange(order.size)
        return pa.concat_tables(parts).take(pa.array(place)).combine_chunks()

    def _path_of(self, wanted: tuple[int, NDArray[np.int64]]) -> str:
        return self.groups[wanted[0]].path


def widened(table: pa.Table) -> pa.Table:
    """The table with a column for each model, where they are numbers of one list."""
    if OUTPUTS not in table.schema.names or not pa.types.is_nested(table.schema.field(OUTPUTS).type):
        return table
    models, said = _lists(table)
    others = {name: table[name] for name in table.schema.names if name != OUTPUTS}
    # A negative number abstains, as it does in an NPZ.
    columns = {name: pa.array(row, mask=row < 0) for name, row in zip(models, said, strict=True)}
    return pa.table({**others, **columns})


def said_by(
    table: pa.Table, models: Sequence[str], labels: Sequence[str] | None, where: str
) -> NDArray[np.signedinteger[Any]]:
    """What ``models`` say in a table as it lies in its file, (N, n): numbers, of ``labels`` where cells are texts."""
    if models and models[0] not in table.schema.names and OUTPUTS in table.schema.names:
        names, listed = _lists(table)
        if list(models) == names:
            return listed
        place = {name: row for row, name in enumerate(names)}
        return listed[[place[model] for model in models]]
    said = np.empty((len(models), table.num_rows), dtype=np.int32)
    for row, name in zip(said, models, strict=True):
        cells = table[name].combine_chunks()
        if pa.types.is_dictionary(cells.type):
            cells = cells.dictionary_decode()
        if not pa.types.is_integer(cells.type):
            numbers = pa.compute.index_in(cells, pa.array(labels or (), type=cells.type))
            if (unknown := cells.filter(numbers.is_null().cast(pa.bool_())).drop_null()).__len__():
                raise InvalidInputError(
                    f"{where}, column {name!r}: {unknown[0].as_py()!r} is none of the {len(labels or ())} labels given"
                )
            cells = numbers
        row[:] = cells.fill_null(ABSTAINS).to_numpy(zero_copy_only=False)
    return said


def _lists(table: pa.Table) -> tuple[list[str], NDArray[np.signedinteger[Any]]]:
    """The names of the models, and the numbers of their lists, (N, n)."""
    told = (table.schema.metadata or {}).get(MODELS)
    if told is None:
        raise InvalidInputError(
            f"the column {OUTPUTS!r} has lists, and the metadata of the schema has no {MODELS.decode()!r}, a JSON list "
            "of the models' names"
        )
    models: list[str] = json.loads(told)
    n_models, lists = len(models), table[OUTPUTS].combine_chunks()
    # Of an array that was cut or taken from, flatten gives what is left of it.
    flat = lists.flatten().to_numpy() if len(lists) else np.empty(0, dtype=np.int16)
    if lists.null_count or flat.size != len(lists) * n_models or flat.dtype.kind != "i":
        raise InvalidInputError(
            f"the lists of {OUTPUTS!r} are to have {n_models} whole numbers with a sign each, one for each model"
        )
    return models, np.ascontiguousarray(flat.reshape(len(lists), n_models).T)


def files_of(place: str) -> list[str]:
    """The Parquet files of a table, in the order of their names; those in folders of its folder too."""
    if "://" in place:
        fs, path = _filesystem(place)
        found = sorted(fs.find(path)) if fs.isdir(path) else [path] if fs.exists(path) else []
        files = [fs.unstrip_protocol(each) for each in found if each.endswith(SUFFIX)]
    else:
        local = Path(place)
        files = sorted(map(str, local.rglob(f"*{SUFFIX}"))) if local.is_dir() else [place] * local.is_file()
    if not files:
        raise InvalidInputError(f"{place} is no Parquet file, and no folder of *{SUFFIX} files")
    return files


def _stamp(path: str) -> tuple[str, ...]:
    if "://" not in path:
        about = Path(path).stat()
        return path, str(about.st_size), str(about.st_mtime_ns)
    fs, inner = _filesystem(path)
    told = fs.info(inner)
    tags = (told.get(name) for name in ("ETag", "etag", "md5Hash", "LastModified", "created", "mtime"))
    return path, str(told.get("size")), str(next((tag for tag in tags if tag is not None), ""))


def _filesystem(url: str) -> tuple[Any, str]:
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise InvalidInputError(
            f"{url} is a URL, which fsspec reads, and it is not installed; pip install 'onebit[cluster]'"
        ) from None
    try:
        fs, path = url_to_fs(url)
    except (ValueError, ImportError) as error:
        raise InvalidInputError(f"{url} cannot be opened: {error}") from None
    return fs, path


@contextmanager
def _parquet_file(path: str) -> Iterator[arrow_parquet.ParquetFile]:
    try:
        if "://" not in path:
            with arrow_parquet.ParquetFile(path, memory_map=True) as file:
                yield file
            return
        fs, inner = _filesystem(path)
        with fs.open(inner, "rb") as opened, arrow_parquet.ParquetFile(opened) as file:
            yield file
    except (pa.ArrowInvalid, OSError) as error:
        why = str(error).splitlines()[0]
        raise InvalidInputError(f"{path} cannot be read as Parquet: {why}; write it again") from None
