"""Rows drawn at random from a table of any size: what a selection about the whole of it needs to see.

Each row is any of the table's, independently of the others (so some may come twice): to a selection with
``population="stream"`` they are draws from the population that is the whole table. Nothing else of it is read.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.parquet as arrow_parquet
from numpy.typing import NDArray

from onebit.errors import InvalidInputError, check_count
from onebit.randomness import fresh_seed, generator
from onebit.tables.dataset_folder import SPLITS, STATE
from onebit.tables.formats import Progress
from onebit.tables.limits import MOST_CELLS
from onebit.tables.model_shards import ModelShards, open_rows
from onebit.tables.parquet_rows import OUTPUTS, SUFFIX, Footer, ParquetRows
from onebit.tables.sampled import DRAW


class RowSource(Protocol):
    """A table whose rows can be had by their numbers, 0 to n_rows - 1."""

    place: str

    @property
    def n_rows(self) -> int: ...

    def take(self, rows: NDArray[np.int64], progress: Progress | None = None) -> pa.Table:
        """These rows, in this order; ``progress`` is told how far it is, and of what."""


def draw(table: str | Path | RowSource, n: int, seed: int | None = None, progress: Progress | None = None) -> pa.Table:
    """``n`` rows of a table, drawn with replacement; where from, out of how many and by which seed is in its metadata.

    The seed is drawn from the operating system; a given one is for replay and simulation.

    >>> import pyarrow.parquet, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pa.parquet.write_table(pa.table({"a": [0, 1, 2], "b": [0, 0, 2]}), f"{folder}/0.parquet")
    ...     draw(folder, 4, seed=1).num_rows
    4
    """
    source: RowSource = open_rows(table) if isinstance(table, str | Path) else table
    check_count("the number of rows to draw", n)
    seed = fresh_seed() if seed is None else seed
    rows = rows_drawn(source.n_rows, n, seed)
    told = json.dumps({"table": source.place, "rows": source.n_rows, "drawn": n, "seed": seed})
    drawn = source.take(rows, progress)
    return drawn.replace_schema_metadata({**(drawn.schema.metadata or {}), DRAW: told.encode()})


def by_need(table: Any) -> ParquetRows | ModelShards | None:
    """The rows of a table that is read by need; None of one that is read whole.

    By need are read: what lies at a URL, a folder of Parquet files, and a Parquet file that has models in lists or more
    cells than are read.
    """
    if not isinstance(table, str | Path):
        return None
    path = Path(table)
    if "://" in str(table) or is_folder_of_parquet(path):
        return open_rows(table)
    if path.suffix != SUFFIX or not path.is_file():
        return None
    footer = Footer.of(str(path))
    is_large = sum(footer.n_rows) * len(footer.columns) > MOST_CELLS
    return ParquetRows(table, [footer]) if is_large or OUTPUTS in footer.schema.names else None


def is_folder_of_parquet(path: Path) -> bool:
    """Whether it is a folder of Parquet files, and none that a data set of Hugging Face is kept in."""
    is_dataset = any((path / name).is_file() for name in (STATE, SPLITS))
    return path.is_dir() and not is_dataset and any(path.rglob(f"*{SUFFIX}"))


def rows_drawn(n_rows: int, n: int, seed: int) -> NDArray[np.int64]:
    """The rows that a seed draws, in order; the first of more are the same."""
    return (generator(seed, "drawn rows").random(n) * n_rows).astype(np.int64)


def check_draw(sample: str | Path, table: str | Path | RowSource) -> dict[str, Any]:
    """What a drawn sample says of itself, after drawing it again; InvalidInputError if its seed draws another one."""
    kept = arrow_parquet.read_table(sample)
    told = (kept.schema.metadata or {}).get(DRAW)
    if told is None:
        raise InvalidInputError(f"{sample} does not say how it was drawn; onebit draw writes files that do")
    about: dict[str, Any] = json.loads(told)
    source: RowSource = open_rows(table) if isinstance(table, str | Path) else table
    if source.n_rows != about["rows"]:
        raise InvalidInputError(
            f"{sample} was drawn from {about['rows']:,} rows, and {source.place} has {source.n_rows:,}: another table"
        )
    again = source.take(rows_drawn(about["rows"], about["drawn"], about["seed"]))
    if not again.replace_schema_metadata(None).equals(kept.replace_schema_metadata(None)):
        raise InvalidInputError(
            f"{sample} is not what seed {about['seed']} draws from {source.place}; one of the two was changed"
        )
    return about
