"""One writer for each study, by locks that the system releases when their holder dies."""

from __future__ import annotations

import fcntl
import glob
import os
import threading
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import SQLAlchemyError

from onebit.errors import InvalidInputError
from onebit.log.chain import Head, digest_of
from onebit.log.events import LogError
from onebit.store.database import file_at, is_sqlite, sqlite_path

#: Our advisory locks in PostgreSQL, apart from those of others, and of stores in other schemas of the database.
TRY_LOCK = text("SELECT pg_try_advisory_lock(hashtext('onebit ' || current_schema()), :study)")
#: Who takes a lock says how it is reached, as far as there is room for it; and a machine that is gone is noticed.
SAY_ADDRESS = text("SELECT set_config('application_name', :name, false)")
NOTICE = "SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3"
WHO_HOLDS = text(
    "SELECT a.application_name FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid "
    "WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 2 "
    "AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()) "
    "AND l.classid::bigint = (hashtext('onebit ' || current_schema())::bigint & 4294967295) "
    "AND l.objid::bigint = :study"
)
#: What the name of a session begins with that holds a lock; the database takes 63 letters of a name.
AT, MOST_NAME = "onebit at ", 63
UNLOCK = text("SELECT pg_advisory_unlock(hashtext('onebit ' || current_schema()), :study)")


@dataclass(frozen=True, slots=True)
class Noted:
    """Where a log ended when its events were last acknowledged, as it is kept in the file ``path``.

    ``begins`` is the digest of its first event: the number of a study may be given to another one.
    """

    path: str
    begins: str
    head: Head

    def check(self, begins: str, found: Head) -> None:
        """LogError if a log is shorter than it was, or ends otherwise."""
        if begins != self.begins:
            return
        is_same = found.n_events != self.head.n_events or found.digest == self.head.digest
        if found.n_events < self.head.n_events or not is_same:
            raise LogError(
                f"the log has {found.n_events:,} events, and {self.head.n_events:,} were acknowledged: its end is "
                "missing, or another's. Restore the store as it was, its -wal file included; if this is a backup "
                f"that was put here on purpose, remove {self.path}"
            )


class Lock(Protocol):
    """Held until it is released, its process ends, or the database that keeps it does.

    ``begins`` is the digest of the first event of the study.
    """

    begins: str

    def note(self, head: Head) -> None:
        """Keep beside the store where the log ends now that it is durable, where there is a place for it."""

    def is_held(self) -> bool:
        """Whether it is held; one that the database lost is taken again, unless somebody else has it by now."""

    def release(self, forget: bool = False) -> None:
        """Let go; ``forget`` where there will be nothing to lock any more."""


def take_lock(url: str, engine: Engine, study_id: int, address: str | None = None) -> Lock | None:
    """The lock of a study, or None if somebody holds it; whoever asks for its ``holder`` is told the address."""
    if is_sqlite(url):
        return _FileLock.take(_lock_path(url, study_id))
    return _SessionLock.take(engine, study_id, address)


def check_address(address: str) -> None:
    """InvalidInputError if there is no room for an address of a server."""
    most = MOST_NAME - len(AT)
    if len(address.encode()) > most:
        raise InvalidInputError(f"the address {address!r} has more than {most} letters; give a shorter one")


def holder(url: str, engine: Engine, study_id: int) -> str | None:
    """The address of the server that holds the lock of a study; None if nobody does, or says no address."""
    if is_sqlite(url):
        return None
    with engine.connect() as connection:
        name = connection.execute(WHO_HOLDS, {"study": study_id}).scalar()
    return name.removeprefix(AT) if isinstance(name, str) and name.startswith(AT) else None


def noted(url: str, study_id: int) -> Noted | None:
    """Where a log ended when it was last acknowledged; None where that is not known. PostgreSQL has no such place."""
    if not is_sqlite(url):
        return None
    path = _lock_path(url, study_id)
    try:
        with open(path, encoding="ascii") as file:
            *told, seal = file.readline().split()
        n_events, digest, begins = told
        # A line that was half written says nothing.
        return Noted(path, begins, Head(int(n_events), digest)) if seal == _seal(" ".join(told)) else None
    except (OSError, ValueError):
        return None


def noted_studies(url: str) -> dict[int, Noted]:
    """What is noted beside a store, by the numbers of studies; a study that is deleted takes its note along."""
    if not is_sqlite(url):
        return {}
    path = sqlite_path(url).resolve()
    numbers = (each.name.rpartition("-")[2] for each in path.parent.glob(f"{glob.escape(path.name)}.lock-*"))
    found = {int(number): noted(url, int(number)) for number in numbers if number.isdecimal()}
    return {number: note for number, note in found.items() if note is not None}


def _lock_path(url: str, study_id: int) -> str:
    # Beside the file itself: whoever comes by a symbolic link must find the same lock.
    return f"{sqlite_path(url).resolve()}.lock-{study_id}"


def _seal(told: str) -> str:
    return digest_of(told)[:16]


class _FileLock:
    """A lock on a file beside the database, which holds where the log ends.

    It is not forced to the disk: it tells that the end of the store was cut off, or an older one was put there, and not
    that a disk lost what it had said to have written.
    """

    begins = ""

    def __init__(self, path: str, file: int) -> None:
        self._path = path
        self._file: int | None = file

    @classmethod
    def take(cls, path: str) -> _FileLock | None:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(file)
            return None
        return cls(path, file)

    def note(self, head: Head) -> None:
        if self._file is not None:
            told = f"{head.n_events} {head.digest} {self.begins}"
            # As long as any, so that nothing of an earlier line is left.
            line = f"{told} {_seal(told)}".ljust(180) + "\n"
            # A full disk or a file that cannot be written takes nothing from what is durable.
            with suppress(OSError):
                os.pwrite(self._file, line.encode("ascii"), 0)

    def is_held(self) -> bool:
        if self._file is None:
            return False
        # The system keeps it as long as the file is open; but others look for it at its path, whence it may be removed.
        if file_at(self._path) == file_at(self._file):
            return True
        again = self.take(self._path)
        if again is None:
            return False
        os.close(self._file)
        self._file, again._file = again._file, None
        return True

    def release(self, forget: bool = False) -> None:
        if self._file is None:
            return
        if forget:
            os.unlink(self._path)
        os.close(self._file)
        self._file = None


class _SessionLock:
    """An advisory lock of a PostgreSQL session, which ends with its connection."""

    begins = ""

    def __init__(self, engine: Engine, study_id: int, address: str | None = None) -> None:
        self._engine, self._study_id, self._address = engine, study_id, address
        self._connection: Connection | None = None
        self._is_wanted = True
        # A write and whoever looks after the lock may come at once, and a connection is for one of them.
        self._one_at_a_time = threading.Lock()

    @classmethod
    def take(cls, engine: Engine, study_id: int, address: str | None = None) -> _SessionLock | None:
        lock = cls(engine, study_id, address)
        return lock if lock._take() else None

    def note(self, head: Head) -> None:
        """PostgreSQL keeps its own log, and there is no place beside it."""

    def is_held(self) -> bool:
        with self._one_at_a_time:
            if self._connection is not None:
                try:
                    self._connection.exec_driver_sql("SELECT 1")
                    return True
                except SQLAlchemyError:
                    self._let_go()
            return self._is_wanted and self._take()

    def release(self, forget: bool = False) -> None:
        with self._one_at_a_time:
            self._is_wanted = False
            if self._connection is not None:
                # A server ends a session some time after its connection was closed; whoever comes next is not to wait
                # for that.
                with suppress(SQLAlchemyError):
                    self._connection.execute(UNLOCK, {"study": self._study_id})
                self._let_go()

    def _take(self) -> bool:
        connection = self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        self._connection = connection
        # Before the lock: whoever finds it held finds its address, too.
        connection.exec_driver_sql(NOTICE)
        if self._address is not None:
            connection.execute(SAY_ADDRESS, {"name": f"{AT}{self._address}"})
        if connection.execute(TRY_LOCK, {"study": self._study_id}).scalar():
            return True
        self._let_go()
        return False

    def _let_go(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            # Closed, not given back to the pool: the lock belongs to the session.
            connection.invalidate()
            connection.close()
