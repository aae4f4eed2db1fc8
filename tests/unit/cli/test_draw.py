"""``onebit draw``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.passes.shards import random_said, write_shards
from typer.testing import CliRunner

from onebit.cli.main import app
from onebit.errors import InvalidInputError


def onebit(*options: object) -> Any:
    return CliRunner().invoke(app, [str(option) for option in options], catch_exceptions=False)


def test_rows_are_drawn_checked_and_never_written_over(tmp_path: Path) -> None:
    folder, sample = tmp_path / "t", tmp_path / "s.parquet"
    write_shards(folder, random_said(), 3, 10)
    drawn = onebit("draw", folder, sample, "--rows", 25, "--seed", 7, "--json")
    assert json.loads(drawn.stdout) == {"table": str(folder), "rows": 101, "drawn": 25, "seed": 7}
    assert "25 rows of the 101" in onebit("draw", folder, sample, "--check").stdout
    before = sample.read_bytes()
    with pytest.raises(InvalidInputError, match="is there already"):
        onebit("draw", folder, sample)
    assert sample.read_bytes() == before
    assert "10,000 rows of the 101" in onebit("draw", folder, tmp_path / "more.parquet").stdout
