"""What a user sees before anything runs: help in words, completion, and one line for a Ctrl-C."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest
import typer.main
from typer.testing import CliRunner

from onebit.cli import start
from onebit.cli.main import app

runner = CliRunner()


def commands(command: Any, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """The ways to a command and all below it."""
    below = getattr(command, "commands", {})
    return [path, *(way for name, each in below.items() for way in commands(each, (*path, name)))]


WAYS = commands(typer.main.get_command(app))


@pytest.mark.parametrize("way", WAYS, ids=lambda way: " ".join(way) or "onebit")
def test_help_is_in_words_and_not_cut_at_80_columns(way: tuple[str, ...]) -> None:
    shown = runner.invoke(app, [*way, "--help"], env={"COLUMNS": "80", "TERMINAL_WIDTH": "80"})
    assert shown.exit_code == 0
    assert "list[str]" not in shown.stdout
    assert "list[float]" not in shown.stdout
    assert "list[Path]" not in shown.stdout
    assert "…" not in shown.stdout
    assert all(len(line) <= 80 for line in shown.stdout.splitlines())


def test_there_are_commands_to_look_at() -> None:
    assert ("study", "create") in WAYS


def test_shells_can_complete_it() -> None:
    shown = runner.invoke(app, ["--help"], env={"COLUMNS": "80"}).stdout
    assert "--install-completion" in shown
    told = runner.invoke(app, [], env={"_ONEBIT_COMPLETE": "source_bash"}, prog_name="onebit").stdout
    assert "complete" in told


def test_a_ctrl_c_while_commands_are_imported_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stopped() -> None:
        raise KeyboardInterrupt

    monkeypatch.setitem(sys.modules, "onebit.cli.main", SimpleNamespace(main=stopped))
    with pytest.raises(SystemExit) as ended:
        start.main()
    assert ended.value.code == start.INTERRUPTED
    assert capsys.readouterr().err == "onebit: stopped\n"
