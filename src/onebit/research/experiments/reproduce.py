"""Measure the pieces of experiments in parallel, keep each at once, and write the figures, tables and the report.

In the folder given: ``results/pieces/NAME/*.json`` (one for each finished piece: a run that is stopped goes on where it
was), ``results/NAME.json`` (all of them), ``results/NAME.svg``, ``.png`` and ``.md``, and ``results.md`` over all.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

from onebit.research.experiments.catalogue import EXPERIMENTS
from onebit.research.experiments.pictures import picture, save
from onebit.research.experiments.piece import Experiment, Piece, Row, key_of, markdown
from onebit.research.experiments.results import report

#: Told the name of an experiment, how many of its pieces are done, and how many there are.
Progress = Callable[[str, int, int], None]


def reproduce(names: list[str], folder: Path, *, full: bool, n_jobs: int, progress: Progress) -> list[Path]:
    """Run the experiments named; the files written. Finished pieces are not measured again."""
    results = folder / "results"
    written = [path for name in names for path in _one(EXPERIMENTS[name], results, full, n_jobs, progress)]
    overview = folder / "results.md"
    _write(overview, report(results))
    return [*written, overview]


def _one(experiment: Experiment, results: Path, full: bool, n_jobs: int, progress: Progress) -> list[Path]:
    rows = measured(experiment, results / "pieces" / experiment.name, full, n_jobs, progress)
    base = results / experiment.name
    mode = "full" if full else "quick"
    seconds = sum(row.pop("cpu_seconds") for row in rows)
    content = {"experiment": experiment.name, "mode": mode, "cpu_seconds": round(seconds, 1), "rows": rows}
    _write(base.with_suffix(".json"), json.dumps(content, indent=1) + "\n")
    _write(base.with_suffix(".md"), markdown(experiment.summary(rows)))
    save(picture(experiment, rows), base)
    return [base.with_suffix(ending) for ending in (".svg", ".png", ".md", ".json")]


def measured(experiment: Experiment, folder: Path, full: bool, n_jobs: int, progress: Progress) -> list[Row]:
    """The rows of all pieces, in order, measuring those that are not in ``folder`` yet."""
    from joblib import Parallel, delayed, parallel_config

    pieces = experiment.pieces(full)
    paths = [folder / f"{key_of(piece)}.json" for piece in pieces]
    missing = [(piece, path) for piece, path in zip(pieces, paths, strict=True) if not path.exists()]
    n_done = len(pieces) - len(missing)
    progress(experiment.name, n_done, len(pieces))
    with parallel_config(backend="loky", inner_max_num_threads=1):
        jobs = (delayed(_measure)(experiment.name, piece, path) for piece, path in missing)
        for _ in Parallel(n_jobs=n_jobs, return_as="generator_unordered")(jobs):
            n_done += 1
            progress(experiment.name, n_done, len(pieces))
    return [json.loads(path.read_text()) for path in paths]


def _measure(name: str, piece: Piece, path: Path) -> None:
    start = time.process_time()
    figures = EXPERIMENTS[name].measure(piece)
    row = {**piece, **figures, "cpu_seconds": round(time.process_time() - start, 2)}
    _write(path, json.dumps(row) + "\n")


def _write(path: Path, text: str) -> None:
    """All of the file or nothing: a run may be stopped at any time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.name}.{os.getpid()}.unfinished")
    unfinished.write_text(text)
    os.replace(unfinished, path)
