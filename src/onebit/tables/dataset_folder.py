"""Hugging Face ``datasets``: the folder that ``save_to_disk`` writes, with Arrow files and what they are."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from onebit.errors import InvalidInputError
from onebit.tables.arrow_file import batches_in, names_in
from onebit.tables.columns import Columns, listed
from onebit.tables.formats import Progress
from onebit.tables.sniffing import parsed

#: What says which files hold the rows, and what says which splits there are, each in a folder of its own.
STATE, SPLITS = "state.json", "dataset_dict.json"


def open_columns(path: Path) -> Columns:
    """The columns of a data set, whose rows may be in several files."""
    if (path / SPLITS).is_file():
        return open_columns(path / _one_split(path))
    files = _files(path)
    names = names_in(files[0])
    for file in files[1:]:
        if names_in(file) != names:
            raise InvalidInputError(
                f"{path.name}: {file.name} has other columns than {files[0].name}; write the data set again with "
                "save_to_disk"
            )

    def batches(labels: Collection[str], progress: Progress) -> Iterator[Any]:
        before, whole = 0, sum(file.stat().st_size for file in files)
        for file in files:
            yield from batches_in(file, labels, partial(_further, progress, before, whole))
            before += file.stat().st_size

    return Columns(path.name, names, batches, lambda row: f"row {row + 1}")


def _further(progress: Progress, before: int, whole: int, done: int, of_file: int) -> None:
    """Progress in one of several files."""
    progress(before + done, whole)


def _one_split(path: Path) -> str:
    """The name of the one split; InvalidInputError where somebody has to choose."""
    told = parsed((path / SPLITS).read_bytes())
    splits = told.get("splits") if isinstance(told, dict) else None
    if not isinstance(splits, list) or not splits:
        raise InvalidInputError(f"{path.name}/{SPLITS} names no splits; write the data set again with save_to_disk")
    if len(splits) > 1:
        raise InvalidInputError(
            f"{path.name} has {len(splits)} splits, {listed(list(map(str, splits)))}; give one of them: "
            f"{path.name}/{splits[-1]}"
        )
    return str(splits[0])


def _files(path: Path) -> list[Path]:
    """The files with the rows, in their order; none of them is outside of the folder."""
    if not (path / STATE).is_file():
        raise InvalidInputError(
            f"{path} is a folder and holds no {STATE}, as one of Hugging Face datasets does (save_to_disk); give a "
            "file, or all files of a folder of logs: FOLDER/*"
        )
    told = parsed((path / STATE).read_bytes())
    named = told.get("_data_files") if isinstance(told, dict) else None
    try:
        files = [path / str(each["filename"]) for each in named or ()]
    except (TypeError, KeyError):
        files = []
    if not files:
        raise InvalidInputError(f"{path.name}/{STATE} names no files; write the data set again with save_to_disk")
    for file in files:
        if file.resolve().parent != path.resolve() or not file.is_file():
            raise InvalidInputError(
                f"{path.name}/{STATE} names the file {file.name}, which is not in the folder; copy the whole folder"
            )
    return files
