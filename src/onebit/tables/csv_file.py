"""CSV: streamed in blocks, so that a file larger than the memory can be read; errors name the line."""

from __future__ import annotations

import csv
import sys
from codecs import iterdecode
from collections.abc import Collection, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.csv as arrow_csv

from onebit.errors import InvalidInputError
from onebit.tables.columns import Columns
from onebit.tables.formats import Progress
from onebit.tables.limits import MOST_HEADER
from onebit.tables.streams import is_packed, opened

#: Bytes read at a time; a row must fit.
BLOCK = 4 * 2**20
#: What signs between columns are called, the usual one first.
SIGNS = {",": "comma", "\t": "tab", ";": "semicolon", "|": "bar"}
#: The sign that the ending of a name promises.
PROMISED = {".csv": ",", ".tsv": "\t", ".tab": "\t"}


def open_columns(path: Path) -> Columns:
    """The columns of a file in UTF-8: column names first, a sign between cells, which may be in quotes.

    The sign is the one that the file's name promises, if it is between the column names; else the one that is there
    most often.
    """
    names, n_header_lines, sign = _header(path)

    def batches(labels: Collection[str], progress: Progress) -> Iterator[Any]:
        invalid: list[Any] = []

        def keep(row: Any) -> str:
            invalid.append(row)
            return "error"

        # Bytes, not texts: a label is then decoded, and checked to be UTF-8, once a block and not once a row.
        encoded = pa.dictionary(pa.int32(), pa.binary())
        types = {name: encoded if name in labels else pa.binary() for name in names}
        skipped = {"skip_rows": n_header_lines, "column_names": list(names)}
        size = path.stat().st_size
        with pa.OSFile(str(path)) as file:
            source = pa.CompressedInputStream(file, "gzip") if is_packed(path) else file
            try:
                for batch in arrow_csv.open_csv(
                    source,
                    # One thread: with more the parser does not know at which row it is, and is no faster.
                    arrow_csv.ReadOptions(use_threads=False, block_size=BLOCK, **skipped),
                    arrow_csv.ParseOptions(delimiter=sign, newlines_in_values=True, invalid_row_handler=keep),
                    arrow_csv.ConvertOptions(column_types=types, null_values=[""], strings_can_be_null=True),
                ):
                    yield batch
                    progress(min(file.tell(), size), size)
            except pa.ArrowInvalid as error:
                raise InvalidInputError(_in_words(path, sign, error, invalid, n_header_lines)) from None
            except OSError as error:
                raise InvalidInputError(
                    f"{path.name} cannot be read to its end: {error}; copy the file again, or pack it again"
                ) from None

    return Columns(path.name, names, batches, lambda row: f"line {_line_of(path, sign, row + 1)}")


def _header(path: Path) -> tuple[tuple[str, ...], int, str]:
    """The column names, how many lines they take, and the sign between them."""
    read = {sign: _header_by(path, sign) for sign in SIGNS}
    ending = next((each for each in reversed(path.suffixes) if each.lower() in PROMISED), "")
    promised = PROMISED.get(ending.lower(), ",")
    sign = promised if len(read[promised][0]) > 1 else max(SIGNS, key=lambda sign: len(read[sign][0]))
    return *read[sign], sign


def _header_by(path: Path, sign: str) -> tuple[tuple[str, ...], int]:
    with opened(path) as file:
        try:
            # Decoded line by line: what is wrong further down is said with its own line and column.
            lines = csv.reader(iterdecode(_short_lines(path, file), "utf-8-sig"), delimiter=sign)
            for names in lines:
                if names:
                    return tuple(names), lines.line_num
        except (UnicodeDecodeError, csv.Error) as error:
            is_encoding = isinstance(error, UnicodeDecodeError)
            said = "are not UTF-8; save the file as UTF-8" if is_encoding else f"cannot be read ({error})"
            raise InvalidInputError(f"{path.name}, line 1: the column names {said}") from None
    raise InvalidInputError(f"{path.name} has no line that is not blank; it must hold a table")


def _short_lines(path: Path, file: BinaryIO) -> Iterator[bytes]:
    """The lines of a file until one is too long to be the column names."""
    while line := file.readline(MOST_HEADER + 1):
        if len(line) > MOST_HEADER:
            raise InvalidInputError(
                f"{path.name}: the column names have more than {MOST_HEADER:,} bytes; is it a table?"
            )
        yield line


def _in_words(path: Path, sign: str, error: Exception, invalid: list[Any], n_header_lines: int) -> str:
    """What is wrong with a file that could not be read, and on which line; ``invalid`` are rows of the wrong length."""
    if invalid:
        row = invalid[0]
        line = _line_of(path, sign, row.number - n_header_lines)
        return (
            f"{path.name}, line {line}: the row has {row.actual_columns} columns, and there are {row.expected_columns} "
            f"column names; a {SIGNS[sign]} inside a text needs quotes around the text"
        )
    if "straddl" in str(error):
        return f"{path.name} has a row of more than {BLOCK:,} bytes; is a quote never closed?"
    return f"{path.name} cannot be read as text in columns: {str(error).splitlines()[0]}"


def _line_of(path: Path, sign: str, record: int) -> int:
    """The line, counted from 1, at which a record begins; record 0 is the column names.

    Blank lines are no records, and a quoted text may go over several lines. Only an error asks for this, so the file is
    read again up to there: quickly as long as each line is a record.
    """
    n_lines = 0
    with opened(path) as file:
        for raw in file:
            # A lone carriage return ends a line too.
            if b'"' in raw or b"\r" in raw[:-2]:
                return n_lines + _line_among_quotes(chain([raw], file), sign, record)
            n_lines += 1
            record -= bool(raw.strip(b"\r\n"))
            if record < 0:
                break
    return n_lines


def _line_among_quotes(file: Iterable[bytes], sign: str, record: int) -> int:
    limit = csv.field_size_limit(sys.maxsize)
    try:
        # latin-1 reads any bytes, and it is only quotes, signs between cells and line ends that matter here.
        texts = (line.decode("latin-1") for raw in file for line in raw.splitlines(keepends=True))
        lines, first = csv.reader(texts, delimiter=sign), 1
        for cells in lines:
            if cells and record == 0:
                break
            record -= bool(cells)
            first = lines.line_num + 1
        return first
    finally:
        csv.field_size_limit(limit)
