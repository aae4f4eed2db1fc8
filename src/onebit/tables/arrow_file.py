"""Arrow: files (Feather is one) and streams, read batch by batch without a copy."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.ipc as arrow_ipc

from onebit.errors import InvalidInputError
from onebit.tables.columns import Columns
from onebit.tables.formats import Progress

#: How an Arrow file begins; a stream begins otherwise.
FILE = b"ARROW1"


def open_columns(path: Path) -> Columns:
    """The columns of an Arrow file or stream, with the types that they have there."""
    try:
        with pa.memory_map(str(path)) as source:
            names = tuple(_reader(source).schema.names)
    except pa.ArrowInvalid as error:
        raise InvalidInputError(f"{path.name} cannot be read as Arrow: {str(error).splitlines()[0]}") from None

    def batches(labels: Collection[str], progress: Progress) -> Iterator[Any]:
        size = path.stat().st_size
        try:
            with pa.memory_map(str(path)) as source:
                reader = _reader(source)
                numbered = getattr(reader, "num_record_batches", None)
                whole = reader if numbered is None else map(reader.get_batch, range(numbered))
                for batch in whole:
                    yield batch
                    progress(min(source.tell(), size), size)
        except (pa.ArrowInvalid, OSError) as error:
            raise InvalidInputError(f"{path.name} is damaged: {str(error).splitlines()[0]}") from None

    return Columns(path.name, names, batches, lambda row: f"row {row + 1}")


def _reader(source: Any) -> Any:
    begins = source.read(len(FILE))
    source.seek(0)
    return arrow_ipc.open_file(source) if begins == FILE else arrow_ipc.open_stream(source)
