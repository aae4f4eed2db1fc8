"""A Dask cluster as the engine: the same numbers, a worker killed in the middle, a scheduler lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import dask
import numpy as np
import pytest
from distributed import Client
from tests.unit.passes.shards import random_said, write_shards

from onebit.passes import EngineLostError, ShardedTable, open_workers
from onebit.passes.engine import DoneShards, Sums, run_pass
from onebit.records import Setting
from onebit.study.kinds.selection.imagining import Table
from onebit.study.kinds.selection.rehearsal import rehearse

SAID = random_said(n_items=160)
MODELS = [f"m{h}" for h in range(SAID.shape[0])]
N_SHARDS = 8


def slowly(shard: int, folder: Path) -> Sums:
    """Leaves a file that says which process did it."""
    (folder / f"{shard}-{os.getpid()}").touch()
    time.sleep(0.4)
    return (np.array([shard]),)


@contextmanager
def cluster(folder: Path, n_workers: int) -> Iterator[tuple[Client, subprocess.Popen[bytes]]]:
    """A scheduler and workers, each a process of its own."""
    told = folder / "scheduler.json"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, sys.path))}
    common = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": environment}
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--port", "0", "--no-dashboard"]
    processes = [subprocess.Popen([*command, "--scheduler-file", str(told)], **common)]  # type: ignore[call-overload]
    worker = [sys.executable, "-m", "distributed.cli.dask_worker", "--no-nanny", "--nthreads", "1", "--no-dashboard"]
    start = partial(subprocess.Popen, [*worker, "--scheduler-file", str(told)], **common)
    processes += [start() for _ in range(n_workers)]
    try:
        with (
            dask.config.set({"distributed.comm.timeouts.connect": "2s"}),
            Client(scheduler_file=str(told), timeout="60s", set_as_default=False) as client,
        ):
            client.wait_for_workers(n_workers, timeout=60)
            yield client, processes[0]
    finally:
        for process in processes:
            process.kill()
            process.wait()


def once(is_so: Callable[[], bool], act: Callable[[], object]) -> None:
    """Act as soon as something is so, in a thread of its own."""

    def watch() -> None:
        while not is_so():
            time.sleep(0.01)
        act()

    threading.Thread(target=watch, daemon=True).start()


def numbers(found: list[Sums]) -> list[int]:
    return [int(sums[0][0]) for sums in found]


def test_a_cluster_that_loses_a_worker_and_then_its_scheduler(tmp_path: Path) -> None:
    """One cluster for three acts, since it takes seconds to start."""
    write_shards(tmp_path / "t", SAID, N_SHARDS, 10)
    alone = ShardedTable(tmp_path / "t", 4, models=MODELS)
    x, y, weight = np.arange(160), SAID[1].clip(0), np.random.default_rng(0).normal(size=160)
    seen = tmp_path / "seen"
    seen.mkdir()
    with cluster(tmp_path, n_workers=2) as (client, scheduler):
        with open_workers(client.scheduler.address) as executor:
            there = ShardedTable(tmp_path / "t", 4, models=MODELS, executor=executor)
            assert there.agreement(x, y, weight).tolist() == alone.agreement(x, y, weight).tolist()
            assert there.votes().tolist() == alone.votes().tolist()
            # A sweep on the same engine.
            table, setting = Table(SAID[:, :60], 4), Setting(0.2, 0.05, "one-shot")
            assert rehearse(table, setting, executor=executor) == rehearse(table, setting)

        pids = list(client.run(os.getpid).values())
        once(lambda: any(seen.glob(f"*-{pids[0]}")), partial(os.kill, pids[0], signal.SIGKILL))
        found = run_pass(partial(slowly, folder=seen), range(N_SHARDS), client.get_executor())
        assert numbers(found) == list(range(N_SHARDS))
        assert len(list(seen.iterdir())) > N_SHARDS, "nothing was lost with the worker"

        done = DoneShards(tmp_path / "done", "pass")
        once(lambda: any(done.folder.glob("shard-*")), scheduler.kill)
        with pytest.raises(EngineLostError, match="call again: it goes on"):
            run_pass(partial(slowly, folder=seen), range(N_SHARDS), client.get_executor(), done)
    n_done = len(list(done.folder.glob("shard-*")))
    assert 0 < n_done < N_SHARDS
    again = tmp_path / "again"
    again.mkdir()
    found = run_pass(partial(slowly, folder=again), range(N_SHARDS), None, done)
    assert numbers(found) == list(range(N_SHARDS))
    assert len(list(again.iterdir())) == N_SHARDS - n_done
