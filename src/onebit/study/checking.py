"""Whether a store is whole: looked at without changing anything, and without recomputing what studies claim."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from onebit.errors import OnebitError
from onebit.log.fold import fold
from onebit.store.locks import noted_studies
from onebit.store.store import Store
from onebit.study.opening import read_whole


@dataclass(frozen=True, slots=True)
class Health:
    """What was found of a study: where its log ends, or what is wrong with it, in a sentence."""

    name: str
    n_events: int
    log_digest: str = ""
    problem: str | None = None


def check_store(storage: str) -> list[Health]:
    """Look at every page of a store and at everything in its studies; StoreError where the database itself is damaged.

    Of each study the chain of events and their order, what raters are told and shown, and the table are held against
    their digests. ``verify_study`` recomputes what it claims, too, which takes longer.
    """
    with Store(storage, untouched=True) as store:
        store.check()
        entries = store.entries()
        return [*(_look(store, entry.name) for entry in entries), *_missing(storage, {entry.id for entry in entries})]


def _missing(storage: str, numbers: set[int]) -> Iterator[Health]:
    """Studies that were acknowledged, as their notes beside the store say, and are not in it."""
    for number, note in sorted(noted_studies(storage).items()):
        if number not in numbers:
            yield Health(
                f"study number {number}",
                0,
                problem=f"it is not in the store, and {note.head.n_events:,} events of it were acknowledged: restore "
                f"the store as it was, its -wal file included; if this is another store put here, remove {note.path}",
            )


def _look(store: Store, name: str) -> Health:
    entry = store.entry(name)
    try:
        log, _ = read_whole(store, entry)
        fold(log.events)
    except OnebitError as error:
        return Health(name, entry.n_events, problem=str(error))
    return Health(name, log.head.n_events, log.head.digest)
