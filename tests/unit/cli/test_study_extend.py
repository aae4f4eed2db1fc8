"""``onebit study extend``: a study that goes on from another."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from typer.testing import CliRunner

from onebit.cli.main import app


def write(path: Path, *models: str) -> str:
    with path.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["name", *models])
        table.writerows([f"item {i}", *(f"L{(i + h * (i % 3)) % 4}" for h in range(len(models)))] for i in range(40))
    return str(path)


def test_a_newcomer_is_added(tmp_path: Path) -> None:
    storage = ["--storage", f"sqlite:///{tmp_path / 'studies.db'}"]
    first, second = write(tmp_path / "first.csv", "a", "b"), write(tmp_path / "second.csv", "a", "b", "c")
    assert CliRunner().invoke(app, ["study", "create", "first", first, "--id", "name", *storage]).exit_code == 0
    made = CliRunner().invoke(app, ["study", "extend", "first", "second", second, "--id", "name", *storage])
    assert made.exit_code == 0, made.stderr
    assert "second goes on from first, with 3 models and 40 items" in made.stderr
    told = json.loads(CliRunner().invoke(app, ["study", "status", "second", *storage, "--json"]).stdout)
    assert told["n_models"] == 3
    assert "sequel 1" in told["sequel"]
    assert CliRunner().invoke(app, ["study", "verify", "second", *storage]).exit_code == 0
