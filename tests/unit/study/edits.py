"""Edits of a log by somebody who can write to the file or the database, and links written anew after them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from onebit.study.chain import AFTER, START, canonical, digest_of
from onebit.study.store import Store

Row = dict[str, Any]
Rows = list[Row]


def relinked(rows: Rows) -> Rows:
    """The same events, each with the digest of the one before it."""
    found, last = [], START
    for row in rows:
        found.append(row | {AFTER: last})
        last = digest_of(canonical(found[-1]))
    return found


def edit_store(store: Store, edit: Callable[[Rows], Rows], relinks: bool) -> None:
    """Put other events in the place of those of the first study."""
    with store.writing() as connection:
        found = connection.exec_driver_sql("SELECT event, writer, written_at FROM events ORDER BY seq").all()
        rows = edit([json.loads(row.event) for row in found])
        connection.exec_driver_sql("DELETE FROM events")
        mark = "?" if connection.dialect.name == "sqlite" else "%s"
        new = [
            (1, seq, json.dumps(row), found[0].writer, found[0].written_at)
            for seq, row in enumerate(relinked(rows) if relinks else rows)
        ]
        columns = "study_id, seq, event, writer, written_at"
        connection.exec_driver_sql(f"INSERT INTO events ({columns}) VALUES ({', '.join([mark] * 5)})", new)
