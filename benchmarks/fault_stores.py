"""Stores that faults can be done to: an SQLite file, or a pair of PostgreSQL servers, on disks of their own."""

from __future__ import annotations

import asyncio
import contextlib
import random
import shutil
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Protocol

from benchmarks.fault_disks import disk, filled, flip, found_in, found_whole
from benchmarks.fault_postgres import Cluster, PostgresPair
from tests.proxies import CommitEater

#: Bits flipped at once in copies of an SQLite store.
N_FLIPS = 5
#: Which faults a store has, besides those that a server has on any.
Fault = Callable[[], Awaitable[None]]


class FaultyStore(Protocol):
    """A store and its faults: its URL, and that for the server; and what became of bits that were flipped."""

    @property
    def url(self) -> str: ...

    through: str
    flips: dict[str, int]

    def faults(self) -> dict[str, Fault]: ...

    async def mend(self, fault: str) -> None:
        """Bring back what a fault took away, when raters answer again."""

    def full_disk(self) -> contextlib.AbstractContextManager[None] | None:
        """While it is entered, the disk of the store is full; None if that cannot be had."""


class SqliteFile:
    """One file; ``still`` is entered while the server must not write."""

    def __init__(
        self, folder: Path, is_disk: bool, still: Callable[[], contextlib.AbstractContextManager[None]]
    ) -> None:
        self._folder, self._is_disk, self._still = folder, is_disk, still
        self._path = folder / "studies.db"
        self.url = self.through = f"sqlite:///{self._path}"
        self.flips: dict[str, int] = {}
        self._draw = random.Random(2)

    def faults(self) -> dict[str, Fault]:
        return {"bits flipped": self._flip}

    async def mend(self, fault: str) -> None:
        """Nothing was taken away."""

    def full_disk(self) -> contextlib.AbstractContextManager[None] | None:
        return filled(self._folder) if self._is_disk else None

    async def _flip(self) -> None:
        """Copies as a crash would leave them, each with one bit flipped in the store or its write-ahead log."""
        copies = self._folder.with_name("copies")
        shutil.rmtree(copies, ignore_errors=True)
        names = ["whole", *map(str, range(N_FLIPS))]
        with self._still():
            for name in names[:1]:
                self._copy(copies / name)
        for name in names[1:]:
            shutil.copytree(copies / "whole", copies / name)
            hurt = [
                path for path in (copies / name).iterdir() if path.suffix in (".db", ".db-wal") and path.stat().st_size
            ]
            flip(self._draw.choice(hurt), self._draw)
        whole = await asyncio.to_thread(found_whole, f"sqlite:///{copies}/whole/studies.db")
        for name in names[1:]:
            became = await asyncio.to_thread(found_in, f"sqlite:///{copies}/{name}/studies.db", whole)
            self.flips[became] = self.flips.get(became, 0) + 1
        shutil.rmtree(copies)

    def _copy(self, target: Path) -> None:
        target.mkdir(parents=True)
        for path in self._folder.glob("studies.db*"):
            if not path.name.endswith("-shm"):
                shutil.copy(path, target)


@contextlib.asynccontextmanager
async def faulty_store(
    kind: str, folder: Path, still: Callable[[], contextlib.AbstractContextManager[None]]
) -> AsyncIterator[FaultyStore]:
    """An empty store."""
    if kind == "sqlite":
        with disk(folder / "disk") as is_disk:
            yield SqliteFile(folder / "disk", is_disk, still)
        return
    with disk(folder / "a") as is_disk, disk(folder / "b"):
        first, second = Cluster(folder / "a"), Cluster(folder / "b")
        first.make()
        first.start()
        with CommitEater(first.socket) as proxy:
            pair = PostgresPair(first, second, is_disk, proxy)
            try:
                pair.pair()
                yield pair
            finally:
                for each in (first, second):
                    with contextlib.suppress(subprocess.CalledProcessError):
                        each.stop("immediate")
