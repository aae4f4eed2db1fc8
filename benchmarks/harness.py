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
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
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
    executor: Executor | None = None,
    prints: bool = True,
) -> list[Case]:
    """Measure each case that has no result yet, keep every result at once, and print them all as a table.

    Figures that are ``unprinted`` are only kept; all are unless it ``prints``. With an ``executor`` several cases are
    measured at a time, which is for counts and not for seconds.
    """
    # Here, since some cases run by an earlier release, which has no passes.
    from onebit.passes.engine import run_pass

    all_cases = list(cases)
    kept = _Kept(name, all_cases)
    with _console().status(name) as status:

        def told(n_done: int, n_cases: int) -> None:
            now = "" if executor or n_done == n_cases else f": {json.dumps(all_cases[kept.first_left()])}"
            status.update(f"{name}, {n_done} of {n_cases} done{now}")

        figures = run_pass(measure, all_cases, executor, kept, told, called="case")
    rows = [{**case, **of_case} for case, of_case in zip(all_cases, figures, strict=True)]
    if prints:
        print_rows(name, [{key: row[key] for key in row if key not in unprinted} for row in rows])
    return rows


def kept_rows(name: str) -> list[Case]:
    """Every case of a benchmark that is measured so far, with its figures."""
    path = RESULTS / f"{name}.jsonl"
    lines = path.read_text().splitlines() if path.exists() else []
    return [{**row["case"], **row["figures"]} for row in map(json.loads, lines)]


class _Kept:
    """The figures of cases in the file of a benchmark, one line each; what other cases left there stays."""

    def __init__(self, name: str, cases: Sequence[Case]) -> None:
        RESULTS.mkdir(exist_ok=True)
        self._path, self._cases = RESULTS / f"{name}.jsonl", cases
        lines = self._path.read_text().splitlines() if self._path.exists() else []
        self._known = {self._key(row["case"]): row["figures"] for row in map(json.loads, lines)}

    @property
    def place(self) -> str:
        return str(self._path)

    def read(self, number: int) -> Case | None:
        return self._known.get(self._key(self._cases[number]))

    def write(self, number: int, figures: Case) -> None:
        case = self._cases[number]
        self._known[self._key(case)] = figures
        with self._path.open("a") as kept:
            kept.write(json.dumps({"case": case, "figures": figures}) + "\n")

    def first_left(self) -> int:
        """The case that is measured now, where they are measured one after the other."""
        return next((number for number, case in enumerate(self._cases) if self._key(case) not in self._known), 0)

    @staticmethod
    def _key(case: Case) -> str:
        return json.dumps(case, sort_keys=True)


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
