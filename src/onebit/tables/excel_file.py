"""Excel: the one sheet of a workbook that has cells; openpyxl reads it (``onebit[excel]``)."""

from __future__ import annotations

import warnings
import zlib
from collections.abc import Collection, Iterator
from datetime import date, datetime, time
from itertools import islice
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

from onebit.errors import InvalidInputError
from onebit.tables.columns import Columns
from onebit.tables.formats import Progress
from onebit.tables.jsonl_file import AT_A_TIME, batch_of, row_of
from onebit.tables.limits import MOST_SHEET_ROWS, MOST_WORKBOOK

#: What reading an archive or XML that is broken, encrypted or a trap raises.
_BROKEN = (KeyError, ValueError, OSError, SyntaxError, RuntimeError, BadZipFile, zlib.error)


def open_columns(path: Path) -> Columns:
    """The columns of a workbook, as texts; its first row that is not empty has their names."""
    _check_unpacked(path)
    rows = _rows(path)
    number, names = next(rows, (0, ()))
    if not names:
        raise InvalidInputError(f"{path.name} has no sheet with cells; it must hold a table")
    while names[-1] is None:
        names = names[:-1]
    header = tuple("" if name is None else str(name) for name in names)

    def batches(labels: Collection[str], progress: Progress) -> Iterator[Any]:
        left = ((row, cells) for row, cells in _rows(path) if row > number)
        while part := list(islice(left, AT_A_TIME)):
            yield batch_of([_row(path, *each, header, labels) for each in part], header, f"{path.name}, row {number}")

    def place(row: int) -> str:
        return f"row {next(islice((n for n, _ in _rows(path) if n > number), row, None))}"

    return Columns(path.name, header, batches, place)


def _check_unpacked(path: Path) -> None:
    """InvalidInputError if there is more in it than can be read while somebody waits; what is no archive is told later.

    An archive that says less than it holds is read no further than it says.
    """
    try:
        with ZipFile(path) as archive:
            n_bytes = sum(each.file_size for each in archive.infolist())
    except _BROKEN:
        return
    if n_bytes > MOST_WORKBOOK:
        raise InvalidInputError(
            f"{path.name} unpacks to {n_bytes:,} bytes. Excel files are read slowly, cell by cell, so at most "
            f"{MOST_WORKBOOK:,} are read; save the sheet as CSV in UTF-8, or as Parquet"
        )


def _row(
    path: Path, number: int, cells: tuple[Any, ...], header: tuple[str, ...], labels: Collection[str]
) -> list[str | None]:
    where = f"{path.name}, row {number}"
    if any(cell is not None for cell in cells[len(header) :]):
        raise InvalidInputError(
            f"{where}: there is a cell beyond the {len(header)} columns that have names; name its column, or empty it"
        )
    padded = (*cells, *(None,) * len(header))[: len(header)]
    values = [str(cell) if isinstance(cell, date | datetime | time) else cell for cell in padded]
    return row_of(where, dict(zip(header, values, strict=True)), header, labels, "in the first row")


def _rows(path: Path) -> Iterator[tuple[int, tuple[Any, ...]]]:
    """The rows of the sheet that has cells, with their numbers; empty ones are left out."""
    try:
        from openpyxl import load_workbook
        from openpyxl.utils.exceptions import InvalidFileException
    except ImportError:
        raise InvalidInputError(
            f"{path.name} is an Excel file, which openpyxl reads, and it is not installed; pip install "
            "'onebit[excel]', or save the file as CSV in UTF-8"
        ) from None
    try:
        with path.open("rb") as file, warnings.catch_warnings():
            # It warns of styles that it leaves out.
            warnings.simplefilter("ignore")
            book = load_workbook(file, read_only=True, data_only=True)
            sheets = [sheet for sheet in book.worksheets if any(any(c is not None for c in r) for r in _cells(sheet))]
            if len(sheets) > 1:
                titles = ", ".join(repr(sheet.title) for sheet in sheets)
                raise InvalidInputError(f"{path.name} has {len(sheets)} sheets with cells, {titles}; keep one of them")
            for sheet in sheets:
                for number, cells in enumerate(_cells(sheet), start=1):
                    if number > MOST_SHEET_ROWS:
                        raise InvalidInputError(f"{path.name} has more than the {MOST_SHEET_ROWS:,} rows of a sheet")
                    if any(cell is not None for cell in cells):
                        yield number, cells
    except (*_BROKEN, InvalidFileException) as error:
        if isinstance(error, InvalidInputError):
            raise
        raise InvalidInputError(f"{path.name} cannot be read as Excel: {str(error).splitlines()[0]}") from None


def _cells(sheet: Any) -> Iterator[tuple[Any, ...]]:
    rows: Iterator[tuple[Any, ...]] = sheet.iter_rows(values_only=True)
    return rows
