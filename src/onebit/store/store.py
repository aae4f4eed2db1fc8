"""A store of studies: their logs and tables, in SQLite or PostgreSQL, named by URL."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from types import TracebackType
from typing import Any

from sqlalchemy import Connection, Row, delete, func, insert, select
from sqlalchemy.exc import IntegrityError

from onebit.errors import InvalidInputError
from onebit.log.chain import Chain, Head, Unchain, digest_of, digests
from onebit.log.events import Event, LogError
from onebit.store import schema
from onebit.store.blocks import Block, insert_block, read_block, read_blocks, replace_block
from onebit.store.database import (
    InUseError,
    LostConnectionError,
    StoreError,
    check_whole,
    connect,
    explained,
    file_at,
    hidden_password,
    is_sqlite,
    sqlite_path,
    writing,
)
from onebit.store.locks import Lock, holder, noted, take_lock
from onebit.store.rows import n_written, read_log, stamp, write_log


@dataclass(frozen=True, slots=True)
class Entry:
    """A study as the store lists it."""

    id: int
    name: str
    created_at: str
    about: dict[str, Any]
    n_events: int
    archived: bool = False


@dataclass(frozen=True, slots=True)
class Log:
    """The events of a study, where they end, and when each was written."""

    events: list[Event]
    head: Head
    written_at: list[str]


class Store:
    """The studies behind one URL. Several processes may read; each study has one writer, who holds its lock.

    ``untouched``: nothing is changed by opening and closing it, and nothing can be written.
    """

    def __init__(self, url: str, untouched: bool = False, address: str | None = None) -> None:
        self.url, self._address = url, address
        self._engine = connect(url, untouched)
        #: Where the file is, and which one was opened there; who changes the working folder still means this one.
        self._path = sqlite_path(url).absolute() if is_sqlite(url) else None
        self._file = None if self._path is None else file_at(self._path)
        #: Told apart from other writers, so that a commit whose reply was lost is recognised as our own.
        self._writer = uuid.uuid4().hex
        #: The locks that were taken here, by study.
        self._locks: dict[int, Lock] = {}

    def entries(self) -> list[Entry]:
        """The studies, in the order in which they were made."""
        with self.reading() as connection:
            return self._entries(connection)

    def entry(self, name: str) -> Entry:
        """The study of that name; InvalidInputError if there is none."""
        entries = self.entries()
        for entry in entries:
            if entry.name == name:
                return entry
        known = ", ".join(entry.name for entry in entries) or "none"
        raise InvalidInputError(f"there is no study {name!r} in {hidden_password(self.url)}; there are: {known}")

    def create(self, name: str, about: dict[str, Any], log: Iterable[Event], blocks: Iterable[Block]) -> Entry:
        """Make a study, all at once or not at all. The log is gone through after the blocks, so it may tell of them."""
        if not name.strip():
            raise InvalidInputError("a study needs a name")
        now = _now()
        with self.writing() as connection:
            if name in {entry.name for entry in self._entries(connection)}:
                raise InvalidInputError(
                    f"there is a study {name!r} in {hidden_password(self.url)} already; use another name, load it, or "
                    "delete it"
                )
            row = {"name": name, "created_at": now, "about": json.dumps(about)}
            made = connection.execute(insert(schema.studies).values(row)).inserted_primary_key
            study_id = int(made[0]) if made is not None else 0
            for block in blocks:
                insert_block(connection, study_id, block)
            chain = Chain()
            self._insert(connection, study_id, 0, [chain.link(event) for event in log], now)
        return Entry(study_id, name, now, about, chain.head.n_events)

    def delete(self, name: str) -> None:
        """Remove a study with its log; InUseError while somebody writes to it."""
        entry = self.entry(name)
        lock = self.lock(entry)
        try:
            with self.writing() as connection:
                for table in (schema.events, schema.blocks):
                    connection.execute(delete(table).where(table.c.study_id == entry.id))
                connection.execute(delete(schema.studies).where(schema.studies.c.id == entry.id))
        finally:
            lock.release(forget=True)

    def lock(self, entry: Entry) -> Lock:
        """Become the writer of a study; InUseError if another process, or another part of this one, is."""
        with explained(self.url):
            lock = take_lock(self.url, self._engine, entry.id, self._address)
        if lock is None:
            raise InUseError(
                f"the study {entry.name!r} is open elsewhere; it has one writer. Use that process (a server offers its "
                "page and API), or stop it"
            )
        try:
            with self.reading() as connection:
                lock.begins = self._begins(connection, entry.id)
        except BaseException:
            lock.release()
            raise
        self._locks[entry.id] = lock
        return lock

    def holder(self, study_id: int) -> str | None:
        """The address of the server that has the study open; None if none has, or none says where it is."""
        with explained(self.url):
            return holder(self.url, self._engine, study_id)

    def keep_lock(self, study_id: int) -> None:
        """Make sure that the lock taken of a study is still held: a database that was started anew knows of none.

        It is taken again; InUseError if somebody else has it by now.
        """
        lock = self._locks.get(study_id)
        with explained(self.url):
            is_held = lock is None or lock.is_held()
        if not is_held:
            raise InUseError(
                "the lock was lost (the database was started anew, or a .lock- file removed), and another process has "
                "taken this study since; it has one writer. Use that process, or stop it"
            )

    def log(self, study_id: int) -> Log:
        """The whole log; LogError where an event is missing, damaged or does not follow the one before."""
        unchain = Unchain()
        # Before the log: what is written meanwhile is longer, never shorter.
        acknowledged = noted(self.url, study_id)
        with self.reading() as connection:
            rows = list(read_log(connection, study_id, unchain))
            begins = self._begins(connection, study_id)
        if acknowledged is not None:
            acknowledged.check(begins, unchain.head)
        return Log([event for *_, event in rows], unchain.head, [at for _, at, _ in rows])

    def digests(self, study_id: int) -> list[str]:
        """The digest of the log after each of its events."""
        return digests(self.log(study_id).events)

    def first_event(self, study_id: int) -> Event:
        """How a study began; LogError where that cannot be read."""
        with self.reading() as connection:
            for *_, event in read_log(connection, study_id, Unchain()):
                return event
        raise LogError("the study has no log; restore a backup")

    def append(self, study_id: int, first: int, texts: Sequence[str]) -> str:
        """Write events number ``first`` and on, as a ``Chain`` linked them; they are durable when this returns.

        Returns the time that they are written with.

        NotWrittenError, and nothing is written, if the store cannot; InUseError if another writer was quicker.
        """
        self.keep_lock(study_id)
        try:
            now = self._append(study_id, first, texts)
        except LostConnectionError:
            # Once more, over another connection: whether it was written is seen there.
            self.keep_lock(study_id)
            now = self._append(study_id, first, texts)
        if texts and study_id in self._locks:
            self._locks[study_id].note(Head(first + len(texts), digest_of(texts[-1])))
        return now

    def _append(self, study_id: int, first: int, texts: Sequence[str]) -> str:
        now = _now()
        try:
            with self.writing() as connection:
                self._insert(connection, study_id, first, texts, now)
        except IntegrityError as error:
            with self.reading() as connection:
                n_ours = n_written(connection, study_id, first, texts, self._writer)
            if n_ours == 0:
                raise InUseError(
                    "another process has written to this study, so this one no longer knows its state; load it again"
                ) from error
            if n_ours < len(texts):
                return self._append(study_id, first + n_ours, texts[n_ours:])
        return now

    def blocks(self, study_id: int, kind: str) -> Iterator[bytes]:
        """The blocks of a kind, in order."""
        with self.reading() as connection:
            yield from read_blocks(connection, study_id, kind)

    def block(self, study_id: int, kind: str, number: int) -> bytes:
        """One block."""
        with self.reading() as connection:
            return read_block(connection, study_id, kind, number)

    def replace_block(self, study_id: int, block: Block) -> None:
        """Keep a block instead of the one of its kind and number."""
        with self.writing() as connection:
            replace_block(connection, study_id, block)

    def check(self) -> None:
        """StoreError if the database finds itself damaged."""
        with self.reading() as connection:
            if connection.dialect.name == "sqlite":
                check_whole(sqlite_path(self.url))
                found = connection.exec_driver_sql("PRAGMA integrity_check").scalar()
                if found != "ok":
                    raise StoreError(f"the store {hidden_password(self.url)} is damaged: {found}; restore a backup")

    def empty_log(self) -> bool:
        """Move the write-ahead log of an SQLite store into its file, and leave nothing of it.

        False where another process reads the store as it was before: then nothing is moved.
        """
        with explained(self.url), self._engine.connect() as connection:
            driver: Any = connection.connection.driver_connection
            is_kept_from_it, *_ = driver.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        return not is_kept_from_it

    def close(self) -> None:
        """Let go of the database."""
        self._engine.dispose()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """One consistent view of the store."""
        with explained(self.url), self._engine.connect() as connection, connection.begin():
            if connection.dialect.name == "postgresql":
                connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            yield connection

    def look_up(self, query: str, *given: object) -> Row[Any] | None:
        """The first row of a query, with ? for each value given: for what is asked with every call."""
        try:
            return self._look_up(query, given)
        except LostConnectionError:
            # Once more, over another connection: nothing is written by it.
            return self._look_up(query, given)

    def _look_up(self, query: str, given: tuple[object, ...]) -> Row[Any] | None:
        with explained(self.url), self._engine.connect() as connection:
            if connection.dialect.name != "sqlite":
                # A transaction would be two more messages to the database, and as many back.
                connection.execution_options(isolation_level="AUTOCOMMIT")
                query = query.replace("?", "%s")
            return connection.exec_driver_sql(query, given).first()

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """One transaction: all of it is written, durably, or none.

        StoreError if the file of the store is not where it was: who opens the store next would not find what is written
        to it.
        """
        self._check_is_in_place()
        with explained(self.url), writing(self._engine) as connection:
            yield connection
        self._check_is_in_place()

    def _check_is_in_place(self) -> None:
        if self._path is not None and file_at(self._path) != self._file:
            raise StoreError(
                f"the file of the store {hidden_password(self.url)} was moved away, or another put in its place, while "
                "it was open; nothing was acknowledged. Put it back with its -wal file, or stop this process and start "
                "it again"
            )

    def _entries(self, connection: Connection) -> list[Entry]:
        table = schema.events
        counted = connection.execute(select(table.c.study_id, func.count()).group_by(table.c.study_id)).all()
        counts: dict[int, int] = {row[0]: row[1] for row in counted}
        rows = connection.execute(select(schema.studies).order_by(schema.studies.c.id)).all()
        away = set(connection.execute(select(schema.archives.c.study_id)).scalars())
        return [
            Entry(row.id, row.name, row.created_at, _about(row), counts.get(row.id, 0), row.id in away) for row in rows
        ]

    @staticmethod
    def _begins(connection: Connection, study_id: int) -> str:
        """What tells a study from another that has its number: the digest of its first event."""
        table = schema.events
        first = select(table.c.event).where((table.c.study_id == study_id) & (table.c.seq == 0))
        return digest_of(str(connection.execute(first).scalar()))

    def _insert(self, connection: Connection, study_id: int, first: int, texts: Sequence[str], now: str) -> None:
        write_log(connection, study_id, first, texts, stamp(self._writer, now), now)


def _about(row: Row[Any]) -> dict[str, Any]:
    try:
        about = json.loads(row.about)
    except (TypeError, ValueError):
        about = None
    if not isinstance(about, dict):
        raise StoreError(f"what the study {row.name!r} tells raters is damaged; restore the store from a backup")
    return about


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
