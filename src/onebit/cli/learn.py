"""``onebit learn``: a classifier from yes/no answers about the rows of a file."""

from __future__ import annotations

import json
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from rich.console import Console

from onebit.cli import options as opt
from onebit.cli.answering import answer_at_terminal
from onebit.cli.keyboard import check_terminal
from onebit.cli.progress import progress_bar
from onebit.cli.terminal import plain
from onebit.errors import InvalidInputError, OptionError
from onebit.model_file import MODEL
from onebit.randomness import generator
from onebit.records import TrainingSpec
from onebit.tables.formats import NAMES

if TYPE_CHECKING:
    from onebit.study.folder import StudyFolder
    from onebit.study.study import Study
    from onebit.tables.data import Data

#: Share of the rows on which the accuracy is measured, where labels are known.
HELD_OUT = 0.2
#: Checkpoints in a run.
N_CHECKPOINTS = 20


def learn(
    data: Annotated[
        Path,
        typer.Argument(
            help=f"Examples, one per row: {NAMES}; an NPZ has X (and y). Or a folder of Parquet files; of very many "
            "rows in Parquet some are drawn."
        ),
    ],
    label: Annotated[
        str | None,
        typer.Option(help="Column with the right labels (NPZ: y); raters are then simulated.", show_default=False),
    ] = None,
    labels: opt.TrainingLabels = None,
    text: opt.Text = None,
    id: opt.Id = None,
    show: opt.Show = None,
    protocol: opt.TrainingProtocol = TrainingSpec.protocol,
    budget: opt.TrainingBudget = None,
    target: opt.Target = None,
    delta: opt.Delta = TrainingSpec.delta,
    none_of_these: opt.NoneOfThese = TrainingSpec.none_of_these,
    error_rates: opt.TrainingErrorRates = None,
    seed: opt.Seed = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for the study and the model; by default named after the data.", show_default=False),
    ] = None,
    as_json: opt.AsJson = False,
) -> None:
    """Train a classifier by yes/no answers, with an interval for its accuracy.

    Every column other than --label, --id and --show must be numbers, unless --text names what to learn from. With
    --label raters are simulated, and a fifth of the rows is held out to measure the accuracy; otherwise you are asked
    about the labels in the file --labels, and the same command goes on where you stopped. The model is written into the
    folder --out.
    """
    _check(data, label, labels, out)
    try:
        spec = opt.spec_of(TrainingSpec, {**locals(), "truth": label})
    except OptionError as error:
        # What a study calls truth has another name here.
        raise (InvalidInputError(error.naming("--label")) if error.option == "truth" else error) from None
    # Imported here: what reads data and learns takes a second that --help should not.
    from onebit.study.folder import StudyFolder
    from onebit.tables.data import Wanted, read_pool

    folder = StudyFolder(out if out is not None else data.with_suffix(""))
    folder.check_is_free()
    spec = folder.with_kept_seed(spec)
    wanted = Wanted(text=spec.text, label=label, id=id, show=spec.show)
    rows = read_pool(data, wanted, spec.budget, spec.seed or 0)
    if rows.drawn_from is not None:
        _note_drawn(rows.n_items, rows.drawn_from, data)
    spec = replace(spec, labels=_names(rows, spec.labels, data))
    if label is None:
        check_terminal("give --label COLUMN to simulate raters")
        if not rows.shown(0):
            raise InvalidInputError(
                "there is nothing to show to a person; name columns to show with --show, or with --text"
            )
    figures = _Training(rows, spec, folder, Console(stderr=True)).carry_out(data.name)
    if as_json:
        print(json.dumps(figures))
    else:
        _tell(figures)


class _Training:
    """A run from data to model; the spec has its seed."""

    def __init__(self, data: Data, spec: TrainingSpec, folder: StudyFolder, console: Console) -> None:
        self._data, self._spec, self._folder, self._console = data, spec, folder, console
        rows, n_held_out = np.arange(data.n_items), 0
        if data.labels is not None:
            rows = generator(spec.seed or 0, "rows held out").permutation(data.n_items)
            n_held_out = max(1, round(HELD_OUT * data.n_items))
        self._held_out, self._pool = rows[:n_held_out], rows[n_held_out:]
        self._checkpoints: list[dict[str, Any]] = []

    def carry_out(self, name: str) -> dict[str, Any]:
        """Ask until the end, or until somebody stops it; what ``--json`` prints."""
        from onebit.study.creation import prepare

        start = time.monotonic()
        pool = self._data.take(self._pool)
        new = prepare(self._spec, pool, simulated=pool.labels is not None)
        with progress_bar("writing the study", self._console) as progress:
            study = self._folder.go_on(name, new, progress)
        with study:
            if not study.is_over:
                self._ask(study)
            model = self._folder.path / MODEL if study.is_over else None
            if model is not None and not model.exists():
                study.write_model(model)
            return self._figures(study) | {
                "seconds": round(time.monotonic() - start, 3),
                "model": None if model is None else str(model),
            }

    def _ask(self, study: Study) -> None:
        if not study.created.simulated:
            answer_at_terminal(study, self._console)
            return
        budget = study.created.training.budget
        with progress_bar("asking simulated raters", self._console) as progress:

            def look() -> None:
                n_answers = len(study.view.answers)
                if n_answers >= (len(self._checkpoints) + 1) * budget / N_CHECKPOINTS:
                    self._add_checkpoint(study)
                progress(n_answers, budget)

            try:
                study.simulate(observe=look)
            except KeyboardInterrupt:
                self._console.print("stopped; the same command goes on")

    def _add_checkpoint(self, study: Study) -> None:
        result = study.result
        self._checkpoints.append(
            {
                "answers": len(study.view.answers),
                "accuracy": self._accuracy(study, result),
                "recent_yes_rate": result.recent_yes_rate,
            }
        )

    def _accuracy(self, study: Study, result: Any) -> float | None:
        """On the rows held out, if labels are known."""
        if self._data.labels is None:
            return None
        predicted = study.kind.classifier(result).predict(self._data.x[self._held_out])
        return float((predicted == self._data.labels[self._held_out]).mean())

    def _figures(self, study: Study) -> dict[str, Any]:
        result, n_answers = study.result, len(study.view.answers)
        if study.is_over and (not self._checkpoints or self._checkpoints[-1]["answers"] < n_answers):
            self._add_checkpoint(study)
        setting = study.created.training
        told = {
            "status": "running",
            "n_answers": n_answers,
            "n_cant_tell": result.n_cant_tell,
            "n_items": int(self._pool.size),
            "n_held_out": int(self._held_out.size),
            "labels": list(self._spec.labels or ()),
            "protocol": setting.protocol,
            "budget": setting.budget,
            "delta": setting.delta,
            "seed": setting.seed,
            "accuracy": None,
            "accuracy_interval": None,
            "checkpoints": self._checkpoints,
        }
        if study.is_over:
            trained = study.kind.classifier(result)
            told |= {
                "status": trained.status_,
                "accuracy": self._checkpoints[-1]["accuracy"],
                "accuracy_interval": list(trained.accuracy_interval_) if trained.accuracy_interval_ else None,
                "n_verified": len(result.verified),
                "promise": result.promise,
                "n_asked_to_end": result.n_asked_to_end,
                "n_without_label": result.n_without_label,
                "without_label": [study.item(row).id for row in result.without_label],
                "left": [study.item(row).id for row in result.left],
                "warning": trained.warning_,
                "curve": [asdict(point) for point in result.curve],
                "forecast": [asdict(point) for point in result.forecast],
            }
        return told


def _check(data: Path, label: str | None, labels: Path | None, out: Path | None) -> None:
    if label is None and labels is None:
        raise InvalidInputError(
            "neither --label nor --labels is given; --label COLUMN simulates raters, --labels FILE has the labels to "
            "ask you about"
        )
    if out is not None and out.suffix == ".skops":
        raise InvalidInputError(
            f"--out is {out}; it names a folder, into which the model is written as {MODEL}. Give a folder"
        )
    if out is None and data.is_dir():
        raise InvalidInputError(f"{data} is a folder, so --out must name another one, for the study and the model")


def _note_drawn(n_drawn: int, n_rows: int, data: Path) -> None:
    Console(stderr=True).print(
        f"Note: {n_drawn:,} rows were drawn at random from the {n_rows:,} of {data.name}. Questions are about these; "
        "what is said of the accuracy is about all of them.",
        highlight=False,
        markup=False,
        soft_wrap=True,
    )


def _names(rows: Data, given: tuple[str, ...] | None, data: Path) -> tuple[str, ...]:
    """The labels that are asked about: those given, or else those that occur."""
    from onebit.tables.truth import hint

    found = () if rows.labels is None else tuple(sorted(set(rows.labels.tolist())))
    if rows.labels is not None and given is None and len(found) < 2:
        raise InvalidInputError(
            f"{data.name} has {found[0]!r} as the label of every row; there must be two or more labels to tell apart. "
            "Give the others, which may be right too, in the file of --labels, or other rows"
        )
    names = found if given is None else given
    strange = sorted(set(found) - set(names))
    if strange:
        raise InvalidInputError(
            f"{data.name} has the label {strange[0]!r}, which is not in the file of --labels{hint(strange[0], names)}"
        )
    return names


def _tell(figures: dict[str, Any]) -> None:
    console = Console()

    def say(words: str) -> None:
        console.print(plain(words), highlight=False, markup=False, soft_wrap=True)

    if figures["model"] is None:
        say(f"Stopped after {figures['n_answers']:,} answers; the same command goes on.")
        return
    whose = "simulated " if figures["n_held_out"] else ""
    say(f"Trained by {figures['n_answers']:,} {whose}yes/no answers, from a pool of {figures['n_items']:,} items.")
    if figures["accuracy"] is not None:
        say(f"Accuracy on {figures['n_held_out']:,} rows that were held out: {figures['accuracy']:.3f}.")
    if figures["accuracy_interval"] is not None:
        low, high = figures["accuracy_interval"]
        say(f"Its accuracy is between {low:.3f} and {high:.3f}, with probability {1 - figures['delta']:g}.")
    for point in figures["forecast"][:1]:
        say(
            "A forecast, without a promise: with {n_answers:,} answers it would be right on about {middle:.2f} "
            "({low:.2f} to {high:.2f}).".format(**point)
        )
    if figures["warning"] is not None:
        say(f"Warning: {figures['warning']}.")
    say(f"The model is in {figures['model']}")
