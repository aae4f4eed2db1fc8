"""The formats of tables and examples: each is one module of this folder, and one line in ``FORMATS``.

The module of a format has ``open_columns(path)``, which gives the named columns of a file (``columns.Columns``).
Nothing else knows the format: what the columns are for is the same for all. Only an NPZ has arrays and no columns. The
module of a log has ``read_log(path)`` instead: what one model or several said (``samples.Log``).
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
from onebit.tables.sniffing import IN_ZIPS, sniffed

if TYPE_CHECKING:
    from onebit.tables.columns import Columns
    from onebit.tables.samples import Log

#: Called with the part that has been read, and the whole: bytes of a text file, rows of a Parquet file.
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Format:
    """A kind of file: its name, how names of such files usually end, and the module that reads it."""

    name: str
    endings: tuple[str, ...]
    module: str
    has_columns: bool = True
    is_log: bool = False

    def columns(self, path: Path) -> Columns:
        """The columns of a file. The module is loaded here: it takes time that ``--help`` and a page should not."""
        if self.is_log:
            raise InvalidInputError(f"{path.name} is a log of {self.name}; give a table: {WITH_COLUMNS}")
        opened: Columns = import_module(f"onebit.tables.{self.module}").open_columns(path)
        return opened

    def log(self, path: Path) -> Log:
        """What models said, in a log."""
        read: Callable[[Path], Log] = import_module(f"onebit.tables.logs.{self.module}").read_log
        try:
            return read(path)
        except InvalidInputError:
            raise
        # A value that is of another type than the tool writes.
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            raise InvalidInputError(
                f"{path.name} looks like a log of {self.name}, but is not as {self.name} writes it ({error}); write it "
                "again, or give a table"
            ) from None


FORMATS = (
    Format("CSV", (".csv", ".gz"), "csv_file"),
    Format("TSV", (".tsv",), "csv_file"),
    Format("Excel", (".xlsx",), "excel_file"),
    Format("JSON", (".json",), "json_file"),
    Format("JSONL", (".jsonl",), "jsonl_file"),
    Format("Parquet", (".parquet",), "parquet_file"),
    Format("Arrow", (".arrow", ".feather"), "arrow_file"),
    Format("NPZ", (".npz",), "npz_file", has_columns=False),
)
LOGS = (
    Format("Inspect", (".eval",), "inspect", is_log=True),
    Format("lm-evaluation-harness", (), "lm_evaluation_harness", is_log=True),
    Format("promptfoo", (), "promptfoo", is_log=True),
    Format("Every Eval Ever", (), "every_eval_ever", is_log=True),
    Format("Label Studio", (), "label_studio", is_log=True),
)
#: What a folder is read as.
FOLDER = Format("Hugging Face datasets", (), "dataset_folder")
ENDINGS = tuple(ending for each in FORMATS + LOGS for ending in each.endings)


def one_of(words: Sequence[str]) -> str:
    """Words to choose from.

    >>> one_of(["CSV", "TSV", "NPZ"])
    'CSV, TSV or NPZ'
    """
    return " or ".join([", ".join(words[:-1]), words[-1]])


#: The formats that are zips.
ZIPS = frozenset(IN_ZIPS.values())
#: The formats in a sentence; those of them that have columns; and the tools whose logs are read.
NAMES = f"{one_of([each.name for each in FORMATS])}, or a folder of {FOLDER.name}"
LOG_NAMES = one_of([each.name for each in LOGS])
WITH_COLUMNS = one_of([each.name for each in FORMATS if each.has_columns])


@contextmanager
def recognised(path: Path, holds: str) -> Iterator[Format]:
    """The format of a file, to be read within; InvalidInputError if there is none or the file cannot be read.

    What is in the file decides, and not its name. ``holds`` says what must be in it. ``path`` may also be a folder.
    """
    # Unlike Path.is_file, these take a name that is too long for one that is not there.
    if not os.path.isfile(path) and not os.path.isdir(path):
        if os.path.exists(path):
            raise InvalidInputError(f"{path} is not a file; it must be one that holds {holds}")
        raise InvalidInputError(f"there is no file {path}; is the name right, and the folder?")
    try:
        if os.path.isfile(path) and path.stat().st_size == 0:
            raise InvalidInputError(f"{path} is empty; it must hold {holds}")
        yield FOLDER if os.path.isdir(path) else _format_of(path)
    except OSError as error:
        raise InvalidInputError(f"{path} cannot be read: {error}") from error
    except (MemoryError, RecursionError) as error:
        what = "more than the memory" if isinstance(error, MemoryError) else "nested too deeply"
        raise InvalidInputError(f"{path} cannot be read: it is {what}") from None


def _format_of(path: Path) -> Format:
    name = sniffed(path)
    for each in FORMATS + LOGS:
        # A damaged zip may be what its name says, and is then refused by the reader of that.
        if each.name == name or (not name and each.name in ZIPS and path.suffix.lower() in each.endings):
            return each
    raise InvalidInputError(f"{path.name} is a zip that holds no table; give {NAMES}")


def column_names(path: Path) -> tuple[str, ...]:
    """The names of a file's columns, before anybody has said what they are; an NPZ has none."""
    from onebit.tables.opening import is_npz, open_source

    return () if is_npz(path) else open_source(path).columns.names
