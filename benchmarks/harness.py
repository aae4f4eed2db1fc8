"""What benchmarks share: cases that are measured once and kept, so that a benchmark resumes where it stopped.

A benchmark is a list of cases (a JSON object each) and a function from a case to its figures. Results are kept in
``benchmarks/results/NAME.jsonl``, one line per case; ``make clean`` or deleting the file starts anew. Times are
reported as ratios of things measured side by side in one case, since machines differ and are noisy.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

RESULTS = Path(__file__).parent / "results"
#: Columns of the tables where there is no terminal to say.
WIDTH = 220
Case = dict[str, Any]


def data_file(name: str) -> Path | None:
    """The file ``name`` in the folder ONEBIT_DATA, or None after saying that it is missing."""
    folder = os.environ.get("ONEBIT_DATA", "")
    path = Path(folder) / name
    if folder and path.exists():
        return path
    print(f"{name} is not there, so what needs it is skipped; set ONEBIT_DATA to the folder that holds it")
    return None


def prediction_table(name: str) -> tuple[np.ndarray, np.ndarray, int] | None:
    """Predictions (N, n), truth (n,) and number of labels of an NPZ table; None if the file is missing."""
    path = data_file(name)
    if path is None:
        return None
    with np.load(path, allow_pickle=False) as table:
        predictions, truth = table["preds"], table["y"]
        n_labels = table["labels"].size if "labels" in table else int(max(predictions.max(), truth.max())) + 1
        return predictions, truth, n_labels


def best_seconds(work: Callable[[], Any], repeats: int = 5) -> float:
    """The least time of several runs of ``work``: what it takes when nothing else disturbs."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def run_cases(
    name: str,
    cases: Iterable[Case],
    measure: Callable[[Case], Case],
    unprinted: tuple[str, ...] = (),
    prints: bool = True,
) -> list[Case]:
    """Measure each case that has no result yet, keep every result at once, and print them all as a table.

    Figures that are ``unprinted`` are only kept; all are unless it ``prints``.
    """
    console = _console()
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.jsonl"
    known = {}
    if path.exists():
        for line in path.read_text().splitlines():
            row = json.loads(line)
            known[json.dumps(row["case"], sort_keys=True)] = row
    rows = []
    for case in cases:
        key = json.dumps(case, sort_keys=True)
        if key not in known:
            with console.status(f"{name}: {key}"):
                known[key] = {"case": case, "figures": measure(case)}
            with path.open("a") as kept:
                kept.write(json.dumps(known[key]) + "\n")
        rows.append({**known[key]["case"], **known[key]["figures"]})
    if prints:
        print_rows(name, [{key: row[key] for key in row if key not in unprinted} for row in rows])
    return rows


def _console() -> Console:
    # A file or a pipe has no width of its own, and the tables are wide.
    return Console() if sys.stdout.isatty() else Console(width=WIDTH)


def print_rows(name: str, rows: list[Case]) -> None:
    """Print figures as a table, one line per row."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    table = Table(*columns, title=name)
    for row in rows:
        table.add_row(*(_shown(row.get(column)) for column in columns))
    _console().print(table)


def _shown(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else "" if value is None else str(value)
