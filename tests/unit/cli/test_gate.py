"""``onebit gate`` and ``onebit study verdict``: exit codes, one line, JSON, what is kept and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.cli.tables import write_table
from tests.unit.cli.test_select import log_of
from tests.unit.study.edits import Rows, edit_store
from typer.testing import CliRunner

from onebit.cli.gate import EXIT_CODES
from onebit.cli.main import app
from onebit.errors import InvalidInputError, OptionError
from onebit.store.store import Store
from onebit.study.folder import StudyFolder

COLUMNS = ["--id", "key", "--truth", "right", "--show", "words", "--seed", 0]


def onebit(*options: object) -> Any:
    return CliRunner().invoke(app, [str(option) for option in options], catch_exceptions=False)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return write_table(tmp_path)[0]


def gate(table: Path, *options: object) -> Any:
    return onebit("gate", table, *COLUMNS, "--out", table.with_name("gate"), *options)


@pytest.mark.parametrize(
    ("baseline", "candidates", "code", "line"),
    [
        ("fair", ["best"], 0, "pass: best is "),
        ("best", ["fair"], 3, "worse: fair is worse than best ("),
        ("good", ["best", "poor"], 3, "poor is worse than good"),
        ("fair", ["good", "best"], 0, "pass: "),
    ],
)
def test_the_exit_code_says_who_passes(table: Path, baseline: str, candidates: list[str], code: int, line: str) -> None:
    named = [part for each in candidates for part in ("--candidate", each)]
    done = gate(table, "--baseline", baseline, *named, "--margin", 0.05)
    assert done.exit_code == code
    assert line in done.stdout
    assert done.stdout.count("\n") == 1
    assert onebit("verify", table.with_name("gate")).exit_code == 0


def test_not_yet_has_a_code_of_its_own_and_json_says_all(table: Path) -> None:
    done = gate(table, "--baseline", "good", "--candidate", "best", "--budget", 5, "--json")
    told = json.loads(done.stdout)
    assert done.exit_code == told["exit_code"] == EXIT_CODES["not yet"] == 4
    assert told["verdict"] == "not yet"
    assert told["line"].startswith("not yet: best beside good is not decided yet (5 simulated yes/no answers")
    assert (told["baseline"], told["margin"], told["delta"], told["answers"]) == ("good", 0.01, 0.05, 5)
    (candidate,) = told["candidates"]
    assert (candidate["name"], candidate["verdict"], candidate["passes"]) == ("best", "not yet", False)
    assert candidate["behind_at_most"] > 0.05
    assert "budget" in told["reason"]


def test_a_gate_stands_beside_a_selection_of_the_same_table(table: Path) -> None:
    assert onebit("select", table, *COLUMNS).exit_code == 0
    done = onebit("gate", table, *COLUMNS, "--baseline", "fair", "--candidate", "best", "--margin", 0.1)
    assert done.exit_code == 0, done.stderr
    assert table.with_name(f"{table.stem}-gate").is_dir()


def test_without_candidates_all_others_are_and_other_columns_are_left_out(table: Path) -> None:
    all_others = json.loads(gate(table, "--baseline", "fair", "--json").stdout)
    assert [each["name"] for each in all_others["candidates"]] == ["poor", "good", "best"]
    one = onebit("gate", table, *COLUMNS, "--baseline", "fair", "--candidate", "best", "--out", table.with_name("one"))
    assert one.exit_code == 0
    assert log_of(table.with_name("one"))[0]["table"]["n_models"] == 2


def test_the_same_command_goes_on_and_another_is_refused(table: Path) -> None:
    first = gate(table, "--baseline", "fair", "--candidate", "best")
    assert gate(table, "--baseline", "fair", "--candidate", "best").stdout == first.stdout
    with pytest.raises(InvalidInputError):
        gate(table, "--baseline", "fair", "--candidate", "good")


def test_a_verdict_that_was_changed_is_found(table: Path) -> None:
    gate(table, "--baseline", "best", "--candidate", "fair", "--margin", 0.05)
    folder = table.with_name("gate")
    report = folder / "report.json"
    report.write_text(report.read_text().replace('"verdict": "worse"', '"verdict": "better"'))
    found = onebit("verify", folder)
    assert found.exit_code == 1
    assert "gate 0 verdict is 'better'; recomputed it is 'worse'" in found.stdout


def test_a_verdict_that_was_changed_in_the_log_is_found(table: Path) -> None:
    gate(table, "--baseline", "best", "--candidate", "fair", "--margin", 0.05)
    folder = table.with_name("gate")

    (folder / "report.json").unlink()
    (folder / "report.html").unlink()

    def change(rows: Rows) -> Rows:
        summary = rows[-1]["summary"]
        (line,) = summary["gate"]
        assert line["verdict"] == "worse"
        return [*rows[:-1], rows[-1] | {"summary": summary | {"gate": [line | {"verdict": "not worse"}]}}]

    with Store(StudyFolder(folder).storage) as store:
        edit_store(store, change, relinks=True)
    found = onebit("verify", folder)
    assert found.exit_code == 1
    assert "summary gate 0 verdict is 'not worse'; recomputed it is 'worse'" in found.stdout


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--baseline", "worst"], "there is no model 'worst'; the table has poor, fair, good, best"),
        (["--baseline", "fair", "--candidate", "worst"], "there is no model 'worst'"),
        (["--baseline", "fair", "--candidate", "fair"], "held against itself"),
        (["--baseline", "fair", "--candidate", "good", "--candidate", "good"], "named once"),
        (["--baseline", "fair", "--margin", 0], "margin is 0"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_written(table: Path, options: list[Any], told: str) -> None:
    with pytest.raises(OptionError, match=told):
        gate(table, *options)
    assert not table.with_name("gate").exists()


def test_a_study_tells_its_verdict_at_any_time(table: Path, tmp_path: Path) -> None:
    storage = ["--storage", f"sqlite:///{tmp_path / 'studies.db'}"]
    columns = ["--id", "key", "--show", "words", "--truth", "right", *storage]
    made = onebit("study", "create", "gate", table, *columns, "--baseline", "fair", "--candidate", "best")
    assert made.exit_code == 0
    told = onebit("study", "verdict", "gate", *storage)
    assert told.exit_code == 4
    assert told.stdout == "not yet: best beside fair is not decided yet (0 yes/no answers, delta 0.05)\n"
    status = onebit("study", "status", "gate", *storage).stdout
    assert "baseline        fair (margin 0.01)" in status
    assert "best            not yet; behind by at most" in status
    onebit("study", "create", "choice", table, *columns)
    with pytest.raises(InvalidInputError, match="is no gate"):
        onebit("study", "verdict", "choice", *storage)
