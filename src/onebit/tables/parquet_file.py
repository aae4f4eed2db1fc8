"""Parquet: read by batches of rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as arrow_parquet

from onebit.errors import InvalidInputError
from onebit.tables.columns import Collector, assign_roles
from onebit.tables.reading import Progress
from onebit.tables.record import ModelTable

#: Cells read at a time.
BATCH_CELLS = 2**21


def read_parquet(
    path: Path, id: str | None, truth: str | None, show: Sequence[str], labels: Sequence[str] | None, progress: Progress
) -> ModelTable:
    """The table in a Parquet file; see :func:`onebit.tables.read_table`."""
    try:
        file = arrow_parquet.ParquetFile(path)
    except pa.ArrowInvalid as error:
        raise InvalidInputError(f"{path.name} cannot be read as Parquet: {str(error).splitlines()[0]}") from None
    with file:
        names = tuple(file.schema_arrow.names)
        roles = assign_roles(names, id, truth, show, path.name)
        collector = Collector(roles, labels, path.name, lambda row: f"row {row + 1}")
        n_rows, done = file.metadata.num_rows, 0
        try:
            for batch in file.iter_batches(batch_size=max(1, BATCH_CELLS // len(names)), use_threads=False):
                collector.add(batch)
                done += batch.num_rows
                progress(done, n_rows)
        except pa.ArrowInvalid as error:
            raise InvalidInputError(f"{path.name} is damaged: {str(error).splitlines()[0]}") from None
        return collector.table()
