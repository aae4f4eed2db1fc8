"""``read_table``: the one way in for tables of predictions, whatever the format."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from onebit.errors import InvalidInputError
from onebit.tables.formats import Progress, recognised
from onebit.tables.record import ModelTable, make_table
from onebit.tables.truth import check_truth

if TYPE_CHECKING:
    from onebit.tables.columns import Columns


def read_table(
    path: str | Path,
    *,
    id: str | None = None,
    truth: str | None = None,
    show: Sequence[str] = (),
    labels: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> ModelTable:
    """Read a table of predictions, and check all of it.

    One row for each item (JSONL: one object); ``id``, ``truth`` and ``show`` name columns, and every other column is a
    model. An empty cell or null means that the model abstains. Labels are the values that occur, unless ``labels`` are
    given. An NPZ holds ``preds`` (N models x n items, whole numbers, negative: abstains) and may hold ``models``,
    ``labels`` and ``y``, which is the truth if ``truth`` is "y". Texts are UTF-8, with column names first.

    A file larger than the memory can be read as long as its predictions fit, in one, two or four bytes each.
    Raises InvalidInputError, which names row and column where there is one; also if no model ever meets the truth.
    """
    file = Path(path)
    with recognised(file, "a table of predictions") as kind:
        if kind.has_columns:
            table = _from_columns(kind.columns(file), id, truth, tuple(show), labels, progress or _unseen)
        else:
            from onebit.tables.npz_file import read_npz

            table = read_npz(file, id, truth, show, labels)
    if truth is not None:
        check_truth(table, truth, file.name)
    return table


def _from_columns(
    columns: Columns,
    id: str | None,
    truth: str | None,
    show: tuple[str, ...],
    labels: Sequence[str] | None,
    progress: Progress,
) -> ModelTable:
    from onebit.tables.columns import Uses, read_columns

    models = _models(columns, id, truth, show)
    coded, texts = models if truth is None else (*models, truth), show if id is None else (*show, id)
    needed = {name: word for name, word in ((id, "id"), (truth, "truth")) if name is not None}
    read = read_columns(columns, Uses(labels=coded, texts=texts, needed=needed, unique=id), labels, progress)
    return make_table(
        read.codes[: len(models)],
        models,
        read.labels,
        None if truth is None else read.codes[-1].astype(np.int64),
        columns.where,
        None if id is None else read.texts[id],
        {name: read.texts[name] for name in show},
    )


def _models(columns: Columns, id: str | None, truth: str | None, show: tuple[str, ...]) -> tuple[str, ...]:
    """The columns that are nothing else; there must be two."""
    columns.check([("--id", id), ("--truth", truth), *(("--show", name) for name in show)])
    if truth is not None and truth in (id, *show):
        raise InvalidInputError(
            f"{columns.where}: the column {truth!r} is the truth, and --id or --show would give it to the raters"
        )
    models = tuple(name for name in columns.names if name not in (id, truth, *show))
    if len(models) < 2:
        found = "no column is" if not models else f"only the column {models[0]!r} is"
        raise InvalidInputError(
            f"{columns.where}: {found} a model's; every column other than --id, --truth and --show is one, and two are "
            f"needed{columns.separator_hint()}"
        )
    return models


def _unseen(done: int, whole: int) -> None:
    """Progress that nobody wants to know."""
