"""Tables as JSONL: one object an item, its keys are the columns."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from onebit.errors import InvalidInputError
from onebit.tables import ModelTable, read_table
from onebit.tables.columns import Collector, assign_roles
from onebit.tables.reading import Progress

#: Lines read at a time.
AT_A_TIME = 20_000


def read_items(
    path: str | Path,
    *,
    id: str | None = None,
    show: Sequence[str] = (),
    labels: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> ModelTable:
    """Read a table of predictions from CSV, Parquet, NPZ or JSONL, and check all of it."""
    file = Path(path)
    if file.suffix.lower() == ".jsonl" and file.is_file():
        return _read_jsonl(file, id, show, labels, progress or (lambda done, whole: None))
    return read_table(file, id=id, show=show, labels=labels, progress=progress)


def _read_jsonl(
    path: Path, id: str | None, show: Sequence[str], labels: Sequence[str] | None, progress: Progress
) -> ModelTable:
    size = path.stat().st_size
    with path.open("rb") as file:
        names = tuple(_object(path, 1, file.readline()))
        file.seek(0)
        roles = assign_roles(names, id, None, show, path.name)
        collector = Collector(roles, labels, path.name, lambda row: f"line {row + 1}")
        first = 1
        while rows := _rows(path, file, first, names):
            columns = [pa.array([row[place] for row in rows], pa.string()) for place in range(len(names))]
            collector.add(pa.RecordBatch.from_arrays(columns, names=list(names)))
            first += len(rows)
            progress(file.tell(), size)
    return collector.table()


def _rows(path: Path, file: BinaryIO, first: int, names: tuple[str, ...]) -> list[list[str | None]]:
    rows = []
    for number, line in enumerate(islice(file, AT_A_TIME), start=first):
        found = _object(path, number, line)
        for name in (*found, *names):
            if name not in names or name not in found:
                problem = "is not on line 1" if name not in names else "is missing; write null where a model abstains"
                raise InvalidInputError(f"{path.name}, line {number}: the column {name!r} {problem}")
        rows.append([_text(path, number, name, found[name]) for name in names])
    return rows


def _object(path: Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except ValueError:
        found = None
    if not isinstance(found, dict) or not found:
        raise InvalidInputError(f"{path.name}, line {number}: every line must be one JSON object, in UTF-8")
    return found


def _text(path: Path, number: int, name: str, value: object) -> str | None:
    if value is None or value == "":
        return None
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str | int):
        return str(value)
    raise InvalidInputError(
        f"{path.name}, line {number}, column {name!r}: {value!r} is neither a text nor a whole number"
    )
