"""One writer for each study, by locks that the system releases when their holder dies."""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from typing import Protocol

from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import SQLAlchemyError

from onebit.store.database import is_sqlite, sqlite_path

#: Our advisory locks in PostgreSQL, apart from those of others, and of stores in other schemas of the database.
TRY_LOCK = text("SELECT pg_try_advisory_lock(hashtext('onebit ' || current_schema()), :study)")
UNLOCK = text("SELECT pg_advisory_unlock(hashtext('onebit ' || current_schema()), :study)")


class Lock(Protocol):
    """Held until it is released, or its process ends."""

    def release(self, forget: bool = False) -> None:
        """Let go; ``forget`` where there will be nothing to lock any more."""


def take_lock(url: str, engine: Engine, study_id: int) -> Lock | None:
    """The lock of a study, or None if somebody holds it."""
    if is_sqlite(url):
        return _FileLock.take(f"{sqlite_path(url)}.lock-{study_id}")
    return _SessionLock.take(engine, study_id)


class _FileLock:
    """A lock on a file beside the database."""

    def __init__(self, path: str, file: int) -> None:
        self._path, self._file = path, file

    @classmethod
    def take(cls, path: str) -> _FileLock | None:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(file)
            return None
        return cls(path, file)

    def release(self, forget: bool = False) -> None:
        if forget:
            os.unlink(self._path)
        os.close(self._file)


class _SessionLock:
    """An advisory lock of a PostgreSQL session, which ends with its connection."""

    def __init__(self, connection: Connection, study_id: int) -> None:
        self._connection, self._study_id = connection, study_id

    @classmethod
    def take(cls, engine: Engine, study_id: int) -> _SessionLock | None:
        connection = engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        if connection.execute(TRY_LOCK, {"study": study_id}).scalar():
            return cls(connection, study_id)
        connection.close()
        return None

    def release(self, forget: bool = False) -> None:
        # A server ends a session some time after its connection was closed; whoever comes next is not to wait for that.
        with suppress(SQLAlchemyError):
            self._connection.execute(UNLOCK, {"study": self._study_id})
        # Closed, not given back to the pool: the lock belongs to the session.
        self._connection.invalidate()
        self._connection.close()
