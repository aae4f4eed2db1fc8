"""Parquet: read by batches of rows."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as arrow_parquet

from onebit.errors import InvalidInputError
from onebit.tables.columns import Columns
from onebit.tables.formats import Progress
from onebit.tables.limits import check_size

#: Cells read at a time.
BATCH_CELLS = 2**21


def open_columns(path: Path) -> Columns:
    """The columns of a Parquet file, with the types that they have there."""
    try:
        names = tuple(arrow_parquet.read_schema(path).names)
    except pa.ArrowInvalid as error:
        raise InvalidInputError(f"{path.name} cannot be read as Parquet: {str(error).splitlines()[0]}") from None

    def batches(labels: Collection[str], progress: Progress) -> Iterator[Any]:
        done = 0
        try:
            with arrow_parquet.ParquetFile(path) as file:
                check_size(path.name, file.metadata.num_rows, len(names))
                for batch in file.iter_batches(batch_size=max(1, BATCH_CELLS // len(names)), use_threads=False):
                    yield batch
                    done += batch.num_rows
                    progress(done, file.metadata.num_rows)
        except pa.ArrowInvalid as error:
            raise InvalidInputError(f"{path.name} is damaged: {str(error).splitlines()[0]}") from None

    return Columns(path.name, names, batches, lambda row: f"row {row + 1}")
