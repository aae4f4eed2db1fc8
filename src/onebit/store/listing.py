"""How studies are listed: under which names, and which are put away. None of this is in a log or changes a study."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import delete, insert, update

from onebit.errors import InvalidInputError
from onebit.store.schema import archives, pauses, studies
from onebit.store.store import Store


def rename(store: Store, study_id: int, name: str) -> None:
    """Give a study another name; InvalidInputError if it is none, or another study has it."""
    if not name.strip():
        raise InvalidInputError("a study needs a name")
    taken = {entry.name: entry.id for entry in store.entries()}
    if taken.get(name, study_id) != study_id:
        raise InvalidInputError(f"another study is called {name!r} already; use another name")
    with store.writing() as connection:
        connection.execute(update(studies).where(studies.c.id == study_id).values(name=name))


def archive(store: Store, study_id: int, archived: bool) -> None:
    """Put a study away, which also pauses it; or list it again, and leave it paused until somebody goes on."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    with store.writing() as connection:
        connection.execute(delete(archives).where(archives.c.study_id == study_id))
        if archived:
            for table in (archives, pauses):
                connection.execute(delete(table).where(table.c.study_id == study_id))
                connection.execute(insert(table).values(study_id=study_id, since=now))
