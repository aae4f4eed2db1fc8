"""A table whose models lie in several files, each with some of them and all rows; read as one.

Files with the same columns are parts of the rows, as in ``parquet_rows.py``; files with others are shards of models.
All shards have the same rows, in the same order. Columns that several have, as the names of the items, say so: where
they are read, they must be equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from onebit.errors import InvalidInputError
from onebit.tables.formats import Progress
from onebit.tables.parquet_rows import Footer, ParquetRows, RowGroup, files_of, widened


def open_rows(place: str | Path) -> ParquetRows | ModelShards:
    """The rows of a file or a folder of files: parts of the rows, shards of models, or both."""
    shards: dict[tuple[str, ...], list[Footer]] = {}
    for path in files_of(str(place)):
        footer = Footer.of(path)
        shards.setdefault(footer.columns, []).append(footer)
    opened = [ParquetRows(place, footers) for footers in shards.values()]
    return opened[0] if len(opened) == 1 else ModelShards(opened)


@dataclass(frozen=True)
class JoinedGroup:
    """Rows that lie in one row group of each shard: so many, from row ``first`` of the whole table on."""

    parts: tuple[RowGroup, ...]
    #: Of each shard its columns, with one for each model. Not shown: what names a pass need not name all models again.
    columns: tuple[tuple[str, ...], ...] = field(repr=False)
    first: int
    n_rows: int

    @property
    def path(self) -> str:
        return self.parts[0].path

    @property
    def number(self) -> int:
        return self.parts[0].number

    def names(self) -> tuple[str, ...]:
        """Its columns, with one for each model."""
        return tuple(dict.fromkeys(name for names in self.columns for name in names))

    def read(self, columns: Sequence[str]) -> pa.Table:
        """Its rows, with a column for each model."""
        tables = []
        for part, names in zip(self.parts, self.columns, strict=True):
            wanted = set(columns) & set(names)
            if wanted:
                # Models that are numbers of a list come all together.
                lies = [name for name in part.names() if name in wanted or name not in names]
                rows = widened(part.read(lies).slice(self.first - part.first, self.n_rows))
                tables.append((part.path, rows.select([name for name in names if name in wanted])))
        return joined(tables)


class ModelShards:
    """The rows of a table whose models lie in several ``shards``, numbered from 0 on."""

    def __init__(self, shards: Sequence[ParquetRows]) -> None:
        self.place, self._shards, first = shards[0].place, shards, shards[0]
        for shard in shards:
            if shard.n_rows != first.n_rows:
                raise InvalidInputError(
                    f"{shard.groups[0].path} has other columns than {first.groups[0].path}, and {shard.n_rows:,} rows "
                    f"in place of {first.n_rows:,}; files with other models have the same rows"
                )
        self.n_rows = first.n_rows
        self.stamps = tuple(stamp for shard in shards for stamp in shard.stamps)
        self.names = tuple(dict.fromkeys(name for shard in shards for name in shard.names))
        self.groups = _joined_groups(shards)

    def take(self, rows: NDArray[np.int64], progress: Progress | None = None) -> pa.Table:
        """These rows, in this order, with a column for each model."""
        tables = []
        for number, shard in enumerate(self._shards):
            if progress is not None:
                progress(number, len(self._shards))
            tables.append((shard.groups[0].path, shard.take(rows)))
        return joined(tables)

    take_raw = take


def joined(tables: Sequence[tuple[str, pa.Table]]) -> pa.Table:
    """Tables of the same rows side by side, each with the path that it is from; what several have must be equal."""
    columns: dict[str, tuple[str, pa.ChunkedArray]] = {}
    for path, table in tables:
        for name in table.schema.names:
            other, known = columns.setdefault(name, (path, table[name]))
            if not known.equals(table[name]):
                raise InvalidInputError(
                    f"{other} and {path} differ in their column {name!r}; files with other models have the same rows, "
                    "in the same order"
                )
    return pa.table({name: column for name, (_, column) in columns.items()})


def _joined_groups(shards: Sequence[ParquetRows]) -> tuple[JoinedGroup, ...]:
    """The whole table in pieces, each of which lies in one row group of every shard."""
    firsts = sorted({group.first for shard in shards for group in shard.groups})
    starts = [np.array([group.first for group in shard.groups]) for shard in shards]
    columns = tuple(shard.names for shard in shards)
    pieces = []
    for first, end in zip(firsts, [*firsts[1:], shards[0].n_rows], strict=True):
        places = (int(np.searchsorted(each, first, side="right")) - 1 for each in starts)
        parts = tuple(shard.groups[place] for shard, place in zip(shards, places, strict=True))
        pieces.append(JoinedGroup(parts, columns, first, end - first))
    return tuple(pieces)
