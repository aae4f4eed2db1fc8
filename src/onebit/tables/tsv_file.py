"""TSV: as CSV, with tabs between the columns."""

from __future__ import annotations

from pathlib import Path

from onebit.tables import csv_file
from onebit.tables.columns import Columns


def open_columns(path: Path) -> Columns:
    """The columns of a TSV file."""
    return csv_file.open_columns(path, "\t")
