"""CSV: streamed in blocks, so that a file larger than the memory can be read; errors name the line."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.csv as arrow_csv

from onebit.errors import InvalidInputError
from onebit.tables.columns import Collector, assign_roles
from onebit.tables.reading import Progress
from onebit.tables.record import ModelTable

#: Bytes read at a time; a row must fit.
BLOCK = 4 * 2**20


def read_csv(
    path: Path, id: str | None, truth: str | None, show: Sequence[str], labels: Sequence[str] | None, progress: Progress
) -> ModelTable:
    """The table in a CSV file; see :func:`onebit.tables.read_table`."""
    names, n_header_lines = read_header(path)
    roles = assign_roles(names, id, truth, show, path.name)
    collector = Collector(roles, labels, path.name, lambda row: f"line {line_of(path, row + 1)}")
    invalid: list[Any] = []
    size = path.stat().st_size
    texts = {roles.id, *roles.show}
    # Bytes, not texts: a label is then decoded, and checked to be UTF-8, once a block and not once a row.
    encoded = pa.dictionary(pa.int32(), pa.binary())
    with pa.OSFile(str(path)) as source:
        try:
            for batch in arrow_csv.open_csv(
                source,
                # One thread: with more the parser does not know at which row it is, and is no faster.
                arrow_csv.ReadOptions(
                    use_threads=False, block_size=BLOCK, skip_rows=n_header_lines, column_names=list(names)
                ),
                arrow_csv.ParseOptions(newlines_in_values=True, invalid_row_handler=keep_in(invalid)),
                arrow_csv.ConvertOptions(
                    column_types={name: pa.binary() if name in texts else encoded for name in names},
                    null_values=[""],
                    strings_can_be_null=True,
                ),
            ):
                collector.add(batch)
                progress(min(source.tell(), size), size)
        except pa.ArrowInvalid as error:
            raise InvalidInputError(in_words(path, error, invalid, n_header_lines)) from None
    return collector.table()


def read_header(path: Path) -> tuple[tuple[str, ...], int]:
    """The column names, and how many lines they take."""
    with path.open("rb") as file:
        try:
            lines = csv.reader(_decoded(file))
            for names in lines:
                if names:
                    return tuple(names), lines.line_num
        except UnicodeDecodeError:
            raise InvalidInputError(
                f"{path.name}, line 1: the column names are not UTF-8; save the file as UTF-8"
            ) from None
        except csv.Error as error:
            raise InvalidInputError(f"{path.name}, line 1: the column names cannot be read ({error})") from None
    raise InvalidInputError(f"{path.name} has no line that is not blank; it must hold a table of predictions")


def _decoded(file: BinaryIO) -> Iterator[str]:
    for number, line in enumerate(file):
        yield line.decode("utf-8-sig" if number == 0 else "utf-8")


def keep_in(invalid: list[Any]) -> Any:
    """A handler that keeps the rows that have the wrong number of cells."""

    def keep(row: Any) -> str:
        invalid.append(row)
        return "error"

    return keep


def in_words(path: Path, error: Exception, invalid: list[Any], n_header_lines: int) -> str:
    """What is wrong with a file that could not be read, and on which line."""
    if invalid:
        row = invalid[0]
        line = line_of(path, row.number - n_header_lines)
        return (
            f"{path.name}, line {line}: the row has {row.actual_columns} columns, and there are {row.expected_columns} "
            "column names; a comma inside a text needs quotes around the text"
        )
    if "straddl" in str(error):
        return f"{path.name} has a row of more than {BLOCK:,} bytes; is a quote never closed?"
    return f"{path.name} cannot be read as CSV: {str(error).splitlines()[0]}"


def line_of(path: Path, record: int) -> int:
    """The line, counted from 1, at which a record begins; record 0 is the column names.

    Blank lines are no records, and a quoted text may go over several lines. Only an error asks for this, so the file is
    read again up to there: quickly as long as there are no quotes.
    """
    limit = csv.field_size_limit(sys.maxsize)
    try:
        with path.open("rb") as file:
            n_lines = n_records = 0
            for raw in file:
                if b'"' in raw:
                    return _line_among_quotes(raw, file, n_lines, record - n_records)
                n_lines += 1
                n_records += bool(raw.strip(b"\r\n"))
                if n_records > record:
                    return n_lines
        return n_lines
    finally:
        csv.field_size_limit(limit)


def _line_among_quotes(raw: bytes, file: BinaryIO, n_lines: int, record: int) -> int:
    # latin-1 reads any bytes, and it is only quotes, commas and line ends that matter here.
    lines = csv.reader(line.decode("latin-1") for line in (part for source in ([raw], file) for part in source))
    last = 0
    for cells in lines:
        if cells and record == 0:
            break
        record -= bool(cells)
        last = lines.line_num
    return n_lines + last + 1
