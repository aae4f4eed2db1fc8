"""The formats of tables and examples: each is one module of this folder, and one line in ``FORMATS``.

The module of a format has ``open_columns(path)``, which gives the named columns of a file (``columns.Columns``).
Nothing else knows the format: what the columns are for is the same for all. Only an NPZ has arrays and no columns.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from onebit.errors import InvalidInputError

if TYPE_CHECKING:
    from onebit.tables.columns import Columns

#: Called with the part that has been read, and the whole: bytes of a text file, rows of a Parquet file.
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Format:
    """A kind of file: its name, how names of such files end, and the module that reads it."""

    name: str
    ending: str
    module: str
    has_columns: bool = True

    def columns(self, path: Path) -> Columns:
        """The columns of a file. The module is loaded here: it takes time that ``--help`` and a page should not."""
        opened: Columns = import_module(f"onebit.tables.{self.module}").open_columns(path)
        return opened


FORMATS = (
    Format("CSV", ".csv", "csv_file"),
    Format("TSV", ".tsv", "tsv_file"),
    Format("Parquet", ".parquet", "parquet_file"),
    Format("JSONL", ".jsonl", "jsonl_file"),
    Format("NPZ", ".npz", "npz_file", has_columns=False),
)
ENDINGS = tuple(each.ending for each in FORMATS)


def one_of(words: Sequence[str]) -> str:
    """Words to choose from.

    >>> one_of(["CSV", "TSV", "NPZ"])
    'CSV, TSV or NPZ'
    """
    return " or ".join([", ".join(words[:-1]), words[-1]])


#: The formats in a sentence; and those of them that have columns.
NAMES = one_of([each.name for each in FORMATS])
WITH_COLUMNS = one_of([each.name for each in FORMATS if each.has_columns])


@contextmanager
def recognised(path: Path, holds: str) -> Iterator[Format]:
    """The format of a file, to be read within; InvalidInputError if there is none or the file cannot be read.

    ``holds`` says what must be in it.
    """
    # Unlike Path.is_file, these take a name that is too long for one that is not there.
    if not os.path.isfile(path):
        raise InvalidInputError(f"{path} is not a file" if os.path.exists(path) else f"there is no file {path}")
    found = [each for each in FORMATS if each.ending == path.suffix.lower()]
    if not found:
        ending = repr(path.suffix.lower() or "nothing")
        raise InvalidInputError(f"{path} ends in {ending}; tables end in {one_of(ENDINGS)}")
    try:
        if path.stat().st_size == 0:
            raise InvalidInputError(f"{path} is empty; it must hold {holds}")
        yield found[0]
    except OSError as error:
        raise InvalidInputError(f"{path} cannot be read: {error}") from error


def column_names(path: Path) -> tuple[str, ...]:
    """The names of a file's columns, before anybody has said what they are; an NPZ has none."""
    with recognised(path, "a table of predictions") as kind:
        return kind.columns(path).names if kind.has_columns else ()
