"""``select``, ``gate``, ``compare`` and ``plan``: the best of N models from a table at hand, in a notebook or a script.

They are what ``onebit select`` and ``onebit plan`` are, with a function in place of the person at the terminal.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from onebit.errors import InvalidInputError, check_count
from onebit.raters import CallableRater
from onebit.records import Answer, SelectionSpec
from onebit.report import Report
from onebit.selected import Forecast, Gated, Selected
from onebit.study.constants import AT_A_TIME, PLANNED_EPS
from onebit.study.creation import prepare
from onebit.study.folder import StudyFolder, report_of
from onebit.study.kinds.selection.making import open_table, read_models
from onebit.study.kinds.selection.planning import PLANNED_ROWS, read_some
from onebit.study.kinds.selection.planning import plan as planned
from onebit.study.study import Study
from onebit.tables.drawing import by_need
from onebit.tables.labels import as_text
from onebit.tables.opening import paths_of
from onebit.tables.record import ModelTable, digest_of, narrow
from onebit.tables.source import Source

#: Says whether an output is right for an item: yes, no, or can't tell.
Ask = Callable[[dict[str, Any], Any], bool | Answer | None]
#: Least seconds between two lines about how far it is.
REFRESH = 0.5


def select(
    table: Any,
    ask: Ask | Sequence[Any] | None = None,
    *,
    out: str | Path | None = None,
    quiet: bool = False,
    **options: Any,
) -> Selected:
    """The best model of a table, within ``eps``, by yes/no answers; with probability at least 1 - ``delta``.

    ``table`` is a data frame (pandas, polars, Arrow), a dict of columns, the path of a file, or several paths of logs.
    ``ask(item, output)`` says whether an output, or a label, is right: True, False, or None for can't tell. ``item`` is
    a dict of the columns that are shown, the id, and ``row``, the item's place in the table. An array of right labels
    in its place, a column named as ``truth``, or columns named as ``verdicts`` simulate raters. The other options are
    those of ``onebit.records.SelectionSpec``: ``eps``, ``delta``, ``id``, ``show``, ``protocol``, ``long`` and so on.
    With ``top=3`` the three best are named (``best``); with ``tiers=True`` all pairs are compared (``tiers``).

    With ``out``, a folder, every answer is durable, and the same call goes on where it stopped; ``onebit verify``
    checks it. An interrupt ends it with what is shown so far. ``quiet``: no line about how far it is.

    >>> truth = ["cat", "dog"] * 20
    >>> found = select({"always cat": ["cat"] * 40, "right": truth}, ask=truth, eps=0.1)
    >>> found.chosen
    'right'
    """
    return Selected(*_run(SelectionSpec(**options), table, ask, out, quiet))


def gate(
    table: Any,
    ask: Ask | Sequence[Any] | None = None,
    *,
    baseline: str,
    candidates: str | Sequence[str] = (),
    margin: float | None = None,
    out: str | Path | None = None,
    quiet: bool = False,
    **options: Any,
) -> Gated:
    """Whether candidates may take the place of the model in use: better, not worse by ``margin``, worse, or not yet.

    Without ``candidates``, all other models of the table are held against ``baseline``. Only where they differ from it
    something is asked. Table, ``ask``, ``out`` and the other options are those of ``select``.

    >>> truth = ["cat", "dog"] * 20
    >>> gate({"old": ["cat"] * 40, "new": truth}, truth, baseline="old", margin=0.1).passed
    True
    """
    named = (candidates,) if isinstance(candidates, str) else tuple(candidates)
    spec = SelectionSpec(baseline=baseline, candidates=named, margin=margin, **options)
    return Gated(*_run(spec, table, ask, out, quiet))


def _run(
    spec: SelectionSpec, table: Any, ask: Ask | Sequence[Any] | None, out: str | Path | None, quiet: bool
) -> tuple[Report, tuple[str, ...]]:
    """Ask until the end; the report, and what was left out of the table."""
    models, rater = rater_or_truth(spec, open_table(spec, table), ask)
    with TemporaryDirectory() as temporary:
        folder = StudyFolder(Path(out) if out is not None else Path(temporary) / "study")
        folder.check_is_free()
        new = prepare(folder.with_kept_seed(spec), models, simulated=rater is None)
        with folder.go_on(_name(table), new) as study:
            _answer(study, rater, 1 if out is not None else AT_A_TIME, None if quiet else _Line(study))
            report = folder.write_report(study) if out is not None else report_of(study)
    return report, models.notes


def rater_or_truth(
    spec: SelectionSpec, source: Source | Path, ask: Ask | Sequence[Any] | None
) -> tuple[ModelTable, CallableRater | None]:
    """The table, and the function as a rater; None where the table has right labels or verdicts to simulate raters."""
    models = _with_truth(read_models(spec, source), ask)
    if models.truth is not None or models.verdicts is not None:
        return models, None
    if not callable(ask):
        raise InvalidInputError(
            "nobody answers: give ask, a function of an item and an output that says whether it is right, or an "
            "array of the right labels"
        )
    return models, _rater(models, ask, spec.id or getattr(source, "id", None), source)


def compare(
    a: Any,
    b: Any,
    ask: Ask | Sequence[Any] | None = None,
    *,
    names: tuple[str, str] | None = None,
    items: Mapping[str, Any] | None = None,
    **options: Any,
) -> Selected:
    """Which of two models is better: ``a`` and ``b`` are their outputs, one for each item, or the paths of two logs.

    ``items`` are columns that are shown, by name. The options are those of ``select``.

    >>> compare([1, 2, 3] * 20, [1, 2, 2] * 20, ask=[1, 2, 3] * 20, eps=0.1, names=("new", "old")).chosen
    'new'
    """
    if paths_of([a, b]) is not None:
        return select([a, b], ask, **options)
    called = names or tuple(str(getattr(each, "name", None) or name) for each, name in ((a, "a"), (b, "b")))
    if len({*called, *(items or {})}) < 2 + len(items or {}):
        raise InvalidInputError(f"the two models are called {called[0]!r} and {called[1]!r}; give them other names")
    columns = {**(items or {}), called[0]: a, called[1]: b}
    return select(columns, ask, **{"show": tuple(items or ()), **options})


def plan(
    table: Any,
    *,
    eps: float | Sequence[float] = PLANNED_EPS,
    rows: int = PLANNED_ROWS,
    executor: Executor | None = None,
    **options: Any,
) -> Forecast:
    """How many answers it will take to choose from a table, as ``onebit plan`` forecasts it; no promise.

    The table and the options are those of ``select``; several ``eps`` may be given. One-shot and follow-up are
    forecast, or for free texts a panel, unless a ``protocol`` is named. Rehearsals run on an ``executor``, if given.
    The table may also be a folder of Parquet files or a URL, of which so many ``rows`` are drawn; ``passes.survey`` has
    what all rows say.
    """
    spec = SelectionSpec(**options)
    all_eps = (eps,) if isinstance(eps, float | int) else tuple(eps)
    for each in all_eps:
        replace(spec, eps=each)
    large = by_need(table)
    if large is None:
        models = read_models(spec, table)
    else:
        models, spec = read_some(spec, large, check_count("rows", rows))
    return Forecast(
        planned(models, spec, all_eps, executor=executor), models.n_models, models.n_items, spec.delta, models.notes
    )


def _with_truth(models: ModelTable, ask: Any) -> ModelTable:
    """The table with the right labels of an array; those that no model gives are labels too."""
    if ask is None or callable(ask):
        if callable(ask) and (models.truth is not None or models.verdicts is not None):
            raise InvalidInputError("ask is a function, and truth or verdicts name columns; give one of them")
        return models
    right = [as_text(each.item() if isinstance(each, np.generic) else each) for each in ask]
    if len(right) != models.n_items:
        raise InvalidInputError(f"ask has {len(right):,} right labels, and there are {models.n_items:,} items")
    if None in right:
        raise InvalidInputError(f"the right label of row {right.index(None)} is missing; every item needs one")
    labels = tuple(dict.fromkeys([*models.labels, *map(str, right)]))
    number = {label: place for place, label in enumerate(labels)}
    predictions = models.predictions.astype(narrow(len(labels)))
    return replace(
        models,
        predictions=predictions,
        labels=labels,
        truth=np.array([number[str(label)] for label in right], dtype=np.int64),
        digest=digest_of(predictions, models.models, labels),
    )


def _rater(models: ModelTable, ask: Ask, id: str | None, source: Source | Path) -> CallableRater:
    """The function as a rater: it is given an item and an output as the table has them."""
    values = source.values if isinstance(source, Source) else {}

    def answer(row: int, label: int) -> bool | Answer | None:
        item = {"row": row, **({} if id is None else {id: models.item_id(row)}), **models.shown(row)}
        text = models.labels[label]
        return ask(item, values.get(text, text))

    return CallableRater(answer)


def _answer(study: Study, rater: CallableRater | None, at_a_time: int, line: _Line | None) -> None:
    """Ask until nothing is left to ask, or until somebody interrupts it."""
    try:
        if study.is_over:
            return
        if rater is None:
            study.simulate(line)
        else:
            study.answer_by(rater, at_a_time, line)
    except KeyboardInterrupt:
        pass
    finally:
        if line is not None:
            line.end()


def _name(table: Any) -> str:
    paths = paths_of(table)
    if paths is None:
        return "table"
    return paths[0].name if len(paths) == 1 else f"{len(paths)} logs"


class _Line:
    """One line on standard error that says how far it is, where somebody can see it."""

    def __init__(self, study: Study) -> None:
        self._study, self._next, self._length = study, time.monotonic() + REFRESH, 0
        self._is_seen = sys.stderr.isatty() or "ipykernel" in sys.modules

    def __call__(self) -> None:
        if not self._is_seen or time.monotonic() < self._next:
            return
        began = time.monotonic()
        said = f"{len(self._study.view.answers):,} answers so far{self._study.status().in_a_line()}"
        print(f"\r{said:{self._length}}", end="", file=sys.stderr, flush=True)
        self._length = len(said)
        # A look costs something, so it is a small part of the time.
        self._next = time.monotonic() + max(REFRESH, 10 * (time.monotonic() - began))

    def end(self) -> None:
        if self._length:
            print(file=sys.stderr)
