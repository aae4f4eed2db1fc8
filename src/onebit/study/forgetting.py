"""Taking a rater's name out of a study: everywhere another stands in its place, and the log is linked anew.

Answers stay, because a certificate rests on them; who gave them is not known any more. No draw depends on a name, so
everything that the study states is recomputed as before. Digests that were told before are those of the old log.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
from sqlalchemy import Connection, text, update

from onebit.errors import InvalidInputError
from onebit.log.chain import Chain
from onebit.log.events import Event
from onebit.store import schema
from onebit.store.database import is_sqlite
from onebit.store.store import Store


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What a rater is called now, in how many events, and the digest of the log before and after.

    ``is_gone``: nothing of the name is left in the files of an SQLite store. While another process still reads them as
    they were, it cannot be taken out.
    """

    name: str
    n_events: int
    before: str
    after: str
    is_gone: bool = True


def forget_rater(storage: str, study: str, rater: str) -> Forgotten:
    """Replace a rater's name in the log of a study and end the rater's links, all at once or not at all.

    InUseError while a server has the study open; InvalidInputError if nobody of that name is known there.
    """
    with Store(storage) as store:
        entry = store.entry(study)
        lock = store.lock(entry)
        try:
            log = store.log(entry.id)
            new = _unused(log.events)
            events = [_renamed(event, rater, new) for event in log.events]
            chain = Chain()
            texts = [chain.link(event) for event in events]
            n_changed = sum(was != now for was, now in zip(log.events, events, strict=True))
            with store.writing() as connection:
                if is_sqlite(storage):
                    # Or the name would stay in the file until something else is written there.
                    connection.exec_driver_sql("PRAGMA secure_delete = ON")
                n_links = _end_links(connection, entry.id, rater, new)
                if not n_changed and not n_links:
                    told = "onebit study status lists those that there are"
                    raise InvalidInputError(f"the study {study!r} knows no rater {rater!r}; {told}")
                _rewrite(connection, entry.id, texts)
            lock.note(chain.head)
            is_gone = store.empty_log() if is_sqlite(storage) else True
            return Forgotten(new, n_changed, log.head.digest, chain.head.digest, is_gone)
        finally:
            lock.release()


def _unused(events: Sequence[Event]) -> str:
    known = {getattr(event, "rater", None) for event in events}
    number = 1
    while f"removed rater {number}" in known:
        number += 1
    return f"removed rater {number}"


def _renamed(event: Event, rater: str, new: str) -> Event:
    return msgspec.structs.replace(event, rater=new) if getattr(event, "rater", None) == rater else event


def _rewrite(connection: Connection, study_id: int, texts: Sequence[str]) -> None:
    mark = "?" if connection.dialect.name == "sqlite" else "%s"
    statement = f"UPDATE events SET event = {mark} WHERE study_id = {mark} AND seq = {mark} AND event <> {mark}"
    connection.exec_driver_sql(statement, [(event, study_id, seq, event) for seq, event in enumerate(texts)])


def _end_links(connection: Connection, study_id: int, rater: str, new: str) -> int:
    """Links end for good: their tokens open nothing, and the name is gone."""
    links = schema.links
    mine = (links.c.study_id == study_id) & (links.c.rater == rater)
    ended = update(links).where(mine).values(rater=new, revoked_at=text("coalesce(revoked_at, made_at)"))
    return connection.execute(ended).rowcount
