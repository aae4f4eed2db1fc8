"""Measure the pieces of experiments, on any executor, keep each at once, and write the figures, tables and the report.

In the folder given: ``results/pieces/NAME/*.json`` (one for each finished piece: a run that is stopped goes on where it
was), ``results/NAME.json`` (all of them), ``results/NAME.svg``, ``.png`` and ``.md``, and ``results.md`` over all.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from functools import partial
from pathlib import Path

from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from onebit.passes.engine import run_pass
from onebit.research.experiments.catalogue import EXPERIMENTS
from onebit.research.experiments.pictures import picture, save
from onebit.research.experiments.piece import Experiment, Piece, Row, key_of, markdown
from onebit.research.experiments.results import report

#: Told the name of an experiment, how many of its pieces are done, and how many there are.
Progress = Callable[[str, int, int], None]


def reproduce(
    names: list[str], folder: Path, *, full: bool, progress: Progress, executor: Executor | None = None
) -> list[Path]:
    """Run the experiments named; the files written. Finished pieces are not measured again.

    Pieces are tasks of the ``executor``; without one they are measured here, one after the other. Their figures are the
    same wherever that is.
    """
    results = folder / "results"
    written = [path for name in names for path in _one(EXPERIMENTS[name], results, full, progress, executor)]
    overview = folder / "results.md"
    _write(overview, report(results))
    return [*written, overview]


def _one(
    experiment: Experiment, results: Path, full: bool, progress: Progress, executor: Executor | None
) -> list[Path]:
    rows = measured(experiment, results / "pieces" / experiment.name, full, progress, executor)
    base = results / experiment.name
    mode = "full" if full else "quick"
    seconds = sum(row.pop("cpu_seconds") for row in rows)
    content = {"experiment": experiment.name, "mode": mode, "cpu_seconds": round(seconds, 1), "rows": rows}
    _write(base.with_suffix(".json"), json.dumps(content, indent=1) + "\n")
    _write(base.with_suffix(".md"), markdown(experiment.summary(rows)))
    save(picture(experiment, rows), base)
    return [base.with_suffix(ending) for ending in (".svg", ".png", ".md", ".json")]


def measured(
    experiment: Experiment, folder: Path, full: bool, progress: Progress, executor: Executor | None = None
) -> list[Row]:
    """The rows of all pieces, in order, measuring those that are not in ``folder`` yet."""
    pieces = experiment.pieces(full)
    done = _Pieces(folder, pieces)
    told = partial(progress, experiment.name)
    return run_pass(partial(_measure, experiment.name), pieces, executor, done, told, called="piece")


class _Pieces:
    """The rows of finished pieces, a file for each."""

    def __init__(self, folder: Path, pieces: Sequence[Piece]) -> None:
        self.place, self._paths = str(folder), [folder / f"{key_of(piece)}.json" for piece in pieces]

    def read(self, number: int) -> Row | None:
        path = self._paths[number]
        row: Row | None = json.loads(path.read_text()) if path.exists() else None
        return row

    def write(self, number: int, row: Row) -> None:
        _write(self._paths[number], json.dumps(row) + "\n")


def _measure(name: str, piece: Piece) -> Row:
    start = time.process_time()
    # One thread, whoever measures: sums of several come out otherwise in the last bit.
    with threadpool_limits(1):
        figures = EXPERIMENTS[name].measure(piece)
    return {**piece, **figures, "cpu_seconds": round(time.process_time() - start, 2)}


def _write(path: Path, text: str) -> None:
    """All of the file or nothing: a run may be stopped at any time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.name}.{os.getpid()}.unfinished")
    unfinished.write_text(text)
    os.replace(unfinished, path)
