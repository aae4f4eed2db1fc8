"""``onebit watch`` and ``onebit study watch``: one line, JSON and exit codes."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from onebit.cli.main import app


def write(path: Path, seed: int, changed: bool = False, n: int = 300) -> str:
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, n)
    old = np.where(rng.random(n) < (0.1 if changed else 0.9), truth, (truth + 1) % 3)
    new = np.where(rng.random(n) < 0.6, truth, (truth + 1) % 3)
    with path.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["name", "right", "old", "new"])
        table.writerows([f"{path.stem} {i}", *row] for i, row in enumerate(zip(truth, old, new, strict=True)))
    return str(path)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of a selection that chose "old"."""
    table = write(tmp_path / "all.csv", 0)
    given = ["--id", "name", "--truth", "right", "--eps", "0.1", "--out", str(tmp_path / "run"), "--json"]
    found = CliRunner().invoke(app, ["select", table, *given])
    assert json.loads(found.stdout)["chosen"] == "old"
    return tmp_path / "run"


def run(*args: str) -> tuple[int, str]:
    found = CliRunner().invoke(app, ["watch", *args])
    return found.exit_code, found.stdout


def test_a_watch_is_quiet_then_rings_and_can_be_verified(folder: Path, tmp_path: Path) -> None:
    columns = ["--id", "name", "--truth", "right", "--answers", "60"]
    code, line = run(str(folder), write(tmp_path / "one.csv", 1), *columns)
    assert (code, line[:6]) == (0, "quiet:")
    for day in range(2, 20):
        code, told = run(str(folder), write(tmp_path / f"{day}.csv", day, changed=True), *columns, "--json")
        if code:
            break
    assert code == 5
    figures = json.loads(told)
    assert (figures["verdict"], figures["alarms"], figures["exit_code"]) == ("alarm", ["new"], 5)
    assert figures["line"].startswith("alarm: old is no longer within 0.1 of new")
    assert run(str(folder), "--verify") == (0, "Verified: every batch, and that each goes on from the one before.\n")
    # Without a table it tells how it stands.
    assert run(str(folder), "--json")[0] == 5
    assert CliRunner().invoke(app, ["verify", str(folder)]).exit_code == 0


def test_batches_for_raters_are_studies_of_their_own(folder: Path, tmp_path: Path) -> None:
    storage = ["--storage", f"sqlite:///{folder / 'study.db'}"]
    table = write(tmp_path / "one.csv", 1)
    study = ["study", "watch", "all.csv"]
    made = CliRunner().invoke(app, [*study, table, "--id", "name", "--truth", "right", *storage])
    assert "all.csv watch 1; raters answer it" in made.stderr
    told = CliRunner().invoke(app, [*study, *storage, "--json"])
    figures = json.loads(told.stdout)
    assert (told.exit_code, figures["n_unanswered"], figures["n_models"]) == (0, 20, 2)
    status = CliRunner().invoke(app, ["study", "status", "all.csv watch 1", *storage])
    assert "no alarm about old" in status.stdout
    assert CliRunner().invoke(app, ["study", "verify", "all.csv watch 1", *storage]).exit_code == 0
