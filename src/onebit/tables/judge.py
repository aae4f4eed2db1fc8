"""What a judge says about the outputs of models, from a file or an array: scores from 0 to 1, or labels.

A judge is named in one of three ways: by columns of scores, one for each model (``judge_*``, where the star stands for
the model's name); by one column with the label that it gives to each item; or by another file of scores. A label is a
score too: 1 for the models that give it, 0 for all others. What is missing says nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onebit.errors import InvalidInputError, OptionError
from onebit.tables.formats import ENDINGS, one_of, recognised
from onebit.tables.record import ABSTAINS, ModelTable
from onebit.tables.truth import hint

if TYPE_CHECKING:
    from onebit.tables.columns import Columns

Scores = NDArray[np.float32]
#: What stands for a model's name in the names of columns.
STAR = "*"
ADVICE = "scores are numbers from 0 to 1, and a cell that is empty has none"


def judge_of(said: NDArray[np.signedinteger[Any]], judge: ArrayLike) -> Scores:
    """The scores (N, n) of a judge of what models have ``said`` (N, n): its scores, or its label for each item (n,).

    NaN is a score that is missing, a negative number a label that is. Raises OptionError.
    """
    given = np.asarray(judge)
    if given.ndim == 1 and given.dtype.kind in "iu" and given.shape == said.shape[1:]:
        return scores_of_labels(said, given)
    if given.shape != said.shape or given.dtype.kind not in "fiub":
        raise OptionError(
            "judge",
            f"the judge has shape {given.shape} and type {given.dtype}; give scores of shape {said.shape}, a row for "
            f"each model, or {said.shape[1]} whole numbers, the label of each item",
        )
    scores: Scores = given.astype(np.float32)
    if ((scores < 0) | (scores > 1)).any():
        h, item = np.argwhere((scores < 0) | (scores > 1))[0]
        raise OptionError("judge", f"the judge gives {scores[h, item]} to model {h} at item {item}; {ADVICE}")
    return scores


def scores_of_labels(said: NDArray[np.signedinteger[Any]], label: NDArray[np.integer[Any]]) -> Scores:
    """1 where a model says the judge's ``label`` (n,), else 0; NaN where the judge gives none."""
    scores: Scores = (said == label).astype(np.float32)
    scores[:, label < 0] = np.nan
    return scores


def columns_of_judge(names: Sequence[str], judge: str | None) -> tuple[str, ...]:
    """The columns of a table that are the judge's, and no models; none if the judge is in a file of its own."""
    if judge is None:
        return ()
    if judge in names:
        return (judge,)
    if STAR not in judge:
        return ()
    before, after = judge.split(STAR, 1)
    least = len(before) + len(after) + 1
    return tuple(name for name in names if len(name) >= least and name.startswith(before) and name.endswith(after))


def with_judge(table: ModelTable, columns: Columns, judge: str, id: str | None) -> ModelTable:
    """The table with the scores of its judge, which is in ``columns`` of the same file or in a file of its own."""
    if judge in columns.names:
        return replace(table, judge=_from_labels(table, columns, judge))
    if STAR in judge:
        return replace(table, judge=_from_scores(table, columns, judge))
    path = Path(judge)
    if path.suffix.lower() not in ENDINGS:
        raise OptionError(
            "judge",
            f"judge is {judge!r}, and {columns.where} has no such column; name one with labels, columns of scores as "
            f"in judge_*, or a file that ends in {one_of(ENDINGS[:-1])}",
        )
    return replace(table, judge=_from_file(table, path, id))


def with_scores(table: ModelTable, columns: Columns, scores: Mapping[str, str]) -> ModelTable:
    """The table with the scores of the columns that each model has in ``scores``."""
    of_model = {name: model for model, name in scores.items() if model in table.models}
    return replace(table, judge=_placed(table, columns, of_model, np.arange(table.n_items), "one per model"))


def _from_labels(table: ModelTable, columns: Columns, name: str) -> Scores:
    from onebit.tables.columns import Uses, read_columns

    read = read_columns(columns, Uses(labels=(name,)))
    number = {label: place for place, label in enumerate(table.labels)}
    if not number.keys() & set(read.labels):
        said = ", ".join(map(repr, read.labels[:3])) or "nothing"
        raise OptionError(
            "judge",
            f"{columns.where}, column {name!r}: the judge gives no label that a model gives, but {said}"
            f"{hint(read.labels[0], number) if read.labels else ''}. Write labels as the models do; scores are in "
            "columns of their own, named as in judge_*",
        )
    # A label that no model gives is nobody's.
    place = np.array([*(number.get(label, len(number)) for label in read.labels), ABSTAINS])
    return scores_of_labels(table.predictions, place[read.codes[0]])


def _from_scores(table: ModelTable, columns: Columns, pattern: str) -> Scores:
    found = columns_of_judge(columns.names, pattern)
    before, after = pattern.split(STAR, 1)
    of_model = {name: name[len(before) : len(name) - len(after)] for name in found}
    return _placed(table, columns, of_model, np.arange(table.n_items), f"as {pattern} names them")


def _from_file(table: ModelTable, path: Path, id: str | None) -> Scores:
    """The scores of a file with the column ``id`` of the table, and a column for each model."""
    from onebit.tables.columns import Uses, read_columns

    if id is None:
        raise OptionError("judge", f"judge is the file {path.name}; its rows are found by the column --id, so name it")
    with recognised(path, "scores of a judge") as kind:
        if not kind.has_columns:
            raise OptionError("judge", f"judge is {path.name}; a judge's file has columns, as an NPZ has not")
        columns = kind.columns(path)
        columns.check([("--id", id)])
        ids = read_columns(columns, Uses(texts=(id,), needed={id: "id"}, unique=id)).texts[id].to_pylist()
        row_of = {table.item_id(item): item for item in range(table.n_items)}
        for row, each in enumerate(ids):
            if each not in row_of:
                raise OptionError("judge", f"{path.name}, {columns.place(row)}: {each!r} is no item of the table")
        of_model = {name: name for name in columns.names if name != id}
        return _placed(table, columns, of_model, np.array([row_of[each] for each in ids]), "one per model")


def _placed(table: ModelTable, columns: Columns, of_model: dict[str, str], rows: NDArray[np.int64], how: str) -> Scores:
    """The scores of columns by the names of their models, for ``rows`` of the table; missing elsewhere."""
    from onebit.tables.columns import Uses, read_columns

    place = {model: h for h, model in enumerate(table.models)}
    for name, model in of_model.items():
        if model not in place:
            raise OptionError(
                "judge", f"{columns.where}: the column {name!r} would judge the model {model!r}, and there is none"
            )
    if not of_model:
        raise OptionError("judge", f"{columns.where}: there are no columns of scores, {how}")
    uses = Uses(numbers=tuple(of_model), may_miss=True, advice=ADVICE)
    numbers = read_columns(columns, uses).numbers
    bad = np.argwhere((numbers < 0) | (numbers > 1))
    if bad.size:
        row, column = bad[0]
        raise InvalidInputError(
            f"{columns.where}, {columns.place(int(row))}, column {tuple(of_model)[column]!r}: "
            f"{numbers[row, column]:g} is no score; {ADVICE}"
        )
    scores = np.full(table.predictions.shape, np.nan, dtype=np.float32)
    for column, model in enumerate(of_model.values()):
        scores[place[model], rows] = numbers[:, column]
    return scores
