"""``onebit plan TABLE``: what choosing from this table will cost, rehearsed on the models' votes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from onebit.cli.progress import progress_bar
from onebit.cli.terminal import plain
from onebit.errors import InvalidInputError, check_fraction
from onebit.records import SelectionSpec

if TYPE_CHECKING:
    from onebit.study.kinds.selection.planning import Planned


def table_figures(
    paths: list[Path],
    spec: SelectionSpec,
    all_eps: tuple[float, ...],
    seconds_per_answer: float,
    console: Console,
    workers: str = "1",
) -> dict[str, Any]:
    """All figures of the command; its JSON. Progress goes to ``console``; ``workers`` rehearse."""
    for eps in all_eps:
        check_fraction("--eps", eps)
    if not seconds_per_answer > 0:
        raise InvalidInputError(f"--seconds-per-answer is {seconds_per_answer!r}; it must be above 0")
    # Imported here: what reads tables and learns takes a second that a wrong option should not.
    from onebit.passes.workers import open_workers
    from onebit.study.kinds.selection.making import read_models
    from onebit.study.kinds.selection.planning import plan, protocols

    name = paths[0].name if len(paths) == 1 else f"{len(paths)} logs"
    planned: list[Planned] = []
    with open_workers(workers) as executor:
        with progress_bar(f"reading {name}", console) as progress:
            table = read_models(spec, paths, progress)
        for note in table.notes:
            console.print(plain(f"Note: {note}."), highlight=False, markup=False, soft_wrap=True)
        for protocol in protocols(spec, table.is_open):
            with progress_bar(f"rehearsing {protocol}", console) as progress:
                planned += plan(table, replace(spec, protocol=protocol), all_eps, progress, executor)
    rows = [
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
        "items": table.n_items,
        "labels": table.n_labels,
        "texts": table.is_open,
        "delta": spec.delta,
        "seconds_per_answer": seconds_per_answer,
        "forecasts": rows,
        "notes": list(table.notes),
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
