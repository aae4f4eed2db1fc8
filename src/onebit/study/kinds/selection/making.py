"""How a selection comes to be: its table from a file, all checks, and what it will take."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from onebit.errors import InvalidInputError, OptionError
from onebit.log.events import Created
from onebit.raters import ErringRater, SimulatedRater
from onebit.records import SelectionSpec, Setting, StudySpec
from onebit.study.constants import AT_A_TIME, PATIENCE, PLAN_SEED
from onebit.study.creation import NewStudy, Progress, about_of
from onebit.study.items import facts_of, to_blocks
from onebit.study.kinds.selection.rehearsal import imagined_truths
from onebit.study.kinds.selection.selectors import build_selection
from onebit.study.source import columns_as_texts, without_right_labels
from onebit.tables import ModelTable, read_table


def read(spec: SelectionSpec, path: Path, progress: Progress | None = None) -> tuple[ModelTable, SelectionSpec]:
    """The table of the models; and the spec, with right labels by row where it named a column of gold."""
    shown = columns_as_texts(spec, path)
    table = read_table(path, id=spec.id, show=shown, labels=spec.labels, progress=progress)
    return without_right_labels(table, spec, table.labels)


def prepare(spec: StudySpec, table: object, simulated: bool) -> NewStudy:
    """A selection from the models of a table."""
    if not isinstance(spec, SelectionSpec) or not isinstance(table, ModelTable):
        raise InvalidInputError(f"models are selected from a ModelTable, and this is {type(table).__name__}")
    if spec.labels not in (None, table.labels):
        raise OptionError("labels", "the labels given are not those of the table; read it with them")
    setting, facts = spec.setting(), facts_of(table)
    about = about_of(spec, table, table.labels, models=table.models)
    # It refuses what cannot be run.
    build_selection(setting, spec.learner, table.predictions, facts.n_labels)
    created = Created(setting, spec.learner, facts, spec.overlap, simulated=simulated)
    return NewStudy(created, about, partial(to_blocks, table if simulated else replace(table, truth=None)))


def n_questions(spec: SelectionSpec, table: ModelTable) -> list[tuple[int, bool]]:
    """The questions of each rehearsal, and whether those are all: right labels are such as the votes make likely."""
    setting = replace(spec, seed=PLAN_SEED).setting()
    return [_rehearse(table, setting, truth) for truth in imagined_truths(table.predictions, setting.seed)]


def _rehearse(table: ModelTable, setting: Setting, truth: NDArray[np.int64]) -> tuple[int, bool]:
    """How many questions it takes; and whether that is all, or the patience was at its end."""
    selection = build_selection(setting, "certified", table.predictions, max(2, table.n_labels))
    errs = setting.f_no + setting.f_yes > 0
    rater = (
        ErringRater(truth, f_no=setting.f_no, f_yes=setting.f_yes, seed=setting.seed, anew=True)
        if errs
        else SimulatedRater(truth)
    )
    learner, n_questions, end = selection.learner, 0, time.monotonic() + PATIENCE
    while isinstance(questions := learner.ask(AT_A_TIME), tuple):
        for question in questions:
            learner.tell(question.id, rater(replace(question, item=selection.row(question.item))))
        n_questions += len(questions)
        if time.monotonic() > end:
            return n_questions, False
    return n_questions, True
