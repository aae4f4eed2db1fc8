"""``onebit plan TABLE``: a forecast before anything is asked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from tests.unit.cli.tables import write_table
from tests.unit.passes.shards import random_said, write_shards
from typer.testing import CliRunner

import onebit
from onebit.cli.main import app
from onebit.errors import InvalidInputError
from onebit.passes import survey


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


def large_table(folder: Path) -> Path:
    """Five models on 600 rows in three files, of which the last says what the first says."""
    said = random_said(n_models=5, n_items=600)
    said[1:] = np.where(np.random.default_rng(1).random(said[1:].shape) < 0.6, said[0], said[1:])
    said[4] = said[0]
    write_shards(folder, said, 3, 50)
    return folder


def test_a_folder_is_planned_from_rows_that_are_drawn(tmp_path: Path) -> None:
    folder = large_table(tmp_path / "answers")
    options = [folder, "--truth", "y", "--rows", 200, "--eps", 0.2, "--protocol", "one-shot"]
    figures = json.loads(planned(*options, "--json").stdout)
    assert (figures["table"], figures["models"], figures["items"], figures["rows_read"]) == (str(folder), 5, 600, 200)
    assert "200 rows drawn from the 600" in figures["notes"][0]
    assert (figures["survey"]["rows"], figures["survey"]["of"]) == (200, 600)
    assert figures["survey"]["equal"] == [["m0", "m4"]]
    assert figures["forecasts"][0]["answers"] > 0
    assert json.loads(planned(*options, "--json").stdout) == figures
    assert "by 200 rows drawn from 600: models differ on" in planned(*options).stdout


def test_one_pass_tells_what_all_rows_say_whoever_does_it(tmp_path: Path) -> None:
    folder = large_table(tmp_path / "answers")
    options = [folder, "--truth", "y", "--rows", 200, "--eps", 0.3, "--protocol", "one-shot", "--whole", "--json"]
    figures = json.loads(planned(*options).stdout)
    found = figures["survey"]
    assert (found["rows"], found["of"], figures["rows_read"]) == (600, 600, 200)
    expected = survey(folder, [f"m{h}" for h in range(5)])
    assert found["agreement"] == dict(zip(expected.models, expected.agreement.tolist(), strict=True))
    assert found["contested"] == expected.n_contested / 600
    assert json.loads(planned(*options, "--workers", 2).stdout) == figures
    shown = planned(*options[:-1]).stdout
    assert "by all 600 rows" in shown
    assert "Equal on all of them: m0 = m4" in shown


def test_a_small_folder_is_read_whole_as_a_pool(tmp_path: Path) -> None:
    folder = large_table(tmp_path / "answers")
    figures = json.loads(planned(folder, "--truth", "y", "--eps", 0.3, "--json").stdout)
    assert (figures["items"], figures["rows_read"], figures["notes"]) == (600, 600, [])
    assert {row["protocol"] for row in figures["forecasts"]} == {"one-shot", "follow-up"}
    forecast = onebit.plan(folder, truth="y", eps=0.3)
    assert forecast.n_items == 600
    assert [each.needed.middle for each in forecast.planned] == [row["answers"] for row in figures["forecasts"]]


def test_a_url_is_planned(tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    folder = large_table(tmp_path / "answers")
    there = fsspec.filesystem("memory")
    for path in folder.iterdir():
        there.pipe(f"/planned/{path.name}", path.read_bytes())
    options = ["--truth", "y", "--rows", 200, "--eps", 0.3, "--protocol", "one-shot", "--json"]
    here, remote = (json.loads(planned(place, *options).stdout) for place in (folder, "memory://planned"))
    assert remote["table"] == "memory://planned"
    assert remote["forecasts"] == here["forecasts"]
    assert remote["survey"] == here["survey"]


def test_ids_may_be_drawn_twice_and_models_be_named_by_a_pattern(tmp_path: Path) -> None:
    said = random_said(n_models=3, n_items=400)
    columns = {f"says_{name}": pa.array(row) for name, row in zip("abc", said, strict=True)}
    table = pa.table({"key": [f"k{row}" for row in range(400)], **columns})
    (tmp_path / "t").mkdir()
    pa.parquet.write_table(table, tmp_path / "t" / "0.parquet", row_group_size=50)
    options = ["--rows", 300, "--eps", 0.3, "--protocol", "one-shot", "--whole", "--json"]
    figures = json.loads(planned(tmp_path / "t", "--id", "key", "--models", "says_*", *options).stdout)
    assert (figures["models"], list(figures["survey"]["agreement"])) == (3, ["a", "b", "c"])


def test_what_is_for_large_tables_is_refused_of_others(tmp_path: Path) -> None:
    path, _ = write_table(tmp_path)
    for option in (["--rows", 5], ["--whole"]):
        with pytest.raises(InvalidInputError, match="this one is read whole"):
            planned(path, "--id", "key", *option)
        with pytest.raises(InvalidInputError, match="are about a table"):
            planned("--labels", 3, "--hypotheses", 5, *option)
    with pytest.raises(InvalidInputError, match="long says that an item has several"):
        planned(large_table(tmp_path / "answers"), "--long")
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "a.eval").write_text("")
    with pytest.raises(InvalidInputError, match=r"all files of a folder of logs: FOLDER/\*"):
        planned(tmp_path / "logs")
