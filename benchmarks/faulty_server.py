"""``onebit serve`` that dies where it is told to, and whose clock can be set: ``python -m benchmarks.faulty_server``.

``FAULTS`` names a folder. A file ``die at`` there holds the name of a point of a write: whoever comes to that point
removes the file, and the process is killed. Before something is torn, all other processes of this server and of those
before it are, as by a loss of power: one that lived on would have seen what is no longer there. A file ``clock`` holds
by how many seconds the clock on the wall is off.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import struct
import subprocess
import time
from collections.abc import Callable
from datetime import datetime, timedelta, tzinfo
from pathlib import Path
from typing import Any

from onebit.cli.main import main
from onebit.store import locks
from onebit.store import store as stores
from onebit.store.commit import GroupCommit
from onebit.store.database import is_sqlite, sqlite_path
from onebit.web import access

#: The points of a write, in their order; see ``label``.
POINTS = ("queued", "locked", "inserted", "committed", "noted", "published")
#: An end of the write-ahead log that was half written, or half of the line beside the store: SQLite's alone.
PARTIAL = ("log torn", "note torn")


def holds_files(process: Path) -> bool:
    """Whether a process of this folder of /proc still has files open: one that has ended has none."""
    try:
        return any((process / "fd").iterdir())
    except OSError:
        return False


class Points:
    """Where the process dies, if it was told so."""

    def __init__(self, folder: Path) -> None:
        self._wish = folder / "die at"

    def is_wanted(self, point: str) -> bool:
        try:
            return self._wish.read_text() == point
        except FileNotFoundError:
            return False

    def die(self) -> None:
        self._wish.unlink(missing_ok=True)
        os.kill(os.getpid(), signal.SIGKILL)

    def kill_others(self) -> None:
        """Kill who makes forecasts, for this server or for one that was killed before it, and wait until they are gone.

        One that is killed lives on until it is scheduled, and one that is looked for may begin another meanwhile.
        Whoever opens the store while any of them holds it takes its word for what is in the write-ahead log.
        """
        seen: set[Path] = set()
        while True:
            others = {each for each in Path("/proc").glob("[0-9]*") if self._is_other(each)}
            for process in others:
                with contextlib.suppress(OSError):
                    os.kill(int(process.name), signal.SIGKILL)
            seen |= others
            if not others and not any(map(holds_files, seen)):
                return
            time.sleep(0.01)

    def _is_other(self, process: Path) -> bool:
        """Whether it is another process of these servers, which has not ended: one that has, has no environment."""
        mark = f"FAULTS={self._wish.parent}\0".encode()
        with contextlib.suppress(OSError):
            return int(process.name) != os.getpid() and mark in (process / "environ").read_bytes()
        return False

    def reach(self, point: str) -> None:
        if self.is_wanted(point):
            self.die()


def label(points: Points) -> None:
    """Put the points into the way of a write."""
    wait, append, insert, attempt = GroupCommit.wait, stores.Store.append, stores.Store._insert, stores.Store._append
    note = locks._FileLock.note

    def waiting(self: GroupCommit, ticket: int) -> None:
        points.reach("queued")
        wait(self, ticket)
        points.reach("published")

    def appending(self: stores.Store, *given: Any) -> str:
        written = append(self, *given)
        points.reach("noted")
        return written

    def attempting(self: stores.Store, *given: Any) -> str:
        points.reach("locked")
        before = frames_of(self.url) if points.is_wanted("log torn") else None
        written = attempt(self, *given)
        points.reach("committed")
        if before is not None:
            points.kill_others()
            if tear(self.url, before):
                points.die()
        return written

    def inserting(self: stores.Store, *given: Any) -> None:
        insert(self, *given)
        points.reach("inserted")

    def noting(self: Any, head: Any) -> None:
        if points.is_wanted("note torn"):
            os.pwrite(self._file, f"{head.n_events} {head.digest}"[: random.randrange(1, 60)].encode(), 0)
            points.die()
        note(self, head)

    replaced: list[tuple[Any, str, Callable[..., Any]]] = [
        (GroupCommit, "wait", waiting),
        (stores.Store, "append", appending),
        (stores.Store, "_append", attempting),
        (stores.Store, "_insert", inserting),
        (locks._FileLock, "note", noting),
    ]
    for owner, name, function in replaced:
        setattr(owner, name, function)


def frames_of(url: str) -> tuple[int, int]:
    """How many pages the write-ahead log of an SQLite store holds, and how many of them are in the store already."""
    shared = sqlite_path(url).with_name(f"{sqlite_path(url).name}-shm") if is_sqlite(url) else None
    if shared is None or not shared.exists():
        return 0, 0
    # In a process of its own: who closes this file drops all locks that its process has on it, and the next process
    # that opens the store would make the index of the write-ahead log anew under the server.
    content = subprocess.run(["head", "-c", "104", shared], capture_output=True, check=True).stdout
    return struct.unpack_from("=I", content, 16)[0], struct.unpack_from("=I", content, 96)[0]


def tear(url: str, before: tuple[int, int]) -> bool:
    """Undo a random part of the last write to the write-ahead log, up to its end; whether it was to be had.

    Nobody was told of that write. One whose pages went on into the store was on the disk before, and cannot be torn.
    """
    if not is_sqlite(url):
        return False
    path = sqlite_path(url)
    n_frames, n_moved = frames_of(url)
    first = before[0] if before[0] < n_frames else 0
    if n_moved > first:
        return False
    with path.with_name(f"{path.name}-wal").open("r+b") as log:
        page = struct.unpack(">I", log.read(12)[8:12])[0] + 24
        begin, end = 32 + first * page, 32 + n_frames * page
        cut = random.randrange(begin, end)
        log.seek(cut)
        log.write(bytes(end - cut))
    return True


class SetClock(datetime):
    """The clock on the wall, as somebody set it."""

    file: Path

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
        seconds = float(cls.file.read_text()) if cls.file.exists() else 0.0
        return datetime.now(tz) + timedelta(seconds=seconds)


if __name__ == "__main__":
    folder = Path(os.environ["FAULTS"])
    label(Points(folder))
    SetClock.file = folder / "clock"
    access.datetime = stores.datetime = SetClock  # type: ignore[attr-defined]
    main()
