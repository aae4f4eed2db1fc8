"""Two PostgreSQL servers, one of which can take the place of the other, and what can happen to them."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import shutil
import subprocess
from collections.abc import Awaitable, Callable
from importlib import import_module
from pathlib import Path

from benchmarks.fault_disks import filled, flip, found_in, found_whole
from tests.proxies import CommitEater

#: Replies to COMMIT that are lost at once, and writes that are torn.
N_REPLIES = 3


class Cluster:
    """One PostgreSQL server with checksums of its pages, from the wheel ``pgserver``."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.data = folder, folder / "data"
        self._bin: Path = import_module("pgserver._commands").POSTGRES_BIN_PATH
        self._user: str | None = None
        if os.geteuid() == 0:
            # PostgreSQL does not run for the administrator.
            utils = import_module("pgserver.utils")
            self._user = "pgserver"
            utils.ensure_user_exists(self._user)
            utils.ensure_prefix_permissions(folder)
            shutil.chown(folder, self._user, self._user)

    @property
    def socket(self) -> str:
        return f"{self.folder}/.s.PGSQL.5432"

    @property
    def url(self) -> str:
        return f"postgresql://postgres:@/postgres?host={self.folder}"

    def run(self, program: str, *given: str) -> None:
        command = [str(self._bin / program), "-D", str(self.data), *given]
        subprocess.run(command, check=True, user=self._user, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def make(self) -> None:
        self.run("initdb", "--data-checksums", "--auth=trust", "-U", "postgres")
        settings = "min_wal_size=32MB\nmax_wal_size=64MB\nwal_keep_size=64MB\nshared_buffers=32MB\n"
        with (self.data / "postgresql.conf").open("a") as file:
            file.write(settings)

    def copy(self, other: Cluster, *more: str) -> None:
        """Become a copy of a server that runs."""
        shutil.rmtree(self.data, ignore_errors=True)
        self.run("pg_basebackup", "-h", str(other.folder), "-U", "postgres", "--checkpoint=fast", *more)

    def start(self) -> None:
        options = f'-h "" -k {self.folder}'
        self.run("pg_ctl", "-w", "-t", "60", "-o", options, "-l", str(self.data / "log"), "start")

    def stop(self, mode: str) -> None:
        self.run("pg_ctl", "-w", "-m", mode, "stop")

    def tell(self, statement: str) -> list[tuple[object, ...]]:
        import psycopg

        with psycopg.connect(self.url, autocommit=True) as connection:
            found = connection.execute(statement)
            return found.fetchall() if found.description else []


class PostgresPair:
    """A server, and another that has everything that was committed there and can take its place.

    ``onebit`` comes to it over a proxy that goes wherever the first of the two is.
    """

    def __init__(self, first: Cluster, second: Cluster, is_disk: bool, proxy: CommitEater) -> None:
        self._first, self._second, self._is_disk, self._proxy = first, second, is_disk, proxy
        self.through = f"postgresql://postgres:@127.0.0.1:{proxy.port}/postgres"
        self.flips: dict[str, int] = {}
        self._draw = random.Random(2)

    @property
    def url(self) -> str:
        return self._first.url

    def faults(self) -> dict[str, Callable[[], Awaitable[None]]]:
        return {
            "database hung up": self._hang_up,
            "database restarted": self._restart,
            "database killed": self._kill,
            "database failed over": self._fail_over,
            "COMMIT replies lost": self._lose_replies,
            "writes torn": self._tear,
            "bits flipped": self._flip,
        }

    def full_disk(self) -> contextlib.AbstractContextManager[None] | None:
        return filled(self._first.folder) if self._is_disk else None

    async def _hang_up(self) -> None:
        others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
        await asyncio.to_thread(self._first.tell, f"{others} AND backend_type = 'client backend'")

    async def _restart(self) -> None:
        await asyncio.to_thread(self._first.stop, "fast")
        await asyncio.to_thread(self._first.start)

    async def _kill(self) -> None:
        await asyncio.to_thread(self._first.stop, "immediate")
        await asyncio.to_thread(self._first.start)

    async def _fail_over(self) -> None:
        await asyncio.to_thread(self._first.stop, "immediate")
        self._first, self._second = self._second, self._first
        await asyncio.to_thread(self._first.run, "pg_ctl", "-w", "promote")
        await asyncio.to_thread(self._wait_for_standby, False)
        self._proxy.server = self._first.socket

    async def mend(self, fault: str) -> None:
        if fault == "database failed over":
            await asyncio.to_thread(self.pair)
        if fault == "disk full":
            # A server that could not even write that it stops does not come back by itself.
            with contextlib.suppress(subprocess.CalledProcessError):
                await asyncio.to_thread(self._first.start)

    def pair(self) -> None:
        """Make the second server a copy that is always as far as the first."""
        self._second.copy(self._first, "-R", "-X", "stream")
        self._second.start()
        self._wait_for_standby(True)

    def _wait_for_standby(self, wanted: bool) -> None:
        """Whether a commit waits until the other server has it, too."""
        self._first.tell(f"ALTER SYSTEM SET synchronous_standby_names = '{'*' if wanted else ''}'")
        self._first.tell("SELECT pg_reload_conf()")
        while wanted and not self._first.tell("SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'"):
            self._first.tell("SELECT pg_sleep(0.1)")

    async def _lose_replies(self) -> None:
        self._proxy.hungry = N_REPLIES
        await _until(lambda: self._proxy.hungry == 0)

    async def _tear(self) -> None:
        self._proxy.tearing = N_REPLIES
        await _until(lambda: self._proxy.tearing == 0)

    async def _flip(self) -> None:
        await asyncio.to_thread(self._flip_in_copy)

    def _flip_in_copy(self) -> None:
        """A copy of the server with one bit flipped in what belongs to the studies."""
        folder = self._first.folder.with_name("copy")
        folder.mkdir(exist_ok=True)
        copy = Cluster(folder)
        copy.copy(self._first, "-X", "stream")
        copy.start()
        copy.tell("ALTER SYSTEM RESET synchronous_standby_names")
        whole = found_whole(copy.url)
        tables = "'studies', 'events', 'blocks', 'studies_pkey', 'events_pkey', 'blocks_pkey'"
        with_texts = f"SELECT oid FROM pg_class WHERE relname IN ({tables})"
        texts = f"SELECT reltoastrelid FROM pg_class WHERE relname IN ({tables}) AND reltoastrelid <> 0"
        paths = copy.tell(f"SELECT pg_relation_filepath(oid) FROM pg_class WHERE oid IN ({with_texts} UNION {texts})")
        copy.stop("fast")
        files = [copy.data / str(path) for (path,) in paths]
        flip(self._draw.choice([path for path in files if path.stat().st_size]), self._draw)
        copy.start()
        became = found_in(copy.url, whole)
        copy.stop("immediate")
        self.flips[became] = self.flips.get(became, 0) + 1
        shutil.rmtree(folder)


async def _until(is_done: Callable[[], bool], seconds: float = 30.0) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            while not is_done():
                await asyncio.sleep(0.02)
