"""Single edits of the folder of a run, its log and its reports: each is found, or it is said why it may pass."""

from __future__ import annotations

import csv
import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests.unit.study.edits import SELECTION, Edit, Tally, edit_store, renamed, setting, swap_two_answers
from typer.testing import CliRunner

from onebit.cli.main import app
from onebit.errors import OnebitError
from onebit.store.store import Store
from onebit.study.folder import StudyFolder
from onebit.study.proof import verify_study

OPTIONS = ["--id", "key", "--truth", "right", "--show", "words", "--seed", "3"]
EDITS: dict[str, Edit] = SELECTION | {
    "two answers swapped": Edit(
        swap_two_answers, only_by_digest="the order of answers within an epoch changes nothing"
    ),
    "answers by somebody": Edit(renamed(None, "prof"), only_by_digest="who answered is known to nobody else"),
    "the end says one survivor": Edit(setting("finished", -1, "summary", "n_survivors", to=1)),
    "the end has another delta": Edit(setting("finished", -1, "summary", "delta", to=0.001)),
    "the end has another eps": Edit(setting("finished", -1, "summary", "eps", to=0.001)),
    "the end counts fewer answers": Edit(setting("finished", -1, "summary", "n_answers", to=12)),
    "the end counts fewer rounds": Edit(setting("finished", -1, "summary", "n_rounds", to=12)),
    "the end counts more free rounds": Edit(setting("finished", -1, "summary", "n_free_rounds", to=1200)),
    "the end has another protocol": Edit(setting("finished", -1, "summary", "protocol", to="labels")),
    "the end gives a reason": Edit(setting("finished", -1, "summary", "reason", to="it was time")),
    "the chosen one without a list": Edit(setting("finished", -1, "summary", "chosen", to="m0")),
    "the last event taken out": Edit(lambda rows: rows[:-1], only_by_digest="a log cut at its end is a shorter log"),
}


def write_rows(path: Path, rows: list[list[str]]) -> None:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    path.write_text(text.getvalue())


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A folder with a table and its run, finished; and the digest of its log."""
    folder = tmp_path_factory.mktemp("made")
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 4, 400)
    rows = [["key", "words", "right", *(f"m{h}" for h in range(5))]]
    accuracies = (0.85, 0.83, 0.78, 0.7, 0.6)
    for i, y in enumerate(truth.tolist()):
        said = [y if rng.random() < share else (y + int(rng.integers(1, 4))) % 4 for share in accuracies]
        rows.append([f"k{i}", f"item number {i}", "abcd"[y], *("abcd"[label] for label in said)])
    write_rows(folder / "t.csv", rows)
    told = CliRunner().invoke(app, ["select", str(folder / "t.csv"), *OPTIONS, "--eps", "0.05", "--json"])
    digest: str = json.loads(told.stdout)["log_digest"]
    return folder, digest


def problems_of(folder: Path, digest: str | None = None) -> list[str]:
    try:
        place = StudyFolder(folder / "t")
        found = verify_study(place.storage, place.name(), digest=digest)
        return [*found.problems, *([] if found.problems else place.report_faults())]
    except OnebitError as error:
        return [str(error)]


@pytest.fixture
def copied(made: tuple[Path, str], tmp_path: Path) -> Path:
    shutil.copytree(made[0], tmp_path / "copy")
    return tmp_path / "copy"


def test_edits_of_a_log(made: tuple[Path, str], tmp_path: Path, measured: Callable[[str], None]) -> None:
    source, digest = made
    tally, wrong = Tally(), []
    for number, (name, edit) in enumerate(EDITS.items()):
        found = []
        for relinks in (False, True):
            folder = tmp_path / f"{number} {relinks}"
            shutil.copytree(source, folder)
            with Store(StudyFolder(folder / "t").storage) as store:
                edit_store(store, edit.of, relinks)
            if relinks:
                reported = problems_of(folder)
                if not edit.harmless and not reported:
                    wrong.append(f"{name}: not found beside the report")
                for report in (folder / "t").glob("report.*"):
                    report.unlink()
            found.append(problems_of(folder))
        with_digest = problems_of(folder, digest) if edit.only_by_digest or edit.may_pass else []
        wrong += tally.take(name, edit, found[0], found[1], with_digest)
    measured(tally.in_words("a run"))
    assert not wrong, "\n".join(wrong)


def replaced(old: str, new: str) -> Callable[[str], str]:
    def edit(text: str) -> str:
        assert old in text
        return text.replace(old, new)

    return edit


REPORTS: dict[str, tuple[str, Callable[[str], str]]] = {
    "another choice": ("report.json", replaced('"m0"', '"m4"')),
    "another eps": ("report.json", replaced('"eps": 0.05', '"eps": 0.01')),
    "another table": ("report.json", replaced('"t.csv"', '"u.csv"')),
    "another price": ("report.json", lambda text: text.replace('"answers": ', '"answers": 1', 1)),
    "a line more": ("report.json", replaced('"version": 1,', '"version": 1, "award": "gold",')),
    "another digest": ("report.json", lambda text: text.replace('"log_digest": "', '"log_digest": "0')),
    "no JSON": ("report.json", lambda text: text[:-20]),
    "eps in the page": ("report.html", replaced("0.05", "0.0001")),
    "the name in the page": ("report.html", replaced("<h1>m0</h1>", "<h1>m4</h1>")),
    "a word in the page": ("report.html", replaced("at most", "at least")),
}


@pytest.mark.parametrize("name", REPORTS)
def test_edits_of_a_report_are_found(name: str, copied: Path) -> None:
    file, edit = REPORTS[name]
    path = copied / "t" / file
    before = path.read_text(encoding="utf-8")
    path.write_text(edit(before), encoding="utf-8")
    assert path.read_text(encoding="utf-8") != before
    assert any(file in problem for problem in problems_of(copied))


BLOCK = "UPDATE blocks SET data = CAST({} AS BLOB) WHERE kind = '{}'"
TABLES: dict[str, str] = {
    "a shown text": BLOCK.format("data || x'00'", "items"),
    "a right label": BLOCK.format("x'01000000' || substr(data, 5)", "truth"),
    "a prediction": BLOCK.format("x'03' || substr(data, 2)", "predictions"),
    "a type": "UPDATE blocks SET data = 'text' WHERE kind = 'items'",
    "a name of a model": """UPDATE studies SET about = replace(about, '"m0"', '"better"')""",
    "a name of a label": """UPDATE studies SET about = replace(about, '"name": "a"', '"name": "z"')""",
}


@pytest.mark.parametrize("name", TABLES)
def test_edits_of_a_table_are_found(name: str, copied: Path) -> None:
    with Store(StudyFolder(copied / "t").storage) as store, store.writing() as connection:
        assert connection.exec_driver_sql(TABLES[name]).rowcount > 0
    assert problems_of(copied)


def test_a_report_that_is_older_than_the_log_says_what_to_do(made: tuple[Path, str], copied: Path) -> None:
    database = copied / "t" / "study.db"
    whole = database.read_bytes()
    with Store(StudyFolder(copied / "t").storage) as store:
        edit_store(store, lambda rows: rows[: len(rows) // 2], relinks=False)
    assert CliRunner().invoke(app, ["report", str(copied / "t")]).exit_code == 0
    assert problems_of(copied) == []
    for side in copied.glob("t/study.db-*"):
        side.unlink()
    database.write_bytes(whole)
    (problem,) = problems_of(copied)
    assert problem.endswith("write it again with onebit report")
    assert CliRunner().invoke(app, ["report", str(copied / "t")]).exit_code == 0
    assert problems_of(copied, made[1]) == []


def test_verify_tells_the_digest_and_takes_one(made: tuple[Path, str]) -> None:
    folder, digest = made
    told = CliRunner().invoke(app, ["verify", str(folder / "t"), "--digest", digest])
    assert told.exit_code == 0
    assert f"digest {digest}" in told.stdout
    assert CliRunner().invoke(app, ["verify", str(folder / "t"), "--digest", "0" * 64]).exit_code == 1
    assert digest in (folder / "t" / "report.html").read_text()
