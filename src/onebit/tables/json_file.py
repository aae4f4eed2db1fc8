"""JSON: an array with one object for each item, whose keys are the columns."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from onebit.errors import InvalidInputError
from onebit.tables.columns import Columns
from onebit.tables.formats import Progress
from onebit.tables.jsonl_file import AT_A_TIME, batch_of, row_of
from onebit.tables.sniffing import parsed
from onebit.tables.streams import opened

ADVICE = "it must be an array with one object for each item (pandas: to_json(orient='records'))"


def open_columns(path: Path) -> Columns:
    """The columns of a JSON file, as texts: the keys of the first object, which all others must have."""
    with opened(path) as file:
        found = parsed(file.read())
    if not isinstance(found, list) or not found:
        kind = "an object" if isinstance(found, dict) else "an empty array" if found == [] else "no JSON array"
        raise InvalidInputError(f"{path.name} holds {kind}; {ADVICE}")
    for number, each in enumerate(found, start=1):
        if not isinstance(each, dict) or not each:
            raise InvalidInputError(f"{path.name}, record {number} is no object with keys; {ADVICE}")
    names = tuple(found[0])

    def batches(labels: Collection[str], progress: Progress) -> Iterator[Any]:
        for first in range(0, len(found), AT_A_TIME):
            part = found[first : first + AT_A_TIME]
            places = [f"{path.name}, record {first + number}" for number in range(1, len(part) + 1)]
            rows = [row_of(place, each, names, labels, "in record 1") for place, each in zip(places, part, strict=True)]
            yield batch_of(rows, names, places[0])
            progress(first + len(part), len(found))

    return Columns(path.name, names, batches, lambda row: f"record {row + 1}")
