"""The objects of a JSONL file that a tool wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from onebit.errors import InvalidInputError
from onebit.tables.sniffing import parsed
from onebit.tables.streams import opened


def objects(path: Path) -> list[dict[str, Any]]:
    """One object for each line that is not blank; InvalidInputError where one is something else."""
    found = []
    with opened(path) as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            each = parsed(line)
            if not isinstance(each, dict):
                raise InvalidInputError(f"{path.name}, line {number}: every line must be one JSON object, in UTF-8")
            found.append(each)
    return found
