"""Whether a store is whole: looked at without changing anything, and without recomputing what studies claim."""

from __future__ import annotations

from dataclasses import dataclass

from onebit.errors import OnebitError
from onebit.log.fold import fold
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
        return [_look(store, name) for name in [entry.name for entry in store.entries()]]


def _look(store: Store, name: str) -> Health:
    entry = store.entry(name)
    try:
        log, _ = read_whole(store, entry)
        fold(log.events)
    except OnebitError as error:
        return Health(name, entry.n_events, problem=str(error))
    return Health(name, log.head.n_events, log.head.digest)
