"""``read_table``: the one way in, whatever the format."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from onebit.errors import InvalidInputError
from onebit.tables.record import ModelTable
from onebit.tables.truth import check_truth

#: Called with the part that has been read, and the whole: bytes of a CSV or JSONL, rows of a Parquet file.
Progress = Callable[[int, int], None]


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

    CSV (UTF-8, commas, column names first) and Parquet have one row for each item, JSONL one object; ``id``, ``truth``
    and ``show`` name columns, and every other column is a model. An empty cell or null means that the model abstains.
    Labels are the values that occur, unless ``labels`` are given. An NPZ holds ``preds`` (N models x n items, whole
    numbers, negative: abstains) and may hold ``models``, ``labels`` and ``y``, which is the truth if ``truth`` is "y".

    A file larger than the memory can be read as long as its predictions fit, in one, two or four bytes each.
    Raises InvalidInputError, which names row and column where there is one; also if no model ever meets the truth.
    """
    table = _read(Path(path), id, truth, show, labels, progress or (lambda done, whole: None))
    if truth is not None:
        check_truth(table, truth, Path(path).name)
    return table


def _read(
    file: Path, id: str | None, truth: str | None, show: Sequence[str], labels: Sequence[str] | None, report: Progress
) -> ModelTable:
    if not file.exists():
        raise InvalidInputError(f"there is no file {file}")
    if not file.is_file():
        raise InvalidInputError(f"{file} is not a file")
    if file.stat().st_size == 0:
        raise InvalidInputError(f"{file} is empty; it must hold a table of predictions")
    suffix = file.suffix.lower()
    try:
        if suffix == ".csv":
            from onebit.tables.csv_file import read_csv

            return read_csv(file, id, truth, show, labels, report)
        if suffix == ".parquet":
            from onebit.tables.parquet_file import read_parquet

            return read_parquet(file, id, truth, show, labels, report)
        if suffix == ".npz":
            from onebit.tables.npz_file import read_npz

            return read_npz(file, id, truth, show, labels)
        if suffix == ".jsonl":
            from onebit.tables.jsonl_file import read_jsonl

            return read_jsonl(file, id, truth, show, labels, report)
    except OSError as error:
        raise InvalidInputError(f"{file} cannot be read: {error}") from error
    raise InvalidInputError(f"{file} ends in {suffix or 'nothing'!r}; tables end in .csv, .parquet, .npz or .jsonl")
