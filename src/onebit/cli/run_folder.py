"""The folder of a run: which table it is about, its log and its report."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from onebit.errors import InvalidInputError
from onebit.report import Report, as_html, as_json

LOG, ABOUT, PAGE, FIGURES = "log.jsonl", "run.json", "report.html", "report.json"


@dataclass(frozen=True)
class Source:
    """How a table is read: its file, which columns are no models, and the labels if they are given.

    ``first_name`` is the file's name when the run began, if it was moved since: reports go on calling it that.
    """

    path: Path
    id: str | None = None
    truth: str | None = None
    show: tuple[str, ...] = ()
    labels: tuple[str, ...] | None = None
    first_name: str | None = None

    @property
    def name(self) -> str:
        """What reports call the table."""
        return self.first_name or self.path.name


def check_folder(folder: Path) -> None:
    """Refuse a place that is neither new nor a run's: nothing there is written over."""
    if folder.exists() and not folder.is_dir():
        raise InvalidInputError(f"--out is {folder}, which is a file; give a folder, which is made if it is not there")
    if folder.exists() and any(folder.iterdir()) and not (folder / LOG).exists():
        raise InvalidInputError(f"--out is {folder}, which holds other things and no run; give a new folder")


def write_source(folder: Path, source: Source) -> None:
    """Keep how the table is read, by its path as seen from the folder: the two may be moved together."""
    about = {**asdict(source), "path": os.path.relpath(source.path, folder), "version": 1}
    del about["first_name"]
    (folder / ABOUT).write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")


def read_source(folder: Path, table: Path | None) -> Source:
    """How the table of the run in ``folder`` is read; from ``table`` if that is given, since it may have been moved."""
    if not (folder / LOG).is_file() or not (folder / ABOUT).is_file():
        raise InvalidInputError(f"{folder} holds no run: {LOG} and {ABOUT} must be there, as onebit select leaves them")
    try:
        about = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
        labels: Sequence[str] | None = about["labels"]
        return Source(
            table or folder / about["path"],
            about["id"],
            about["truth"],
            tuple(about["show"]),
            None if labels is None else tuple(labels),
            Path(about["path"]).name,
        )
    except (ValueError, KeyError, TypeError):
        raise InvalidInputError(f"{folder / ABOUT} is damaged; it must be as onebit select wrote it") from None


def write_report(folder: Path, report: Report) -> Path:
    """Write both forms of the report; the path of the page."""
    (folder / FIGURES).write_text(json.dumps(as_json(report), indent=1) + "\n", encoding="utf-8")
    page = folder / PAGE
    page.write_text(as_html(report), encoding="utf-8")
    return page
