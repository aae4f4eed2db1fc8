"""``onebit predict``: the labels that a trained classifier gives to new data."""

from __future__ import annotations

import csv
import json
import os
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from onebit.cli.options import AsJson, Workers
from onebit.cli.progress import progress_bar
from onebit.errors import InvalidInputError
from onebit.model_file import MODEL, SavedModel, check_new, load_model
from onebit.tables.cells import no_formula
from onebit.tables.formats import NAMES, WITH_COLUMNS

if TYPE_CHECKING:
    from onebit.tables.data import Data

COLUMNS = ("item", "label", "probability")
#: Rows predicted at once, and then shown as done. Origin: a round number, which takes about a tenth of a second.
ROWS_AT_ONCE = 4096

#: Told how much is done, and of how much.
Progress = Callable[[int, int], None]


def predict(
    model: Annotated[Path, typer.Argument(help="What onebit learn wrote: the model, or the folder that it is in.")],
    data: Annotated[
        Path, typer.Argument(help=f"Examples: {NAMES}, with what was learned from; or a folder of Parquet files.")
    ],
    id: Annotated[str | None, typer.Option(help="Column that names the items.", show_default=False)] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="CSV to write, or for a folder the folder of CSVs; by default DATA with the ending .predictions.csv.",
            show_default=False,
        ),
    ] = None,
    workers: Workers = "1",
    as_json: AsJson = False,
) -> None:
    """Predict the label of every row by a classifier that onebit learn trained.

    Writes a CSV of item, label and probability. Columns that were not learned from are not looked at. With --json:
    where the predictions are, and how many have each label.

    Of a folder of Parquet files, one file after the other is read, or as many at a time as there are --workers; each
    has a CSV of its own. The same command goes on where it was stopped.
    """
    model = model / MODEL if model.is_dir() else model
    to = out if out is not None else data.with_suffix(".predictions.csv")
    if data.is_dir() and (files := sorted(data.rglob("*.parquet"))):
        n_of_label = _predict_folder(model, files, data, to, id, workers)
    else:
        check_new("--out", to)
        with progress_bar(f"predicting {data.name}") as progress:
            n_of_label = _predict_file(data, model, to, id, progress)
    n_rows = sum(n_of_label.values())
    if as_json:
        print(json.dumps({"predictions": n_rows, "file": str(to), "labels": n_of_label}))
    else:
        print(f"{n_rows:,} predictions are in {to}")


def _predict_folder(
    model: Path, files: Sequence[Path], data: Path, to: Path, id: str | None, workers: str
) -> dict[str, int]:
    """Predict what is in each file, and count the labels of all."""
    from onebit.passes.engine import run_pass
    from onebit.passes.workers import open_workers

    labels = list(map(str, load_model(model).classifier.classes_.tolist()))
    parts = _Parts(to, [to / path.relative_to(data).with_suffix(".csv") for path in files], labels)
    work = list(zip(files, parts.paths, strict=True))
    with open_workers(workers) as executor, progress_bar(f"predicting {data.name}") as progress:
        found = run_pass(partial(_predict_part, model=model, id=id), work, executor, parts, progress, called="file")
    return {label: sum(n_of_label[label] for n_of_label in found) for label in labels}


def _predict_part(work: tuple[Path, Path], model: Path, id: str | None) -> dict[str, int]:
    data, to = work
    to.parent.mkdir(parents=True, exist_ok=True)
    # One bar tells of all files.
    return _predict_file(data, model, to, id, lambda done, whole: None)


class _Parts:
    """The CSVs of a folder: one that is there is done."""

    def __init__(self, folder: Path, paths: Sequence[Path], labels: Sequence[str]) -> None:
        self.place, self.paths, self._labels = str(folder), paths, labels

    def read(self, number: int) -> dict[str, int] | None:
        if not self.paths[number].exists():
            return None
        with self.paths[number].open(newline="", encoding="utf-8") as file:
            n_of_cell = Counter(row["label"] for row in csv.DictReader(file))
        return {label: n_of_cell[no_formula(label)] for label in self._labels}

    def write(self, number: int, n_of_label: dict[str, int]) -> None:
        """Whoever predicted it has written it."""


def _predict_file(data: Path, model: Path, to: Path, id: str | None, progress: Progress) -> dict[str, int]:
    """Predict what is in one file; how many rows have each label."""
    from onebit.tables.data import EXAMPLES, Wanted, read_data
    from onebit.tables.opening import is_npz

    saved = load_model(model)
    if bool(saved.columns) == is_npz(data, EXAMPLES):
        source = f"the columns {', '.join(saved.columns)} of a {WITH_COLUMNS}" if saved.columns else "an NPZ"
        raise InvalidInputError(f"{model} learned from {source}, and {data} is none; give the same kind of data")
    text, numbers = (saved.columns, None) if saved.is_text else ((), saved.columns or None)
    rows = read_data(data, Wanted(text=text, numbers=numbers, id=id, by_model=True))
    _check_fits(saved, rows, model, data)
    return _write(to, rows, saved, progress)


def _check_fits(saved: SavedModel, rows: Data, model: Path, data: Path) -> None:
    """Refuse an NPZ that cannot be like the one learned from; columns have names and were checked by these."""
    if saved.is_text != rows.is_text:
        learned, given = ("texts", "numbers") if saved.is_text else ("numbers", "texts")
        raise InvalidInputError(f"{model} learned from {learned}, and {data} has {given}")
    n_learned = None if saved.is_text else saved.classifier.n_features_in_
    if n_learned is not None and rows.x.shape[1] != n_learned:
        raise InvalidInputError(f"{data} has {rows.x.shape[1]} numbers per row, and {model} learned from {n_learned}")


def _probability(saved: SavedModel, x: NDArray[Any], progress: Progress) -> NDArray[np.float64]:
    """The probability of each label for each row; shape (n, K)."""
    parts = list[NDArray[np.float64]]()
    for first in range(0, len(x), ROWS_AT_ONCE):
        parts.append(saved.classifier.predict_proba(x[first : first + ROWS_AT_ONCE]))
        progress(min(first + ROWS_AT_ONCE, len(x)), len(x))
    return np.concatenate(parts)


def _write(path: Path, rows: Data, saved: SavedModel, progress: Progress) -> dict[str, int]:
    """Write the file whole, or not at all; how many rows have each label."""
    probability = _probability(saved, rows.x, progress)
    labels = saved.classifier.classes_[probability.argmax(axis=1)].tolist()
    part = path.with_name(f"{path.name}.part")
    try:
        with part.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(COLUMNS)
            for row, (label, sure) in enumerate(zip(labels, probability.max(axis=1).tolist(), strict=True)):
                writer.writerow([no_formula(rows.item_id(row)), no_formula(label), f"{sure:.4f}"])
        os.replace(part, path)
    except OSError as error:
        raise InvalidInputError(f"{path} cannot be written: {error.strerror}") from error
    finally:
        part.unlink(missing_ok=True)
    return {str(label): labels.count(label) for label in saved.classifier.classes_.tolist()}
