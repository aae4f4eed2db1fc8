"""The rows of a log: what each holds besides its event, writing them, and reading them back with every check.

The chain of digests covers the events. Who wrote a row and when is no part of it, so each row has a short digest of
that beside it: damage on the disk is noticed. It is no seal, since whoever changes a row can make its digest anew.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence

from sqlalchemy import Connection, select

from onebit.log.chain import Unchain
from onebit.log.events import Event, LogError, OtherVersionError
from onebit.store import schema

#: Events read from the database at a time.
AT_A_TIME = 10_000
#: Characters of a writer's name; rows of stores before 0.2.0 have nothing after it.
_WRITER = 32


def stamp(writer: str, written_at: str) -> str:
    """The writer of an event, with the digest of who wrote it when."""
    digest = hashlib.blake2b(f"{writer} {written_at}".encode(), digest_size=4).hexdigest()
    return f"{writer}:{digest}"


def writer_of(stamped: str) -> str:
    """Who wrote a row."""
    return stamped[:_WRITER]


def write_log(connection: Connection, study_id: int, first: int, texts: Sequence[str], stamped: str, now: str) -> None:
    """Insert events number ``first`` and on; the key refuses what is there already."""
    rows = [(study_id, first + i, event, stamped, now) for i, event in enumerate(texts)]
    mark = "?" if connection.dialect.name == "sqlite" else "%s"
    connection.exec_driver_sql(
        f"INSERT INTO events (study_id, seq, event, writer, written_at) VALUES ({', '.join([mark] * 5)})", rows
    )


def n_written(connection: Connection, study_id: int, first: int, texts: Sequence[str], writer: str) -> int:
    """How many of these events stand there already, written by this writer; 0 if there is anything else.

    Then the reply to a commit was lost, and not the commit. What came since is not there yet.
    """
    table = schema.events
    chosen = (table.c.study_id == study_id) & (table.c.seq >= first)
    query = select(table.c.seq, table.c.event, table.c.writer).where(chosen).order_by(table.c.seq)
    found = [(seq, event, writer_of(stamped)) for seq, event, stamped in connection.execute(query).all()]
    ours = [(first + i, event, writer) for i, event in enumerate(texts)]
    return len(found) if found == ours[: len(found)] else 0


def read_log(connection: Connection, study_id: int, unchain: Unchain) -> Iterator[tuple[int, str, Event]]:
    """The log of a study over an open connection: numbers, when they were written, events."""
    table = schema.events
    query = select(table.c.seq, table.c.written_at, table.c.event, table.c.writer).where(table.c.study_id == study_id)
    with connection.execution_options(yield_per=AT_A_TIME).execute(query.order_by(table.c.seq)) as rows:
        for expected, (seq, written_at, content, writer) in enumerate(rows):
            try:
                if seq != expected:
                    raise LogError(f"event {expected} is missing")
                # SQLite keeps the type with the value, and a flipped bit may change it.
                if not isinstance(content, str):
                    raise LogError("it is no text")
                event = unchain.take(content)
                _check_stamp(written_at, writer)
            except OtherVersionError:
                raise
            except (LogError, ValueError) as error:
                reason = str(error) if isinstance(error, LogError) else "it is not JSON"
                raise LogError(
                    f"event {seq} of the study: {reason}. The store was changed after it was written; restore a backup"
                ) from error
            yield seq, written_at, event


def _check_stamp(written_at: object, writer: object) -> None:
    if not isinstance(written_at, str) or not isinstance(writer, str):
        raise LogError("who wrote it, or when, is no text")
    if len(writer) != _WRITER and writer != stamp(writer_of(writer), written_at):
        raise LogError("who wrote it, or when, is damaged")
