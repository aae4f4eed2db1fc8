"""Reading prediction tables: CSV, Parquet or NPZ, one row (NPZ: one column) for each item."""

from onebit.tables.reading import read_table
from onebit.tables.record import ModelTable

__all__ = ["ModelTable", "read_table"]
