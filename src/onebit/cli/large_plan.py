"""What ``onebit plan`` says of a table that is read by need: what its rows show without a label, and which rows."""

from __future__ import annotations

from concurrent.futures import Executor
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console

from onebit.cli.progress import progress_bar
from onebit.records import SelectionSpec

if TYPE_CHECKING:
    from onebit.passes.survey import Survey
    from onebit.tables import ModelTable
    from onebit.tables.model_shards import ModelShards
    from onebit.tables.parquet_rows import ParquetRows

#: Models that are named for people, and groups of equal ones.
NAMED, NAMED_GROUPS = 3, 5


def survey_figures(
    rows: ParquetRows | ModelShards,
    table: ModelTable,
    spec: SelectionSpec,
    whole: bool,
    executor: Executor | None,
    console: Console,
) -> dict[str, Any]:
    """Votes, agreement and equal models: of all rows by one pass if ``whole``, else of those in the ``table``."""
    # Imported here: kernels take a second that a wrong option should not.
    from onebit.passes.survey import survey, survey_of
    from onebit.tables.open_answers import matching

    if not whole:
        return _figures(survey_of(table.predictions, table.models, rows.n_rows))
    names = list(table.models)
    if spec.models is not None:
        names = list(matching(spec.models, rows.names, "--models").values())
    with progress_bar("one pass over all rows", console) as progress:
        found = survey(rows.place, names, executor=executor, progress=progress)
    return _figures(found, table.models)


def _figures(found: Survey, models: tuple[str, ...] | None = None) -> dict[str, Any]:
    called = dict(zip(found.models, models or found.models, strict=True))
    return {
        "rows": found.n_rows,
        "of": found.n_all,
        "contested": found.n_contested / found.n_rows,
        "agreement": dict(zip(called.values(), found.agreement.tolist(), strict=True)),
        "equal": [[called[name] for name in group] for group in found.equal],
    }


def survey_in_words(figures: dict[str, Any]) -> str:
    """The figures for people, with the rows that they are from."""
    rows = figures["rows"]
    whose = f"all {rows:,} rows" if rows == figures["of"] else f"{rows:,} rows drawn from {figures['of']:,}"
    agreement = figures["agreement"]
    order = sorted(agreement, key=lambda name: -agreement[name])
    first = ", ".join(f"{name} ({agreement[name]:.1%})" for name in order[:NAMED])
    middle = float(np.median(list(agreement.values())))
    words = (
        f"Without a label, by {whose}: models differ on {figures['contested']:.1%} of them. With the vote agree most "
        f"often {first}; the model in the middle {middle:.1%}, the last {agreement[order[-1]]:.1%}."
    )
    groups = figures["equal"]
    if not groups:
        return f"{words} No two models are equal on them."
    told = "; ".join(_equal_in_words(group) for group in groups[:NAMED_GROUPS])
    more = "" if len(groups) <= NAMED_GROUPS else f"; and {len(groups) - NAMED_GROUPS} more groups"
    return f"{words} Equal on all of them: {told}{more}."


def _equal_in_words(group: list[str]) -> str:
    if len(group) <= NAMED:
        return " = ".join(group)
    return f"{' = '.join(group[:NAMED])} and {len(group) - NAMED} more"
