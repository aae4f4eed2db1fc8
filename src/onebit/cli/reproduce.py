"""``onebit reproduce``: measure the paper's claims, and write the figures, tables and the report."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from onebit.cli import options as opt
from onebit.errors import InvalidInputError

#: What the extra ``research`` brings.
EXTRA = ("matplotlib",)
ALL_CORES = str(os.cpu_count() or 1)


def reproduce(
    name: Annotated[str | None, typer.Argument(help="One experiment; without it, all.", show_default=False)] = None,
    full: Annotated[bool, typer.Option("--full", help="Larger sizes: some hours on two cores.")] = False,
    out: Annotated[Path, typer.Option(help="Folder for results.md and results/.")] = Path(),
    workers: opt.Workers = ALL_CORES,
) -> None:
    """Measure the claims of the paper: a figure (SVG, PNG), a table and the JSON behind it for each.

    Example: onebit reproduce exploration --out docs

    What is finished is kept, so a run that was stopped goes on where it was; delete results/pieces to start anew, as
    after a change of the code. All of them take about ten minutes on two cores, some hours with --full. Real tables are
    found in the folder ONEBIT_DATA; without it only the synthetic ones and the bundled digits are used. It needs
    the extra onebit[research]; a Dask cluster, with --workers, the extra onebit[cluster] there and here.
    """
    if missing := [package for package in EXTRA if find_spec(package) is None]:
        raise InvalidInputError(
            f"onebit reproduce draws with {missing[0]}, and {missing[0]} is not installed; install onebit[research]"
        )
    # Imported here: what it runs takes a second that --help should not.
    from onebit.passes.workers import open_workers
    from onebit.research.experiments.catalogue import EXPERIMENTS
    from onebit.research.experiments.reproduce import reproduce as run

    if name is not None and name not in EXPERIMENTS:
        raise InvalidInputError(f"there is no experiment {name!r}; they are {', '.join(EXPERIMENTS)}")
    console = Console(stderr=True)
    with open_workers(workers) as executor, _Bars(console) as bars:
        names = [name] if name is not None else list(EXPERIMENTS)
        written = run(names, out, full=full, progress=bars.show, executor=executor)
    for path in written:
        print(path)


class _Bars(Progress):
    """A progress bar for each experiment."""

    def __init__(self, console: Console) -> None:
        super().__init__(
            TextColumn("{task.description:14}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), console=console
        )
        self._known: dict[str, TaskID] = {}

    def show(self, name: str, done: int, total: int) -> None:
        if name not in self._known:
            self._known[name] = self.add_task(name, total=total)
        self.update(self._known[name], completed=done)
