"""The columns of a table, before anybody has said what they are."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path

from onebit.errors import InvalidInputError

ENDINGS = (".csv", ".parquet", ".npz", ".jsonl")


def columns_of(path: Path) -> list[str]:
    """The names of the columns; an NPZ has none."""
    # Unlike Path.is_file, it takes a name that is too long for one that is not there.
    if not os.path.isfile(path):
        raise InvalidInputError(f"there is no file {path.name[:200]!r}")
    if path.suffix.lower() == ".npz":
        return []
    try:
        if path.suffix.lower() == ".csv":
            with path.open(encoding="utf-8-sig", newline="") as file:
                return next(csv.reader(file), [])
        if path.suffix.lower() == ".jsonl":
            with path.open(encoding="utf-8") as file:
                return list(json.loads(file.readline() or "{}"))
        import pyarrow.parquet

        names: list[str] = pyarrow.parquet.read_schema(path).names
    # What pyarrow raises for a file that is no Parquet is a ValueError too.
    except (OSError, ValueError, csv.Error) as error:
        reason = str(error).splitlines()[0]
        raise InvalidInputError(f"the table cannot be read as {path.suffix[1:].upper()}: {reason}") from None
    return names
