"""``onebit select``: the best model of a table, from yes/no answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from onebit.cli.answering import answer_at_terminal, simulate
from onebit.cli.progress import progress_bar
from onebit.cli.setting import EXHAUSTIVE_HELP, SEED_HELP, check_can_ask, check_learner, make_setting, read_labels
from onebit.cli.source import Source
from onebit.tables.formats import NAMES

if TYPE_CHECKING:
    from onebit.log.events import SelectorName
    from onebit.records import Setting
    from onebit.report import Report


def select(
    table: Annotated[Path, typer.Argument(help=f"Predictions: {NAMES}; one row per item, one column per model.")],
    eps: Annotated[float, typer.Option(help="How far the chosen model may be from the best.")] = 0.01,
    delta: Annotated[float, typer.Option(help="Probability with which the guarantee may fail.")] = 0.05,
    protocol: Annotated[
        str,
        typer.Option(
            help="one-shot: one question per item; follow-up: until a yes, one label accepted at most; labels: the "
            "label itself."
        ),
    ] = "one-shot",
    learner: Annotated[
        str, typer.Option(help="certified, or for comparison paper (Algorithm 1) or uniform.")
    ] = "certified",
    population: Annotated[
        str, typer.Option(help="pool: best on these items; stream: best on what they were drawn from.")
    ] = "pool",
    truth: Annotated[
        str | None,
        typer.Option(help="Column with the right labels (NPZ: y); raters are then simulated.", show_default=False),
    ] = None,
    id: Annotated[str | None, typer.Option(help="Column that names the items.", show_default=False)] = None,
    show: Annotated[
        list[str] | None,
        typer.Option(help="Column to show to the rater; may be given several times.", show_default=False),
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(help="Text file with the labels, one per line; by default those seen.", show_default=False),
    ] = None,
    error_rates: Annotated[
        str | None,
        typer.Option(
            metavar="F_NO,F_YES",
            help="Most that the answer that counts is no to a right and yes to a wrong label (one-shot only).",
            show_default=False,
        ),
    ] = None,
    exhaustive: Annotated[bool, typer.Option("--exhaustive", help=EXHAUSTIVE_HELP)] = False,
    budget: Annotated[int | None, typer.Option(help="Maximum number of answers.", show_default=False)] = None,
    seed: Annotated[int | None, typer.Option(help=SEED_HELP, show_default=False)] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for the study and its report; by default named after the table.", show_default=False),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Choose the best model of a table, within eps, by yes/no answers.

    With --truth raters are simulated; otherwise you are asked: y, n, space for "can't tell", backspace to undo, q to
    quit. Every answer is kept in the folder --out, and the same command goes on where it stopped.
    """
    setting = make_setting(eps, delta, protocol, population, budget, seed, error_rates, exhaustive)
    name = check_learner(learner, setting)
    if truth is None:
        check_can_ask(setting)
    source = Source(table, id, truth, tuple(show or ()), read_labels(labels))
    folder = out if out is not None else table.with_suffix("")
    report = run_selection(source, setting, name, folder, Console(stderr=True))
    if as_json:
        print(json.dumps(_figures(report)))
    else:
        _tell(report, folder)


def run_selection(source: Source, setting: Setting, learner: SelectorName, place: Path, console: Console) -> Report:
    """Ask until the end, or until somebody stops it, and write the report; ``place`` is the folder of the run."""
    # Imported here: what reads tables and learns takes a second that --help should not.
    from onebit.study.about import About, described
    from onebit.study.draft import draft_selection
    from onebit.study.folder import StudyFolder

    folder = StudyFolder(place)
    folder.check_is_free()
    table = source.read(console)
    about = About(models=table.models, labels=described(table.labels, {}))
    draft = draft_selection(table, folder.with_kept_seed(setting), about, learner)
    with progress_bar("writing the study", console) as progress:
        study = folder.go_on(source.path.name, draft, progress)
    with study:
        if not study.is_over:
            (simulate if study.created.simulated else answer_at_terminal)(study, console)
        return folder.write_report(study)


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
