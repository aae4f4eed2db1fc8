"""``onebit export``: the verdicts of a run, as a table or as a tool reads them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from onebit.cli.verify import Folder
from onebit.errors import check_choice

#: What verdicts are written as: tables, whatever the file is called, and what tools read.
TABLES = {"csv": ".csv", "jsonl": ".jsonl", "parquet": ".parquet"}
FORMS = (*TABLES, "inspect", "label-studio", "every-eval-ever")

Target = Annotated[
    Path, typer.Argument(metavar="FILE", help="New file; for inspect a new folder, with a log for each model.")
]
To = Annotated[
    str | None,
    typer.Option(
        help=f"One of {', '.join(FORMS)}. Without it, a table by the ending of the file: {', '.join(TABLES.values())}.",
        show_default=False,
    ),
]
Anonymous = Annotated[bool, typer.Option("--anonymous", help="Number the raters instead of naming them.")]


def export(folder: Folder, path: Target, to: To = None, anonymous: Anonymous = False) -> None:
    """Write the verdicts of a run, each with its rater, its time and where it is from: people or a simulation.

    inspect, label-studio and every-eval-ever write them as these tools read them.
    """
    from onebit.study.folder import StudyFolder

    place = StudyFolder(folder)
    write_verdicts(place.storage, place.name(), path, to, anonymous)


def write_verdicts(storage: str, name: str, path: Path, to: str | None, anonymous: bool) -> None:
    """Write the verdicts of a study, and say how many there are."""
    from onebit.study.export import export_for_tool, export_study

    if to is not None:
        check_choice("--to", to, FORMS)
    if to is None or to in TABLES:
        n = export_study(storage, name, path, anonymous=anonymous, suffix=None if to is None else TABLES[to])
    else:
        n = export_for_tool(storage, name, path, to, anonymous)
    typer.echo(f"{n:,} verdicts are in {path}", err=True)
