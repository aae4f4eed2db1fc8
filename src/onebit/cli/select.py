"""``onebit select``: the best model of a table, from yes/no answers."""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from onebit.cli import options as opt
from onebit.cli.answering import answer_at_terminal, simulate
from onebit.cli.keyboard import check_terminal
from onebit.cli.progress import progress_bar
from onebit.cli.terminal import plain
from onebit.errors import InvalidInputError
from onebit.records import SelectionSpec

if TYPE_CHECKING:
    from onebit.report import Report
    from onebit.tables import ModelTable

SimulatingTruth = Annotated[
    str | None,
    typer.Option(
        "--truth", help="Column with the right labels (NPZ: y); raters are then simulated.", show_default=False
    ),
]
#: The folder of a run on several logs, or on a folder, in which nothing is written.
SEVERAL = "selection"


@opt.with_options(opt.of_a_selection)
def select(
    table: opt.Tables,
    eps: opt.Eps = SelectionSpec.eps,
    top: opt.Top = None,
    tiers: opt.Tiers = SelectionSpec.tiers,
    learner: opt.Learner = SelectionSpec.learner,
    truth: SimulatingTruth = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for the study and its report; by default named after the table, or "
            f"{SEVERAL} for several logs or a folder.",
            show_default=False,
        ),
    ] = None,
    as_json: opt.AsJson = False,
    **options: Any,
) -> None:
    """Choose the best model of a table, within eps, by yes/no answers; or the K best, or tiers, or for a budget alone.

    Models may give labels or free texts. Every column other than --id, --truth, --show, --reference and --judge is a
    model, unless --models names them. With --truth (right labels) or --verdicts (a yes or no about each output) raters
    are simulated; otherwise you are asked: y, n, space for "can't tell", backspace to undo, q to quit. Every answer is
    kept in the folder --out, and the same command goes on where it stopped. Of logs, the columns are id, input and
    target, which you see with --reference target, and the models.
    """
    spec = opt.spec_of(SelectionSpec, locals() | options)
    if truth is None and spec.verdicts is None:
        check_can_ask(spec)
    folder = out if out is not None else default_folder(table)
    report = run_selection(spec, table, folder, Console(stderr=True))
    if as_json:
        print(json.dumps(_figures(report)))
    else:
        _tell(report, folder)


def default_folder(table: list[Path]) -> Path:
    """Where a run is kept unless it is said: beside its table."""
    if len(table) > 1 or table[0].is_dir():
        return Path(SEVERAL)
    return table[0].with_name(table[0].name.removesuffix(".gz")).with_suffix("")


def run_selection(spec: SelectionSpec, table: list[Path], place: Path, console: Console) -> Report:
    """Ask until the end, or until somebody stops it, and write the report; ``place`` is the folder of the run.

    Where the spec names a column of right labels, raters are simulated by it.
    """
    # Imported here: what reads tables and learns takes a second that --help should not.
    from onebit.study.creation import prepare
    from onebit.study.folder import StudyFolder
    from onebit.study.kinds.selection.making import read_models

    folder, name = StudyFolder(place), table[0].name if len(table) == 1 else f"{len(table)} logs"
    folder.check_is_free()
    with progress_bar(f"reading {name}", console) as progress:
        models = read_models(spec, table, progress)
    for note in models.notes:
        console.print(plain(f"Note: {note}."), highlight=False, markup=False, soft_wrap=True)
    _say_protocol(spec, models, console)
    simulated = models.truth is not None or models.verdicts is not None
    new = prepare(folder.with_kept_seed(spec), models, simulated=simulated)
    with progress_bar("writing the study", console) as progress:
        study = folder.go_on(name, new, progress)
    with study:
        if not study.is_over:
            (simulate if study.created.simulated else answer_at_terminal)(study, console)
        with progress_bar("working out what other ways would have cost", console) as progress:
            return folder.write_report(study, progress)


def _say_protocol(spec: SelectionSpec, table: ModelTable, console: Console) -> None:
    """Say how is asked and why, where the table decided it."""
    if spec.protocol != "auto":
        return
    told = {
        "panel": (
            f"asking by panel: {table.n_labels:,} different outputs of {table.n_items:,} items are free texts, of "
            "which several may be right"
        ),
        "one-shot": (f"asking one-shot: models give {table.n_labels:,} labels{_advice(spec)}"),
        "follow-up": "asking by follow-up: the labels are exhaustive, so one of them is right",
    }
    console.print(told[spec.decided(table.is_open).protocol], highlight=False, markup=False, soft_wrap=True)


def _advice(spec: SelectionSpec) -> str:
    # Between two models one-shot needs about as few, and where a budget is spent it chooses its questions.
    if spec.baseline is not None or spec.spends:
        return ""
    return ". Where one label alone is right, --protocol follow-up mostly needs fewer answers"


def check_can_ask(spec: SelectionSpec) -> None:
    """Refuse what a person at a terminal cannot be asked, or to ask where there is no terminal."""
    if spec.protocol == "labels":
        raise InvalidInputError(
            "--protocol labels asks for the label itself, and the terminal takes yes and no; give --truth to simulate, "
            "or use --protocol follow-up"
        )
    check_terminal("give --truth COLUMN or --verdicts 'right_*' to simulate raters")


def _figures(report: Report) -> dict[str, Any]:
    """What ``--json`` prints."""
    names = list(report.chosen)
    told: dict[str, Any] = {
        "chosen": names[0] if len(names) == 1 else names or None,
        "status": report.status,
        "answers": report.answers,
        "rounds": report.rounds,
        "free_rounds": report.free_rounds,
        "survivors": report.survivors,
        "eps": None if report.setting.spends else report.setting.eps,
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
    if report.judge is not None:
        told["judge"] = asdict(report.judge)
    if report.placings:
        told["placings"] = [asdict(each) for each in report.placings]
    return told


def _tell(report: Report, folder: Path) -> None:
    from onebit.report import tiers_words, words
    from onebit.report.judge_card import in_a_line
    from onebit.study.folder import PAGE

    console = Console()
    say = partial(console.print, highlight=False, markup=False, soft_wrap=True)
    say(plain(words.chosen_in_words(report)), style="bold")
    for line in tiers_words.lines(report):
        say(plain(line))
    for sentence in (words.headline(report), words.confidence(report), words.against_the_aim(report)):
        say(plain(sentence))
    if report.excess is not None:
        # Tiers name nobody, so it is said whose it is.
        whose = f" of {report.chosen[0]}, which leads" if report.setting.tiers else ""
        say(plain(f"True excess error{whose}, by the right labels: {report.excess:.4f}."))
    if report.judge is not None:
        say(plain(f"The judge {in_a_line(report.judge)}."))
    say(plain(f"The report is in {folder / PAGE}"))
