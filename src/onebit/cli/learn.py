"""``onebit learn``: a classifier from yes/no answers about the rows of a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from onebit.cli import options as opt
from onebit.errors import InvalidInputError
from onebit.model_file import SavedModel, check_new, save_model
from onebit.records import TrainingSpec

if TYPE_CHECKING:
    from onebit.tables.data import Data


def learn(
    data: Annotated[Path, typer.Argument(help="Examples, one per row: CSV, Parquet, JSONL, or NPZ with X (and y).")],
    label: Annotated[
        str | None,
        typer.Option(help="Column with the right labels (NPZ: y); raters are then simulated.", show_default=False),
    ] = None,
    labels: opt.Labels = None,
    text: opt.Text = None,
    id: opt.Id = None,
    show: opt.Show = None,
    protocol: opt.TrainingProtocol = TrainingSpec.protocol,
    budget: opt.Budget = None,
    target: opt.Target = None,
    delta: opt.Delta = TrainingSpec.delta,
    seed: opt.Seed = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Model to write; by default DATA with the ending .skops.", show_default=False),
    ] = None,
    answers: Annotated[
        Path | None,
        typer.Option(
            help="Where your answers are kept; by default DATA with the ending .answers.jsonl.", show_default=False
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Train a classifier by yes/no answers, with an interval for its accuracy.

    Every column other than --label, --id and --show must be numbers, unless --text names what to learn from. With
    --label raters are simulated, and a fifth of the rows is held out to measure the accuracy; otherwise you are asked
    about the labels in the file --labels, and the same command goes on where you stopped.
    """
    _check(label, labels, answers)
    spec = opt.spec_of(TrainingSpec, {**locals(), "truth": label})
    # Imported here: what reads data and learns takes a second that --help should not.
    from onebit.classifier import YesNoClassifier
    from onebit.cli.training import Training
    from onebit.tables.data import Wanted, read_data

    to = out if out is not None else data.with_suffix(".skops")
    check_new("--out", to)
    rows = read_data(data, Wanted(text=spec.text, label=label, id=id, show=spec.show))
    names = _names(rows, spec.labels, data)
    made: Any = {name: getattr(spec, name) for name in ("protocol", "budget", "target", "delta", "seed")}
    training = Training(rows, names, YesNoClassifier(**made), Console(stderr=True))
    if label is not None:
        training.simulate()
    else:
        training.ask(answers if answers is not None else data.with_suffix(".answers.jsonl"))
    if training.is_over:
        save_model(to, SavedModel(training.classifier, rows.columns, rows.is_text))
    figures = training.figures() | {"model": str(to) if training.is_over else None}
    if as_json:
        print(json.dumps(figures))
    else:
        _tell(figures)


def _check(label: str | None, labels: Path | None, answers: Path | None) -> None:
    if label is None and labels is None:
        raise InvalidInputError(
            "neither --label nor --labels is given; --label COLUMN simulates raters, --labels FILE has the labels to "
            "ask you about"
        )
    if label is not None and answers is not None:
        raise InvalidInputError("--answers keeps what you answer, and with --label raters are simulated; give one")


def _names(rows: Data, given: tuple[str, ...] | None, data: Path) -> tuple[str, ...]:
    """The labels that are asked about: those given, or else those that occur."""
    from onebit.tables.truth import hint

    found = () if rows.labels is None else tuple(sorted(set(rows.labels.tolist())))
    names = found if given is None else given
    strange = sorted(set(found) - set(names))
    if strange:
        raise InvalidInputError(
            f"{data.name} has the label {strange[0]!r}, which is not in the file of --labels{hint(strange[0], names)}"
        )
    if len(set(names)) < max(2, len(names)):
        raise InvalidInputError(
            f"the labels are {', '.join(names) or 'none'}; there must be two or more, all different"
        )
    return names


def _tell(figures: dict[str, Any]) -> None:
    console = Console()

    def say(words: str) -> None:
        console.print(words, highlight=False, markup=False, soft_wrap=True)

    if figures["model"] is None:
        say(f"Stopped after {figures['n_answers']:,} answers; the same command goes on.")
        return
    say(f"Trained by {figures['n_answers']:,} yes/no answers about {figures['n_items']:,} items.")
    if figures["accuracy"] is not None:
        say(f"Accuracy on {figures['n_held_out']:,} rows that were held out: {figures['accuracy']:.3f}.")
    if figures["accuracy_interval"] is not None:
        low, high = figures["accuracy_interval"]
        say(f"Its accuracy is between {low:.3f} and {high:.3f}, with probability {1 - figures['delta']:g}.")
    if figures["warning"] is not None:
        say(f"Warning: {figures['warning']}.")
    say(f"The model is in {figures['model']}")
