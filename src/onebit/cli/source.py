"""The table that a command is about: its file, and which of its columns are no models."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from onebit.cli.progress import progress_bar

if TYPE_CHECKING:
    from onebit.tables import ModelTable


@dataclass(frozen=True)
class Source:
    """How a table is read; ``labels`` if they are given."""

    path: Path
    id: str | None = None
    truth: str | None = None
    show: tuple[str, ...] = ()
    labels: tuple[str, ...] | None = None

    def read(self, console: Console) -> ModelTable:
        """Read the table, with a bar if it takes long."""
        # Imported here: what reads tables takes a while that --help should not.
        from onebit.tables import read_table

        with progress_bar(f"reading {self.path.name}", console) as progress:
            return read_table(
                self.path, id=self.id, truth=self.truth, show=self.show, labels=self.labels, progress=progress
            )
