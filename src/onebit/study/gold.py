"""Gold from a column of a table: right labels where they are known, empty elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from onebit.errors import OptionError
from onebit.tables import ModelTable
from onebit.tables.data import Data
from onebit.tables.open_answers import right_texts
from onebit.tables.truth import hint

Table = TypeVar("Table", ModelTable, Data)
#: What stands between several right labels of one item.
BETWEEN = "|"


def split_gold(table: Table, column: str, labels: Sequence[str]) -> tuple[Table, dict[int, tuple[int, ...]]]:
    """The table without the column, which raters must not see, and the known labels by row.

    A cell holds one label, or several: as a JSON list, or with ``|`` between them. Where the whole cell is a label, it
    is that label.
    """
    numbers = {label: number for number, label in enumerate(labels)}
    known: dict[int, tuple[int, ...]] = {}
    for item in range(table.n_items):
        cell = table.shown(item)[column]
        if cell:
            where = f"item {table.item_id(item)} (row {item + 1}), column {column!r}"
            known[item] = _right(cell, numbers, where)
    if not known:
        raise OptionError("gold", f"the column {column!r} is empty; gold needs some right labels")
    left = {name: texts for name, texts in table._show.items() if name != column}
    return replace(table, _show=left), known


def _right(cell: str, numbers: Mapping[str, int], where: str) -> tuple[int, ...]:
    """The labels of a cell, each once."""
    found: dict[int, None] = {}
    parts = right_texts(cell)
    if cell not in numbers and len(parts) == 1:
        parts = [part.strip() for part in cell.split(BETWEEN)]
    for label in (cell,) if cell in numbers else parts:
        if label not in numbers:
            raise OptionError(
                "gold",
                f"{where}: {label!r} is no label of the table{hint(label, numbers)}; write labels as they are there, "
                "or give all labels",
            )
        found[numbers[label]] = None
    return tuple(found)
