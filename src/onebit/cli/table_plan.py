"""``onebit plan TABLE``: what choosing from this table will cost, rehearsed on the models' votes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from onebit.cli.large_plan import survey_figures, survey_in_words
from onebit.cli.progress import progress_bar
from onebit.cli.terminal import plain
from onebit.errors import InvalidInputError, check_fraction
from onebit.records import SelectionSpec

if TYPE_CHECKING:
    from onebit.study.kinds.selection.planning import Planned


def table_figures(
    tables: Sequence[str],
    spec: SelectionSpec,
    all_eps: tuple[float, ...],
    seconds_per_answer: float,
    console: Console,
    workers: str = "1",
    rows: int | None = None,
    whole: bool = False,
) -> dict[str, Any]:
    """All figures of the command; its JSON. Progress goes to ``console``; ``workers`` rehearse, and go over all rows.

    Of a table that is read by need so many ``rows`` are drawn; the ``whole`` of it is gone through for its votes.
    """
    for eps in all_eps:
        check_fraction("--eps", eps)
    if not seconds_per_answer > 0:
        raise InvalidInputError(f"--seconds-per-answer is {seconds_per_answer!r}; it must be above 0")
    # Imported here: what reads tables and learns takes a second that a wrong option should not.
    from onebit.passes.workers import open_workers
    from onebit.study.kinds.selection.making import read_models
    from onebit.study.kinds.selection.planning import PLANNED_ROWS, plan, protocols, read_some
    from onebit.tables.drawing import by_need

    large = by_need(tables[0]) if len(tables) == 1 else None
    if large is None and (whole or rows is not None):
        raise InvalidInputError(
            "--rows and --whole are for a table of which some rows are read: a folder of Parquet files, or a URL; this "
            "one is read whole"
        )
    name = f"{len(tables)} logs" if len(tables) > 1 else Path(tables[0]).name if large is None else tables[0]
    planned: list[Planned] = []
    survey: dict[str, Any] | None = None
    with open_workers(workers) as executor:
        with progress_bar(f"reading {name}", console) as progress:
            if large is None:
                table = read_models(spec, [Path(each) for each in tables], progress)
            else:
                table, spec = read_some(spec, large, PLANNED_ROWS if rows is None else rows, progress)
        for note in table.notes:
            console.print(plain(f"Note: {note}."), highlight=False, markup=False, soft_wrap=True)
        if large is not None:
            survey = survey_figures(large, table, spec, whole, executor, console)
        for protocol in protocols(spec, table.is_open):
            with progress_bar(f"rehearsing {protocol}", console) as progress:
                planned += plan(table, replace(spec, protocol=protocol), all_eps, progress, executor)
    forecasts = [
        {
            "protocol": each.protocol,
            "eps": each.eps,
            "answers": each.needed.middle,
            "low": each.needed.low,
            "high": each.needed.high,
            "at_least": each.needed.at_least,
            "rater_hours": each.needed.middle * seconds_per_answer / 3600,
        }
        for each in planned
    ]
    return {
        "table": name,
        "models": table.n_models,
        "items": table.n_items if large is None else large.n_rows,
        "rows_read": table.n_items,
        "labels": table.n_labels,
        "texts": table.is_open,
        "delta": spec.delta,
        "seconds_per_answer": seconds_per_answer,
        "forecasts": forecasts,
        "notes": list(table.notes),
        "survey": survey,
    }


def print_table_plan(figures: dict[str, Any], console: Console) -> None:
    """The figures as a table for people."""
    shown = Table(
        title=(
            f"Forecast for {figures['table']}: {figures['models']:,} models, {figures['items']:,} items, "
            f"{figures['labels']:,} {'different texts' if figures['texts'] else 'labels'}"
        ),
        title_justify="left",
    )
    shown.add_column("protocol")
    for name in ("within eps", "answers", "range", "rater-hours"):
        shown.add_column(name, justify="right")
    for row in figures["forecasts"]:
        answers = f"{'at least ' if row['at_least'] else ''}{row['answers']:,}"
        span = f"{row['low']:,} to {row['high']:,}"
        shown.add_row(row["protocol"], f"{row['eps']:g}", answers, span, f"{row['rater_hours']:.1f}")
    console.print(shown)
    if figures["survey"] is not None:
        words = survey_in_words(figures["survey"])
        console.print(words, soft_wrap=True, highlight=False, markup=False)
    console.print(
        f"{_how_rehearsed(figures['texts'])} {figures['seconds_per_answer']:g} seconds per answer. How far the best "
        "model is really ahead is not known before, so expect to be off by a factor of two, and sometimes more.",
        soft_wrap=True,
        highlight=False,
    )


def _how_rehearsed(texts: bool) -> str:
    if texts:
        return (
            "Rehearsed with imagined verdicts, since texts do not say who is right. A panel judges every different "
            "answer to an item, of which several may be right."
        )
    return (
        "Rehearsed without labels, on truths that the models' votes make likely. follow-up shows the same item again "
        "until a yes, and needs raters who accept one label per item at most."
    )
