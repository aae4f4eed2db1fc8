"""How a selection comes to be: its table from a file, all checks, and what it will take."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from onebit.errors import InvalidInputError, OptionError
from onebit.log.events import Created
from onebit.records import SelectionSpec, StudySpec
from onebit.study.constants import PLAN_SEED
from onebit.study.creation import NewStudy, Progress, about_of
from onebit.study.items import facts_of, to_blocks
from onebit.study.kinds.selection.forecast import forecast
from onebit.study.kinds.selection.imagining import Table
from onebit.study.kinds.selection.rehearsal import rehearse
from onebit.study.kinds.selection.selectors import build_selection
from onebit.study.needed import Needed
from onebit.study.source import columns_as_texts, without_right_labels
from onebit.tables import ModelTable, read_table
from onebit.tables.opening import Long, is_npz, open_source, paths_of
from onebit.tables.reading import SCORES_USED
from onebit.tables.source import Source

#: A spec of models and their table: of a selection, of one that goes on from another, of a batch of a watch.
Of = TypeVar("Of", bound=SelectionSpec)
SCORES_NOT_USED = "the scores are not used as a judge: nothing is guessed with this protocol or learner"


def read(spec: Of, table: Any, progress: Progress | None = None) -> tuple[ModelTable, Of]:
    """The table of the models; and the spec, with right labels by row where it named a column of gold.

    ``table`` is the path of a file, several paths of logs, or a data frame.
    """
    source = open_table(spec, table)
    default = source.show if isinstance(source, Source) else ()
    shown = columns_as_texts(spec, isinstance(source, Source), default)
    models = _read(spec, source, None, shown, progress)
    return without_right_labels(models, spec, models.labels)


def open_table(spec: SelectionSpec, table: Any) -> Source | Path:
    """The columns of a table, which may be open already; or the path of an NPZ, which has none."""
    if isinstance(table, Source):
        return table
    paths = paths_of(table)
    if paths is not None and len(paths) == 1 and not spec.long and is_npz(paths[0]):
        return paths[0]
    return open_source(table, Long(spec.id, spec.model, spec.output) if spec.long else None)


def read_models(spec: SelectionSpec, table: Any, progress: Progress | None = None) -> ModelTable:
    """The table as the spec says, with right labels or verdicts where it names columns of these."""
    return _read(spec, open_table(spec, table), spec.truth, spec.show, progress)


def _read(
    spec: SelectionSpec, table: Source | Path, truth: str | None, show: tuple[str, ...], progress: Progress | None
) -> ModelTable:
    models = read_table(
        table,
        id=spec.id,
        truth=truth,
        show=show,
        labels=spec.labels,
        reference=spec.reference,
        models=spec.models,
        verdicts=spec.verdicts,
        equal=spec.equal,
        empty=spec.empty,
        several=spec.protocol == "panel",
        judge=spec.judge,
        progress=progress,
    )
    return models if spec.judge is not None or spec.may_judge else _without_scores(models)


def _without_scores(models: ModelTable) -> ModelTable:
    """The table without the scores that its file has, where nobody asked for them and they would serve nothing."""
    if models.judge is None:
        return models
    told = (each if each != SCORES_USED else SCORES_NOT_USED for each in models.notes)
    return replace(models, judge=None, notes=tuple(told))


def prepare(spec: StudySpec, table: object, simulated: bool) -> NewStudy:
    """A selection from the models of a table."""
    if not isinstance(spec, SelectionSpec) or not isinstance(table, ModelTable):
        raise InvalidInputError(f"models are selected from a ModelTable, and this is {type(table).__name__}")
    if spec.labels not in (None, table.labels):
        raise OptionError("labels", "the labels given are not those of the table; read it with them")
    spec, table = spec.decided(table.is_open), of_gate(spec, table)
    spec.check_has_models(len(table.models))
    if table.judge is not None:
        spec.check_may_judge()
    setting, facts = spec.setting(), facts_of(table)
    is_open = setting.protocol == "panel"
    about = about_of(
        spec,
        table,
        table.labels,
        models=table.models,
        is_open=is_open,
        one_at_a_time=spec.one_at_a_time,
        reference=table.reference,
    )
    # It refuses what cannot be run.
    build_selection(setting, spec.learner, table.predictions, facts.n_labels, table.judge)
    created = Created(setting, spec.learner, facts, spec.overlap, simulated=simulated)
    known = table if simulated else replace(table, truth=None, verdicts=None)
    return NewStudy(created, about, partial(to_blocks, known, is_open))


def of_gate(spec: SelectionSpec, table: ModelTable) -> ModelTable:
    """The table of a gate has the baseline and the candidates alone, in this order; another stays as it is."""
    models = spec.models_of_gate(table.models)
    return table if models is None else table.only(models)


def rehearsed(table: ModelTable) -> Table:
    """The table as rehearsals take it."""
    return Table(table.predictions, max(2, table.n_labels), table.judge)


def needed(spec: SelectionSpec, table: ModelTable, seconds: float | None) -> Needed:
    """How many questions it will take, by rehearsals on the table."""
    spec.check_has_models(len(table.models))
    if spec.spends and spec.budget is not None:
        return Needed(spec.budget, spec.budget, spec.budget)
    setting = replace(spec.decided(table.is_open), seed=PLAN_SEED).setting()
    return forecast(rehearse(rehearsed(of_gate(spec, table)), setting, seconds=seconds), setting.eps)
