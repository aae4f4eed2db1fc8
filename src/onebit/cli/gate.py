"""``onebit gate`` and ``onebit study verdict``: may a candidate take the baseline's place?

The answer is one line or one JSON object, and an exit code.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from onebit.cli import options as opt
from onebit.cli.select import SimulatingTruth, check_can_ask, default_folder, run_selection
from onebit.cli.study import Name, Storage
from onebit.cli.terminal import plain
from onebit.errors import InvalidInputError
from onebit.records import SelectionSpec, passes

if TYPE_CHECKING:
    from onebit.report import Report

#: What a command ends with. 1 is left to what nobody foresaw, and 2 to what was refused.
EXIT_CODES = {"pass": 0, "worse": 3, "not yet": 4}


@opt.with_options(opt.of_a_selection)
def gate(
    table: opt.Tables,
    baseline: Annotated[str, opt.option("baseline", metavar="MODEL")],
    candidates: opt.Candidates = None,
    margin: opt.Margin = None,
    truth: SimulatingTruth = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for the study and its report; by default the table's name with -gate.", show_default=False
        ),
    ] = None,
    as_json: opt.AsJson = False,
    **options: Any,
) -> None:
    """Hold candidates against the model in use, and ask only where they differ from it.

    Of each candidate one of four things is said: it is better than the baseline; it is not worse by the margin (worse
    by less than that, if at all); it is worse, by however little; or not yet. With --truth (right labels) or --verdicts
    (a yes or no about each output) raters are simulated; otherwise you are asked, as by `onebit select`. Every answer
    is kept in the folder --out, and the same command goes on where it stopped.

    Exit code 0: every candidate is better, or not worse by the margin. 3: one is worse. 4: none is worse, and one is
    not decided yet. 2: something was refused, and nothing is said.
    """
    spec = opt.spec_of(SelectionSpec, locals() | options)
    if truth is None and spec.verdicts is None:
        check_can_ask(spec)
    tell(run_selection(spec, table, out or gate_folder(table), Console(stderr=True)), as_json)


def gate_folder(table: list[Path]) -> Path:
    """Where a gate is kept unless it is said: not where `onebit select` keeps its run on the same table."""
    folder = default_folder(table)
    return folder.with_name(f"{folder.name}-gate")


def verdict(name: Name, storage: Storage = None, as_json: opt.AsJson = False) -> None:
    """Tell what a study that is a gate has shown so far.

    Exit codes as of `onebit gate`: 0 all candidates pass, 3 one is worse, 4 not yet, 2 something was refused.
    """
    from onebit.study.opening import load_study

    with load_study(name, storage=storage, read_only=True) as study:
        report = study.report()
    tell(report, as_json)


def tell(report: Report, as_json: bool) -> None:
    """Print the verdict, and end with its exit code."""
    from onebit.report import gate_words

    if not report.gate:
        raise InvalidInputError("this study chooses the best model, and is no gate; make one with --baseline")
    print(json.dumps(figures(report)) if as_json else plain(gate_words.in_a_line(report)))
    raise typer.Exit(EXIT_CODES[gate_words.overall(report)])


def figures(report: Report) -> dict[str, Any]:
    """What ``--json`` prints."""
    from onebit.report import gate_words

    overall = gate_words.overall(report)
    return {
        "verdict": overall,
        "exit_code": EXIT_CODES[overall],
        "line": gate_words.in_a_line(report),
        "baseline": gate_words.baseline(report),
        "candidates": [
            {**asdict(line), "passes": passes(line.verdict), "meaning": gate_words.meaning(report, line)}
            for line in report.gate
        ],
        "margin": report.setting.eps,
        "delta": report.setting.delta,
        "answers": report.answers,
        "status": report.status,
        "reason": report.reason,
        "protocol": report.setting.protocol,
        "simulated": report.simulated,
        "promise": report.promise,
        "n_events": report.n_events,
        "log_digest": report.log_digest,
    }
