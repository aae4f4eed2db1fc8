"""Everything that the folder of a run says, recomputed from its log and its table."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rich.console import Console

from onebit.cli.outcome import figures
from onebit.cli.run_folder import FIGURES, LOG, PAGE, read_source
from onebit.cli.running import read_with_bar, run_report
from onebit.errors import InvalidInputError
from onebit.log.chain import Head, digests
from onebit.log.events import Created, Event, LogError, OtherVersionError, TableFacts
from onebit.log.journal import Journal
from onebit.records import RunStatus
from onebit.report import Report, as_html, as_json
from onebit.study.audit import digest_faults
from onebit.study.learners import build_selection
from onebit.study.proof import differences, end_differences, prove_selection
from onebit.tables import ModelTable
from onebit.verify.certificate import Verdict

WRITE_AGAIN = "write it again with onebit report"


@dataclass(frozen=True, eq=False)
class RunAudit:
    """What is wrong with a run, in sentences; its certificate recomputed, the names of models, and where its log ends.

    ``verdict`` is None where it could not be recomputed; ``stated_eps`` is the certified eps as the run tells it.
    """

    problems: list[str]
    head: Head
    verdict: Verdict | None = None
    models: tuple[str, ...] = ()
    simulated: bool | None = None
    stated_eps: float | None = None


def verify_run(
    folder: Path,
    table: Path | None,
    console: Console,
    progress: Callable[[int, int], None] | None = None,
    digest: str | None = None,
) -> RunAudit:
    """Check the log of a run and recompute all that it and the reports beside it say."""
    source = read_source(folder, table)
    try:
        with Journal(folder / LOG) as journal:
            events, head = journal.events, journal.head
    except OtherVersionError:
        raise
    except LogError as error:
        return RunAudit([str(error)], Head())
    created = created_of(events, folder)
    if created.learner != "certified":
        raise InvalidInputError(f"{folder} is a run of the learner {created.learner}; only certified ones have a proof")
    models = read_with_bar(source, console)
    check_digest(models, created, source.path, folder)
    problems = [*digest_faults(events, head, digest), *_table_faults(models, created)]
    if problems:
        return RunAudit(problems, head)
    selection = build_selection(created.selection, created.learner, models.predictions, created.table.n_labels)
    proof = prove_selection(events, selection, progress)
    if proof.course is None or proof.result is None:
        return RunAudit(proof.problems, head)
    problems += proof.problems
    told = _read_json(folder / FIGURES)
    end = proof.course.finished
    seconds = _seconds(told if end is None else end.summary)
    report = run_report(source, created, models, selection, proof.result, seconds)
    problems += end_differences(end, proof.result, figures(report))
    if end is None and proof.result.status is not RunStatus.RUNNING:
        problems.append("the run is over, and its log does not say so: its last event is missing")
    report = replace(report, n_events=head.n_events, log_digest=head.digest)
    problems += _report_faults(folder, told, report, events)
    return RunAudit(problems, head, proof.verdict, models.models, created.simulated, report.certified_eps)


def created_of(events: Sequence[Event], folder: Path) -> Created:
    """The first event; InvalidInputError if there is none."""
    if not events or not isinstance(events[0], Created):
        raise InvalidInputError(f"the log in {folder} is empty; the run was stopped before its first question")
    return events[0]


def check_digest(models: ModelTable, created: Created, path: Path, folder: Path) -> None:
    """InvalidInputError unless the run was about this table."""
    if models.digest != created.table.digest:
        raise InvalidInputError(
            f"{path} is not the table of the run in {folder}: its digest is {models.digest[:12]}..., that of "
            f"the run's table {created.table.digest[:12]}...; give the right one with --table"
        )


def _table_faults(models: ModelTable, created: Created) -> Iterator[str]:
    facts = TableFacts(models.digest, models.n_models, models.n_items, max(2, models.n_labels))
    if created.table != facts:
        yield f"the log begins with the table {created.table}; the table is {facts}"
    if created.shown != models.items_digest():
        yield "the items have other names, shown columns or right labels than when the run began"


def _report_faults(folder: Path, told: Any, report: Report, events: Sequence[Event]) -> Iterator[str]:
    """Where the reports say something else than was recomputed; one that is not there says nothing."""
    if told is not None:
        if not isinstance(told, dict):
            yield f"{FIGURES} holds no report; {WRITE_AGAIN}"
            return
        n_events, digest = told.get("n_events"), told.get("log_digest")
        if (n_events, digest) != (report.n_events, report.log_digest):
            yield _other_log(n_events, digest, events)
            return
        yield from differences(FIGURES, told, json.loads(json.dumps(as_json(report))))
    page = folder / PAGE
    if page.is_file():
        found = page.read_text(encoding="utf-8", errors="replace")
        if found != as_html(report):
            yield f"{PAGE} {_first_difference(found, as_html(report))}; {WRITE_AGAIN}"


def _other_log(n_events: Any, digest: Any, events: Sequence[Event]) -> str:
    told = f"{FIGURES} is of a log of {n_events} events with the digest {digest}"
    if isinstance(n_events, int) and 0 < n_events < len(events) and digests(events[:n_events])[-1] == digest:
        return f"{FIGURES} is older than the log, which went on after its {n_events:,} events; {WRITE_AGAIN}"
    return f"{told}, which is not this one: the log was written anew, or the report was changed"


def _first_difference(told: str, found: str) -> str:
    """Where two pages begin to differ, in a few words of each."""
    place = next((i for i, (a, b) in enumerate(zip(told, found, strict=False)) if a != b), min(len(told), len(found)))
    first = max(0, place - 20)
    return f"has {told[first : place + 40]!r} where the log gives {found[first : place + 40]!r}"


def _read_json(path: Path) -> Any:
    """What a file of JSON holds; None if it is not there, and a text where it is no JSON."""
    if not path.is_file():
        return None
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        return "no JSON"


def _seconds(told: Any) -> float:
    """How long a run took, as it was told: nothing else knows it."""
    seconds = told.get("seconds") if hasattr(told, "get") else None
    return float(seconds) if isinstance(seconds, int | float) else 0.0
