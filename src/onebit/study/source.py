"""The table of a study from a file: which column is what, and which ones raters must not see.

Columns of right labels are read as texts, since not all of them need be filled, and are then taken out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from onebit.errors import OptionError
from onebit.records import SelectionSpec, StudySpec, TrainingSpec
from onebit.study.creation import Progress
from onebit.study.gold import split_gold
from onebit.tables import ModelTable, read_table
from onebit.tables.data import Data, Wanted, read_data

Spec = TypeVar("Spec", SelectionSpec, TrainingSpec)
Table = TypeVar("Table", ModelTable, Data)


def read_models(spec: SelectionSpec, path: Path, progress: Progress | None = None) -> tuple[ModelTable, SelectionSpec]:
    """The table of the models; and the spec, with right labels by row where it named a column of gold."""
    table = read_table(path, id=spec.id, show=_shown(spec, path), labels=spec.labels, progress=progress)
    return _without_right_labels(table, spec, table.labels)


def read_examples(spec: TrainingSpec, path: Path) -> tuple[Data, TrainingSpec]:
    """The same for examples to learn from; there must be something of them that raters can be shown.

    Labels that were not given are those of the column of right labels.
    """
    rows = read_data(path, Wanted(text=spec.text, id=spec.id, show=_shown(spec, path)))
    if spec.labels is None:
        right = rows._show[spec.truth].to_pylist() if spec.truth in rows._show else []
        spec = replace(spec, labels=tuple(sorted({label for label in right if label})))
    data, spec = _without_right_labels(rows, spec, spec.labels or ())
    if not data.shown(0):
        raise OptionError("show", "there is nothing to show to raters; name columns as show, image or text")
    return data, spec


def _shown(spec: StudySpec, path: Path) -> tuple[str, ...]:
    """The columns that are read as texts."""
    # The right labels of an NPZ are an array of their own, which is not read.
    truth = None if path.suffix.lower() == ".npz" else spec.truth
    gold = spec.gold if isinstance(spec.gold, str) else None
    return tuple(dict.fromkeys(name for name in (*spec.show, spec.image, truth, gold) if name is not None))


def _without_right_labels(table: Table, spec: Spec, labels: Sequence[str]) -> tuple[Table, Spec]:
    if isinstance(spec.gold, str):
        table, known = split_gold(table, spec.gold, labels)
        spec = replace(spec, gold=known)
    return replace(table, _show={name: texts for name, texts in table._show.items() if name != spec.truth}), spec
