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
from onebit.tables.limits import MOST_LINE, check_size
from onebit.tables.sniffing import parsed
from onebit.tables.streams import opened

#: Lines, and cells, read at a time.
AT_A_TIME, AT_A_TIME_CELLS = 20_000, 2**21


def open_columns(path: Path) -> Columns:
    """The columns of a JSONL file, as texts: the keys of the first object, which all others must have."""
    with opened(path) as file:
        names = tuple(_object(f"{path.name}, line 1", file.readline(MOST_LINE)))
    check_size(path.name, 0, len(names))

    def batches(labels: Collection[str], progress: Progress) -> Iterator[Any]:
        n_read, n_bytes, size = 0, 0, path.stat().st_size
        at_a_time = max(1, min(AT_A_TIME, AT_A_TIME_CELLS // len(names)))
        with opened(path) as file:
            while lines := list(islice(iter(lambda: file.readline(MOST_LINE), b""), at_a_time)):
                places = [f"{path.name}, line {n_read + number}" for number in range(1, len(lines) + 1)]
                rows = [
                    row_of(place, _object(place, line), names, labels, "on line 1")
                    for place, line in zip(places, lines, strict=True)
                ]
                yield batch_of(rows, names, places[0])
                n_read += len(rows)
                n_bytes += sum(map(len, lines))
                # What was packed is longer than its file.
                progress(min(n_bytes, size), size)

    return Columns(path.name, names, batches, lambda row: f"line {row + 1}")


def _object(where: str, line: bytes) -> dict[str, Any]:
    found = parsed(line)
    if not isinstance(found, dict) or not found:
        raise InvalidInputError(f"{where}: every line must be one JSON object, in UTF-8")
    return found


def row_of(
    where: str, found: dict[str, Any], names: tuple[str, ...], labels: Collection[str], first: str
) -> list[str | None]:
    """The texts of an object's values, in the order of ``names``; ``first`` says where these are from."""
    if tuple(found) != names and found.keys() != (keys := frozenset(names)):
        for name in (*found, *names):
            if name not in keys or name not in found:
                problem = (
                    f"is not {first}; give it everywhere, or nowhere"
                    if name not in keys
                    else "is missing; write null where a model abstains"
                )
                raise InvalidInputError(f"{where}: the column {name!r} {problem}")
    row = []
    for name in names:
        try:
            row.append(_text(found[name], name in labels))
        except ValueError as error:
            raise InvalidInputError(f"{where}, column {name!r}: {error}") from None
    return row


def batch_of(rows: list[list[str | None]], names: tuple[str, ...], first: str) -> Any:
    """Rows as Arrow keeps them; ``first`` says where the first of them is."""
    try:
        columns = [pa.array(column, pa.string()) for column in zip(*rows, strict=True)]
        return pa.RecordBatch.from_arrays(columns, names=list(names))
    except UnicodeEncodeError as error:
        raise InvalidInputError(f"{first} or after: {error.object!r} is no text in UTF-8") from None


def _text(value: object, is_label: bool) -> str | None:
    """The text of a value, of a fraction as it is written; a ValueError says why it has none."""
    if isinstance(value, list) and not is_label:
        # Several right answers: they stay a list, as they stand in a cell of any format.
        return json.dumps(value, ensure_ascii=False)
    if value is not None and not isinstance(value, str | int | float):
        hint = "; several right answers are for --protocol panel" if isinstance(value, list) else ""
        raise ValueError(f"{value!r} is neither a text nor a number{hint}")
    return str(value) if isinstance(value, float) and not is_label else as_text(value)
