"""Examples to learn from: numbers or texts, one row each, from CSV, Parquet, NPZ or JSONL; and labels where known."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.compute as compute
import pyarrow.csv as arrow_csv
import pyarrow.parquet as arrow_parquet
import pyarrow.types as kinds
from numpy.typing import NDArray

from onebit.errors import InvalidInputError
from onebit.tables.columns import as_text, listed
from onebit.tables.csv_file import BLOCK, in_words, keep_in, line_of, read_header
from onebit.tables.jsonl_file import read_columns
from onebit.tables.npz_file import load_arrays

#: The arrays of an NPZ: the examples and their labels.
EXAMPLES, LABELS = "X", "y"
ADVICE = "name a column of texts with --text, and one that is not learned from with --show or --id"


@dataclass(frozen=True)
class Wanted:
    """What each column is for. With ``text`` the examples are those texts; without, they are ``numbers``.

    ``numbers`` are None for every column that is nothing else. ``by_model``: a model asks for them, and no option.
    """

    text: tuple[str, ...] = ()
    numbers: tuple[str, ...] | None = None
    label: str | None = None
    id: str | None = None
    show: tuple[str, ...] = ()
    by_model: bool = False


@dataclass(frozen=True, eq=False)
class Data:
    """The examples ``x``: numbers (n, d), or n texts; ``columns`` are where they are from (none in an NPZ).

    ``labels`` (n,) are texts; None unless they were asked for. ``digest`` (sha256, hex) stands for the examples.
    """

    x: NDArray[Any]
    columns: tuple[str, ...]
    labels: NDArray[np.str_] | None
    digest: str
    _ids: tuple[str, ...] | None = field(default=None, repr=False)
    _show: dict[str, tuple[str, ...]] = field(default_factory=dict, repr=False)

    @property
    def n_items(self) -> int:
        return len(self.x)

    @property
    def is_text(self) -> bool:
        return self.x.ndim == 1

    def take(self, rows: NDArray[np.int64]) -> Data:
        """Some of the examples, in this order."""
        x, kept = self.x[rows], rows.tolist()
        return Data(
            x,
            self.columns,
            None if self.labels is None else self.labels[rows],
            _digest(x),
            tuple(map(self.item_id, kept)),
            {name: tuple(column[row] for row in kept) for name, column in self._show.items()},
        )

    def item_id(self, row: int) -> str:
        """The example's own name, or its row, counted from 1, if it has none."""
        return str(row + 1) if self._ids is None else self._ids[row]

    def shown(self, row: int) -> dict[str, str]:
        """What a rater is shown of an example; nothing where it is all numbers and no column was named."""
        return {name: column[row] for name, column in self._show.items()}


def read_data(path: str | Path, wanted: Wanted) -> Data:
    """Read examples and check all of them.

    CSV (UTF-8, commas, column names first) and Parquet have one row for each example, JSONL one object. An NPZ holds
    ``X``, numbers with one row for each example (images are laid out flat) or texts, and may hold the labels ``y``.
    Raises InvalidInputError, which names row and column where there is one.
    """
    file = Path(path)
    if not file.is_file():
        raise InvalidInputError(f"{file} is not a file" if file.exists() else f"there is no file {file}")
    if file.stat().st_size == 0:
        raise InvalidInputError(f"{file} is empty; it must hold examples, one a row")
    suffix = file.suffix.lower()
    try:
        if suffix == ".npz":
            return _from_npz(file, wanted)
        if suffix == ".csv":
            return _Columns(*_from_csv(file), file.name, lambda row: f"line {line_of(file, row + 1)}").data(wanted)
        if suffix == ".jsonl":
            return _Columns(*read_columns(file), file.name, lambda row: f"line {row + 1}").data(wanted)
        if suffix == ".parquet":
            return _Columns(*_from_parquet(file), file.name, lambda row: f"row {row + 1}").data(wanted)
    except OSError as error:
        raise InvalidInputError(f"{file} cannot be read: {error}") from error
    raise InvalidInputError(f"{file} ends in {suffix or 'nothing'!r}; data end in .csv, .parquet, .npz or .jsonl")


def data_of(examples: Any) -> Data:
    """Examples that are at hand: numbers (n, ...), or n texts."""
    x = np.asarray(examples)
    x = _examples("the examples", x)
    return Data(x, (), None, _digest(x), None, {"text": tuple(x.tolist())} if x.ndim == 1 else {})


def _from_csv(path: Path) -> tuple[tuple[str, ...], list[Any]]:
    names, n_header_lines = read_header(path)
    invalid: list[Any] = []
    # Numbered, since two columns of one name must be told apart before they are refused.
    places = [str(place) for place in range(len(names))]
    try:
        table = arrow_csv.read_csv(
            path,
            arrow_csv.ReadOptions(use_threads=False, block_size=BLOCK, skip_rows=n_header_lines, column_names=places),
            arrow_csv.ParseOptions(newlines_in_values=True, invalid_row_handler=keep_in(invalid)),
            arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(places, pa.binary()), null_values=[""], strings_can_be_null=True
            ),
        )
    except pa.ArrowInvalid as error:
        if "Empty CSV" in str(error):
            return names, [pa.nulls(0, pa.binary()) for _ in names]
        raise InvalidInputError(in_words(path, error, invalid, n_header_lines)) from None
    return names, [column.combine_chunks() for column in table.columns]


def _from_parquet(path: Path) -> tuple[tuple[str, ...], list[Any]]:
    try:
        with arrow_parquet.ParquetFile(path) as file:
            table = file.read(use_threads=False)
    except pa.ArrowInvalid as error:
        raise InvalidInputError(f"{path.name} cannot be read as Parquet: {str(error).splitlines()[0]}") from None
    columns = [column.combine_chunks() for column in table.columns]
    decoded = [column.dictionary_decode() if kinds.is_dictionary(column.type) else column for column in columns]
    return tuple(table.column_names), decoded


class _Columns:
    """Columns of a file, from which the examples are made; ``place`` says in words where a row is."""

    def __init__(self, names: Sequence[str], columns: list[Any], where: str, place: Callable[[int], str]) -> None:
        self._where, self._place = where, place
        for number, name in enumerate(names, start=1):
            if not name.strip():
                raise InvalidInputError(f"{where}: column {number} has no name; name it, or leave it out")
        twice = [name for name, count in Counter(names).items() if count > 1]
        if twice:
            raise InvalidInputError(f"{where}: the column {twice[0]!r} is there more than once; rename one")
        self._columns = dict(zip(names, columns, strict=True))
        if not columns or len(columns[0]) == 0:
            raise InvalidInputError(f"{where}: there are column names and no rows; there must be one for each example")

    def data(self, wanted: Wanted) -> Data:
        self._check(wanted)
        others = {wanted.label, wanted.id, *wanted.show}
        columns = wanted.text or wanted.numbers or tuple(name for name in self._columns if name not in others)
        if not columns:
            raise InvalidInputError(f"{self._where}: no column is left to learn from besides the label, id and shown")
        shown = {name: self._texts(name) for name in dict.fromkeys((*wanted.show, *wanted.text))}
        if wanted.text:
            rows = zip(*(shown[name] for name in wanted.text), strict=True)
            x: NDArray[Any] = np.array(["\n".join(row) for row in rows], dtype=object)
        else:
            advice = "the model learned from numbers there" if wanted.by_model else ADVICE
            x = np.column_stack([self._numbers(name, advice) for name in columns])
        labels = None if wanted.label is None else self._labels(wanted.label)
        ids = None if wanted.id is None else self._texts(wanted.id)
        return Data(x, columns, labels, _digest(x), ids, shown)

    def _check(self, wanted: Wanted) -> None:
        learned = "the model learned from it" if wanted.by_model else "--text"
        roles = [("--label", wanted.label), ("--id", wanted.id), *(("--show", name) for name in wanted.show)]
        roles += [(learned, name) for name in wanted.text or wanted.numbers or ()]
        for option, name in roles:
            if name is not None and name not in self._columns:
                raise InvalidInputError(
                    f"{self._where}: there is no column {name!r} ({option}); there are {listed(tuple(self._columns))}"
                )
        if wanted.label is not None and wanted.label in (wanted.id, *wanted.show, *wanted.text):
            raise InvalidInputError(f"{self._where}: the column {wanted.label!r} is the label, and nothing else too")

    def _numbers(self, name: str, advice: str) -> NDArray[np.float64]:
        column = self._columns[name]
        if kinds.is_binary(column.type) or kinds.is_large_binary(column.type):
            column = self._decoded(name)
        if kinds.is_string(column.type) or kinds.is_large_string(column.type):
            column = compute.utf8_trim_whitespace(column)
        try:
            # Unsafe only in that large whole numbers are rounded, as all are that are learned from.
            numbers = np.asarray(column.cast(pa.float64(), safe=False).fill_null(np.nan))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            self._fail_not_number(name, column, advice)
        if not np.isfinite(numbers).all():
            row = int(np.argmin(np.isfinite(numbers)))
            value = column[row].as_py()
            said = "the number is missing" if value is None else f"{value!r} is no finite number"
            self._fail(name, row, f"{said}; fill it in, or leave the row out")
        return numbers

    def _fail_not_number(self, name: str, column: Any, advice: str) -> NoReturn:
        for row, value in enumerate(column.to_pylist()):
            if isinstance(value, str):
                try:
                    pa.scalar(value).cast(pa.float64())
                except pa.ArrowInvalid:
                    self._fail(name, row, f"{value[:30]!r} is no number; {advice}")
        raise InvalidInputError(
            f"{self._where}, column {name!r}: values of type {column.type} are no numbers; {advice}"
        )

    def _texts(self, name: str) -> tuple[str, ...]:
        """The texts of a column; an empty cell is an empty text."""
        return tuple(text or "" for text in self._decoded(name).to_pylist())

    def _decoded(self, name: str) -> Any:
        column = self._columns[name]
        try:
            return column.cast(pa.string())
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            for row, value in enumerate(column.to_pylist()):
                try:
                    value.decode() if isinstance(value, bytes) else None
                except UnicodeDecodeError:
                    self._fail(name, row, f"{value[:30]!r} is not UTF-8; save the file as UTF-8")
            raise InvalidInputError(
                f"{self._where}, column {name!r}: values of type {column.type} cannot be taken as text"
            ) from None

    def _labels(self, name: str) -> NDArray[np.str_]:
        labels: list[str] = []
        for row, value in enumerate(self._columns[name].to_pylist()):
            try:
                text = as_text(value)
            except ValueError as error:
                self._fail(name, row, str(error))
            if text is None:
                self._fail(name, row, "the label is missing; every row needs one")
            labels.append(text)
        return np.array(labels, dtype=np.str_)

    def _fail(self, name: str, row: int, message: str) -> NoReturn:
        raise InvalidInputError(f"{self._where}, {self._place(row)}, column {name!r}: {message}")


def _from_npz(path: Path, wanted: Wanted) -> Data:
    if wanted.text or wanted.id or wanted.show:
        raise InvalidInputError(f"{path.name}: an NPZ has no columns; --text, --id and --show need CSV or Parquet")
    if wanted.label not in (None, LABELS):
        raise InvalidInputError(f"{path.name}: the labels of an NPZ are its array {LABELS!r}; give --label {LABELS}")
    arrays = load_arrays(path, [EXAMPLES, *([LABELS] if wanted.label else [])])
    for name in (EXAMPLES, *([LABELS] if wanted.label else [])):
        if name not in arrays:
            raise InvalidInputError(f"{path.name} has no array {name!r}; X are the examples and y their labels")
    x = _examples(f"{path.name}: X", arrays[EXAMPLES])
    labels = _npz_labels(path, arrays[LABELS], len(x)) if wanted.label else None
    shown = {"text": tuple(x.tolist())} if x.ndim == 1 else {}
    return Data(x, (), labels, _digest(x), None, shown)


def _examples(where: str, x: NDArray[Any]) -> NDArray[Any]:
    if x.dtype.kind == "U" and x.ndim == 1 and x.size:
        return x.astype(object)
    if x.dtype.kind not in "iufb" or x.ndim < 2 or x.size == 0:
        raise InvalidInputError(
            f"{where} has shape {x.shape} and type {x.dtype}; it must be numbers, one row for each example, or "
            "one text for each"
        )
    flat: NDArray[np.float64] = x.reshape(len(x), -1).astype(np.float64)
    if not np.isfinite(flat).all():
        row, column = (int(each) for each in np.argwhere(~np.isfinite(flat))[0])
        raise InvalidInputError(f"{where} has {flat[row, column]} in row {row}, place {column}; fill it in")
    return flat


def _npz_labels(path: Path, y: NDArray[Any], n_items: int) -> NDArray[np.str_]:
    if y.shape != (n_items,) or y.dtype.kind not in "iuU":
        raise InvalidInputError(
            f"{path.name}: y has shape {y.shape} and type {y.dtype}; it must be a text or whole number for each of "
            f"the {n_items} examples"
        )
    labels = y.astype(np.str_)
    if (labels == "").any():
        raise InvalidInputError(f"{path.name}: y[{int(np.argmax(labels == ''))}] is empty; every row needs a label")
    return labels


def _digest(x: NDArray[Any]) -> str:
    digest = hashlib.sha256(repr(x.shape).encode())
    if x.ndim == 1:
        for text in x.tolist():
            digest.update(f"{len(text)} {text}".encode())
    else:
        digest.update(np.ascontiguousarray(x, dtype="<f8").tobytes())
    return digest.hexdigest()
