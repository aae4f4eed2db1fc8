"""A consistent copy of a store, while it is written to: from any store, to any that is empty.

Links are copied with the hashes of their tokens, so that raters go on by the links they have when a copy takes the
store's place. A hash gives nobody a link: the token that it is of is 256 random bits.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Select, Table, func, insert, select, text

from onebit.errors import InvalidInputError
from onebit.store import schema
from onebit.store.database import is_sqlite, sqlite_path
from onebit.store.store import Store

#: Rows copied at a time.
AT_A_TIME = 1000
#: All tables of a store, each after those that it refers to.
TABLES = tuple(schema.metadata.sorted_tables)

Progress = Callable[[int, int], None]


def backup(storage: str, target: str, progress: Progress | None = None) -> int:
    """Copy all studies of a store, with their links and pauses, into a new file, or into an empty store; how many.

    ``target`` is a path or a URL. The copy is of one moment, and can be used as storage itself. A file appears when it
    is complete.
    """
    url = target if "://" in target else f"sqlite:///{target}"
    if not is_sqlite(url):
        return _copy(storage, url, progress)
    path = sqlite_path(url)
    if path.exists():
        raise InvalidInputError(f"{path} is there already; give another name, or move it away")
    part = path.with_name(f"{path.name}.part")
    _remove(part)
    try:
        n = _copy(storage, f"sqlite:///{part}", progress)
        os.replace(part, path)
    finally:
        _remove(part)
    return n


def _copy(storage: str, url: str, progress: Progress | None) -> int:
    with Store(storage) as source, Store(url) as target:
        with source.reading() as reads, target.writing() as writes:
            if _n_rows(writes):
                raise InvalidInputError("the target holds studies or links already; back up into an empty store")
            total, done = _n_rows(reads), 0
            for table in TABLES:
                with reads.execution_options(yield_per=AT_A_TIME).execute(_in_order(table)) as rows:
                    for part in rows.mappings().partitions():
                        writes.execute(insert(table), [dict(row) for row in part])
                        done += len(part)
                        if progress is not None:
                            progress(done, total)
            if writes.dialect.name == "postgresql":
                # The next study or link made there must not take a number that was copied.
                for name in ("studies", "links"):
                    writes.execute(text(f"SELECT setval('{name}_id_seq', (SELECT max(id) FROM {name}))"))
        return len(target.entries())


def _n_rows(connection: Connection) -> int:
    return sum(int(connection.execute(select(func.count()).select_from(table)).scalar_one()) for table in TABLES)


def _in_order(table: Table) -> Select[Any]:
    return select(table).order_by(*table.primary_key.columns)


def _remove(path: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
