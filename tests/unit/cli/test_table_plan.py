"""``onebit plan TABLE``: a forecast before anything is asked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.cli.tables import write_table
from typer.testing import CliRunner

from onebit.cli.main import app
from onebit.errors import InvalidInputError


def planned(*options: object) -> Any:
    return CliRunner().invoke(app, ["plan", *map(str, options)], catch_exceptions=False)


def test_both_protocols_and_several_eps_are_forecast(tmp_path: Path) -> None:
    path, _ = write_table(tmp_path)
    columns = ["--id", "key", "--show", "words", "--truth", "right"]
    figures = json.loads(planned(path, *columns, "--eps", 0.1, "--eps", 0.2, "--json").stdout)
    assert (figures["models"], figures["items"], figures["labels"]) == (4, 300, 4)
    rows = figures["forecasts"]
    assert [(row["protocol"], row["eps"]) for row in rows] == [
        ("one-shot", 0.2),
        ("one-shot", 0.1),
        ("follow-up", 0.2),
        ("follow-up", 0.1),
    ]
    for row in rows:
        assert 0 < row["low"] <= row["answers"] <= row["high"]
        assert row["rater_hours"] == pytest.approx(row["answers"] * 5 / 3600)
    assert rows[0]["answers"] <= rows[1]["answers"]
    shown = planned(path, *columns, "--eps", 0.2, "--seconds-per-answer", 3600).stdout
    assert "Forecast for votes.csv: 4 models" in shown
    assert f"{rows[0]['answers']}.0" in shown
    assert [each.name for each in tmp_path.iterdir()] == ["votes.csv"]


def test_workers_forecast_the_same(tmp_path: Path) -> None:
    path, _ = write_table(tmp_path)
    options = [
        path,
        "--id",
        "key",
        "--show",
        "words",
        "--truth",
        "right",
        "--eps",
        0.3,
        "--protocol",
        "one-shot",
        "--json",
    ]
    assert planned(*options, "--workers", 2).stdout == planned(*options).stdout


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["votes.csv", "--labels", "3"], "are for a plan without a table"),
        (["votes.csv", "--seconds-per-answer", "0"], "--seconds-per-answer is 0.0"),
        (["votes.csv", "--eps", "2"], "--eps is 2.0"),
        (["votes.csv", "--delta", "0"], "delta is 0.0"),
        (["votes.csv"], "there is no file"),
        (["votes.csv", "--workers", "none"], "workers is 'none'; it must be a number of processes"),
        (["--labels", "3", "--hypotheses", "5", "--id", "key"], "are about a table"),
        (["--labels", "3", "--hypotheses", "5", "--eps", "0.1", "--eps", "0.2"], "--eps is given 2 times"),
        (["--hypotheses", "5"], "give a table, or the number of labels"),
    ],
)
def test_what_cannot_be_planned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], says: str) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidInputError) as caught:
        planned(*options)
    assert says in str(caught.value)
