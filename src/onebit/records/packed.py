"""Records of epochs in little memory: where models are many, their numbers in tuples took more than the table."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeVar, overload

from onebit.records.epochs import Closing, EpochPlan, EpochRecord

Record = TypeVar("Record", bound=EpochRecord | EpochPlan | Closing)

#: The fields that grow with the models, and how they are kept; "Id" are pairs of a whole number and another.
PACKED: dict[type, dict[str, str]] = {
    EpochRecord: {"survivors": "I", "mixture": "Id", "trust": "d", "merit": "d"},
    Closing: {"survivors": "I"},
}


class PackedRecords(Sequence[Record]):
    """Records one after the other, kept in arrays and made anew when they are read; equal to a list of the same.

    >>> closings = PackedRecords([Closing(0, 64, 20, 1, (0, 1, 2), 1.0)])
    >>> closings[-1].survivors
    (0, 1, 2)
    """

    def __init__(self, records: Iterable[Record] = ()) -> None:
        #: Each record without what is packed, and that.
        self._kept: list[tuple[Record, dict[str, Any]]] = []
        for record in records:
            self.append(record)

    def append(self, record: Record) -> None:
        packed = {name: _packed(getattr(record, name), how) for name, how in PACKED.get(type(record), {}).items()}
        bare: dict[str, Any] = dict.fromkeys(packed, ())
        self._kept.append((_with(record, bare), packed))

    def copy(self) -> PackedRecords[Record]:
        """The records so far, whatever is added later."""
        same: PackedRecords[Record] = PackedRecords()
        same._kept = self._kept.copy()
        return same

    def __len__(self) -> int:
        return len(self._kept)

    @overload
    def __getitem__(self, place: int) -> Record: ...

    @overload
    def __getitem__(self, place: slice) -> list[Record]: ...

    def __getitem__(self, place: int | slice) -> Record | list[Record]:
        if isinstance(place, slice):
            return [self[each] for each in range(*place.indices(len(self)))]
        record, packed = self._kept[place]
        return _with(record, {name: _unpacked(kept) for name, kept in packed.items()})

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(mine == its for mine, its in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]


def _with(record: Record, fields: dict[str, Any]) -> Record:
    changed: Any = replace
    same_kind: Record = changed(record, **fields)
    return same_kind


def _packed(values: tuple[Any, ...], how: str) -> array[Any] | tuple[Any, ...]:
    try:
        if len(how) == 1:
            return array(how, values)
        return tuple(map(array, how, zip(*values, strict=True)))
    except (OverflowError, TypeError):
        # No model has such a number: a log that says so is refused further on, for what it says.
        return values


def _unpacked(kept: array[Any] | tuple[Any, ...]) -> tuple[Any, ...]:
    if isinstance(kept, array):
        return tuple(kept)
    if all(isinstance(each, array) for each in kept):
        return tuple(zip(*kept, strict=True))
    return kept
