"""``onebit select --top`` and ``--tiers``: what is printed, kept, verified and refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.cli.tables import write_table
from tests.unit.cli.test_gate import COLUMNS, onebit
from tests.unit.study.edits import Rows, edit_store

from onebit.errors import OptionError
from onebit.store.store import Store
from onebit.study.folder import StudyFolder


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return write_table(tmp_path)[0]


def select(table: Path, *options: object) -> Any:
    return onebit("select", table, *COLUMNS, "--out", table.with_name("out"), "--eps", 0.05, *options)


def test_the_best_are_told(table: Path) -> None:
    done = select(table, "--top", 2)
    assert done.exit_code == 0
    assert done.stdout.startswith("The best 2: best, good\n  best: shown to be among the best 2\n")
    assert "No other of the 4 models is right more often than any of these" in done.stdout
    found = onebit("verify", table.with_name("out"))
    assert found.exit_code == 0, found.stdout
    assert "the best 2 are best, good" in found.stdout
    assert "The best 2" in table.with_name("out").joinpath("report.html").read_text()


def test_tiers_are_told(table: Path) -> None:
    done = select(table, "--tiers")
    assert done.exit_code == 0
    assert "tiers\n  tier 1: best (rank 1)" in done.stdout
    assert "Of 6 pairs of models, one is right more often in" in done.stdout
    assert "True excess error of best, which leads, by the right labels: 0.0000." in done.stdout
    assert onebit("verify", table.with_name("out")).exit_code == 0


def test_the_json_has_the_places(table: Path) -> None:
    told = json.loads(select(table, "--top", 2, "--json").stdout)
    assert told["chosen"] == ["best", "good"]
    assert [each["tier"] for each in told["placings"]] == [1, 1, 2, 2]
    assert told["excess"] == 0


def test_a_place_that_was_changed_is_found(table: Path) -> None:
    select(table, "--tiers")
    report = table.with_name("out") / "report.json"
    report.write_text(report.read_text().replace('"worst_rank": 1', '"worst_rank": 2'))
    found = onebit("verify", table.with_name("out"))
    assert found.exit_code == 1
    assert "placings 0 worst_rank is 2; recomputed it is 1" in found.stdout


@pytest.mark.parametrize(
    ("options", "edit", "told"),
    [
        (["--tiers"], lambda summary: summary["placings"][0].update(tier=2), "summary placings 0 tier is 2"),
        (["--top", 2], lambda summary: summary["chosen"].reverse(), "summary chosen 0"),
    ],
)
def test_an_end_of_the_log_that_was_changed_is_found(table: Path, options: list[Any], edit: Any, told: str) -> None:
    select(table, *options)
    folder = table.with_name("out")
    for name in ("report.json", "report.html"):
        (folder / name).unlink()

    def change(rows: Rows) -> Rows:
        last = json.loads(json.dumps(rows[-1]))
        edit(last["summary"])
        return [*rows[:-1], last]

    with Store(StudyFolder(folder).storage) as store:
        edit_store(store, change, relinks=True)
    found = onebit("verify", folder)
    assert found.exit_code == 1
    assert told in found.stdout


@pytest.mark.parametrize("field", ["top", "survivors", "certified_eps"])
@pytest.mark.parametrize("options", [["--top", 2], ["--tiers"]])
def test_a_closing_that_was_changed_is_found(table: Path, options: list[Any], field: str) -> None:
    select(table, *options)
    folder = table.with_name("out")
    for name in ("report.json", "report.html"):
        (folder / name).unlink()

    def change(rows: Rows) -> Rows:
        place = next(i for i, row in enumerate(rows) if row["event"] == "closed")
        other = {"top": [0, 1] if options[0] == "--top" else [0], "survivors": [], "certified_eps": 0.001}[field]
        assert rows[place][field] != other
        return [*rows[:place], rows[place] | {field: other}, *rows[place + 1 :]]

    with Store(StudyFolder(folder).storage) as store:
        edit_store(store, change, relinks=True)
    assert onebit("verify", folder).exit_code == 1


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--top", 4], "one at least must be left out"),
        (["--top", 0], "top is 0"),
        (["--top", 2, "--tiers"], "top and tiers are both given"),
        (["--tiers", "--learner", "paper"], "use certified"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_written(table: Path, options: list[Any], told: str) -> None:
    with pytest.raises(OptionError, match=told):
        select(table, *options)
    assert not table.with_name("out").exists()


def test_a_study_tells_its_places_at_any_time(table: Path, tmp_path: Path) -> None:
    storage = ["--storage", f"sqlite:///{tmp_path / 'studies.db'}"]
    columns = ["--id", "key", "--show", "words", "--truth", "right", *storage]
    assert onebit("study", "create", "short", table, *columns, "--tiers").exit_code == 0
    status = onebit("study", "status", "short", *storage).stdout
    assert "aim             within 0.01: not yet" in status
    assert "(rank 1 to 4)" in status
