"""Names that a terminal, or what styles its texts, would take for commands: they are shown, and do nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.unit.cli.tables import write_table
from typer.testing import CliRunner

from onebit.cli.main import app

#: Clears a screen, sets the title of a window, and closes and opens styles.
HOSTILE = "\x1b[2J\x1b]0;owned\x07[/b][red]"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A table whose columns and labels have hostile names."""
    path, _ = write_table(tmp_path)
    names, *rows = path.read_text().splitlines()
    columns = ",".join(f"{name}{HOSTILE}" for name in names.split(","))
    path.write_text("\n".join([columns, *(row.replace("cat", f"cat{HOSTILE}") for row in rows)]) + "\n")
    return path


def onebit(*options: object) -> Any:
    found = CliRunner().invoke(app, [str(option) for option in options], catch_exceptions=False)
    assert found.exit_code == 0, found.output
    assert not {"\x1b", "\x07"} & set(found.output)
    return found


def columns() -> list[str]:
    named = {"--id": "key", "--truth": "right", "--show": "words"}
    return [part for option, name in named.items() for part in (option, f"{name}{HOSTILE}")]


@pytest.mark.parametrize("more", [[], ["--tiers"]])
def test_a_selection_shows_hostile_names_as_they_are(table: Path, tmp_path: Path, more: list[str]) -> None:
    told = onebit("select", table, *columns(), "--eps", 0.2, "--out", tmp_path / "run", *more)
    assert "best[2J]0;owned[/b][red]" in told.output


def test_a_study_with_a_hostile_name_is_listed(table: Path, tmp_path: Path) -> None:
    storage = ["--storage", f"sqlite:///{tmp_path}/studies.db"]
    onebit("study", "create", f"one{HOSTILE}", table, *columns(), "--eps", 0.2, *storage)
    assert "[/b][red]" in "".join(onebit("study", "list", *storage).output.split())
