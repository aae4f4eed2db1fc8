"""``onebit select``: the best model of a table, from yes/no answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from onebit.cli import options as opt
from onebit.cli.answering import answer_at_terminal, simulate
from onebit.cli.keyboard import check_terminal
from onebit.cli.progress import progress_bar
from onebit.errors import InvalidInputError
from onebit.records import SelectionSpec
from onebit.tables.formats import NAMES

if TYPE_CHECKING:
    from onebit.report import Report


def select(
    table: Annotated[Path, typer.Argument(help=f"Predictions: {NAMES}; one row per item, one column per model.")],
    eps: opt.Eps = SelectionSpec.eps,
    delta: opt.Delta = SelectionSpec.delta,
    protocol: opt.Protocol = SelectionSpec.protocol,
    learner: opt.Learner = SelectionSpec.learner,
    population: opt.Population = SelectionSpec.population,
    truth: Annotated[
        str | None,
        typer.Option(help="Column with the right labels (NPZ: y); raters are then simulated.", show_default=False),
    ] = None,
    id: opt.Id = None,
    show: opt.Show = None,
    labels: opt.Labels = None,
    error_rates: opt.ErrorRates = None,
    exhaustive: opt.Exhaustive = SelectionSpec.exhaustive,
    budget: opt.Budget = None,
    seed: opt.Seed = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for the study and its report; by default named after the table.", show_default=False),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Choose the best model of a table, within eps, by yes/no answers.

    Every column other than --id, --truth and --show is a model; one of right labels must be named with --truth. Then
    raters are simulated; otherwise you are asked: y, n, space for "can't tell", backspace to undo, q to
    quit. Every answer is kept in the folder --out, and the same command goes on where it stopped.
    """
    spec = opt.spec_of(SelectionSpec, locals())
    if truth is None:
        _check_can_ask(spec)
    folder = out if out is not None else table.with_suffix("")
    report = run_selection(spec, table, folder, Console(stderr=True))
    if as_json:
        print(json.dumps(_figures(report)))
    else:
        _tell(report, folder)


def run_selection(spec: SelectionSpec, table: Path, place: Path, console: Console) -> Report:
    """Ask until the end, or until somebody stops it, and write the report; ``place`` is the folder of the run.

    Where the spec names a column of right labels, raters are simulated by it.
    """
    # Imported here: what reads tables and learns takes a second that --help should not.
    from onebit.study.creation import prepare
    from onebit.study.folder import StudyFolder
    from onebit.tables import read_table

    folder = StudyFolder(place)
    folder.check_is_free()
    with progress_bar(f"reading {table.name}", console) as progress:
        models = read_table(table, id=spec.id, truth=spec.truth, show=spec.show, labels=spec.labels, progress=progress)
    new = prepare(folder.with_kept_seed(spec), models, simulated=models.truth is not None)
    with progress_bar("writing the study", console) as progress:
        study = folder.go_on(table.name, new, progress)
    with study:
        if not study.is_over:
            (simulate if study.created.simulated else answer_at_terminal)(study, console)
        return folder.write_report(study)


def _check_can_ask(spec: SelectionSpec) -> None:
    """Refuse what a person at a terminal cannot be asked, or to ask where there is no terminal."""
    if spec.protocol == "labels":
        raise InvalidInputError(
            "--protocol labels asks for the label itself, and the terminal takes yes and no; give --truth to simulate, "
            "or use --protocol follow-up"
        )
    check_terminal("give --truth COLUMN to simulate raters")


def _figures(report: Report) -> dict[str, Any]:
    """What ``--json`` prints."""
    names = list(report.chosen)
    told = {
        "chosen": names[0] if len(names) == 1 else names or None,
        "status": report.status,
        "answers": report.answers,
        "rounds": report.rounds,
        "free_rounds": report.free_rounds,
        "survivors": report.survivors,
        "eps": report.setting.eps,
        "delta": report.setting.delta,
        "certified_eps": report.certified_eps,
        "protocol": report.setting.protocol,
        "simulated": report.simulated,
        "promise": report.promise,
        "seconds": report.seconds,
        "n_events": report.n_events,
        "log_digest": report.log_digest,
    }
    if report.reason is not None:
        told["reason"] = report.reason
    if report.excess is not None:
        told["excess"] = report.excess
    return told


def _tell(report: Report, folder: Path) -> None:
    from onebit.report import words
    from onebit.study.folder import PAGE

    console = Console()
    console.print(f"[b]{words.chosen_in_words(report)}[/]", highlight=False, soft_wrap=True)
    for sentence in (words.headline(report), words.confidence(report), words.against_the_aim(report)):
        console.print(sentence, highlight=False, markup=False, soft_wrap=True)
    if report.excess is not None:
        console.print(f"True excess error: {report.excess:.4f}.", highlight=False)
    console.print(f"The report is in {folder / PAGE}", highlight=False, soft_wrap=True)
