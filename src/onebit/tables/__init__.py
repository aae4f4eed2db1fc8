"""Tables of predictions and examples to learn from, in files; ``formats`` lists the kinds of files."""

from onebit.tables.reading import read_table
from onebit.tables.record import ModelTable

__all__ = ["ModelTable", "read_table"]
