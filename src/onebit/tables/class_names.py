"""Names of classes that Hugging Face ``datasets`` keep beside numbers: a rater is asked about a name, not about a 3."""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa

from onebit.errors import InvalidInputError
from onebit.tables.sniffing import parsed

#: Where ``datasets`` write what columns are, in the metadata of a schema; and the number of a class that is missing.
KEY, MISSING = b"huggingface", -1


def with_class_names(where: str, batch: Any, labels: Collection[str]) -> Any:
    """The batch with names in place of the numbers of classes.

    Where other columns of ``labels`` have whole numbers and no names, all stay numbers, so that they can be compared.
    """
    names = _names_of(batch.schema.metadata)
    if not names:
        return batch
    plain = [name for name in labels if name not in names and pa.types.is_integer(batch.schema.field(name).type)]
    if plain:
        return batch
    columns = [
        _named(where, name, column, names[name]) if name in names else column
        for name, column in zip(batch.schema.names, batch.columns, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def _names_of(metadata: dict[bytes, bytes] | None) -> dict[str, list[str]]:
    return _names_in(metadata[KEY]) if metadata and KEY in metadata else {}


@lru_cache(maxsize=8)
def _names_in(told: bytes) -> dict[str, list[str]]:
    """The names of classes, by column; nothing where the text is not as ``datasets`` write it."""
    found = parsed(told)
    for key in ("info", "features"):
        found = found.get(key) if isinstance(found, dict) else None
    if not isinstance(found, dict):
        return {}
    kinds = {name: kind for name, kind in found.items() if isinstance(kind, dict) and kind.get("_type") == "ClassLabel"}
    return {
        name: kind["names"]
        for name, kind in kinds.items()
        if isinstance(kind.get("names"), list) and all(isinstance(each, str) for each in kind["names"])
    }


def _named(where: str, name: str, column: Any, names: list[str]) -> Any:
    if not pa.types.is_integer(column.type):
        return column
    numbers = np.asarray(column.cast(pa.int64()).fill_null(MISSING))
    beyond = (numbers < MISSING) | (numbers >= len(names))
    if beyond.any():
        raise InvalidInputError(
            f"{where}, column {name!r}: there is the class {numbers[beyond][0]}, and {len(names)} classes have names; "
            "name all classes, or cast the column to texts"
        )
    return pa.DictionaryArray.from_arrays(pa.array(numbers, mask=numbers == MISSING), pa.array(names, pa.string()))
