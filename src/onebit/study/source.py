"""The table of a study from a file: which column is what, and which ones raters must not see.

Columns of right labels are read as texts, since not all of them need be filled, and are then taken out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from onebit.records import StudySpec
from onebit.study.gold import split_gold
from onebit.tables import ModelTable
from onebit.tables.data import Data

Spec = TypeVar("Spec", bound=StudySpec)
Table = TypeVar("Table", ModelTable, Data)


def columns_as_texts(spec: StudySpec, has_columns: bool, show: tuple[str, ...] = ()) -> tuple[str, ...]:
    """The columns that are read as texts; ``show`` are those that raters see unless others are named."""
    # The right labels of a file without columns are an array of their own, which is not read.
    truth = spec.truth if has_columns else None
    gold = spec.gold if isinstance(spec.gold, str) else None
    names = (*(spec.show or show), spec.media, truth, gold)
    return tuple(dict.fromkeys(name for name in names if name is not None))


def without_right_labels(table: Table, spec: Spec, labels: Sequence[str]) -> tuple[Table, Spec]:
    """The table without the columns of right labels; and the spec, with gold by row where it named a column."""
    if isinstance(spec.gold, str):
        table, known = split_gold(table, spec.gold, labels)
        spec = replace(spec, gold=known)
    return replace(table, _show={name: texts for name, texts in table._show.items() if name != spec.truth}), spec
