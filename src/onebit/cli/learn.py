"""``onebit learn``: a classifier from yes/no answers about the rows of a file."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from rich.console import Console

from onebit.cli.answering import answer_at_terminal
from onebit.cli.keyboard import check_terminal
from onebit.cli.progress import progress_bar
from onebit.cli.setting import SEED_HELP, read_labels
from onebit.errors import InvalidInputError, check_count, check_fraction
from onebit.randomness import generator, given_or_fresh
from onebit.records import ANSWERS_PER_ITEM, TrainingSetting
from onebit.tables.formats import NAMES

if TYPE_CHECKING:
    from onebit.study.study import Study
    from onebit.tables.data import Data

#: Share of the rows on which the accuracy is measured, where labels are known.
HELD_OUT = 0.2
#: Checkpoints in a run.
N_CHECKPOINTS = 20
#: The model's file in the folder of a run.
MODEL = "model.skops"


def learn(
    data: Annotated[Path, typer.Argument(help=f"Examples, one per row: {NAMES}; an NPZ has X (and y).")],
    label: Annotated[
        str | None,
        typer.Option(help="Column with the right labels (NPZ: y); raters are then simulated.", show_default=False),
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(help="Text file with the labels, one per line; needed to ask you.", show_default=False),
    ] = None,
    text: Annotated[
        list[str] | None,
        typer.Option(
            help="Column of texts to learn from, and from no other; may be given several times.", show_default=False
        ),
    ] = None,
    id: Annotated[str | None, typer.Option(help="Column that names the items.", show_default=False)] = None,
    show: Annotated[
        list[str] | None,
        typer.Option(help="Column to show to the rater, not learned from; several times.", show_default=False),
    ] = None,
    protocol: Annotated[
        str, typer.Option(help="one-shot: one question per item; follow-up: until a yes, items chosen.")
    ] = "one-shot",
    budget: Annotated[
        int | None, typer.Option(help="Answers in all; by default two for each item.", show_default=False)
    ] = None,
    target: Annotated[float | None, typer.Option(help="Stop once this accuracy is shown.", show_default=False)] = None,
    delta: Annotated[float, typer.Option(help="Probability with which the accuracy interval may be wrong.")] = 0.05,
    seed: Annotated[int | None, typer.Option(help=SEED_HELP, show_default=False)] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for the study and the model; by default named after the data.", show_default=False),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Train a classifier by yes/no answers, with an interval for its accuracy.

    Every column other than --label, --id and --show must be numbers, unless --text names what to learn from. With
    --label raters are simulated, and a fifth of the rows is held out to measure the accuracy; otherwise you are asked
    about the labels in the file --labels, and the same command goes on where you stopped. The model is written into the
    folder --out.
    """
    # Imported here: what reads data and learns takes a second that --help should not.
    from onebit.study.folder import StudyFolder
    from onebit.tables.data import Wanted, read_data

    _check(label, labels, budget, target, delta, seed, out)
    folder = StudyFolder(out if out is not None else data.with_suffix(""))
    folder.check_is_free()
    rows = read_data(data, Wanted(text=tuple(text or ()), label=label, id=id, show=tuple(show or ())))
    names = _names(rows, read_labels(labels), data)
    if label is None:
        check_terminal("give --label COLUMN to simulate raters")
        if not rows.shown(0):
            raise InvalidInputError(
                "there is nothing to show to a person; name columns to show with --show, or with --text"
            )
    number, is_given = given_or_fresh(seed)
    wanted: Any = {"protocol": protocol, "target": target, "delta": delta, "seed": number, "seed_given": is_given}
    setting = folder.with_kept_seed(TrainingSetting(budget=budget or 1, **wanted))
    figures = _Training(rows, names, setting, budget, folder, Console(stderr=True)).carry_out(data.name)
    if as_json:
        print(json.dumps(figures))
    else:
        _tell(figures)


class _Training:
    """A run from data to model."""

    def __init__(
        self,
        data: Data,
        names: tuple[str, ...],
        setting: TrainingSetting,
        budget: int | None,
        folder: Any,
        console: Console,
    ) -> None:
        self._data, self._names, self._folder, self._console = data, names, folder, console
        rows, n_held_out = np.arange(data.n_items), 0
        if data.labels is not None:
            rows = generator(setting.seed, "rows held out").permutation(data.n_items)
            n_held_out = max(1, round(HELD_OUT * data.n_items))
        self._held_out, self._pool = rows[:n_held_out], rows[n_held_out:]
        self._budget = budget or ANSWERS_PER_ITEM * self._pool.size
        self._setting = setting
        self._checkpoints: list[dict[str, Any]] = []

    def carry_out(self, name: str) -> dict[str, Any]:
        """Ask until the end, or until somebody stops it; what ``--json`` prints."""
        start = time.monotonic()
        with progress_bar("writing the study", self._console) as progress:
            study = self._folder.go_on(name, self._draft(), progress)
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

    def _draft(self) -> Any:
        from dataclasses import replace

        from onebit.study.about import About, described
        from onebit.study.draft import draft_training

        pool = self._data.take(self._pool)
        about = About((), described(self._names, {}), columns=pool.columns, is_text=pool.is_text)
        numbers = {name: number for number, name in enumerate(self._names)}
        truth = None if pool.labels is None else np.array([numbers[str(label)] for label in pool.labels])
        return draft_training(pool, replace(self._setting, budget=self._budget), about, truth=truth)

    def _ask(self, study: Study) -> None:
        if not study.created.simulated:
            answer_at_terminal(study, self._console)
            return
        with progress_bar("asking simulated raters", self._console) as progress:

            def look() -> None:
                n_answers = len(study.view.answers)
                if n_answers >= (len(self._checkpoints) + 1) * self._budget / N_CHECKPOINTS:
                    self._add_checkpoint(study)
                progress(n_answers, self._budget)

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
        setting = study.created.setting
        told = {
            "status": result.status.value if study.is_over else "running",
            "n_answers": n_answers,
            "n_cant_tell": result.n_cant_tell,
            "n_items": int(self._pool.size),
            "n_held_out": int(self._held_out.size),
            "labels": list(self._names),
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
                "accuracy": self._checkpoints[-1]["accuracy"],
                "accuracy_interval": list(trained.accuracy_interval_) if trained.accuracy_interval_ else None,
                "n_verified": len(result.verified),
                "promise": result.promise,
                "n_asked_to_end": result.n_asked_to_end,
                "n_without_label": result.n_without_label,
                "warning": trained.warning_,
            }
        return told


def _check(
    label: str | None,
    labels: Path | None,
    budget: int | None,
    target: float | None,
    delta: float,
    seed: int | None,
    out: Path | None,
) -> None:
    if label is None and labels is None:
        raise InvalidInputError(
            "neither --label nor --labels is given; --label COLUMN simulates raters, --labels FILE has the labels to "
            "ask you about"
        )
    if out is not None and out.suffix == ".skops":
        raise InvalidInputError(
            f"--out is {out}; it names a folder, into which the model is written as {MODEL}. Give a folder"
        )
    if budget is not None:
        check_count("--budget", budget)
    if target is not None:
        check_fraction("--target", target)
    check_fraction("--delta", delta)
    if seed is not None:
        check_count("--seed", seed, least=0)


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
