"""``onebit verify`` and ``onebit report``: what a run's folder holds, checked, and told again."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from onebit.errors import InvalidInputError
from onebit.records import Answer, Closing, EpochRecord, Question

if TYPE_CHECKING:
    from onebit.estimate.certificate import Verdict
    from onebit.study.events import Created, Event
    from onebit.tables import ModelTable

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="The folder --out of onebit select.")]
Moved = Annotated[Path | None, typer.Option("--table", help="The table, if it was moved.", show_default=False)]
#: The certified eps is recomputed to 1e-4, and may have been rounded there either way.
TOLD_TO = 2e-4


def verify(
    folder: Folder,
    table: Moved = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Recompute a certificate from the log of its run, the table and the seed, independently of the learner.

    Exit code 0: the log bears out what was claimed; 1: it does not, and what is wrong is said.
    """
    from onebit.estimate.certificate import verify as recompute

    console = Console(stderr=True)
    log, models = _open(folder, table, console)
    if log.created.learner != "certified":
        raise InvalidInputError(
            f"{folder} is a run of the learner {log.created.learner}; only certified ones have a proof"
        )
    columns = TextColumn("recomputing"), BarColumn(), TextColumn("{task.completed} of {task.total} epochs")
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=len(log.epochs))
        verdict = recompute(
            log.created.selection,
            models.predictions,
            log.created.table.n_labels,
            log.epochs,
            log.questions,
            log.answers,
            log.closings,
            progress=lambda done, whole: bar.update(task, completed=done, total=whole),
        )
    problems = [*verdict.problems, *_against_summary(verdict, log.summary, models)]
    names = [models.models[h] for h in verdict.names]
    told = {
        "ok": not problems,
        "problems": problems,
        "chosen": names[0] if len(names) == 1 else names,
        "certified_eps": verdict.certified_eps,
        "survivors": len(verdict.survivors),
        "answers": verdict.n_answers,
        "rounds": verdict.n_rounds,
        "free_rounds": verdict.n_free_rounds,
        "simulated": log.created.simulated,
    }
    print(json.dumps(told) if as_json else _in_words(told))
    if problems:
        raise typer.Exit(1)


def report(folder: Folder, table: Moved = None) -> None:
    """Write the report of a run again, from its log."""
    from onebit.cli.run_folder import read_source
    from onebit.cli.running import Run

    log, _ = _open(folder, table, Console(stderr=True))
    run = Run(read_source(folder, table), log.created.selection, log.created.learner, folder, Console(stderr=True))
    _, page = run.carry_out(asks=False)
    print(f"The report is in {page}")


@dataclass(frozen=True, eq=False)
class _Log:
    """What the log of a run says, in the order that ``estimate.certificate`` wants it."""

    created: Created
    epochs: list[EpochRecord]
    questions: list[Question]
    answers: list[Answer | int | None]
    closings: list[Closing]
    summary: dict[str, Any] | None


def _open(folder: Path, table: Path | None, console: Console) -> tuple[_Log, ModelTable]:
    from onebit.cli.run_folder import LOG, read_source
    from onebit.cli.running import read_with_bar
    from onebit.study.journal import Journal

    source = read_source(folder, table)
    with Journal(folder / LOG) as journal:
        log = _sorted(journal.events, folder)
    models = read_with_bar(source, console)
    if models.digest != log.created.table.digest:
        raise InvalidInputError(
            f"{source.path} is not the table of the run in {folder}: its digest is {models.digest[:12]}..., that of "
            f"the run's table {log.created.table.digest[:12]}...; give the right one with --table"
        )
    return log, models


def _sorted(events: Iterable[Event], folder: Path) -> _Log:
    from onebit.study.events import Answered, Asked, Closed, Created, EpochBegan, Finished, Undone

    created, summary = None, None
    epochs, questions, closings = [], [], []
    answers: dict[int, Answer | int] = {}
    for event in events:
        match event:
            case Created():
                created = event
            case EpochBegan(record=EpochRecord() as record):
                epochs.append(record)
            case Asked(question=question):
                questions.append(question)
            case Answered(question_id=number, answer=answer):
                answers[number] = answer
            case Undone(question_id=number):
                answers.pop(number, None)
            case Closed(closing=closing):
                closings.append(closing)
            case Finished(summary=told):
                summary = dict(told)
    if created is None:
        raise InvalidInputError(f"the log in {folder} is empty; the run was stopped before its first question")
    return _Log(created, epochs, questions, [answers.get(q.id) for q in questions], closings, summary)


def _against_summary(verdict: Verdict, summary: dict[str, Any] | None, models: ModelTable) -> list[str]:
    """What the end of the log claims beyond what was recomputed."""
    # A run that was suspended claims nothing.
    if summary is None or not verdict.ok or summary.get("status") == "suspended":
        return []
    problems = []
    names = [models.models[h] for h in verdict.names]
    if summary.get("chosen") not in (names, names[0]):
        problems.append(f"the log ends with the choice {summary.get('chosen')!r}; recomputed it is {names!r}")
    if not summary.get("certified_eps", 0) >= verdict.certified_eps - TOLD_TO:
        problems.append(
            f"the log ends with a certified eps of {summary.get('certified_eps')}; recomputed it is "
            f"{verdict.certified_eps:.4g}"
        )
    return problems


def _in_words(told: dict[str, Any]) -> str:
    if told["problems"]:
        return "\n".join(["The log does not bear out what it claims:", *(f"- {each}" for each in told["problems"])])
    chosen = told["chosen"] if isinstance(told["chosen"], str) else " = ".join(told["chosen"])
    whose = "simulated " if told["simulated"] else ""
    return (
        f"Verified: from {told['answers']:,} {whose}answers, no model is ahead of {chosen} by more than "
        f"{told['certified_eps']:.4g}, and {told['survivors']} may be the best."
    )
