"""What choosing from a table will cost, by several protocols and for several eps: ``onebit plan`` and its Python."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from onebit.errors import OptionError
from onebit.records import AskingProtocol, SelectionSpec
from onebit.study.constants import PLAN_SEED
from onebit.study.kinds.selection.forecast import forecast
from onebit.study.kinds.selection.making import read_models, rehearsed
from onebit.study.kinds.selection.rehearsal import Progress, rehearse
from onebit.study.needed import Needed
from onebit.tables import ModelTable
from onebit.tables.drawing import RowSource, draw

#: Rows that are drawn from a table that is read by need, unless it is said.
PLANNED_ROWS = 10_000


@dataclass(frozen=True, slots=True)
class Planned:
    """The answers of raters that are needed to certify ``eps`` by a protocol."""

    protocol: AskingProtocol
    eps: float
    needed: Needed


def read_some(
    spec: SelectionSpec, rows: RowSource, n: int, progress: Progress | None = None
) -> tuple[ModelTable, SelectionSpec]:
    """``n`` rows of a table that is read by need, and the spec of a selection from them.

    They are drawn as ``onebit draw`` draws them, so the selection is one on a stream; by a seed that is always the
    same, since a forecast promises nothing. All rows are read where there are no more than that.
    """
    if spec.long:
        raise OptionError(
            "long",
            f"{rows.place} is read by rows, and long says that an item has several of them; bring it to one row per "
            "item, with a column for each model",
        )
    if rows.n_rows <= n:
        return read_models(spec, rows.take(np.arange(rows.n_rows), progress)), spec
    # A row may be drawn twice, and then its id is there twice.
    shown = spec.show if spec.id is None else (*spec.show, spec.id)
    drawn: Any = draw(rows, n, PLAN_SEED, progress)
    return read_models(replace(spec, id=None, show=shown), drawn), replace(spec, population="stream")


def plan(
    table: ModelTable,
    spec: SelectionSpec,
    all_eps: Sequence[float],
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> tuple[Planned, ...]:
    """A forecast for each protocol that the table can be asked by, and each eps, the largest first.

    Where the spec names a protocol it is that alone. Rehearsals are tasks of an ``executor``, if there is one.
    """
    spec.check_has_models(len(table.models))
    falling = sorted(set(all_eps), reverse=True)
    planned = []
    for protocol in protocols(spec, table.is_open):
        own = replace(spec, protocol=protocol, eps=falling[-1], seed=PLAN_SEED)
        rehearsal = rehearse(rehearsed(table), own.setting(), progress=progress, executor=executor)
        for eps in falling:
            needed = forecast(rehearsal, eps).by_raters(spec.overlap, spec.check_share)
            planned.append(Planned(protocol, eps, needed))
    return tuple(planned)


def protocols(spec: SelectionSpec, is_open: bool) -> tuple[AskingProtocol, ...]:
    """The protocols that ask yes or no and are worth comparing, or the one that the spec names."""
    if spec.protocol != "auto":
        return (spec.protocol,)
    decided = spec.decided(is_open).protocol
    if decided != "one-shot" or spec.f_no + spec.f_yes > 0:
        return (decided,)  # type: ignore[return-value]
    return "one-shot", "follow-up"
