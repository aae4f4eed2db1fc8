"""Compiled kernels have a place also where nothing beside the source, nor at home, can be written."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from onebit import compiling


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    # Set first, so that what a test sets is taken back.
    monkeypatch.setenv(compiling.VARIABLE, "")
    monkeypatch.delenv(compiling.VARIABLE)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_nothing_is_said_where_numba_finds_a_place(temporary: Path) -> None:
    compiling.keep_compiled()
    assert compiling.VARIABLE not in os.environ


def test_a_choice_of_the_user_stands(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(compiling.VARIABLE, "here")
    monkeypatch.setattr(compiling, "_can_write", lambda place: False)
    compiling.keep_compiled()
    assert os.environ[compiling.VARIABLE] == "here"


def test_where_nothing_can_be_written_there_is_a_private_folder_that_stays(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiling, "_can_write", lambda place: False)
    compiling.keep_compiled()
    (folder,) = temporary.iterdir()
    assert os.environ[compiling.VARIABLE] == str(folder)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert compiling.private_folder() == str(folder)


def test_a_folder_that_others_can_write_is_not_trusted(temporary: Path) -> None:
    folder = Path(compiling.private_folder())
    folder.chmod(0o777)
    assert compiling.private_folder() != str(folder)
    folder.rmdir()
    folder.symlink_to(temporary)
    assert compiling.private_folder() not in (str(folder), str(temporary))


def test_a_folder_that_is_not_there_can_be_made_where_the_one_above_can_be_written(tmp_path: Path) -> None:
    asked: list[str] = []

    def may(place: str, mode: int) -> bool:
        asked.append(place)
        return False

    assert not compiling._can_write(str(tmp_path / "a" / "b"), may)
    assert asked == [str(tmp_path)]
