"""Digests of what raters are told and shown, and of what a judge says, in the first event: none may change later."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from onebit.log.chain import canonical, digest_of
from onebit.log.events import Created
from onebit.store.blocks import ITEMS, JUDGE, NAMES, OUTPUTS, TRANSFORMER, TRUTH, VERDICTS, Block
from onebit.store.database import StoreError
from onebit.store.store import Entry, Store

#: The kinds of blocks that are sealed. The digest of the table covers predictions and features; a snapshot may change.
SEALED = (ITEMS, NAMES, TRANSFORMER, TRUTH)
#: Those that are sealed where there are some: a study that has none has the seal that it always had.
SEALED_IF_ANY = (JUDGE, OUTPUTS, VERDICTS)


class Seal:
    """The digest of the sealed blocks among those that pass; of each kind they must come in order."""

    def __init__(self) -> None:
        self._digests = {kind: hashlib.sha256() for kind in (*SEALED, *SEALED_IF_ANY)}
        self._kinds = set(SEALED)

    def watch(self, blocks: Iterable[Block]) -> Iterator[Block]:
        """The same blocks."""
        for kind, number, data in blocks:
            if kind in self._digests:
                self._kinds.add(kind)
                self._digests[kind].update(f"{number} {len(data)}\n".encode() + data)
            yield kind, number, data

    def hexdigest(self) -> str:
        return digest_of("".join(each.hexdigest() for kind, each in self._digests.items() if kind in self._kinds))


def about_digest(about: Mapping[str, Any]) -> str:
    """The digest of what raters are told, how they are checked, and the names of models."""
    return digest_of(canonical(about))


def check_about(entry: Entry, created: Created) -> None:
    """StoreError unless raters are told what the study was created with."""
    if about_digest(entry.about) != created.about:
        raise StoreError(
            f"what the study {entry.name!r} tells raters (instructions, labels, gold, names of models) is not what it "
            "was created with; restore the store from a backup"
        )


def check_shown(store: Store, entry: Entry, created: Created) -> None:
    """StoreError unless raters are shown what the study was created with."""
    if shown_digest(store, entry.id) != created.shown:
        raise StoreError(
            f"what raters are shown of the items of {entry.name!r} is not what the study was created with; restore the "
            "store from a backup"
        )


def shown_digest(store: Store, study_id: int) -> str:
    """The digest of what raters are shown and of what a judge says, as it is in the store now."""
    seal = Seal()
    for kind in (*SEALED, *SEALED_IF_ANY):
        for _ in seal.watch((kind, number, data) for number, data in enumerate(store.blocks(study_id, kind))):
            pass
    return seal.hexdigest()
