"""Tables as JSONL: one object an item, its keys are the columns."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from onebit.errors import InvalidInputError
from onebit.tables.columns import Collector, assign_roles
from onebit.tables.reading import Progress
from onebit.tables.record import ModelTable

#: Lines read at a time.
AT_A_TIME = 20_000


def read_jsonl(
    path: Path,
    id: str | None,
    truth: str | None,
    show: Sequence[str],
    labels: Sequence[str] | None,
    progress: Progress,
) -> ModelTable:
    """Read a table of predictions; see ``read_table``."""
    size = path.stat().st_size
    with path.open("rb") as file:
        names = _names(path, file)
        roles = assign_roles(names, id, truth, show, path.name)
        collector = Collector(roles, labels, path.name, lambda row: f"line {row + 1}")
        first = 1
        while rows := _rows(path, file, first, names):
            columns = [pa.array([row[place] for row in rows], pa.string()) for place in range(len(names))]
            collector.add(pa.RecordBatch.from_arrays(columns, names=list(names)))
            first += len(rows)
            progress(file.tell(), size)
    return collector.table()


def read_columns(path: Path) -> tuple[tuple[str, ...], list[Any]]:
    """The names of all columns, and the columns as texts, with numbers as they are written."""
    rows: list[list[str | None]] = []
    with path.open("rb") as file:
        names = _names(path, file)
        while more := _rows(path, file, len(rows) + 1, names, with_fractions=True):
            rows += more
    return names, [pa.array([row[place] for row in rows], pa.string()) for place in range(len(names))]


def _names(path: Path, file: BinaryIO) -> tuple[str, ...]:
    """The keys of the first object; the file is then at its start again."""
    names = tuple(_object(path, 1, file.readline()))
    file.seek(0)
    return names


def _rows(
    path: Path, file: BinaryIO, first: int, names: tuple[str, ...], with_fractions: bool = False
) -> list[list[str | None]]:
    rows = []
    for number, line in enumerate(islice(file, AT_A_TIME), start=first):
        found = _object(path, number, line)
        for name in (*found, *names):
            if name not in names or name not in found:
                problem = "is not on line 1" if name not in names else "is missing; write null where a model abstains"
                raise InvalidInputError(f"{path.name}, line {number}: the column {name!r} {problem}")
        rows.append([_text(path, number, name, found[name], with_fractions) for name in names])
    return rows


def _object(path: Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except ValueError:
        found = None
    if not isinstance(found, dict) or not found:
        raise InvalidInputError(f"{path.name}, line {number}: every line must be one JSON object, in UTF-8")
    return found


def _text(path: Path, number: int, name: str, value: object, with_fractions: bool) -> str | None:
    if value is None or value == "":
        return None
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str | int) or (with_fractions and isinstance(value, float)):
        return str(value)
    what = "number" if with_fractions else "whole number"
    raise InvalidInputError(f"{path.name}, line {number}, column {name!r}: {value!r} is neither a text nor a {what}")
