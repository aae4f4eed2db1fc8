"""Connecting to a store by its URL: the engine, its settings for durability, and its version.

SQLite runs in WAL with synchronous=FULL, so what is committed is on the disk; PostgreSQL does so by itself.
"""

from __future__ import annotations

import math
import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import resources
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import Connection, Engine, create_engine, event, inspect, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError, InvalidatePoolError
from sqlalchemy.pool import ConnectionPoolEntry, PoolProxiedConnection

from onebit.errors import InvalidInputError, OnebitError

#: The version of the tables that this onebit reads and writes; older stores are brought to it when they are opened.
VERSION = "3"
#: How long one process waits for another to finish its write, in seconds.
PATIENCE = 30
#: Connections of one process to its store. Origin: what SQLAlchemy allows by itself, 5 that it keeps and 10 more.
MOST_CONNECTIONS = 15
#: Seconds after which a connection to PostgreSQL that nobody used is tried before it is used.
TRIED_AFTER = 1.0
#: Where it stands when that was.
LAST_USED = "onebit last used"
#: How soon a PostgreSQL server that went away without a word is given up: seconds to connect, seconds between signs of
#: life, how many of them may be missed, and milliseconds until something sent must have arrived.
POSTGRES_TIMEOUTS = {
    "connect_timeout": 10,
    "keepalives_idle": 5,
    "keepalives_interval": 5,
    "keepalives_count": 2,
    "tcp_user_timeout": 15_000,
}


class StoreError(OnebitError):
    """A store that cannot be reached, is damaged, or is of another version."""


class LostConnectionError(StoreError):
    """The database hung up: what was under way may have been written or not."""


class InUseError(OnebitError):
    """Another process is writing to this study; there is one writer at a time."""


class NotWrittenError(OnebitError):
    """The store could not be written, so nothing was acknowledged; what was before is kept."""


def connect(url: str, untouched: bool = False) -> Engine:
    """An engine for the store, which is made if it is not there, and brought to this version if it is older.

    ``untouched``: nothing of it is changed. Whoever is the last to close an SQLite store otherwise moves its
    write-ahead log into the file, and of a log that is damaged no more than its beginning.
    """
    # Connections are kept: under load, opening one more for a moment takes longer than what it is opened for.
    more: dict[str, Any] = {"pool_size": MOST_CONNECTIONS, "max_overflow": 0}
    if not is_sqlite(url):
        more |= {"connect_args": POSTGRES_TIMEOUTS}
    if untouched:
        return _connect_untouched(url, more)
    engine = create_engine(_checked(url), **more)
    if is_sqlite(url):
        check_whole(sqlite_path(url))
        _make_private(sqlite_path(url))
        event.listen(engine, "connect", _durable_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
    else:
        _try_idle_connections(engine)
    try:
        with explained(url), engine.connect() as connection:
            found = _version(connection)
        if found != VERSION:
            with explained(url), writing(engine) as connection:
                _migrate(connection, url)
    except BaseException:
        engine.dispose()
        raise
    return engine


def _connect_untouched(url: str, more: dict[str, Any]) -> Engine:
    parsed = _checked(url)
    if is_sqlite(url):
        path = sqlite_path(url)
        if not path.is_file():
            raise StoreError(f"there is no store {path}")
        parsed = parsed.set(database=f"file:{quote(os.fspath(path))}", query={"mode": "ro", "uri": "true"})
    engine = create_engine(parsed, **more)
    if is_sqlite(url):
        event.listen(engine, "connect", _patient_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
    else:
        _try_idle_connections(engine)
    try:
        with explained(url), engine.connect() as connection:
            found = _version(connection)
    except BaseException:
        engine.dispose()
        raise
    if found != VERSION:
        engine.dispose()
        raise StoreError(
            f"the store {hidden_password(url)} has version {found or 'none'}, and this onebit {VERSION}; if it is "
            "older, copy it, then open it once (onebit study list), which brings it to this version"
        )
    return engine


def _try_idle_connections(engine: Engine) -> None:
    """Replace a connection that the server closed while nobody answered before it is used.

    SQLAlchemy can try every one, each time: with hundreds of calls a second that is half of what the database does.
    """

    def given_back(connection: DBAPIConnection | None, record: ConnectionPoolEntry) -> None:
        record.info[LAST_USED] = time.monotonic()

    def taken(connection: DBAPIConnection, record: ConnectionPoolEntry, proxy: PoolProxiedConnection) -> None:
        if time.monotonic() - record.info.get(LAST_USED, -math.inf) < TRIED_AFTER:
            return
        try:
            engine.dialect.do_ping(connection)
        except engine.dialect.loaded_dbapi.Error as error:
            # The others are as old.
            raise InvalidatePoolError from error

    event.listen(engine, "checkin", given_back)
    event.listen(engine, "checkout", taken)


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """One transaction that writes."""
    with engine.connect() as connection, connection.execution_options(for_writing=True).begin():
        yield connection


def is_sqlite(url: str) -> bool:
    return url.startswith("sqlite:")


def sqlite_path(url: str) -> Path:
    """The file of an SQLite store."""
    return Path(str(make_url(url).database))


def file_at(path: str | Path | int) -> tuple[int, int] | None:
    """What tells the file at a path, or an open one, from any other; None if there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


@contextmanager
def explained(url: str) -> Iterator[None]:
    """Errors of the database, in words: what happened to the store and what to do."""
    try:
        yield
    except IntegrityError:
        # Two writers met, which is no fault of the store.
        raise
    except UnicodeDecodeError as error:
        # SQLite's own words about what it found there, which is no text any more.
        raise StoreError(
            f"the store {hidden_password(url)} is damaged: what should be text is none; restore it from a backup "
            "(onebit study backup makes them)"
        ) from error
    except DBAPIError as error:
        reason, shown = str(error.orig).strip().splitlines()[0], hidden_password(url)
        if any(sign in reason for sign in ("disk is full", "No space left", "disk I/O error", "readonly", "read-only")):
            raise NotWrittenError(
                f"the store {shown} cannot be written: {reason}; nothing was acknowledged, and what was there is kept. "
                "Make space (or allow writing), and go on"
            ) from error
        if any(sign in reason for sign in ("malformed", "not a database", "file is encrypted")):
            raise StoreError(
                f"the store {shown} is damaged or no store: {reason}; restore it from a backup (onebit study backup "
                "makes them)"
            ) from error
        kind = LostConnectionError if error.connection_invalidated else StoreError
        raise kind(f"the store {shown} does not answer: {reason}") from error


def hidden_password(url: str) -> str:
    return make_url(url).render_as_string(hide_password=True)


def _checked(url: str) -> URL:
    try:
        parsed = make_url(url)
    except ArgumentError:
        raise InvalidInputError(
            f"the storage {url!r} is no URL; use sqlite:///my.db for a file, or postgresql://user@host/database"
        ) from None
    if parsed.get_backend_name() == "sqlite":
        if not parsed.database or parsed.database == ":memory:":
            raise InvalidInputError(
                f"the storage {url!r} names no file, and what is in memory only is lost; use sqlite:///my.db"
            )
        if not Path(parsed.database).parent.is_dir():
            raise InvalidInputError(f"the folder of {parsed.database} is not there; make it first")
        return parsed
    if parsed.get_backend_name() != "postgresql":
        raise InvalidInputError(f"the storage {url!r} is neither sqlite:///... nor postgresql://...")
    try:
        import psycopg  # noqa: F401
    except ImportError:
        raise InvalidInputError("PostgreSQL needs the package psycopg; install onebit[postgres]") from None
    return parsed.set(drivername="postgresql+psycopg")


def check_whole(path: Path) -> None:
    """StoreError if an SQLite file is shorter than it says.

    SQLite may notice that only when it comes to what is missing. While there is a write-ahead log, the end of the file
    may rightly be there.
    """
    log = path.with_name(f"{path.name}-wal")
    if not path.is_file() or path.stat().st_size == 0 or (log.is_file() and log.stat().st_size > 0):
        return
    # In a process of its own: who closes the file drops all locks that its process has on it, and SQLite would take a
    # store that is being written to for one that nobody uses.
    header = subprocess.run(["head", "-c", "100", path], capture_output=True, check=False).stdout
    # Where the two counters of changes differ, the number of pages is not kept in the header.
    if len(header) < 100 or not header.startswith(b"SQLite format 3\0") or header[24:28] != header[92:96]:
        return
    page_size = int.from_bytes(header[16:18], "big")
    expected = int.from_bytes(header[28:32], "big") * (65536 if page_size == 1 else page_size)
    if path.stat().st_size < expected:
        raise StoreError(
            f"the store {path} is cut short: it has {path.stat().st_size:,} bytes of {expected:,}; restore it from a "
            "backup (onebit study backup makes them)"
        )


def _make_private(path: Path) -> None:
    """A new store is for its owner alone; what SQLite writes beside it is like it."""
    with suppress(OSError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))


def _patient_sqlite(connection: Any, _: object) -> None:
    # Transactions are begun by _begin_sqlite, not by the driver's guess.
    connection.isolation_level = None
    connection.execute(f"PRAGMA busy_timeout={PATIENCE * 1000}")


def _durable_sqlite(connection: Any, _: object) -> None:
    _patient_sqlite(connection, _)
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}")


def _begin_sqlite(connection: Connection) -> None:
    # A writer takes the lock at once: one that reads first and writes later may be refused halfway.
    for_writing = connection.get_execution_options().get("for_writing", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if for_writing else "BEGIN")


def _version(connection: Connection) -> str | None:
    """The version of the tables in a store, None if there are none."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    found = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    return None if found is None else str(found)


def _migrate(connection: Connection, url: str) -> None:
    # Imported here: it is needed once in the life of a store.
    from alembic.config import Config
    from alembic.runtime.environment import EnvironmentContext
    from alembic.script import ScriptDirectory

    if not is_sqlite(url):
        # Two processes that open a new store at once would both make its tables.
        connection.execute(text("SELECT pg_advisory_xact_lock(711)"))
    found = _version(connection)
    config = Config()
    config.set_main_option("script_location", os.fspath(Path(str(resources.files("onebit.store"))) / "migrations"))
    scripts = ScriptDirectory.from_config(config)
    known = {script.revision for script in scripts.walk_revisions()}
    if found is not None and found not in known:
        raise StoreError(
            f"the store {hidden_password(url)} has version {found}, made by a newer onebit; this one knows "
            f"{', '.join(sorted(known))}. Install the newer one"
        )
    if found is None and inspect(connection).get_table_names():
        raise StoreError(f"the database {hidden_password(url)} holds something else than studies; use another one")
    # Over our own connection, so that the migration is part of the transaction that looked at the version.
    with EnvironmentContext(config, scripts, fn=lambda version, _: scripts._upgrade_revs("head", version)) as run:
        run.configure(connection=connection, transactional_ddl=True)
        run.run_migrations()
