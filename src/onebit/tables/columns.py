"""Named columns of a file, and what is made of them: labels, texts, or numbers to learn from.

A format gives ``Columns``, whatever they are for. ``Uses`` says what each is read as, and ``read_columns`` reads them:
tables of predictions and examples to train on come from here, so a cell means the same in both.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from mmap import mmap
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.compute as compute
import pyarrow.types as kinds
from numpy.typing import NDArray

from onebit.errors import InvalidInputError
from onebit.tables.formats import Progress
from onebit.tables.labels import Labels, as_text
from onebit.tables.limits import check_size
from onebit.tables.record import ABSTAINS, is_open, narrow

#: Types of texts, and of numbers, that can be labels.
TEXTS = kinds.is_string, kinds.is_large_string, kinds.is_string_view, kinds.is_binary
NUMBERS = kinds.is_integer, kinds.is_boolean, kinds.is_floating, kinds.is_null
#: Characters of a name in a message.
LONG = 60


def is_no_label(kind: Any) -> bool:
    """Whether values of an Arrow type are neither texts nor numbers, as dates are; categories are their values."""
    kind = kind.value_type if kinds.is_dictionary(kind) else kind
    return not any(test(kind) for test in TEXTS + NUMBERS)


@dataclass(frozen=True)
class Columns:
    """The named columns of a file; ``where`` is its name in messages.

    ``batches(labels, progress)`` reads the file from its start and gives every ``pyarrow.RecordBatch``. It is told
    which columns hold labels, since few of their values are different. Empty cells are null, and texts may be bytes.
    ``place`` says in words where a row, counted from 0, is in the file; ``notes`` what the file says of itself.
    """

    where: str
    names: tuple[str, ...]
    batches: Callable[[Collection[str], Progress], Iterator[Any]]
    place: Callable[[int], str]
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for number, name in enumerate(self.names, start=1):
            # JSON can hold half of a pair of surrogates, which no answer of a server can.
            if not name.isascii() and any("\ud800" <= letter <= "\udfff" for letter in name):
                raise InvalidInputError(f"{self.where}: the name of column {number}, {name!r}, is no text in UTF-8")

    def check(self, asked: Iterable[tuple[str, str | None]]) -> None:
        """InvalidInputError unless each column has its own name, and those asked for by an option are there."""
        check_size(self.where, 0, len(self.names))
        if blank := [number for number, name in enumerate(self.names, start=1) if not name.strip()]:
            advice = "name it, or leave it out (pandas: to_csv(index=False))"
            raise InvalidInputError(f"{self.where}: column {blank[0]} has no name; {advice}")
        for name, count in Counter(self.names).most_common(1):
            if count > 1:
                raise InvalidInputError(f"{self.where}: the column {name!r} is there {count} times; rename one")
        for option, wanted in asked:
            if wanted is not None and wanted not in self.names:
                there = f"there are {listed(self.names)}"
                raise InvalidInputError(f"{self.where}: there is no column {wanted!r} ({option}); {there}")


def listed(names: Sequence[str], most: int = 8) -> str:
    """Names in a message, the first of them if there are many, and their beginnings if they are long."""
    shown = ", ".join(repr(name if len(name) <= LONG else f"{name[:LONG]}...") for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


@dataclass(frozen=True)
class Uses:
    """What columns are read as; a column that is not named here is not looked at.

    ``needed`` columns have a value in every cell; each is given the word for its values. ``unique`` is one of them, and
    has no value twice. ``advice`` is added where one of the ``numbers`` is something else; with ``may_miss`` one that
    is missing is NaN. ``free``: the labels are texts that models wrote. ``values`` are read as they are: lists, or
    anything else.
    """

    labels: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    needed: Mapping[str, str] = field(default_factory=dict)
    unique: str | None = None
    advice: str = ""
    free: bool = False
    may_miss: bool = False


@dataclass(frozen=True, eq=False)
class Values:
    """What n rows hold, columns in the order of ``Uses``.

    ``codes`` (columns, n) are numbers of ``labels``, -1 where there is none; ``texts`` Arrow arrays by column;
    ``numbers`` (n, columns); ``values`` are Python's, by column.
    """

    codes: NDArray[np.signedinteger[Any]]
    labels: tuple[str, ...]
    texts: dict[str, Any]
    numbers: NDArray[np.float64]
    values: dict[str, list[Any]]


def read_columns(
    columns: Columns, uses: Uses, labels: Sequence[str] | None = None, progress: Progress = lambda done, whole: None
) -> Values:
    """Read a file whose columns were checked; labels are the values that occur, unless they are given."""
    reader = _Reader(columns, uses, labels)
    for batch in columns.batches(frozenset(uses.labels), progress):
        reader.add(batch)
    return reader.values()


class _Reader:
    """Takes batches in, and keeps labels in as few bytes as their number needs."""

    def __init__(self, columns: Columns, uses: Uses, labels: Sequence[str] | None) -> None:
        self._columns, self._uses, self._labels = columns, uses, Labels(labels, uses.free)
        #: The numbers of values seen before, for each type of value.
        self._known: dict[Any, dict[Any, int]] = {}
        self._codes: list[NDArray[np.signedinteger[Any]]] = []
        self._texts: dict[str, list[Any]] = {name: [] for name in uses.texts}
        self._numbers: list[NDArray[np.float64]] = []
        self._values: dict[str, list[Any]] = {name: [] for name in uses.values}
        #: Where the first label stands that is probably none, and why.
        self._doubt: tuple[str, int, str] | None = None
        self._n_rows = 0

    def add(self, batch: Any) -> None:
        check_size(self._columns.where, self._n_rows + batch.num_rows, len(self._columns.names))
        codes = [self._code(name, batch.column(name)) for name in self._uses.labels]
        self._codes.append(_stacked(codes, batch.num_rows, narrow(len(self._labels.number))))
        for name, texts in self._texts.items():
            texts.append(self._text(name, batch.column(name)))
        for name, values in self._values.items():
            column = batch.column(name)
            is_bytes = kinds.is_binary(column.type)
            values += self._text(name, column).to_pylist() if is_bytes else column.to_pylist()
        numbers = np.empty((batch.num_rows, len(self._uses.numbers)))
        for place, name in enumerate(self._uses.numbers):
            numbers[:, place] = self._number(name, batch.column(name))
        self._numbers.append(numbers)
        self._n_rows += batch.num_rows

    def values(self) -> Values:
        """All that was taken in; the reader is empty afterwards."""
        if self._n_rows == 0:
            where = self._columns.where
            raise InvalidInputError(f"{where}: there are column names and no rows; there must be one for each item")
        self._check_doubt()
        labels, place = self._labels.in_order()
        codes = np.empty((len(self._uses.labels), self._n_rows), dtype=narrow(len(labels)))
        first = 0
        # Taken out one by one: both copies of the whole at once would double the memory.
        self._codes.reverse()
        while self._codes:
            part = self._codes.pop()
            for kept, row in zip(codes, part, strict=True):
                kept[first : first + row.size] = place[row]
            first += part.shape[1]
        texts = {name: pa.chunked_array(parts, pa.string()) for name, parts in self._texts.items()}
        if self._uses.unique is not None:
            self._check_unique(self._uses.unique, texts[self._uses.unique])
        return Values(codes, labels, texts, np.concatenate(self._numbers), self._values)

    def _check_doubt(self) -> None:
        """Refuse a label that is probably none, unless outputs are free texts."""
        if self._doubt is None or is_open(len(self._labels.number), self._n_rows):
            return
        name, row, why = self._doubt
        raise InvalidInputError(f"{self._columns.where}, {self._columns.place(row)}, column {name!r}: {why}")

    def _code(self, name: str, column: Any) -> NDArray[np.int32]:
        """The numbers of the labels in a column; shape (rows,)."""
        is_encoded = kinds.is_dictionary(column.type)
        kind = column.type.value_type if is_encoded else column.type
        if is_no_label(kind):
            advice = "labels are texts or whole numbers. Name the column with --show if it is not a model's"
            if kinds.is_list(kind):
                advice = "labels are texts or whole numbers. Several right answers are for --protocol panel"
            self._refuse(name, f"values of type {kind} are no labels; {advice}")
        encoded = column if is_encoded else column.dictionary_encode()
        values = encoded.dictionary.to_pylist()
        # The place after the last value is that of a missing one.
        index = np.asarray(encoded.indices.cast(pa.int32()).fill_null(len(values)))
        # By type, since true, 1 and 1.0 are equal keys and different labels.
        known = self._known.setdefault(kind, {})
        if not known.keys() >= set(values):
            self._add_labels(name, values, index, known)
        number = np.array([*(known.get(value, ABSTAINS) for value in values), ABSTAINS], dtype=np.int32)
        codes: NDArray[np.int32] = number[index]
        self._check_needed(name, codes < 0)
        return codes

    def _add_labels(self, name: str, values: list[Any], index: NDArray[np.int32], known: dict[Any, int]) -> None:
        """Number those of ``values`` that are new and that ``index`` points to."""
        for used in np.unique(index[index < len(values)]).tolist():
            value = values[used]
            if value not in known:
                try:
                    text = as_text(value)
                    known[value] = ABSTAINS if text is None else self._number_of(name, text, index, used)
                except ValueError as error:
                    self._fail(name, int(np.argmax(index == used)), str(error))

    def _number_of(self, name: str, text: str, index: NDArray[np.int32], used: int) -> int:
        """The number of a label; the first that is doubtful is remembered."""
        if text not in self._labels.number and self._doubt is None and (why := self._labels.doubt(text)) is not None:
            self._doubt = name, self._n_rows + int(np.argmax(index == used)), why
        return self._labels.add(text)

    def _text(self, name: str, column: Any) -> Any:
        try:
            text = column.cast(pa.string())
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            for row, value in enumerate(column.to_pylist()):
                try:
                    as_text(value if isinstance(value, bytes) else None)
                except ValueError as error:
                    self._fail(name, row, str(error))
            self._refuse(name, f"values of type {column.type} cannot be shown as text")
        self._check_needed(name, np.asarray(compute.equal(text.fill_null(""), "")))
        return text

    def _number(self, name: str, column: Any) -> NDArray[np.float64]:
        if kinds.is_dictionary(column.type):
            column = column.dictionary_decode()
        if kinds.is_binary(column.type) or kinds.is_large_binary(column.type):
            column = self._text(name, column)
        if kinds.is_string(column.type) or kinds.is_large_string(column.type):
            column = compute.utf8_trim_whitespace(column)
        try:
            # Unsafe only in that large whole numbers are rounded, as all are that are learned from.
            numbers = np.asarray(column.cast(pa.float64(), safe=False).fill_null(np.nan))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            for row, value in enumerate(column.to_pylist()):
                if isinstance(value, str) and not _is_number(value):
                    self._fail(name, row, f"{value[:30]!r} is no number; {self._uses.advice}")
            self._refuse(name, f"values of type {column.type} are no numbers; {self._uses.advice}")
        is_good = ~np.isinf(numbers) if self._uses.may_miss else np.isfinite(numbers)
        if not is_good.all():
            row = int(np.argmin(is_good))
            value = column[row].as_py()
            said = "the number is missing" if value is None else f"{value!r} is no finite number"
            self._fail(name, row, f"{said}; fill it in, or leave the row out")
        return numbers

    def _check_needed(self, name: str, missing: NDArray[np.bool_]) -> None:
        if name in self._uses.needed and missing.any():
            said = f"the {self._uses.needed[name]} is missing; every item needs one: fill it in, or leave the row out"
            self._fail(name, int(np.argmax(missing)), said)

    def _check_unique(self, name: str, texts: Any) -> None:
        first = np.unique(np.asarray(compute.rank(texts, tiebreaker="dense")), return_index=True)[1]
        if first.size < len(texts):
            row = int(np.setdiff1d(np.arange(len(texts)), first)[0])
            said = (
                f"the {self._uses.needed[name]} {texts[row].as_py()!r} is there before; every item needs its own. If "
                "there is one row for each item and model, give --long"
            )
            self._fail(name, row - self._n_rows, said)

    def _fail(self, name: str, row: int, message: str) -> NoReturn:
        """Refuse a cell; rows are counted from those that were taken in."""
        place = self._columns.place(self._n_rows + row)
        raise InvalidInputError(f"{self._columns.where}, {place}, column {name!r}: {message}")

    def _refuse(self, name: str, message: str) -> NoReturn:
        """Refuse a column as a whole."""
        raise InvalidInputError(f"{self._columns.where}, column {name!r}: {message}")


def _is_number(text: str) -> bool:
    try:
        pa.scalar(text).cast(pa.float64())
    except pa.ArrowInvalid:
        return False
    return True


def _stacked(
    rows: list[NDArray[np.int32]], n: int, kind: type[np.signedinteger[Any]]
) -> NDArray[np.signedinteger[Any]]:
    """The rows, n long, as one array of type ``kind``; in pages of its own, so that its memory is given back."""
    pages = mmap(-1, max(1, len(rows) * n * np.dtype(kind).itemsize))
    stacked: NDArray[np.signedinteger[Any]] = np.ndarray((len(rows), n), kind, pages)
    for kept, row in zip(stacked, rows, strict=True):
        kept[:] = row
    return stacked
