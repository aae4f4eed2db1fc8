"""Passes over a table in 8 shards: two workers of a Dask cluster beside one process, a worker killed, a scheduler lost.

2,000 models on 40,000 items, in ONEBIT_SCRATCH or where temporary files go. Seconds are those of the clock, since
workers are processes of their own; "same" says whether the numbers are those of one process, to the last bit. After the
scheduler is lost one process goes on from what was done, "shards kept", and its seconds are those of the rest.
"""

from __future__ import annotations

import json
import os
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as arrow_parquet
from benchmarks.harness import Case, run_cases
from benchmarks.scaling_models import N_LABELS, make_table
from distributed import Client, LocalCluster
from numpy.typing import NDArray
from tests.unit.passes.test_cluster import cluster, once

from onebit.passes import EngineLostError, ShardedTable

N_MODELS, N_ITEMS, N_SHARDS, GROUP = 2_000, 40_000, 8, 1_000
MODELS = [f"m{h}" for h in range(N_MODELS)]


def cases() -> Iterator[Case]:
    for work in ("votes", "agreement"):
        for killed in ("nobody", "a worker", "the scheduler"):
            yield {"pass": work, "workers": 2, "killed": killed}


def write(folder: Path) -> None:
    said, y = make_table(N_MODELS, N_ITEMS)
    for number, items in enumerate(np.array_split(np.arange(N_ITEMS), N_SHARDS)):
        lists = pa.FixedSizeListArray.from_arrays(pa.array(said[:, items].T.ravel()), N_MODELS)
        names = {"models": json.dumps(MODELS)}
        table = pa.table({"y": y[items], "outputs": lists}).replace_schema_metadata(names)
        arrow_parquet.write_table(table, folder / f"{number}.parquet", row_group_size=GROUP)


def passes() -> dict[str, Callable[[ShardedTable], NDArray[np.number]]]:
    rng = np.random.default_rng(2)
    x, y, weight = np.arange(N_ITEMS), rng.integers(0, N_LABELS, N_ITEMS), rng.normal(size=N_ITEMS)
    return {"votes": ShardedTable.votes, "agreement": lambda table: table.agreement(x, y, weight)}


def measure(case: Case) -> Case:
    return without_scheduler(case) if case["killed"] == "the scheduler" else with_cluster(case)


def without_scheduler(case: Case) -> Case:
    """A pass whose engine is gone in the middle, and the same call again."""
    work, scratch = passes()[case["pass"]], os.environ.get("ONEBIT_SCRATCH")
    with tempfile.TemporaryDirectory(dir=scratch) as folder, tempfile.TemporaryDirectory(dir=scratch) as aside:
        write(Path(folder))
        start = time.perf_counter()
        expected = work(ShardedTable(folder, N_LABELS, models=MODELS))
        one_process = time.perf_counter() - start
        done, error = Path(aside) / "done", ""
        with cluster(Path(aside), n_workers=2) as (client, scheduler):
            there = ShardedTable(folder, N_LABELS, models=MODELS, executor=client.get_executor(), done=done)
            once(lambda: any(done.rglob("shard-*.npz")), scheduler.kill)
            try:
                work(there)
            except EngineLostError as lost:
                error = str(lost)
        n_kept = len(list(done.rglob("shard-*.npz")))
        start = time.perf_counter()
        found = work(ShardedTable(folder, N_LABELS, models=MODELS, done=done))
        seconds = time.perf_counter() - start
    ratio, same = seconds / one_process, bool((found == expected).all())
    return {"seconds": seconds, "cluster / one process": ratio, "same": same, "shards kept": n_kept, "error": error}


def with_cluster(case: Case) -> Case:
    """A pass by two workers, of which one may be killed in the middle."""
    work = passes()[case["pass"]]
    scratch = os.environ.get("ONEBIT_SCRATCH")
    with tempfile.TemporaryDirectory(dir=scratch) as folder, LocalCluster(n_workers=2, threads_per_worker=1) as two:
        write(Path(folder))
        with Client(two) as client:
            there = ShardedTable(folder, N_LABELS, models=MODELS, executor=client.get_executor())
            alone = ShardedTable(folder, N_LABELS, models=MODELS)
            # What is compiled, is compiled before.
            work(there)
            start = time.perf_counter()
            expected = work(alone)
            one_process = time.perf_counter() - start
            if case["killed"] == "a worker":
                pid = next(iter(client.run(os.getpid).values()))
                threading.Timer(one_process / 4, os.kill, (pid, signal.SIGKILL)).start()
            start = time.perf_counter()
            found = work(there)
            seconds = time.perf_counter() - start
    return {
        "seconds": seconds,
        "cluster / one process": seconds / one_process,
        "same": bool((found == expected).all()),
    }


def main() -> None:
    run_cases("scaling_cluster", cases(), measure, unprinted=("error",))


if __name__ == "__main__":
    main()
