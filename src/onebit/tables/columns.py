"""From columns of values to predictions: which column is what, and the numbers of labels."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from mmap import mmap
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as compute
import pyarrow.types as kinds
from numpy.typing import NDArray

from onebit.errors import InvalidInputError
from onebit.tables.record import ABSTAINS, ModelTable, make_table, narrow

#: Different labels at which a table is given up: a column of ids or texts would fill the memory with them.
MOST_LABELS = 1_000_000


@dataclass(frozen=True)
class Roles:
    """What each column is for."""

    models: tuple[str, ...]
    id: str | None = None
    truth: str | None = None
    show: tuple[str, ...] = ()


def assign_roles(names: Sequence[str], id: str | None, truth: str | None, show: Sequence[str], where: str) -> Roles:
    """The roles of the columns ``names``, which must be told apart; at least two must be models."""
    for place, name in enumerate(names, start=1):
        if not name.strip():
            raise InvalidInputError(
                f"{where}: column {place} has no name; name it, or leave it out (pandas: to_csv(index=False))"
            )
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise InvalidInputError(f"{where}: the column {twice[0]!r} is there {names.count(twice[0])} times; rename one")
    for option, wanted in (("--id", id), ("--truth", truth), *(("--show", each) for each in show)):
        if wanted is not None and wanted not in names:
            raise InvalidInputError(f"{where}: there is no column {wanted!r} ({option}); there are {listed(names)}")
    if truth is not None and truth in (id, *show):
        raise InvalidInputError(
            f"{where}: the column {truth!r} is the truth, and --id or --show would give it to the raters"
        )
    others = {id, truth, *show}
    models = tuple(name for name in names if name not in others)
    if len(models) < 2:
        raise InvalidInputError(_too_few(models, names, where))
    return Roles(models, id, truth, tuple(dict.fromkeys(show)))


def _too_few(models: tuple[str, ...], names: Sequence[str], where: str) -> str:
    found = "no column is" if not models else f"only the column {models[0]!r} is"
    message = f"{where}: {found} a model's; every column other than --id, --truth and --show is one, and two are needed"
    for sign, words in ((";", "semicolons"), ("\t", "tabs"), ("|", "bars")):
        if len(names) == 1 and sign in names[0]:
            message += f". The columns seem to be separated by {words}; separate them by commas"
    return message


def listed(names: Sequence[str], most: int = 8) -> str:
    """Names in a message, the first of them if there are many."""
    shown = ", ".join(repr(name) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


class Labels:
    """Numbers labels as they are seen, or those given and no others."""

    def __init__(self, given: Sequence[str] | None) -> None:
        self.are_given = given is not None
        self.number: dict[str, int] = {}
        for text in given or ():
            if not isinstance(text, str) or not text or text in self.number:
                raise InvalidInputError(f"the label {text!r} was given; labels are texts, not empty, and all different")
            self.number[text] = len(self.number)

    def add(self, text: str) -> int:
        """The number of a label; a ValueError says why it cannot be one."""
        number = self.number.get(text)
        if number is None:
            if "\n" in text or "\r" in text:
                raise ValueError(
                    f"{text[:20]!r}... goes over several lines, as no label does; is a quote never closed?"
                )
            if self.are_given:
                raise ValueError(f"{text!r} is not one of the {len(self.number)} labels given")
            if len(self.number) == MOST_LABELS:
                raise ValueError(
                    f"{text!r} would be label {MOST_LABELS + 1:,}; is the column no model's, to be named with "
                    "--id or --show?"
                )
            number = self.number[text] = len(self.number)
        return number

    def in_order(self) -> tuple[tuple[str, ...], NDArray[np.int32]]:
        """The labels, numbers in their order before texts in theirs; and for each number so far, and -1, its place."""
        texts = tuple(self.number)
        if not self.are_given:
            texts = tuple(sorted(texts, key=lambda text: (0, int(text), text) if text.isdecimal() else (1, 0, text)))
        place = np.full(len(texts) + 1, ABSTAINS, dtype=np.int32)
        place[[self.number[text] for text in texts]] = np.arange(len(texts))
        return texts, place


class Collector:
    """Takes record batches in and gives the table; keeps predictions in as few bytes as their labels need.

    ``place`` says in words where a row of the table, counted from 0, is in the file.
    """

    def __init__(self, roles: Roles, labels: Sequence[str] | None, where: str, place: Callable[[int], str]) -> None:
        self._roles, self._where, self._place = roles, where, place
        self._labels = Labels(labels)
        #: The numbers of values seen before, for each type of value.
        self._known: dict[Any, dict[Any, int]] = {}
        self._predictions: list[NDArray[np.signedinteger[Any]]] = []
        self._truth: list[NDArray[np.int32]] = []
        self._texts: dict[str, list[Any]] = {name: [] for name in ((roles.id,) if roles.id else ()) + roles.show}
        self._n_items = 0

    def add(self, batch: Any) -> None:
        """Take in a ``pyarrow.RecordBatch`` whose columns are named as the roles are."""
        rows = [self._numbers(name, batch.column(name)) for name in self._roles.models]
        truth = None if self._roles.truth is None else self._numbers(self._roles.truth, batch.column(self._roles.truth))
        if truth is not None and (truth < 0).any():
            self._fail(self._roles.truth, int(np.argmax(truth < 0)), "the truth is missing; every item needs one")
        for name, texts in self._texts.items():
            texts.append(self._text(name, batch.column(name)))
        if truth is not None:
            self._truth.append(truth)
        self._predictions.append(_stacked(rows, narrow(len(self._labels.number))))
        self._n_items += batch.num_rows

    def table(self) -> ModelTable:
        """The table of all that was taken in; the collector is empty afterwards."""
        if self._n_items == 0:
            raise InvalidInputError(
                f"{self._where}: there are column names and no rows; there must be one for each item"
            )
        labels, place = self._labels.in_order()
        predictions = np.empty((len(self._roles.models), self._n_items), dtype=narrow(len(labels)))
        first = 0
        # Taken out one by one: both copies of the whole at once would double the memory.
        self._predictions.reverse()
        while self._predictions:
            part = self._predictions.pop()
            for h, row in enumerate(part):
                predictions[h, first : first + row.size] = place[row]
            first += part.shape[1]
        truth = place[np.concatenate(self._truth)].astype(np.int64) if self._roles.truth is not None else None
        texts = {name: pa.chunked_array(parts, pa.string()) for name, parts in self._texts.items()}
        ids = None if self._roles.id is None else texts[self._roles.id]
        if ids is not None:
            self._check_ids(ids)
        show = {name: texts[name] for name in self._roles.show}
        return make_table(predictions, self._roles.models, labels, truth, self._where, ids, show)

    def _numbers(self, name: str, column: Any) -> NDArray[np.int32]:
        """The numbers of the labels in a column; shape (rows,)."""
        if kinds.is_null(column.type):
            return np.full(len(column), ABSTAINS, dtype=np.int32)
        is_encoded = kinds.is_dictionary(column.type)
        kind = column.type.value_type if is_encoded else column.type
        if not _can_be_label(kind):
            raise InvalidInputError(
                f"{self._where}, column {name!r}: values of type {kind} are no labels; labels "
                "are texts or whole numbers. Name the column with --show if it is not a model's"
            )
        encoded = column if is_encoded else column.dictionary_encode()
        values = encoded.dictionary.to_pylist()
        # The place after the last value is that of a missing one.
        index = np.asarray(encoded.indices.cast(pa.int32()).fill_null(len(values)))
        # By type, since true, 1 and 1.0 are equal keys and different labels.
        known = self._known.setdefault(kind, {})
        if not known.keys() >= set(values):
            self._add_labels(name, values, index, known)
        number = np.array([*(known.get(value, ABSTAINS) for value in values), ABSTAINS], dtype=np.int32)
        numbers: NDArray[np.int32] = number[index]
        return numbers

    def _add_labels(self, name: str, values: list[Any], index: NDArray[np.int32], known: dict[Any, int]) -> None:
        """Number those of ``values`` that are new and that ``index`` points to."""
        for used in np.unique(index[index < len(values)]).tolist():
            value = values[used]
            if value not in known:
                try:
                    text = as_text(value)
                    known[value] = ABSTAINS if text is None else self._labels.add(text)
                except ValueError as error:
                    self._fail(name, int(np.argmax(index == used)), str(error))

    def _text(self, name: str, column: Any) -> Any:
        try:
            text = column.cast(pa.string())
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            self._find_not_text(name, column)
            raise InvalidInputError(
                f"{self._where}, column {name!r}: values of type {column.type} cannot be shown as text"
            ) from None
        if name == self._roles.id and (empty := np.asarray(compute.equal(text.fill_null(""), ""))).any():
            self._fail(name, int(np.argmax(empty)), "the id is missing; every item needs one")
        return text

    def _find_not_text(self, name: str, column: Any) -> None:
        for row, value in enumerate(column.to_pylist()):
            try:
                if isinstance(value, bytes):
                    as_text(value)
            except ValueError as error:
                self._fail(name, row, str(error))

    def _check_ids(self, ids: Any) -> None:
        index = np.asarray(compute.rank(ids, tiebreaker="dense"))
        _, first = np.unique(index, return_index=True)
        if first.size < index.size:
            is_first = np.zeros(index.size, dtype=np.bool_)
            is_first[first] = True
            row = int(np.argmin(is_first))
            self._n_items = 0
            self._fail(self._roles.id, row, f"the id {ids[row].as_py()!r} is there before; every item needs its own")

    def _fail(self, name: str | None, row: int, message: str) -> None:
        raise InvalidInputError(f"{self._where}, {self._place(self._n_items + row)}, column {name!r}: {message}")


def _stacked(rows: list[NDArray[np.int32]], kind: type[np.signedinteger[Any]]) -> NDArray[np.signedinteger[Any]]:
    """The rows as one array of type ``kind``; in pages of its own, so that its memory is given back when it goes."""
    shape = len(rows), rows[0].size
    pages = mmap(-1, max(1, math.prod(shape) * np.dtype(kind).itemsize))
    stacked: NDArray[np.signedinteger[Any]] = np.ndarray(shape, kind, pages)
    for kept, row in zip(stacked, rows, strict=True):
        kept[:] = row
    return stacked


def _can_be_label(kind: Any) -> bool:
    tests = (
        kinds.is_string,
        kinds.is_large_string,
        kinds.is_string_view,
        kinds.is_binary,
        kinds.is_integer,
        kinds.is_boolean,
        kinds.is_floating,
        kinds.is_null,
    )
    return any(test(kind) for test in tests)


def as_text(value: object) -> str | None:
    """The text of a label, None for none; a ValueError says why it cannot be one.

    A column of whole numbers with gaps is kept as floating point by some programs, with NaN in the gaps.
    """
    if isinstance(value, bytes):
        try:
            value = value.decode()
        except UnicodeDecodeError:
            raise ValueError(f"{value!r} is not UTF-8; save the file as UTF-8") from None
    if isinstance(value, float):
        if math.isnan(value):
            return None
        if not value.is_integer():
            raise ValueError(f"{value!r} is no label; labels are texts or whole numbers")
        value = int(value)
    if isinstance(value, bool):
        value = str(value).lower()
    return None if value is None or value == "" else str(value)
