"""How large a table may be: what a few bytes of a file can claim, and no table has, is refused before it is made.

The numbers are round ones, far above the tables that the docs measure; a prediction takes one to four bytes of memory.
"""

from __future__ import annotations

from pathlib import Path

from onebit.errors import InvalidInputError

#: Rows (items), columns (models), and cells of a table.
MOST_ROWS, MOST_COLUMNS, MOST_CELLS = 100_000_000, 100_000, 2_000_000_000
#: Different labels, or texts, at which a table is given up: they would fill the memory.
MOST_LABELS = 20_000_000
#: Labels of an NPZ, which has numbers of them only: one large number would make as many.
MOST_NUMBERED = 1_000_000
#: Digits of a label that is put in order as a number; Python refuses to read a few thousand.
MOST_DIGITS = 1000
#: Bytes of the line of column names, of a line of JSONL, and of the unpacked arrays of an NPZ.
MOST_HEADER, MOST_LINE, MOST_UNPACKED = 8 * 2**20, 64 * 2**20, 4 * 2**30

#: Unpacked bytes of an Excel file, some 150,000 rows of four columns, which take 10 s of processor; and the rows that
#: Excel itself has at most.
MOST_WORKBOOK, MOST_SHEET_ROWS = 32 * 2**20, 2**20


def check_size(where: str, n_rows: int, n_columns: int) -> None:
    """InvalidInputError if a table of that size is none that onebit reads."""
    for n, most, what in (
        (n_columns, MOST_COLUMNS, "columns"),
        (n_rows, MOST_ROWS, "rows"),
        (n_rows * n_columns, MOST_CELLS, "cells"),
    ):
        if n > most:
            raise InvalidInputError(f"{where} has {n:,} {what}, and at most {most:,} are read; take some out")


def check_unpacked(path: Path, n_bytes: int) -> None:
    """InvalidInputError if what a packed file says that it holds is too much."""
    if n_bytes > MOST_UNPACKED:
        raise InvalidInputError(
            f"{path.name} unpacks to {n_bytes:,} bytes, and at most {MOST_UNPACKED:,} are read; take some out"
        )
