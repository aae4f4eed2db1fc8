"""Reading what can still be read of a store that is damaged, row by row, without changing anything."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from sqlalchemy import Table, text

from onebit.errors import OnebitError
from onebit.log.chain import Unchain, unlinked
from onebit.log.events import Created, Event, LogError
from onebit.log.fold import Course
from onebit.store import schema
from onebit.store.store import Store

#: A row of a table by the names of its columns.
Fields = dict[str, Any]
#: Where the number of a study stands.
_NUMBERS = (("studies", "id"), ("events", "study_id"))


class Salvage:
    """The rows of a store that could be read."""

    def __init__(self, storage: str) -> None:
        with Store(storage, untouched=True) as store:
            self._rows = {table.name: _readable(store, table) for table in schema.metadata.sorted_tables}

    def rows(self, table: str) -> list[Fields]:
        return list(self._rows[table].values())

    def study(self, study_id: int) -> Fields | None:
        """The row of a study, if it can be read and understood."""
        row = self._rows["studies"].get((study_id,))
        try:
            return row if row is not None and isinstance(json.loads(row["about"]), dict) else None
        except (TypeError, ValueError):
            return None

    def numbers(self) -> list[int]:
        """The numbers of all studies of which anything is there."""
        return sorted({row[key] for table, key in _NUMBERS for row in self._rows[table].values()})

    def log(self, study_id: int) -> dict[int, Fields]:
        """The rows of a log, by their numbers."""
        return {row["seq"]: row for row in self._rows["events"].values() if row["study_id"] == study_id}

    def blocks(self, study_id: int) -> dict[tuple[str, int], Fields]:
        """The blocks of a study, by kind and number."""
        mine = (row for row in self._rows["blocks"].values() if row["study_id"] == study_id)
        return {(row["kind"], row["number"]): row for row in mine}


def sound_beginning(rows: dict[int, Fields]) -> list[Fields]:
    """The rows of a log, from the first to the last that follows the one before and can have happened."""
    unchain, course = Unchain(), None
    sound: list[Fields] = []
    while (row := rows.get(len(sound))) is not None:
        try:
            event: Event = unchain.take(row["event"])
            if isinstance(event, Created):
                course = Course(event)
            elif course is not None:
                course.take(event)
        except (LogError, ValueError, TypeError):
            break
        sound.append(row)
    return sound


def begins_alike(one: dict[int, Fields], other: dict[int, Fields]) -> bool:
    """Whether two logs are of the same study, as far as their first events can be read."""
    first = [rows[0]["event"] for rows in (one, other) if 0 in rows]
    try:
        events = [unlinked(each)[0] for each in first]
    except (LogError, ValueError, TypeError):
        return len(first) == 2
    return len(events) < 2 or events[0] == events[1]


def _readable(store: Store, table: Table) -> dict[tuple[Any, ...], Fields]:
    """Rows by their keys, from both ends and past the index: a page that is damaged stops each way elsewhere."""
    keys = [column.name for column in table.primary_key.columns]
    found: dict[tuple[Any, ...], Fields] = {}
    for query in _ways(table, keys, store.url.startswith("sqlite")):
        for row in _until_damage(store, query):
            found.setdefault(tuple(row[key] for key in keys), row)
    return found


def _ways(table: Table, keys: list[str], is_sqlite: bool) -> Iterator[str]:
    for direction in ("", " DESC"):
        order = ", ".join(f"{key}{direction}" for key in keys)
        yield f"SELECT * FROM {table.name} ORDER BY {order}"
        if is_sqlite:
            yield f"SELECT * FROM {table.name} NOT INDEXED ORDER BY rowid{direction}"


def _until_damage(store: Store, query: str) -> Iterator[Fields]:
    with suppress(OnebitError), store.reading() as connection:
        for row in connection.execution_options(yield_per=1).execute(text(query)).mappings():
            yield dict(row)
