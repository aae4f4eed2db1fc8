"""A selection from tables that nothing can hold: 10,000 models on a thousand to a billion items, and in Parquet.

The rows of a million items lie in files, as lists of 10,000 int16 each (20 GB; compressed on the disk, and removed
afterwards), in ONEBIT_SCRATCH or where temporary files go. The others are made when they are asked for, by the
rule that made the files. Rows are drawn and a selection run on them as a stream; seconds are those of the processor.
Files are also gone through whole, once, for what they show without a label ("pass").
The table in files is written by a process of its own, so that the peak is that of whoever selects; what was written
before it was stopped is not written again. ONEBIT_TABLE, as in 1000x100000, sets other numbers of models and rows.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as arrow_parquet
from benchmarks.harness import Case, run_cases
from benchmarks.scaling_models import EPS, N_LABELS, peak_gb
from numpy.typing import NDArray

from onebit.hypotheses.finite import PredictionTable
from onebit.learners.certified import CertifiedLearner
from onebit.learners.items import Stream
from onebit.passes import survey
from onebit.randomness import generator
from onebit.records import Answer
from onebit.tables.drawing import draw
from onebit.tables.formats import Progress
from onebit.tables.parquet_rows import MODELS, OUTPUTS, ParquetRows, said_by

N_MODELS, N_FILES, GROUP = 10_000, 8, 64
#: Models and rows of the table in files.
IN_FILES = os.environ.get("ONEBIT_TABLE", f"{N_MODELS}x1000000")
#: Patterns of who is right, of which each row has one.
N_PATTERNS = 2048
#: Rows that are drawn for a run; it ends long before.
N_DRAWN = 10_000


class SimulatedRows:
    """A table of so many rows, each of which is made when it is asked for."""

    def __init__(self, n_models: int, n_rows: int) -> None:
        self.n_models, self.n_rows, self.place = n_models, n_rows, f"{n_rows:,} simulated rows"

    @cached_property
    def _wrong_by(self) -> NDArray[np.int16]:
        """(N_PATTERNS, N): 0 where a model is right, else what is added to the right label."""
        rng = np.random.default_rng(1)
        share = rng.uniform(0.4, 0.8, self.n_models).astype(np.float32)
        wrong = rng.integers(1, N_LABELS, (N_PATTERNS, self.n_models), dtype=np.int16)
        wrong[rng.random(wrong.shape, dtype=np.float32) < share] = 0
        return wrong

    def take(self, rows: NDArray[np.int64], progress: Progress | None = None) -> pa.Table:
        # A different pattern and right label for each row, in no order.
        mixed = (rows.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(33)
        y = ((mixed // np.uint64(N_PATTERNS)) % np.uint64(N_LABELS)).astype(np.int16)
        said = self._wrong_by[(mixed % np.uint64(N_PATTERNS)).astype(np.int64)] + y[:, None]
        said[said >= N_LABELS] -= N_LABELS
        lists = pa.FixedSizeListArray.from_arrays(pa.array(said.ravel()), self.n_models)
        return pa.table({"y": y, OUTPUTS: lists}).replace_schema_metadata({MODELS: self._names})

    @cached_property
    def _names(self) -> str:
        return json.dumps([f"m{h}" for h in range(self.n_models)])


def write(folder: Path, n_models: int, n_rows: int) -> None:
    """The rows as a folder of Parquet files, of which one row group at a time is in memory."""
    rows = SimulatedRows(n_models, n_rows)
    for number, part in enumerate(np.array_split(np.arange(n_rows), N_FILES)):
        path = folder / f"{number}.parquet"
        if path.exists():
            continue
        schema, unfinished = rows.take(part[:1]).schema, path.with_suffix(".part")
        with arrow_parquet.ParquetWriter(unfinished, schema, compression="zstd") as file:
            for begin in range(0, part.size, GROUP):
                file.write_table(rows.take(part[begin : begin + GROUP]), row_group_size=GROUP)
        unfinished.replace(path)


def cases() -> Iterator[Case]:
    for n_rows in (1_000, 10_000, 100_000, 1_000_000, 1_000_000_000):
        yield {"models": N_MODELS, "rows": n_rows, "from": "a generator"}
    n_models, n_rows = map(int, IN_FILES.split("x"))
    yield {"models": n_models, "rows": n_rows, "from": "files"}


class RawRows(ParquetRows):
    """Rows of files as lists, since a column for each of 10,000 models is only wanted by raters."""

    def take(self, rows: NDArray[np.int64], progress: Progress | None = None) -> pa.Table:
        return self.take_raw(rows, progress)


def run_here(source: SimulatedRows | RawRows, seed: int) -> Case:
    """Draw, and select as a stream, with right labels for raters."""
    start = time.process_time()
    drawn = draw(source, N_DRAWN, seed)
    said = said_by(drawn, json.loads(drawn.schema.metadata[MODELS]), None, source.place)
    y, seconds = drawn["y"].to_numpy(), time.process_time() - start
    order = generator(seed, "stream order").permutation(N_DRAWN)
    learner = CertifiedLearner(PredictionTable(said, N_LABELS), Stream(order.tolist()), eps=EPS, seed=seed)
    while isinstance(questions := learner.ask(100), tuple):
        for each in questions:
            learner.tell(each.id, Answer.YES if y[order[each.item]] == each.label else Answer.NO)
    result = learner.result
    return {
        "drawing, s": seconds,
        "all, s": time.process_time() - start,
        "answers": result.n_answers,
        "rows used": result.n_rounds,
        "eps": result.achieved_eps,
        "peak, GB": peak_gb(),
    }


def measure(case: Case) -> Case:
    if case["from"] == "a generator":
        return in_own_process({**case, "folder": None})
    scratch = Path(os.environ.get("ONEBIT_SCRATCH") or tempfile.gettempdir())
    folder = scratch / f"onebit-{case['models']}x{case['rows']}"
    folder.mkdir(parents=True, exist_ok=True)
    in_own_process({**case, "folder": str(folder), "write": True})
    on_disk = sum(path.stat().st_size for path in folder.iterdir()) / 1e9
    figures = in_own_process({**case, "folder": str(folder)}) | in_own_process({"folder": str(folder), "pass": True})
    shutil.rmtree(folder)
    return {**figures, "table, GB": 2 * case["models"] * case["rows"] / 1e9, "on the disk, GB": on_disk}


def pass_here(folder: str) -> Case:
    """One pass over all rows, in one process."""
    start = time.process_time()
    names = [f"m{h}" for h in range(len(ParquetRows(folder).names) - 1)]
    found = survey(folder, names)
    return {
        "pass, s": time.process_time() - start,
        "pass, peak, GB": peak_gb(),
        "contested": found.n_contested / found.n_rows,
        "equal": len(found.equal),
    }


def in_own_process(case: Case) -> Case:
    command = [sys.executable, "-m", "benchmarks.scaling_rows", json.dumps(case)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    figures: Case = json.loads(done.stdout)
    return figures


def main() -> None:
    run_cases("scaling_rows", cases(), measure)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        of = json.loads(sys.argv[1])
        if of.get("write"):
            write(Path(of["folder"]), of["models"], of["rows"])
            print("{}")
        elif of.get("pass"):
            print(json.dumps(pass_here(of["folder"])))
        else:
            made = of["folder"] is None
            print(json.dumps(run_here(SimulatedRows(of["models"], of["rows"]) if made else RawRows(of["folder"]), 1)))
    else:
        main()
