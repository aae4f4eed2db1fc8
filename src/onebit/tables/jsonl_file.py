"""JSONL: one object for each item, whose keys are the columns."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from onebit.errors import InvalidInputError
from onebit.tables.columns import Columns
from onebit.tables.formats import Progress
from onebit.tables.labels import as_text

#: Lines read at a time.
AT_A_TIME = 20_000


def open_columns(path: Path) -> Columns:
    """The columns of a JSONL file, as texts: the keys of the first object, which all others must have."""
    with path.open("rb") as file:
        names = tuple(_object(f"{path.name}, line 1", file.readline()))

    def batches(labels: Collection[str], progress: Progress) -> Iterator[Any]:
        size, n_read = path.stat().st_size, 0
        with path.open("rb") as file:
            while lines := list(islice(file, AT_A_TIME)):
                places = [f"{path.name}, line {n_read + number}" for number in range(1, len(lines) + 1)]
                rows = [_row(place, line, names, labels) for place, line in zip(places, lines, strict=True)]
                try:
                    columns = [pa.array(column, pa.string()) for column in zip(*rows, strict=True)]
                    batch = pa.RecordBatch.from_arrays(columns, names=list(names))
                except UnicodeEncodeError as error:
                    raise InvalidInputError(f"{places[0]} or after: {error.object!r} is no text in UTF-8") from None
                yield batch
                n_read += len(rows)
                progress(file.tell(), size)

    return Columns(path.name, names, batches, lambda row: f"line {row + 1}")


def _object(where: str, line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line)
    # Too many brackets within brackets are no ValueError.
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or not found:
        raise InvalidInputError(f"{where}: every line must be one JSON object, in UTF-8")
    return found


def _row(where: str, line: bytes, names: tuple[str, ...], labels: Collection[str]) -> list[str | None]:
    found = _object(where, line)
    if found.keys() != set(names):
        for name in (*found, *names):
            if name not in names or name not in found:
                problem = "is not on line 1" if name not in names else "is missing; write null where a model abstains"
                raise InvalidInputError(f"{where}: the column {name!r} {problem}")
    row = []
    for name in names:
        try:
            row.append(_text(found[name], name in labels))
        except ValueError as error:
            raise InvalidInputError(f"{where}, column {name!r}: {error}") from None
    return row


def _text(value: object, is_label: bool) -> str | None:
    """The text of a value, of a fraction as it is written; a ValueError says why it has none."""
    if value is not None and not isinstance(value, str | int | float):
        raise ValueError(f"{value!r} is neither a text nor a number")
    return str(value) if isinstance(value, float) and not is_label else as_text(value)
