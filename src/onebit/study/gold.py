"""Gold from a column of a table: right labels where they are known, empty elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from onebit.errors import InvalidInputError
from onebit.tables import ModelTable
from onebit.tables.data import Data

Table = TypeVar("Table", ModelTable, Data)


def split_gold(table: Table, column: str | None, labels: Sequence[str]) -> tuple[Table, dict[int, int]]:
    """The table without the column, which raters must not see, and the known labels by row."""
    if column is None:
        return table, {}
    numbers = {label: number for number, label in enumerate(labels)}
    known: dict[int, int] = {}
    for item in range(table.n_items):
        label = table.shown(item)[column]
        if label and label not in numbers:
            raise InvalidInputError(
                f"item {table.item_id(item)} (row {item + 1}), column {column!r}: {label!r} is no label of the table; "
                "give --labels with all labels"
            )
        if label:
            known[item] = numbers[label]
    if not known:
        raise InvalidInputError(f"the column {column!r} is empty; gold needs some right labels")
    left = {name: texts for name, texts in table._show.items() if name != column}
    return replace(table, _show=left), known
