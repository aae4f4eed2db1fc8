"""Parquet: read by batches of rows."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as arrow_parquet

from onebit.errors import InvalidInputError
from onebit.tables.class_names import with_class_names
from onebit.tables.columns import Columns
from onebit.tables.formats import Progress
from onebit.tables.limits import check_size
from onebit.tables.sampled import sample_notes

#: Cells read at a time.
BATCH_CELLS = 2**21


def open_columns(path: Path) -> Columns:
    """The columns of a Parquet file, with the types that they have there."""
    try:
        schema = arrow_parquet.read_schema(path)
        names = tuple(schema.names)
    except pa.ArrowInvalid as error:
        why = str(error).splitlines()[0]
        raise InvalidInputError(f"{path.name} cannot be read as Parquet: {why}; write it again") from None

    def batches(labels: Collection[str], progress: Progress) -> Iterator[Any]:
        done = 0
        try:
            with arrow_parquet.ParquetFile(path) as file:
                check_size(path.name, file.metadata.num_rows, len(names))
                for batch in file.iter_batches(batch_size=max(1, BATCH_CELLS // len(names)), use_threads=False):
                    yield with_class_names(path.name, batch, labels)
                    done += batch.num_rows
                    progress(done, file.metadata.num_rows)
        except pa.ArrowInvalid as error:
            why = str(error).splitlines()[0]
            raise InvalidInputError(f"{path.name} is damaged: {why}; copy it again, or write it again") from None

    return Columns(path.name, names, batches, lambda row: f"row {row + 1}", sample_notes(schema.metadata))
