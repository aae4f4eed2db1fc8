"""Training from pools of up to a hundred million rows, mapped from a file or in Parquet: seconds, memory, accuracy.

Rows are 20 numbers of one byte around the centre of their label; ten labels, each half as frequent as the one before.
They lie in ONEBIT_SCRATCH, or where temporary files go, are written by a process of their own, and are removed
afterwards. "chosen from: all" is a run that chooses from all rows in place of those drawn, as far as memory allows: it
decides whether drawing loses anything. Each case has a process of its own. Memory is the most that it held beside what
it held before, without pages of the mapped file, which the system takes back when it needs them. "even accuracy" weighs
all labels the same, so that rare ones count; accuracies are means over seeds. "3,000 beliefs" is what an epoch of
follow-up computes at most to choose its items. ONEBIT_MOST_ROWS leaves out larger pools.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as arrow_parquet
from benchmarks.harness import Case, run_cases
from numpy.typing import NDArray

N_LABELS, N_COLUMNS, N_ANSWERS = 10, 20, 1_000
#: What centres and noise are multiplied by, to become whole numbers of one byte.
SCALE, NOISE = 16.0, 1.4
PART = 1_000_000
#: Rows on which the accuracy is measured; any run is taught by few of them.
N_TESTED = 100_000
LOOKED_AT = 3_000
MOST_ROWS = int(float(os.environ.get("ONEBIT_MOST_ROWS", "1e8")))


def cases() -> Iterator[Case]:
    for n_rows in (100_000, 1_000_000, 10_000_000, 100_000_000):
        few = {"seeds": 3} if n_rows <= 1_000_000 else {"seeds": 1}
        for protocol in ("one-shot", "follow-up"):
            yield {"rows": n_rows, "kept in": "a mapped file", "chosen from": "drawn", "protocol": protocol, **few}
            if n_rows == 1_000_000:
                yield {"rows": n_rows, "kept in": "a mapped file", "chosen from": "all", "protocol": protocol, **few}
        if 1_000_000 <= n_rows <= 10_000_000:
            yield {"rows": n_rows, "kept in": "Parquet", "chosen from": "drawn", "protocol": "follow-up", "seeds": 1}


def write(folder: Path, n_rows: int) -> None:
    """The pool, a part at a time: rows, and their labels; what is there whole is not written again."""
    if (folder / "whole").exists():
        return
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((N_LABELS, N_COLUMNS))
    shares = 0.5 ** np.arange(N_LABELS)
    folder.mkdir(parents=True, exist_ok=True)
    x = np.lib.format.open_memmap(folder / "x.npy", "w+", np.int8, (n_rows, N_COLUMNS))
    y = np.lib.format.open_memmap(folder / "y.npy", "w+", np.int8, (n_rows,))
    for first in range(0, n_rows, PART):
        n = min(PART, n_rows - first)
        label = rng.choice(N_LABELS, n, p=shares / shares.sum())
        rows = centres[label].astype(np.float32)
        rows += NOISE * rng.standard_normal(rows.shape, dtype=np.float32)
        x[first : first + n], y[first : first + n] = np.clip(SCALE * rows, -127, 127), label
    (folder / "whole").touch()


def write_parquet(folder: Path) -> None:
    """The same rows as a folder of Parquet files."""
    (folder / "parquet").mkdir(exist_ok=True)
    x, y = (np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False) for name in "xy")
    for number, first in enumerate(range(0, len(x), PART)):
        part = x[first : first + PART]
        columns = {f"c{column}": part[:, column] for column in range(N_COLUMNS)}
        table = pa.table({**columns, "label": y[first : first + PART].astype(str)})
        arrow_parquet.write_table(table, folder / "parquet" / f"{number:04}.parquet", row_group_size=20_000)


class Peak:
    """The most memory of its own that this process holds, looked at every few milliseconds; pages of files are none."""

    def __init__(self) -> None:
        self._most, self._over = 0, threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def _look(self) -> None:
        while not self._over.wait(0.005):
            self._most = max(self._most, held())

    @contextmanager
    def watched(self) -> Iterator[None]:
        self._thread.start()
        yield
        self._over.set()
        self._thread.join()

    @property
    def mebibytes(self) -> float:
        return self._most / 2**20


def held() -> int:
    told = Path("/proc/self/status").read_text()
    return int(told.partition("RssAnon:")[2].split()[0]) * 1024


def fit_mapped(folder: Path, case: Case, seed: int) -> Case:
    """``YesNoClassifier`` on rows mapped from a file."""
    from onebit.classifier import YesNoClassifier
    from onebit.records import pool

    if case["chosen from"] == "all":
        pool.MOST_POOL = case["rows"]
    x, y = (np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False) for name in "xy")
    # What is compiled, is compiled before.
    warm = YesNoClassifier(protocol=case["protocol"], budget=30, seed=0)
    warm.fit(x[:500], answer=lambda row, label: bool(y[row] == label), labels=range(N_LABELS))
    moments: list[tuple[float, float]] = []

    def answer(row: int, label: int) -> bool:
        moments.append((time.process_time(), time.perf_counter()))
        return bool(y[row] == label)

    model = YesNoClassifier(protocol=case["protocol"], budget=N_ANSWERS, seed=seed)
    peak, before = Peak(), held() / 2**20
    cpu, clock = time.process_time(), time.perf_counter()
    with peak.watched():
        model.fit(x, answer=answer, labels=range(N_LABELS))
    low, high = model.accuracy_interval_ or (0.0, 1.0)
    figures = {
        "chosen from, rows": model.n_pool_,
        "first question, s": moments[0][0] - cpu,
        "by the clock, s": moments[0][1] - clock,
        "ms per answer": 1e3 * (time.process_time() - moments[0][0]) / len(moments),
        "MiB": peak.mebibytes - before,
        "low": low,
        "high": high,
    }
    start = time.process_time()
    model.predict_proba(x[:LOOKED_AT])
    figures["3,000 beliefs, ms"] = 1e3 * (time.process_time() - start)
    return figures | accuracy(model, x[-N_TESTED:], np.asarray(y[-N_TESTED:]))


def accuracy(model: Any, x: NDArray[np.int8], y: NDArray[np.int8]) -> Case:
    right = model.predict(x).astype(np.int64) == y
    return {"accuracy": right.mean(), "even accuracy": np.mean([right[y == label].mean() for label in np.unique(y)])}


def fit_parquet(folder: Path, case: Case, seed: int) -> Case:
    """What ``onebit learn`` does to a folder: read what is drawn, and learn from it."""
    from onebit.classifier import YesNoClassifier
    from onebit.tables.data import Wanted, read_pool

    peak, before = Peak(), held() / 2**20
    cpu, clock = time.process_time(), time.perf_counter()
    with peak.watched():
        data = read_pool(folder / "parquet", Wanted(label="label"), N_ANSWERS, seed)
        read = time.process_time() - cpu, time.perf_counter() - clock
        model = YesNoClassifier(protocol=case["protocol"], budget=N_ANSWERS, seed=seed).fit(data.x, data.labels)
    x, y = (np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False) for name in "xy")
    low, high = model.accuracy_interval_ or (0.0, 1.0)
    return {
        "chosen from, rows": data.n_items,
        "first question, s": read[0],
        "by the clock, s": read[1],
        "ms per answer": 1e3 * (time.process_time() - cpu - read[0]) / model.n_answers_,
        "MiB": peak.mebibytes - before,
        "low": low,
        "high": high,
    } | accuracy(model, x[-N_TESTED:], np.asarray(y[-N_TESTED:]))


def scratch() -> Path:
    return Path(os.environ.get("ONEBIT_SCRATCH") or tempfile.gettempdir())


def folder_of(case: Case) -> Path:
    return scratch() / f"onebit-pool-{case['rows']}"


def remove_all_but(folder: Path | None) -> None:
    """Cases with the same rows follow each other, and share them."""
    for each in scratch().glob("onebit-pool-*"):
        if each != folder:
            shutil.rmtree(each)


def measure(case: Case) -> Case:
    remove_all_but(folder_of(case))
    in_own_process({**case, "write": True})
    runs = in_own_process(case)["runs"]
    worst = {"MiB", "first question, s", "by the clock, s"}
    return {
        name: max(run[name] for run in runs) if name in worst else float(np.mean([run[name] for run in runs]))
        for name in runs[0]
    }


def in_own_process(case: Case) -> Case:
    command = [sys.executable, "-m", "benchmarks.training_pools", json.dumps(case)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    figures: Case = json.loads(done.stdout)
    return figures


def run_here(case: Case) -> Case:
    folder, is_parquet = folder_of(case), case["kept in"] == "Parquet"
    if case.get("write"):
        write(folder, case["rows"])
        if is_parquet:
            write_parquet(folder)
        return {}
    fit = fit_parquet if is_parquet else fit_mapped
    return {"runs": [fit(folder, case, seed) for seed in range(case["seeds"])]}


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(run_here(json.loads(sys.argv[1]))))
    else:
        try:
            run_cases("training_pools", [case for case in cases() if case["rows"] <= MOST_ROWS], measure)
        finally:
            remove_all_but(None)
