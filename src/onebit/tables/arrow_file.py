"""Arrow: files (Feather is one) and streams, read batch by batch without a copy."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.ipc as arrow_ipc

from onebit.errors import InvalidInputError
from onebit.tables.class_names import with_class_names
from onebit.tables.columns import Columns
from onebit.tables.formats import Progress

#: How an Arrow file begins; a stream begins otherwise.
FILE = b"ARROW1"


def open_columns(path: Path) -> Columns:
    """The columns of an Arrow file or stream, with the types that they have there."""
    return Columns(
        path.name,
        names_in(path),
        lambda labels, progress: batches_in(path, labels, progress),
        lambda row: f"row {row + 1}",
    )


def names_in(path: Path) -> tuple[str, ...]:
    """The names of the columns."""
    try:
        with pa.memory_map(str(path)) as source:
            return tuple(_reader(source).schema.names)
    except pa.ArrowInvalid as error:
        raise InvalidInputError(
            f"{path.name} cannot be read as Arrow: {str(error).splitlines()[0]}; write the file again"
        ) from None


def batches_in(path: Path, labels: Collection[str], progress: Progress) -> Iterator[Any]:
    """The rows, as ``Columns.batches`` gives them."""
    size = path.stat().st_size
    try:
        with pa.memory_map(str(path)) as source:
            reader = _reader(source)
            numbered = getattr(reader, "num_record_batches", None)
            for batch in reader if numbered is None else map(reader.get_batch, range(numbered)):
                # Arrow believes what a file says of where its texts are, and would read past their end.
                batch.validate(full=True)
                yield with_class_names(path.name, batch, labels)
                progress(min(source.tell(), size), size)
    except (pa.ArrowInvalid, OSError) as error:
        raise InvalidInputError(
            f"{path.name} is damaged: {str(error).splitlines()[0]}; copy it again, or write it again"
        ) from None


def _reader(source: Any) -> Any:
    begins = source.read(len(FILE))
    source.seek(0)
    return arrow_ipc.open_file(source) if begins == FILE else arrow_ipc.open_stream(source)
