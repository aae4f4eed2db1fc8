"""``open_source``: the one way from a file, several logs or a data frame to named columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onebit.errors import InvalidInputError
from onebit.tables.formats import recognised
from onebit.tables.source import Source

HOLDS = "a table of predictions, or a log"


@dataclass(frozen=True)
class Long:
    """A table with one row for each item and model, and which column is what; None: by its usual name."""

    item: str | None = None
    model: str | None = None
    output: str | None = None


def open_source(table: Any, long: Long | None = None) -> Source:
    """The columns of a table, and what is known of them.

    ``table`` is a path, several paths of logs, or a data frame. An NPZ has no columns, and is refused here.
    """
    paths = paths_of(table)
    if paths is None:
        from onebit.tables.frames import source_of

        source = source_of(table)
    elif len(paths) == 1:
        source = _from_file(paths[0])
    else:
        source = _from_logs(paths)
    if long is None:
        return source
    if source.free:
        raise InvalidInputError(
            f"{source.columns.where} is a log, which has columns for models already; leave long out"
        )
    from onebit.tables.long import widened

    return widened(source.columns, long)


def paths_of(table: Any) -> list[Path] | None:
    """The files that are meant; None where the table is at hand."""
    if isinstance(table, str | Path):
        return [Path(table)]
    if isinstance(table, Sequence) and table and all(isinstance(each, str | Path) for each in table):
        return [Path(each) for each in table]
    return None


def is_npz(path: Path, holds: str = HOLDS) -> bool:
    """Whether a file holds arrays, which have no columns; ``holds`` says what must be in it."""
    with recognised(path, holds) as kind:
        return not kind.has_columns


def _from_file(path: Path) -> Source:
    with recognised(path, HOLDS) as kind:
        if kind.is_log:
            return _from_logs([path])
        if not kind.has_columns:
            raise InvalidInputError(f"{path.name} is an NPZ, which has no columns; leave the names of columns out")
        columns = kind.columns(path)
        return Source(columns, notes=columns.notes)


def _from_logs(paths: Sequence[Path]) -> Source:
    from onebit.tables.matching import matched

    logs = []
    for path in paths:
        with recognised(path, HOLDS) as kind:
            if not kind.is_log:
                raise InvalidInputError(
                    f"{path.name} is a table ({kind.name}) among {len(paths)} files; several are for logs: give "
                    "one table, with a column for each model, or logs alone"
                )
            logs.append(kind.log(path))
    return matched(logs)


@contextmanager
def readable(where: str) -> Iterator[None]:
    """InvalidInputError where a file cannot be read to its end."""
    try:
        yield
    except OSError as error:
        reason = " ".join(str(error).split())
        raise InvalidInputError(f"{where} cannot be read to its end: {reason}; copy the file again") from error
