"""How a batch of a watch comes to be: its table is read as that of a selection, and its models are put in order."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from onebit.errors import InvalidInputError
from onebit.log.events import Created
from onebit.records import StudySpec, WatchSpec
from onebit.study.creation import NewStudy, Progress, about_of
from onebit.study.items import facts_of, to_blocks
from onebit.study.kinds.selection import making as selection
from onebit.study.needed import Needed
from onebit.tables import ModelTable


def read(spec: WatchSpec, table: Any, progress: Progress | None = None) -> tuple[ModelTable, WatchSpec]:
    """The table of the models; and the spec, with right labels by row where it named a column of gold."""
    return selection.read(spec, table, progress)


def prepare(spec: StudySpec, table: object, simulated: bool) -> NewStudy:
    """A batch from the models of a table; the choice is its first model."""
    if not isinstance(spec, WatchSpec) or not isinstance(table, ModelTable):
        raise InvalidInputError(f"a choice is watched on a ModelTable, and this is {type(table).__name__}")
    table = replace(table.only(spec.models_of_watch(table.models)), judge=None)
    about = about_of(
        spec,
        table,
        table.labels,
        models=table.models,
        is_open=True,
        one_at_a_time=spec.one_at_a_time,
        reference=table.reference,
    )
    created = Created(spec.batch_setting(), "watch", facts_of(table), spec.overlap, kind="watch", simulated=simulated)
    known = table if simulated else replace(table, truth=None, verdicts=None)
    return NewStudy(created, about, partial(to_blocks, known, True))


def needed(spec: WatchSpec, table: ModelTable, seconds: float | None) -> Needed:
    """A batch asks what it is said to ask, and no more."""
    return Needed(spec.answers, spec.answers, spec.answers)
