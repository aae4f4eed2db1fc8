"""Long tables: one row for each item and model, made wide. What all models of an item share stays a column."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as compute
from numpy.typing import NDArray

from onebit.errors import InvalidInputError
from onebit.tables.columns import Columns, listed
from onebit.tables.formats import Progress
from onebit.tables.source import Source

if TYPE_CHECKING:
    from onebit.tables.opening import Long

#: Names that columns usually have, without capitals, the likeliest first.
USUAL = {
    "item": ("item", "item_id", "id", "sample_id", "doc_id", "example_id", "example", "question_id", "key"),
    "model": ("model", "model_name", "model_id", "system", "annotator", "provider", "model_version"),
    "output": ("output", "response", "prediction", "predicted", "completion", "answer", "label"),
}
#: Names of columns that raters are shown without being asked, and of reference answers, which they are not.
SHOWN = {"input", "prompt", "question", "text", "instruction", "context"}
TARGETS = {"target", "reference", "truth", "expected", "gold"}
#: The option that names each.
OPTIONS = {"item": "--id", "model": "--model", "output": "--output"}
SCORE = "score_"


def widened(columns: Columns, long: Long) -> Source:
    """One row for each item that every model has, and one column for each model.

    A column of numbers that differ between the models of an item is their scores; one of texts is left out, and told.
    """
    columns.check([(OPTIONS[use], getattr(long, use)) for use in USUAL])
    item, model, output = (getattr(long, use) or _usual(columns, use) for use in USUAL)
    batches = list(columns.batches({output}, lambda done, whole: None))
    if not batches:
        raise InvalidInputError(f"{columns.where}: there are column names and no rows")
    table = pa.Table.from_batches(batches)
    items, models = _texts(columns, table, item), _texts(columns, table, model)
    place = _places(columns, items, models)
    complete: NDArray[np.bool_] = np.asarray((place >= 0).all(axis=1))
    if len(models.dictionary) < 2 or not complete.any():
        raise InvalidInputError(f"{columns.where}: {_why_not(models, model, complete)}")
    kept = place[complete]
    wide = {item: items.dictionary.take(pa.array(np.flatnonzero(complete)))}
    names = models.dictionary.to_pylist()
    shared, scores, notes = _others(table, {item, model, output}, kept)
    clash = [name for name in names if name in wide or name in shared]
    if clash:
        raise InvalidInputError(f"{columns.where}: a model is called {clash[0]!r}, as a column is; rename the column")
    wide |= shared
    wide |= {name: _plain(table[output]).take(pa.array(kept[:, h])) for h, name in enumerate(names)}
    if scores is not None:
        wide |= {SCORE + name: table[scores].take(pa.array(kept[:, h])) for h, name in enumerate(names)}
    if (left_out := int((~complete).sum())) > 0:
        notes.append(f"items that do not have every model are left out: {left_out:,}")
    show = tuple(name for name in shared if name.casefold() in SHOWN)
    target = next((name for name in shared if name.casefold() in TARGETS), None)
    others = tuple(name for name in shared if name not in (*show, target))
    return Source(
        _columns(columns.where, pa.table(wide), item),
        id=item,
        show=show,
        target=target,
        others=others,
        scores={} if scores is None else {name: SCORE + name for name in names},
        notes=tuple(notes),
    )


def usual(names: Sequence[str]) -> dict[str, str] | None:
    """The columns of item, model and output, where a table has all of them by their usual names; it is likely long.

    >>> usual(["Item ID", "model", "prompt", "response"])
    {'item': 'Item ID', 'model': 'model', 'output': 'response'}
    """
    found = {use: _by_usual_name(names, use) for use in USUAL}
    known = {use: name for use, name in found.items() if name is not None}
    return known if len(known) == len(USUAL) else None


def _by_usual_name(names: Sequence[str], use: str) -> str | None:
    by_name = {name.strip().casefold().replace(" ", "_"): name for name in names}
    return next((by_name[name] for name in USUAL[use] if name in by_name), None)


def _usual(columns: Columns, use: str) -> str:
    name = _by_usual_name(columns.names, use)
    if name is None:
        raise InvalidInputError(
            f"{columns.where}: which column is the {use}? There are {listed(columns.names)}; name it with "
            f"{OPTIONS[use]}"
        )
    return name


def _plain(column: Any) -> Any:
    """A column whose values stand for themselves, and bytes of texts as texts."""
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if pa.types.is_dictionary(whole.type):
        whole = whole.dictionary_decode()
    return whole


def _texts(columns: Columns, table: Any, name: str) -> Any:
    """A column of names, each with its number."""
    try:
        texts = _plain(table[name]).cast(pa.string())
    except pa.ArrowInvalid:
        raise InvalidInputError(
            f"{columns.where}, column {name!r}: there are values that are no texts in UTF-8"
        ) from None
    missing = np.asarray(compute.equal(texts.fill_null(""), ""))
    if missing.any():
        row = columns.place(int(np.argmax(missing)))
        raise InvalidInputError(
            f"{columns.where}, {row}, column {name!r}: the cell is empty; every row needs it: fill it "
            "in, or leave the row out"
        )
    return texts.dictionary_encode()


def _places(columns: Columns, items: Any, models: Any) -> NDArray[np.int64]:
    """The row of each item and model, -1 where there is none; shape (items, models)."""
    item, model = np.asarray(items.indices), np.asarray(models.indices)
    place = np.full((len(items.dictionary), len(models.dictionary)), -1)
    place[item, model] = np.arange(item.size)
    again = np.flatnonzero(place[item, model] != np.arange(item.size))
    if again.size:
        row = int(again[0])
        where = columns.place(int(place[item[row], model[row]]))
        raise InvalidInputError(
            f"{columns.where}, {where}: the item {items[row].as_py()!r} has the model {models[row].as_py()!r} before; "
            "there must be one row for each, so number repeats in the item's name"
        )
    return place


def _why_not(models: Any, model: str, complete: NDArray[np.bool_]) -> str:
    if len(models.dictionary) < 2:
        return (
            f"the column {model!r} names one model, {models.dictionary[0].as_py()!r}, and two are needed; add the "
            "rows of another, or name another column with --model"
        )
    return (
        f"none of the {complete.size:,} items has a row for each of the {len(models.dictionary)} models; write items "
        "alike for all models, or take out the models that were given others"
    )


def _others(table: Any, used: set[str], kept: NDArray[np.int64]) -> tuple[dict[str, Any], str | None, list[str]]:
    """Of the other columns: those that are the items', by name; the one of scores; and what is left out."""
    shared, scores, notes = {}, None, []
    for name in table.schema.names:
        if name in used:
            continue
        column = _plain(table[name])
        first = column.take(pa.array(kept[:, 0]))
        rest = [column.take(pa.array(kept[:, h])) for h in range(1, kept.shape[1])]
        if all(first.equals(each) for each in rest):
            shared[name] = first
        elif scores is None and (pa.types.is_floating(column.type) or pa.types.is_boolean(column.type)):
            scores = name
        else:
            notes.append(f"the column {name!r} differs between models of one item, and is not used")
    return shared, scores, notes


def _columns(where: str, table: Any, item: str) -> Columns:
    def batches(labels: Collection[str], progress: Progress) -> Iterator[Any]:
        yield from table.to_batches()
        progress(table.num_rows, table.num_rows)

    return Columns(where, tuple(table.schema.names), batches, lambda row: f"item {table[item][row].as_py()!r}")
