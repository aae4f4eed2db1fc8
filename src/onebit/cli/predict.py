"""``onebit predict``: the labels that a trained classifier gives to new data."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from onebit.cli.options import AsJson
from onebit.errors import InvalidInputError
from onebit.model_file import SavedModel, check_new, load_model
from onebit.tables.cells import no_formula
from onebit.tables.formats import NAMES, WITH_COLUMNS

if TYPE_CHECKING:
    from onebit.tables.data import Data

COLUMNS = ("item", "label", "probability")


def predict(
    model: Annotated[Path, typer.Argument(help="What onebit learn wrote.")],
    data: Annotated[Path, typer.Argument(help=f"Examples: {NAMES}, with what was learned from.")],
    id: Annotated[str | None, typer.Option(help="Column that names the items.", show_default=False)] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="CSV to write; by default DATA with the ending .predictions.csv.", show_default=False),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Predict the label of every row by a classifier that onebit learn trained.

    Writes a CSV of item, label and probability. Columns that were not learned from are not looked at. With --json:
    where the predictions are, and how many have each label.
    """
    from onebit.tables.data import Wanted, read_data
    from onebit.tables.opening import is_npz

    to = out if out is not None else data.with_suffix(".predictions.csv")
    check_new("--out", to)
    saved = load_model(model)
    if bool(saved.columns) == (is_npz(data)):
        source = f"the columns {', '.join(saved.columns)} of a {WITH_COLUMNS}" if saved.columns else "an NPZ"
        raise InvalidInputError(f"{model} learned from {source}, and {data} is none; give the same kind of data")
    text, numbers = (saved.columns, None) if saved.is_text else ((), saved.columns or None)
    rows = read_data(data, Wanted(text=text, numbers=numbers, id=id, by_model=True))
    _check_fits(saved, rows, model, data)
    n_of_label = _write(to, rows, saved)
    if as_json:
        print(json.dumps({"predictions": rows.n_items, "file": str(to), "labels": n_of_label}))
    else:
        print(f"{rows.n_items:,} predictions are in {to}")


def _check_fits(saved: SavedModel, rows: Data, model: Path, data: Path) -> None:
    """Refuse an NPZ that cannot be like the one learned from; columns have names and were checked by these."""
    if saved.is_text != rows.is_text:
        learned, given = ("texts", "numbers") if saved.is_text else ("numbers", "texts")
        raise InvalidInputError(f"{model} learned from {learned}, and {data} has {given}")
    n_learned = None if saved.is_text else saved.classifier.n_features_in_
    if n_learned is not None and rows.x.shape[1] != n_learned:
        raise InvalidInputError(f"{data} has {rows.x.shape[1]} numbers per row, and {model} learned from {n_learned}")


def _write(path: Path, rows: Data, saved: SavedModel) -> dict[str, int]:
    """Write the file whole, or not at all; how many rows have each label."""
    probability = saved.classifier.predict_proba(rows.x)
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
