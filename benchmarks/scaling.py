"""How it grows: all of ``scaling_models``, ``_rows``, ``_cluster`` and ``_raters``, and then the default solver.

The solver is for classes up to 1e10 entries in memory and 1e11 in a mapped file, to a gap of 1e-4.
Each case runs in a process of its own, whose peak memory is reported; that of a mapped table counts the pages of the
file, which the system takes back when it needs them. Solving is compared with reading the packed table once in as many
threads. Then the last 1% of the samples count as new: the mixture for the others is the warm start of another solve.
Bits are those of ``clusters.py``; mapped ones lie in a nameless file in ONEBIT_SCRATCH, or where temporary files go.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial

import numpy as np
from benchmarks import scaling_cluster, scaling_models, scaling_raters, scaling_rows
from benchmarks.clusters import MIXED, WEAK, Words, empty_words, fill_clusters
from benchmarks.harness import Case, best_seconds, run_cases
from numba import njit
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from onebit.explore.corrective import Barrier, corrective_frank_wolfe
from onebit.explore.mixture import Mixture
from onebit.explore.solution import Solution
from onebit.hypotheses.on_sample import PackedOnSample
from onebit.kernels.bits import PackedTable, in_threads, n_tiles_for, words_shape

TOLERANCE, GAMMA, N_LABELS = 1e-4, 0.1, 10
#: Turns, and fewer where each takes minutes.
REPEATS, REPEATS_LARGE, LARGE = 5, 1, 2e10
#: Share of the disk that must stay free.
SPARE = 1.2
READ_GRAIN = 2**16


def cases() -> Iterator[Case]:
    sizes = [(100_000, 1_000), (100_000, 10_000), (1_000_000, 10_000), (100_000, 100_000)]
    for kind in ("mixed", "weak"):
        for n_hypotheses, n_samples in sizes:
            yield {"class": kind, "N": n_hypotheses, "m": n_samples, "mapped": False, "threads": 1}
        yield {"class": kind, "N": 1_000_000, "m": 10_000, "mapped": False, "threads": 2}
        yield {"class": kind, "N": 1_000_000, "m": 10_000, "mapped": True, "threads": 1}
    if has_room(10_000_000, 10_000):
        yield {"class": "weak", "N": 10_000_000, "m": 10_000, "mapped": True, "threads": 2}


def scratch() -> str:
    return os.environ.get("ONEBIT_SCRATCH") or tempfile.gettempdir()


def has_room(n_hypotheses: int, n_samples: int) -> bool:
    """Whether the disk has room for such a table, after saying so if not."""
    needed = SPARE * 8 * np.prod(words_shape(n_hypotheses, n_samples), dtype=np.float64)
    free = shutil.disk_usage(scratch()).free
    if free < needed:
        print(
            f"{scratch()} has {free / 1e9:.0f} GB free and the largest case needs {needed / 1e9:.0f}: it is skipped; "
        )
        print("set ONEBIT_SCRATCH to a folder with more")
    return bool(free >= needed)


def in_own_process(case: Case) -> Case:
    command = [sys.executable, "-m", "benchmarks.scaling", json.dumps(case)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    return json.loads(done.stdout)


def measure(case: Case) -> Case:
    n_hypotheses, n_samples, threads = case["N"], case["m"], case["threads"]
    words = mapped_words(n_hypotheses, n_samples) if case["mapped"] else empty_words(n_hypotheses, n_samples)
    fill_clusters(words, MIXED if case["class"] == "mixed" else WEAK, seed=0)
    n_before = n_samples - n_samples // 100
    before = solve(words[: n_tiles_for(n_before)], n_hypotheses, n_before, threads)
    repeats = REPEATS if n_hypotheses * n_samples < LARGE else REPEATS_LARGE
    cold_solve = partial(solve, words, n_hypotheses, n_samples, threads)
    warm_solve = partial(cold_solve, before.mixture)
    contestants = (partial(read_once, words, threads), cold_solve, warm_solve)
    with threadpool_limits(threads):
        cold, warm = cold_solve(), warm_solve()
        # They take turns, so that a busy machine disturbs all of them alike.
        turns = [[best_seconds(work, 1) for work in contestants] for _ in range(repeats)]
    read_seconds, cold_seconds, warm_seconds = np.min(turns, axis=0).tolist()
    return {
        "gap": cold.gap,
        "passes": cold.n_passes,
        "support": len(cold.mixture.hypotheses),
        "seconds": cold_seconds,
        "solve / read": cold_seconds / read_seconds,
        "warm gap": warm.gap,
        "warm passes": warm.n_passes,
        "warm / cold": warm_seconds / cold_seconds,
        "table, GB": words.nbytes / 1e9,
        "peak, GB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9,
    }


def solve(words: Words, n_hypotheses: int, n_samples: int, threads: int, start: Mixture | None = None) -> Solution:
    table = PackedTable.from_words(words, n_hypotheses, n_samples)
    names = np.arange(n_hypotheses)
    oracle = PackedOnSample(table, names, names, threads)
    return corrective_frank_wolfe(oracle, Barrier.of_paper(n_samples, GAMMA, N_LABELS), TOLERANCE, start=start)


def mapped_words(n_hypotheses: int, n_samples: int) -> Words:
    with tempfile.TemporaryFile(dir=scratch()) as file:
        return np.memmap(file, np.uint64, "w+", shape=words_shape(n_hypotheses, n_samples))


def read_once(words: Words, threads: int) -> None:
    flat = words.reshape(-1)
    in_threads(partial(_sum_words, flat), flat.size, threads, READ_GRAIN)


@njit(cache=True, nogil=True)
def _sum_words(words: Words, start: int, stop: int) -> np.uint64:
    total = np.uint64(0)
    for word in words[start:stop]:
        total += word
    return total


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(measure(json.loads(sys.argv[1]))))
    else:
        for part in (scaling_models, scaling_rows, scaling_cluster, scaling_raters):
            part.main()
        run_cases("scaling", cases(), in_own_process)
