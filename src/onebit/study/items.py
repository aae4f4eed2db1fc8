"""A table of predictions and its items, cut into blocks that a store keeps."""

from __future__ import annotations

import json
import threading
import zlib
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from onebit.errors import InvalidInputError
from onebit.log.events import TableFacts
from onebit.store.blocks import ITEMS, JUDGE, OUTPUTS, PREDICTIONS, TRUTH, VERDICTS, Block
from onebit.store.database import StoreError
from onebit.store.store import Store
from onebit.study.about import About, Label
from onebit.study.constants import AT_HAND, AT_HAND_BYTES, MOST_BLOCK, PER_BLOCK
from onebit.study.media import Media, media_of
from onebit.tables.record import ModelTable, digest_of, narrow

#: Right labels, and the scores of a judge, as they are stored.
STORED_TRUTH, STORED_SCORE = np.dtype("<i4"), np.dtype("<f4")


@dataclass(frozen=True, slots=True)
class Item:
    """What a rater is shown: the item's own name, some columns, perhaps a picture, sound or video."""

    id: str
    shown: dict[str, str]
    media: Media | None = None


class Shows(Protocol):
    """What has rows that raters can be shown: a table of predictions, or examples to learn from."""

    @property
    def n_items(self) -> int: ...

    def item_id(self, row: int, /) -> str: ...

    def shown(self, row: int, /) -> dict[str, str]: ...


def facts_of(table: ModelTable) -> TableFacts:
    """What the first event says of a table; a class of hypotheses has two labels at least, also where one was seen."""
    return TableFacts(table.digest, table.n_models, table.n_items, max(2, table.n_labels))


def to_blocks(
    table: ModelTable, is_open: bool = False, progress: Callable[[int, int], None] | None = None
) -> Iterator[Block]:
    """The blocks of a table, of what simulated raters know and of what its judge says, if it has them.

    ``is_open``: the outputs are free texts, which then have blocks of their own. ``progress`` is told how many items of
    all are done.
    """
    dtype = _stored_type(max(2, table.n_labels))
    if table.truth is not None:
        yield TRUTH, 0, table.truth.astype(STORED_TRUTH).tobytes()
    if table.verdicts is not None:
        yield VERDICTS, 0, zlib.compress(table.verdicts.tobytes(), level=1)
    for number, first in enumerate(range(0, table.n_labels, PER_BLOCK) if is_open else ()):
        yield OUTPUTS, number, _packed(table.labels[first : first + PER_BLOCK])
    for number, first in enumerate(range(0, table.n_items, PER_BLOCK)):
        items = range(first, min(first + PER_BLOCK, table.n_items))
        yield PREDICTIONS, number, table.predictions[:, first : items.stop].astype(dtype).tobytes()
        if table.judge is not None:
            yield JUDGE, number, table.judge[:, first : items.stop].astype(STORED_SCORE).tobytes()
        yield shown_block(table, number, items)
        if progress is not None:
            progress(items.stop, table.n_items)


def shown_block(shows: Shows, number: int, rows: range) -> Block:
    """What raters are shown of some rows."""
    shown = [[shows.item_id(row), shows.shown(row)] for row in rows]
    return ITEMS, number, _packed(shown)


def _packed(value: list[Any] | tuple[Any, ...]) -> bytes:
    text = json.dumps(value).encode()
    if len(text) > MOST_BLOCK:
        raise InvalidInputError(
            f"{len(value):,} items or outputs, one after the other, have {len(text):,} bytes of texts, and raters can "
            f"be shown at most {MOST_BLOCK:,} of so many; show less of them"
        )
    return zlib.compress(text, level=1)


def _unpacked(data: bytes) -> Any:
    return _unpacked_with_size(data)[0]


def _unpacked_with_size(data: bytes) -> tuple[Any, int]:
    try:
        text = zlib.decompress(data)
        return json.loads(text), len(text)
    except (zlib.error, ValueError) as error:
        raise StoreError("what raters are shown is damaged; restore the store from a backup") from error


def read_predictions(store: Store, study_id: int, facts: TableFacts, about: About) -> NDArray[np.signedinteger[Any]]:
    """The predictions (N, n) of a study; StoreError unless they are what the study was created with."""
    predictions = np.empty((facts.n_models, facts.n_items), dtype=narrow(facts.n_labels))
    n_read = _read_into(predictions, store.blocks(study_id, PREDICTIONS), _stored_type(facts.n_labels))
    labels = tuple(label.name for label in about.labels)
    if about.is_open:
        labels = tuple(text for data in store.blocks(study_id, OUTPUTS) for text in _unpacked(data))
    if n_read != facts.n_items or digest_of(predictions, about.models, labels) != facts.digest:
        raise StoreError(
            "the table of predictions is not the one that the study was created with; restore the store from a backup"
        )
    return predictions


def read_judge(store: Store, study_id: int, facts: TableFacts) -> NDArray[np.float32] | None:
    """The scores (N, n) of the judge of a study; None where it has none. ``verify`` finds out if they were changed."""
    scores = np.empty((facts.n_models, facts.n_items), dtype=np.float32)
    n_read = _read_into(scores, store.blocks(study_id, JUDGE), STORED_SCORE)
    if n_read not in (0, facts.n_items):
        raise StoreError("a part of the judge's scores is missing; restore the store from a backup")
    return scores if n_read else None


def _read_into(table: NDArray[Any], blocks: Iterable[bytes], dtype: np.dtype[Any]) -> int:
    """Fill a table (N, n) from its blocks, each of some items; how many items there were."""
    n_models, n_items = table.shape
    first = 0
    for data in blocks:
        block = np.frombuffer(data, dtype=dtype)
        if block.size % n_models or first + block.size // n_models > n_items:
            raise StoreError("a block of the table has the wrong size; restore the store from a backup")
        block = block.reshape(n_models, -1)
        table[:, first : first + block.shape[1]] = block
        first += block.shape[1]
    return first


def read_truth(store: Store, study_id: int) -> NDArray[np.int64] | None:
    """The right labels (n,) of a study whose raters are simulated; None where people answer."""
    data = b"".join(store.blocks(study_id, TRUTH))
    return np.frombuffer(data, dtype=STORED_TRUTH).astype(np.int64) if data else None


def read_verdicts(store: Store, study_id: int, facts: TableFacts) -> NDArray[np.int8] | None:
    """What simulated raters say about each output (N, n), as in a ModelTable; None where people answer."""
    data = b"".join(store.blocks(study_id, VERDICTS))
    if not data:
        return None
    try:
        verdicts = np.frombuffer(zlib.decompress(data), dtype=np.int8)
    except zlib.error as error:
        raise StoreError("the verdicts of the study are damaged; restore the store from a backup") from error
    if verdicts.size != facts.n_models * facts.n_items:
        raise StoreError("the block of the verdicts has the wrong size; restore the store from a backup")
    return verdicts.reshape(facts.n_models, facts.n_items)


class _AtHand:
    """Blocks of texts that were read lately: so many, and so many bytes, at most. The last one stays however large."""

    def __init__(self, read: Callable[[int], bytes]) -> None:
        self._read = read
        self._blocks: OrderedDict[int, tuple[list[Any], int]] = OrderedDict()
        # Where several ask for a block at once, one of them reads it.
        self._lock = threading.Lock()

    def __getitem__(self, number: int) -> list[Any]:
        with self._lock:
            if number not in self._blocks:
                self._blocks[number] = _unpacked_with_size(self._read(number))
            self._blocks.move_to_end(number)
            while len(self._blocks) > 1 and self._is_too_much():
                self._blocks.popitem(last=False)
            return self._blocks[number][0]

    def _is_too_much(self) -> bool:
        return len(self._blocks) > AT_HAND or sum(size for _, size in self._blocks.values()) > AT_HAND_BYTES


class Items:
    """The items of a study and its labels, read when they are shown."""

    def __init__(self, store: Store, study_id: int, about: About) -> None:
        self._about = about
        self._rows = _AtHand(lambda number: store.block(study_id, ITEMS, number))
        self._texts = _AtHand(lambda number: store.block(study_id, OUTPUTS, number))

    def __getitem__(self, row: int) -> Item:
        id, shown = self._rows[row // PER_BLOCK][row % PER_BLOCK]
        column = self._about.media
        return Item(id, shown, media_of(self._about, shown[column]) if column is not None else None)

    def label(self, number: int) -> Label:
        """A label as raters see it; a free text has no description."""
        if self._about.is_open:
            return Label(self._texts[number // PER_BLOCK][number % PER_BLOCK])
        return self._about.labels[number]


def _stored_type(n_labels: int) -> np.dtype[Any]:
    return np.dtype(narrow(n_labels)).newbyteorder("<")
