"""The tables of docs/learning-results.md out of what ``learning.py`` measured, ours less the best rival among them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from benchmarks.harness import Case

#: They are told labels, and show what no yes/no learner can be expected to reach.
TOLD_LABELS = ("full information", "labels by margin")
NAMED = "names"

Checkpoints = dict[str, tuple[int, ...]]


def report(rows: list[Case], tables: dict[str, Checkpoints], shown_in: dict[str, tuple[str, ...]]) -> None:
    """Tables in Markdown: mean and standard error over the seeds, and CPU seconds of one seed.

    ``tables`` have a title each, ``shown_in`` those of each method. What is not measured yet is left out.
    """
    for title, all_checkpoints in tables.items():
        for of, checkpoints in all_checkpoints.items():
            methods = [name for name, titles in shown_in.items() if title in titles]
            runs = {name: found for name in methods if (found := _of(rows, name, of))}
            if not runs:
                continue
            print(_head(f"{of}, {title}", checkpoints, ("seeds", "seconds")))
            for name, found in runs.items():
                print(line(name, _values(found, checkpoints), found))


def standing(rows: list[Case], tables: dict[str, Checkpoints], shown_in: dict[str, tuple[str, ...]]) -> None:
    """Each line of ours less the best rival, at every checkpoint, with the standard error of the difference.

    Ours without names is held against rivals without names, and with an estimator against those with the same.
    """
    for title, all_checkpoints in tables.items():
        for of, checkpoints in all_checkpoints.items():
            runs = {
                name: _values(found, checkpoints)
                for name, titles in shown_in.items()
                if title in titles and (found := _of(rows, name, of))
            }
            lines = [
                f"| {name} | " + " | ".join(_ahead(name, runs, at) for at in range(len(checkpoints))) + " |"
                for name in runs
                if name.startswith("ours") and _rivals(name, runs)
            ]
            if lines:
                print(_head(f"{of}, {title}: ahead of the best rival", checkpoints, ()), *lines, sep="\n")


def _rivals(name: str, among: Iterable[str]) -> list[str]:
    others = [each for each in among if not each.startswith(("ours", *TOLD_LABELS))]
    if NAMED in name:
        return others
    same_estimator = [each for each in others if each.rpartition(", ")[2] == name.rpartition(", ")[2]]
    return same_estimator or [each for each in others if NAMED not in each]


def _ahead(name: str, runs: dict[str, np.ndarray], at: int) -> str:
    best = max(_rivals(name, runs), key=lambda each: float(runs[each][:, at].mean()))
    ours, rival = runs[name][:, at], runs[best][:, at]
    text = f"{ours.mean() - rival.mean():+.3f}"
    if min(ours.size, rival.size) > 1:
        text += f" ± {np.sqrt(ours.var(ddof=1) / ours.size + rival.var(ddof=1) / rival.size):.3f}"
    return f"{text} ({best})"


def line(name: str, values: np.ndarray, runs: list[Case]) -> str:
    n_seeds, mean = len(values), values.mean(axis=0)
    cells = [f"{m:.3f}" for m in mean]
    if n_seeds > 1:
        error = values.std(axis=0, ddof=1) / np.sqrt(n_seeds)
        cells = [f"{cell} ± {e:.3f}" for cell, e in zip(cells, error, strict=True)]
    seconds = np.mean([row["seconds"] for row in runs])
    return f"| {name} | " + " | ".join(cells) + f" | {n_seeds} | {seconds:.0f} |"


def _of(rows: list[Case], method: str, of: str) -> list[Case]:
    return [row for row in rows if (row["data"], row["method"]) == (of, method) and "seconds" in row]


def _values(runs: list[Case], checkpoints: tuple[int, ...]) -> np.ndarray:
    return np.array([[row[str(n)] for n in checkpoints] for row in runs])


def _head(title: str, checkpoints: tuple[int, ...], more: tuple[str, ...]) -> str:
    columns = (title, *(f"{n:,}" for n in checkpoints), *more)
    return "\n| " + " | ".join(columns) + " |\n" + "|---" * len(columns) + "|"
