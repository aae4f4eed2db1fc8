"""Backups by the clock: a new one in a folder, held against the store, before any old one goes."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from onebit.errors import InvalidInputError
from onebit.store.backup import backup
from onebit.store.database import StoreError, is_sqlite, sqlite_path
from onebit.store.store import Store
from onebit.study.checking import Health, check_store

#: Names of the files that are made here; no other file is ever deleted.
_NAME = re.compile(r"onebit-\d{8}T\d{6}Z\.db")


def now() -> str:
    """The time, as it stands in the names of files."""
    return f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}"


def back_up(storage: str, target: str, progress: Callable[[int, int], None] | None = None) -> list[Health]:
    """Copy all studies to a new file or an empty store, and read the copy again; StoreError unless it is whole.

    A study that was answered meanwhile may have more events than its copy, and never fewer.
    """
    with Store(storage) as store:
        before = {entry.name: entry.n_events for entry in store.entries()}
    backup(storage, target, progress)
    url = target if "://" in target else f"sqlite:///{target}"
    found = check_store(url)
    if is_sqlite(url):
        # Looking at the copy left them there, empty; nobody else knows of it yet.
        for suffix in ("-wal", "-shm"):
            Path(f"{sqlite_path(url)}{suffix}").unlink(missing_ok=True)
    have = {each.name: each.n_events for each in found}
    faults = [f"{each.name}: {each.problem}" for each in found if each.problem is not None]
    faults += [f"{name}: {have.get(name, 0):,} of {n:,} events" for name, n in before.items() if have.get(name, 0) < n]
    if faults:
        raise StoreError(
            f"the backup {target} was written, and is not whole: {'; '.join(faults)}. Keep the backups that you have, "
            "and see what onebit study check says of the store"
        )
    return found


def back_up_into(
    storage: str, folder: Path, keep: int, progress: Callable[[int, int], None] | None = None
) -> tuple[Path, list[Health]]:
    """A new backup in a folder, named by the time; when it is whole, all but the newest ``keep`` of them are deleted.

    Files with other names stay.
    """
    if not folder.is_dir():
        raise InvalidInputError(f"{folder} is no folder; make it first")
    target = folder / f"onebit-{now()}.db"
    found = back_up(storage, str(target), progress)
    mine = sorted(path for path in folder.iterdir() if _NAME.fullmatch(path.name))
    for old in mine[:-keep]:
        old.unlink()
    return target, found
