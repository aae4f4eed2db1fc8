"""A table of predictions and its items, cut into blocks that a store keeps."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from onebit.errors import InvalidInputError
from onebit.log.events import TableFacts
from onebit.store.database import StoreError
from onebit.store.store import ITEMS, PREDICTIONS, TRUTH, Block, Store
from onebit.study.about import About
from onebit.study.constants import AT_HAND, PER_BLOCK
from onebit.tables.record import ModelTable, digest_of, narrow

#: Right labels as they are stored.
STORED_TRUTH = np.dtype("<i4")


@dataclass(frozen=True, slots=True)
class Item:
    """What a rater is shown: the item's own name, some columns, perhaps an image."""

    id: str
    shown: dict[str, str]
    image: Path | None = None


class Shows(Protocol):
    """What has rows that raters can be shown: a table of predictions, or examples to learn from."""

    @property
    def n_items(self) -> int: ...

    def item_id(self, row: int, /) -> str: ...

    def shown(self, row: int, /) -> dict[str, str]: ...


def facts_of(table: ModelTable) -> TableFacts:
    """What the first event says of a table; a class of hypotheses has two labels at least, also where one was seen."""
    return TableFacts(table.digest, table.n_models, table.n_items, max(2, table.n_labels))


def to_blocks(table: ModelTable, progress: Callable[[int, int], None] | None = None) -> Iterator[Block]:
    """The blocks of a table, and of its truth if it has one; ``progress`` is told how many items of all are done."""
    dtype = _stored_type(max(2, table.n_labels))
    if table.truth is not None:
        yield TRUTH, 0, table.truth.astype(STORED_TRUTH).tobytes()
    for number, first in enumerate(range(0, table.n_items, PER_BLOCK)):
        items = range(first, min(first + PER_BLOCK, table.n_items))
        yield PREDICTIONS, number, table.predictions[:, first : items.stop].astype(dtype).tobytes()
        yield shown_block(table, number, items)
        if progress is not None:
            progress(items.stop, table.n_items)


def shown_block(shows: Shows, number: int, rows: range) -> Block:
    """What raters are shown of some rows."""
    shown = [[shows.item_id(row), shows.shown(row)] for row in rows]
    return ITEMS, number, zlib.compress(json.dumps(shown).encode(), level=1)


def read_predictions(store: Store, study_id: int, facts: TableFacts, about: About) -> NDArray[np.signedinteger[Any]]:
    """The predictions (N, n) of a study; StoreError unless they are what the study was created with."""
    dtype = _stored_type(facts.n_labels)
    predictions = np.empty((facts.n_models, facts.n_items), dtype=narrow(facts.n_labels))
    first = 0
    for data in store.blocks(study_id, PREDICTIONS):
        block = np.frombuffer(data, dtype=dtype)
        if block.size % facts.n_models or first + block.size // facts.n_models > facts.n_items:
            raise StoreError("a block of the predictions has the wrong size; restore the store from a backup")
        block = block.reshape(facts.n_models, -1)
        predictions[:, first : first + block.shape[1]] = block
        first += block.shape[1]
    labels = tuple(label.name for label in about.labels)
    if first != facts.n_items or digest_of(predictions, about.models, labels) != facts.digest:
        raise StoreError(
            "the table of predictions is not the one that the study was created with; restore the store from a backup"
        )
    return predictions


def read_truth(store: Store, study_id: int) -> NDArray[np.int64] | None:
    """The right labels (n,) of a study whose raters are simulated; None where people answer."""
    data = b"".join(store.blocks(study_id, TRUTH))
    return np.frombuffer(data, dtype=STORED_TRUTH).astype(np.int64) if data else None


class Items:
    """The items of a study, read when they are shown."""

    def __init__(self, store: Store, study_id: int, about: About) -> None:
        self._about = about

        @lru_cache(maxsize=AT_HAND)
        def block(number: int) -> list[tuple[str, dict[str, str]]]:
            rows: list[tuple[str, dict[str, str]]] = json.loads(zlib.decompress(store.block(study_id, ITEMS, number)))
            return rows

        self._block = block

    def __getitem__(self, row: int) -> Item:
        id, shown = self._block(row // PER_BLOCK)[row % PER_BLOCK]
        image = self._about.image
        return Item(id, shown, image_path(self._about, shown[image]) if image is not None else None)

    def label(self, number: int) -> str:
        """The name of a label."""
        return self._about.labels[number].name


def image_path(about: About, path: str) -> Path:
    """The file of an image; InvalidInputError if it is not below the root that was declared."""
    pure = PurePosixPath(path)
    root = Path(str(about.image_root)).resolve()
    whole = (root / pure).resolve()
    if not path or pure.is_absolute() or not whole.is_relative_to(root):
        raise InvalidInputError(f"the image path {path!r} does not lead below {root}; give paths relative to it")
    return whole


def check_images(table: Shows, about: About) -> None:
    """Before anything is written: every image is below the root, and there."""
    if about.image is None:
        return
    if about.image not in table.shown(0):
        raise InvalidInputError(f"there is no column {about.image!r} among those shown; name it with show")
    for item in range(table.n_items):
        try:
            missing = not image_path(about, table.shown(item)[about.image]).is_file()
        except InvalidInputError as error:
            raise InvalidInputError(f"item {table.item_id(item)} (row {item + 1}): {error}") from None
        if missing:
            path = table.shown(item)[about.image]
            raise InvalidInputError(f"item {table.item_id(item)} (row {item + 1}): the image {path!r} is not there")


def _stored_type(n_labels: int) -> np.dtype[Any]:
    return np.dtype(narrow(n_labels)).newbyteorder("<")
