"""Data frames of a million rows and 50 models: the time to read one, and the memory as a multiple of what it holds.

Each case runs in a process of its own, so that the largest memory is its own. "times the table" is all that the process
holds at most while it reads, the frame included and what it held before there was one left out, by what the columns
take in Arrow. Linux alone tells this.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from benchmarks.harness import Case, run_cases

N_ROWS, N_MODELS, N_LABELS = 1_000_000, 50, 150


def frame_of(kind: str, categories: bool) -> tuple[Any, float]:
    """A frame of texts, or of categories; and the megabytes that it has in Arrow."""
    rng = np.random.default_rng(0)
    names = pa.array([f"label number {k}" for k in range(N_LABELS)])
    columns = {}
    for h in range(N_MODELS):
        codes = pa.array(rng.integers(0, N_LABELS, N_ROWS, dtype=np.int32))
        columns[f"model {h}"] = pa.DictionaryArray.from_arrays(codes, names) if categories else names.take(codes)
    table = pa.table(columns)
    size = table.nbytes / 2**20
    if kind == "polars":
        import polars

        return polars.from_arrow(table), size
    return table.to_pandas(), size


def most_megabytes(since_now: bool = False) -> float:
    """The largest memory of this process so far, or from now on."""
    if since_now:
        Path("/proc/self/clear_refs").write_text("5")
    (line,) = (each for each in Path("/proc/self/status").read_text().splitlines() if each.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


def alone(kind: str, categories: bool) -> Case:
    """Read one frame in this process."""
    from onebit.tables import read_table

    read_table({"a": ["x", "y"], "b": ["y", "y"]})
    before = most_megabytes(since_now=True)
    frame, size = frame_of(kind, categories)
    most_megabytes(since_now=True)
    begin = time.perf_counter()
    table = read_table(frame)
    seconds = time.perf_counter() - begin
    assert table.predictions.shape == (N_MODELS, N_ROWS)
    most = most_megabytes() - before
    return {"read s": seconds, "table MB": size, "most MB": most, "times the table": most / size}


def measure(case: Case) -> Case:
    command = [sys.executable, "-m", "benchmarks.frames", case["frame"], case["columns"]]
    found: Case = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return found


def main() -> None:
    cases = [
        {"frame": kind, "columns": columns} for kind in ("pandas", "polars") for columns in ("texts", "categories")
    ]
    run_cases("frames", cases, measure)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(alone(sys.argv[1], sys.argv[2] == "categories")))
    else:
        main()
