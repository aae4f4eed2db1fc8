"""Digests of what raters are told and shown, which stand in the first event of a study: neither may change later."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from onebit.log.chain import canonical, digest_of
from onebit.log.events import Created
from onebit.store.database import StoreError
from onebit.store.store import ITEMS, NAMES, TRANSFORMER, TRUTH, Block, Entry, Store

#: The kinds of blocks that are sealed. The digest of the table covers predictions and features; a snapshot may change.
SEALED = (ITEMS, NAMES, TRANSFORMER, TRUTH)


class Seal:
    """The digest of the sealed blocks among those that pass; of each kind they must come in order."""

    def __init__(self) -> None:
        self._digests = {kind: hashlib.sha256() for kind in SEALED}

    def watch(self, blocks: Iterable[Block]) -> Iterator[Block]:
        """The same blocks."""
        for kind, number, data in blocks:
            if kind in self._digests:
                self._digests[kind].update(f"{number} {len(data)}\n".encode() + data)
            yield kind, number, data

    def hexdigest(self) -> str:
        return digest_of("".join(self._digests[kind].hexdigest() for kind in SEALED))


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


def shown_digest(store: Store, study_id: int) -> str:
    """The digest of what raters are shown, as it is in the store now."""
    seal = Seal()
    for kind in SEALED:
        for _ in seal.watch((kind, number, data) for number, data in enumerate(store.blocks(study_id, kind))):
            pass
    return seal.hexdigest()
