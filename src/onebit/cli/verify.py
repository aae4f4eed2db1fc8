"""``onebit verify`` and ``onebit report``: what a run's folder holds, checked, and told again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

if TYPE_CHECKING:
    from onebit.cli.run_proof import RunAudit

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="The folder --out of onebit select.")]
Moved = Annotated[Path | None, typer.Option("--table", help="The table, if it was moved.", show_default=False)]
Kept = Annotated[
    str | None,
    typer.Option(
        "--digest", help="A digest of the log that was told before; it must be on its way.", show_default=False
    ),
]


def verify(
    folder: Folder,
    table: Moved = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
    digest: Kept = None,
) -> None:
    """Recompute everything that a run says from its log, its table and its seed, and compare.

    The certificate is recomputed independently of the learner. Exit code 0: all is as the log, its last event and the
    reports say; 1: it is not, and what is wrong is said.
    """
    from onebit.cli.run_proof import verify_run

    console = Console(stderr=True)
    columns = TextColumn("recomputing"), BarColumn(), TextColumn("{task.completed} of {task.total} epochs")
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=None)
        found = verify_run(
            folder, table, console, lambda done, whole: bar.update(task, completed=done, total=whole), digest
        )
    told = _told(found)
    print(json.dumps(told) if as_json else _in_words(told))
    if found.problems:
        raise typer.Exit(1)


def report(folder: Folder, table: Moved = None) -> None:
    """Write the report of a run again, from its log."""
    from onebit.cli.run_folder import LOG, read_source
    from onebit.cli.run_proof import created_of
    from onebit.cli.running import Run
    from onebit.log.journal import Journal

    source = read_source(folder, table)
    with Journal(folder / LOG) as journal:
        created = created_of(journal.events, folder)
    _, page = Run(source, created.selection, created.learner, folder, Console(stderr=True)).carry_out(asks=False)
    print(f"The report is in {page}")


def _told(found: RunAudit) -> dict[str, Any]:
    verdict = found.verdict
    names = [] if verdict is None else [found.models[h] for h in verdict.names]
    return {
        "ok": not found.problems,
        "problems": found.problems,
        "chosen": names[0] if len(names) == 1 else names or None,
        "certified_eps": found.stated_eps,
        "recomputed_eps": None if verdict is None else verdict.certified_eps,
        "survivors": None if verdict is None else len(verdict.survivors),
        "answers": None if verdict is None else verdict.n_answers,
        "rounds": None if verdict is None else verdict.n_rounds,
        "free_rounds": None if verdict is None else verdict.n_free_rounds,
        "simulated": found.simulated,
        "n_events": found.head.n_events,
        "log_digest": found.head.digest,
    }


def _in_words(told: dict[str, Any]) -> str:
    from onebit.report.words import fraction

    if told["problems"]:
        return "\n".join(["What is claimed does not hold:", *(f"- {each}" for each in told["problems"])])
    log = f"Log: {told['n_events']:,} events, digest {told['log_digest']}"
    if told["certified_eps"] is None:
        return f"Verified: from {told['answers']:,} answers nothing is certified, as the run says.\n{log}"
    chosen = told["chosen"] if isinstance(told["chosen"], str) else " = ".join(told["chosen"])
    whose = "simulated " if told["simulated"] else ""
    return (
        f"Verified: from {told['answers']:,} {whose}answers, no model is ahead of {chosen} by more than "
        f"{fraction(told['certified_eps'])} (recomputed: {fraction(told['recomputed_eps'])}), and {told['survivors']} "
        f"may be the best.\n{log}"
    )
