"""``onebit study`` from creation to deletion."""

from __future__ import annotations

import json
import os
import pty
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.unit.study.runs import PREDICTIONS, TRUTH
from typer.testing import CliRunner, Result

from onebit.cli.main import app
from onebit.errors import InvalidInputError
from onebit.records import Answer
from onebit.store.database import InUseError
from onebit.study.opening import load_study
from onebit.study.study import Offer

runner = CliRunner()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a table and a store."""
    monkeypatch.setenv("ONEBIT_STORAGE", f"sqlite:///{tmp_path}/studies.db")
    lines = ["item,text,known," + ",".join(f"m{h}" for h in range(PREDICTIONS.shape[0]))]
    for i, column in enumerate(PREDICTIONS.T):
        known = TRUTH[i] if i < 20 else ""
        lines.append(f"id{i},text {i},{known}," + ",".join(map(str, column)))
    (tmp_path / "table.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "descriptions.json").write_text('{"0": "none of the others"}')
    (tmp_path / "instructions.txt").write_text("Look twice.")
    return tmp_path


def run(*arguments: str, fails: bool = False) -> Result:
    result = runner.invoke(app, ["study", *arguments], catch_exceptions=False)
    assert (result.exit_code != 0) == fails, result.output
    return result


def create(folder: Path, *options: str) -> None:
    run("create", "s", str(folder / "table.csv"), "--id", "item", "--show", "text", "--gold", "known", *options)


def answer(n: int, rater: str = "ann") -> None:
    with load_study("s") as study:
        for _ in range(n):
            offer = study.ask(rater)
            if not isinstance(offer, Offer):
                break
            study.tell(offer, bool(TRUTH[offer.item] == offer.label))


def test_from_creation_to_deletion(folder: Path) -> None:
    create(folder, "--eps", "0.1", "--descriptions", str(folder / "descriptions.json"), "--repeat-share", "0.1")
    assert json.loads(run("list", "--json").stdout)["studies"][0]["name"] == "s"
    assert "s" in run("list").stdout
    answer(50)
    status = json.loads(run("status", "s", "--json").stdout)
    assert status["status"] == "running"
    assert 0 < status["n_answers"] <= 50
    assert status["raters"][0]["rater"] == "ann"
    shown = run("status", "s").stdout
    assert "certified eps" in shown
    assert "still needed    about " in shown
    low, middle, high = status["forecast"]
    assert 0 < low <= middle <= high
    answer(10_000)
    assert json.loads(run("verify", "s", "--json").stdout)["ok"]
    assert "Verified: from" in run("verify", "s").stdout
    run("export", "s", str(folder / "labels.csv"), "--anonymous")
    assert "ann" not in (folder / "labels.csv").read_text()
    run("export", "s", str(folder / "log.parquet"), "--log")
    run("backup", str(folder / "copy.db"))
    assert "s" in run("list", "--storage", f"sqlite:///{folder}/copy.db").stdout
    kept = runner.invoke(app, ["study", "delete", "s"], input="n\n")
    assert kept.exit_code == 1
    assert "s was kept." in kept.stderr
    assert "events are deleted." in run("delete", "s", "--yes").stderr
    assert json.loads(run("list", "--json").stdout) == {"studies": []}


def test_a_store_is_checked_repaired_and_backed_up_with_a_number_to_keep(folder: Path) -> None:
    create(folder, "--eps", "0.1")
    answer(10)
    assert "events, digest" in run("check").stdout
    (folder / "backups").mkdir()
    assert "give --keep" in str(runner.invoke(app, ["study", "backup", str(folder / "backups")]).exception)
    assert "1 study is in" in run("backup", str(folder / "backups"), "--keep", "2").stderr
    (kept,) = (folder / "backups").iterdir()
    with sqlite3.connect(folder / "studies.db") as connection:
        connection.execute("DELETE FROM events WHERE seq = 8")
    connection.close()
    found = run("check", "--json", fails=True)
    assert "event 8 is missing" in json.loads(found.stdout)["studies"][0]["problem"]
    assert "onebit study repair" in found.stderr
    assert "s: 8 of " in run("repair", str(folder / "new.db")).stdout
    whole = run("repair", str(folder / "whole.db"), "--backup", str(kept)).stdout
    assert "lost" not in whole
    assert run("check", "--storage", f"sqlite:///{folder}/whole.db").exit_code == 0


def test_a_study_says_what_raters_see(folder: Path) -> None:
    create(
        folder,
        "--instructions",
        str(folder / "instructions.txt"),
        "--descriptions",
        str(folder / "descriptions.json"),
        "--gold-share",
        "0.2",
    )
    with load_study("s") as study:
        assert study.about.instructions == "Look twice."
        assert study.about.labels[0].description == "none of the others"
        assert study.item(3).shown == {"text": "text 3"}
        assert len(study.about.gold) == 20


def test_right_labels_are_left_out_and_never_become_a_model(folder: Path) -> None:
    """Twin: the same column without its name is a model more."""
    table = str(folder / "table.csv")
    run("create", "s", table, "--id", "item", "--show", "text", "--truth", "known")
    run("create", "twin", table, "--id", "item", "--show", "text")
    with load_study("s") as study, load_study("twin") as twin:
        assert study.created.table.n_models + 1 == twin.created.table.n_models
        assert "known" not in study.about.models
        assert study.item(3).shown == {"text": "text 3"}
        assert study.about.gold == ()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--protocol", "poll"], "protocol is 'poll'"),
        (["--learner", "paper", "--protocol", "follow-up"], "learner is paper"),
        (["--descriptions", "nowhere.json"], "nowhere.json cannot be read"),
        (["--descriptions", "table.csv"], "must hold one JSON object"),
        (["--overlap", "2"], "odd"),
        (["--show", "nothing"], "no column 'nothing'"),
    ],
)
def test_what_cannot_be_is_refused_and_leaves_no_trace(
    folder: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], said: str
) -> None:
    monkeypatch.chdir(folder)
    with pytest.raises(InvalidInputError, match=said):
        create(folder, *options)
    assert not (folder / "studies.db").exists()


def test_names_cannot_command_the_terminal(folder: Path) -> None:
    create(folder, "--eps", "0.1")
    answer(5, rater="ann\x1b]0;owned\x07\x1b[2J\u202e")
    shown = run("status", "s").stdout
    assert "ann]0;" in shown
    assert not {"\x1b", "\x07", "\u202e"} & set(shown)


def test_verify_fails_where_an_answer_was_changed(folder: Path) -> None:
    import sqlite3

    create(folder, "--eps", "0.1")
    answer(10_000)
    connection = sqlite3.connect(folder / "studies.db")
    connection.execute("""UPDATE events SET event = replace(event, '"answer":"yes"', '"answer":"no"')""")
    connection.commit()
    connection.close()
    assert "does not follow the event before it" in " ".join(run("verify", "s", fails=True).stdout.split())


def test_answering_at_a_terminal(folder: Path) -> None:
    # Without planted questions, which are answered too and are not among the answers that are counted.
    create(folder, "--eps", "0.1", "--instructions", str(folder / "instructions.txt"), "--gold-share", "0")
    ours, theirs = pty.openpty()
    code = "from onebit.cli.study import app; app()"
    with subprocess.Popen(
        [sys.executable, "-c", code, "answer", "s", "--rater", "ann"], stdin=theirs, stdout=theirs, stderr=theirs
    ) as process:
        os.close(theirs)
        seen = b""
        for key in (b"y", b"n", b" ", b"\x7f", b"n", b"q"):
            seen += _until(ours, b"go on later")
            os.write(ours, key)
        seen += _until(ours, b"certified eps")
        process.wait(timeout=60)
    os.close(ours)
    assert process.returncode == 0
    assert b"Look twice." in seen
    assert b"taken back" in seen
    with load_study("s") as study:
        answers = [each.value for each in study._course.answers if isinstance(each, Answer)]
        assert answers == ["yes", "no", "no"]


def _until(terminal: int, text: bytes, seconds: float = 60) -> bytes:
    seen, end = b"", time.monotonic() + seconds
    while text not in seen:
        assert time.monotonic() < end, seen
        seen += os.read(terminal, 4096)
    return seen


def test_a_study_is_renamed_and_put_away(folder: Path) -> None:
    create(folder, "--eps", "0.1")
    answer(3)
    with load_study("s"), pytest.raises(InUseError):
        run("rename", "s", "t")
    run("rename", "s", "t")
    assert [each["name"] for each in json.loads(run("list", "--json").stdout)["studies"]] == ["t"]
    with pytest.raises(InvalidInputError, match="needs a name"):
        run("rename", "t", " ")
    run("archive", "t")
    assert json.loads(run("list", "--json").stdout)["studies"] == []
    (away,) = json.loads(run("list", "--all", "--json").stdout)["studies"]
    assert (away["name"], away["archived"]) == ("t", True)
    assert "t (archived)" in run("list", "--all").stdout
    run("archive", "t", "--undo")
    assert [each["archived"] for each in json.loads(run("list", "--json").stdout)["studies"]] == [False]
    told = json.loads(run("status", "t", "--json").stdout)
    assert told["safe_to_stop"] is False
    assert len(told["models"]) == PREDICTIONS.shape[0]
    assert told["models"][0]["accepted"]["low"] <= told["models"][0]["accepted"]["high"]
    assert "not yet" in run("status", "t").stdout


def test_before_the_first_answer_nobody_leads(folder: Path) -> None:
    made = run("create", "s", str(folder / "table.csv"), "--id", "item", "--show", "text", "--gold", "known").output
    assert "models ('m0', 'm1', " in " ".join(made.split())
    shown = run("status", "s").stdout
    assert "certified eps   none yet" in shown
    assert "leader          none yet" in shown
    assert "accepted" not in shown
    assert "1 event," in shown
    answer(50)
    shown = run("status", "s").stdout
    assert "leader          m" in shown
    assert "accepted" in shown
