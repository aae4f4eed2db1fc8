"""What goes in and out of studies as files: JSONL, gold, images, exports, backups; and verification."""

from __future__ import annotations

import csv
import json
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as parquet
import pytest
from tests.unit.study.runs import PREDICTIONS, TRUTH

from onebit.errors import InvalidInputError
from onebit.log.chain import Unchain
from onebit.store.backup import backup
from onebit.store.database import StoreError
from onebit.store.store import Store
from onebit.study.export import export_study
from onebit.study.gold import split_gold
from onebit.study.media import Media
from onebit.study.opening import create_study, load_study
from onebit.study.proof import verify_study
from onebit.study.study import Offer, Study
from onebit.tables import read_table

LABELS = ("=1+1", "-cat", "dog", "@x", "ü")
TEXTS = ["=cmd()", *("a text" for _ in range(TRUTH.size - 1))]


def write_csv(path: Path) -> Path:
    """The shared table as a CSV with ids and texts, both of which a spreadsheet would run, and labels too."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["item", "text", *(f"m{h}" for h in range(PREDICTIONS.shape[0]))])
        for i, column in enumerate(PREDICTIONS.T):
            writer.writerow([f"+item {i}", TEXTS[i], *(LABELS[label] for label in column)])
    return path


@pytest.fixture
def storage(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/studies.db"


@pytest.fixture
def study(tmp_path: Path, storage: str) -> Iterator[Study]:
    table = read_table(write_csv(tmp_path / "table.csv"), id="item", show=["text"], labels=LABELS)
    with create_study(table, "s", storage=storage, eps=0.05, population="stream") as made:
        yield made


def answer(study: Study, n: int, rater: str = "ann") -> list[Offer]:
    offers = []
    for _ in range(n):
        offer = study.ask(rater)
        if not isinstance(offer, Offer):
            break
        study.tell(offer, bool(TRUTH[offer.item] == offer.label), token=f"{rater} {offer.id}")
        offers.append(offer)
    return offers


def test_csv_labels_are_those_answered_and_formulas_are_neutral(tmp_path: Path, storage: str, study: Study) -> None:
    offers = answer(study, 30)
    study.undo(offers[-1])
    assert export_study(storage, "s", tmp_path / "labels.csv") == 29
    with (tmp_path / "labels.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for offer, row in zip(offers, rows, strict=False):
        assert offer.label is not None
        label = LABELS[offer.label]
        assert row.pop("answered_at").startswith("20")
        assert row == {
            "item": f"'+item {offer.item}",
            "row": str(offer.item),
            "label": f"'{label}" if label[0] in "=-@" else label,
            "answer": "yes" if TRUTH[offer.item] == offer.label else "no",
            "rater": "ann",
            "provenance": "human",
        }
    with pytest.raises(InvalidInputError, match="there already"):
        export_study(storage, "s", tmp_path / "labels.csv")
    with pytest.raises(InvalidInputError, match="exports end in"):
        export_study(storage, "s", tmp_path / "labels.xls")
    assert not list(tmp_path.glob("*.part"))


def test_the_log_in_every_format_says_the_same(tmp_path: Path, storage: str, study: Study) -> None:
    answer(study, 20)
    answer(study, 5, "bob")
    for suffix in ("csv", "jsonl", "parquet"):
        export_study(storage, "s", tmp_path / f"log.{suffix}", "log")
    events = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text("utf-8").splitlines()]
    rows = parquet.read_table(tmp_path / "log.parquet").to_pylist()
    assert [event["seq"] for event in events] == [row["seq"] for row in rows] == list(range(len(events)))
    assert [event["event"] for event in events] == [row["event"] for row in rows]
    asked = next(row for row in rows if row["event"] == "asked")
    event = events[asked["seq"]]
    row = study.kind.row(event["item"])
    assert asked["item"] == f"+item {row}"
    assert asked["label"] == LABELS[event["label"]]
    assert asked["propensity"] == event["propensity"]
    with (tmp_path / "log.csv").open(newline="", encoding="utf-8") as file:
        assert [row["event"] for row in csv.DictReader(file)] == [event["event"] for event in events]


def test_raters_without_names(tmp_path: Path, storage: str, study: Study) -> None:
    answer(study, 3)
    answer(study, 3, "bob")
    for what in ("labels", "log"):
        for suffix in ("csv", "jsonl", "parquet"):
            path = tmp_path / f"{what}.{suffix}"
            export_study(storage, "s", path, what, anonymous=True)
            content = path.read_bytes() if suffix != "parquet" else str(parquet.read_table(path).to_pylist()).encode()
            assert b"ann" not in content
            assert b"bob" not in content
            assert b"rater 2" in content


def test_a_backup_is_of_one_moment_and_can_be_used(tmp_path: Path, storage: str, study: Study) -> None:
    stop = threading.Event()

    def work() -> None:
        while not stop.is_set() and answer(study, 1):
            pass

    thread = threading.Thread(target=work)
    thread.start()
    try:
        for i in range(5):
            assert backup(storage, str(tmp_path / f"copy {i}.db")) == 1
    finally:
        stop.set()
        thread.join()
    with Store(storage) as store:
        log = store.log(1).events
    for i in range(5):
        url = f"sqlite:///{tmp_path}/copy {i}.db"
        with load_study("s", storage=url) as copied:
            assert copied.item(0).shown == {"text": "=cmd()"}
        with Store(url) as store:
            part = store.log(1).events
        assert part == log[: len(part)]
    assert not list(tmp_path.glob("*.part*"))
    with pytest.raises(InvalidInputError, match="there already"):
        backup(storage, str(tmp_path / "copy 0.db"))


def test_verify_recomputes_the_certificate_and_notices_a_changed_answer(storage: str, study: Study) -> None:
    answer(study, 10_000)
    result = study.result
    found = verify_study(storage, "s")
    assert found.ok
    assert found.problems == ()
    assert found.verdict is not None
    assert found.verdict.chosen == result.chosen
    assert found.verdict.certified_eps <= 0.05
    connection = sqlite3.connect(storage.removeprefix("sqlite:///"))
    changed = connection.execute(
        """UPDATE events SET event = replace(event, '"answer":"yes"', '"answer":"no"') WHERE event LIKE '%answered%'"""
    )
    assert changed.rowcount > 0
    connection.commit()
    connection.close()
    found = verify_study(storage, "s")
    assert not found.ok
    assert found.problems


def test_verify_notices_a_damaged_database(tmp_path: Path, storage: str, study: Study) -> None:
    answer(study, 50)
    study.close()
    path = tmp_path / "studies.db"
    content = bytearray(path.read_bytes())
    place = content.rindex(b'"answered"')
    content[place - 1500 : place + 500] = bytes(2000)
    path.write_bytes(content)
    with pytest.raises(StoreError, match=r"damaged|restore"):
        verify_study(storage, "s")


def test_jsonl_is_read_as_csv_is(tmp_path: Path) -> None:
    table = read_table(write_csv(tmp_path / "table.csv"), id="item", show=["text"], labels=LABELS)
    with (tmp_path / "table.jsonl").open("w", encoding="utf-8") as file:
        for i, column in enumerate(PREDICTIONS.T):
            models = {f"m{h}": LABELS[label] for h, label in enumerate(column)}
            file.write(json.dumps({"item": f"+item {i}", "text": TEXTS[i]} | models, ensure_ascii=False) + "\n")
    same = read_table(tmp_path / "table.jsonl", id="item", show=["text"], labels=LABELS)
    assert same.digest == table.digest
    assert same.item_id(3) == table.item_id(3)
    assert same.shown(0) == table.shown(0)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (['{"a": 1, "b": 2}', '{"a": 1}'], "line 2: the column 'b' is missing"),
        (['{"a": 1, "b": 2}', '{"a": 1, "b": 2, "c": 3}'], "line 2: the column 'c' is not on line 1"),
        (['{"a": 1, "b": 2}', "[]"], "line 2: every line must be one JSON object"),
        (['{"a": 1, "b": 2}', '{"a": 1, "b": '], "line 2: every line"),
        (['{"a": 1, "b": 2}', '{"a": 1, "b": [3]}'], "line 2, column 'b'"),
        (['{"a": 1}'], "two are needed"),
    ],
)
def test_faults_in_jsonl_name_the_line(tmp_path: Path, lines: list[str], said: str) -> None:
    path = tmp_path / "table.jsonl"
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(InvalidInputError, match=said):
        read_table(path)


def test_gold_comes_from_a_column_that_raters_do_not_see(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("known,text,a,b\nx,one,x,y\n,two,y,y\ny| x,three,x,y\n")
    table, known = split_gold(read_table(path, show=["known", "text"]), "known", ("x", "y"))
    assert known == {0: (0,), 2: (1, 0)}
    assert table.shown(0) == {"text": "one"}
    path.write_text("known,a,b\nz,x,y\n")
    with pytest.raises(InvalidInputError, match=r"row 1.*'z' is no label"):
        split_gold(read_table(path, show=["known"]), "known", ("x", "y"))
    path.write_text("known,a,b\nX,x,y\n")
    with pytest.raises(
        InvalidInputError, match=r"'X' is no label of the table; 'x' differs only in spaces or capitals"
    ):
        split_gold(read_table(path, show=["known"]), "known", ("x", "y"))
    # Where the whole cell is a label, it is that label.
    path.write_text("known,a,b\nx|y,x|y,y\n")
    assert split_gold(read_table(path, show=["known"]), "known", ("x", "x|y", "y"))[1] == {0: (1,)}


def images(tmp_path: Path, first: str) -> Any:
    root = tmp_path / "images"
    root.mkdir()
    (root / "0.png").write_bytes(b"x")
    (tmp_path / "secret.png").write_bytes(b"x")
    (root / "link.png").symlink_to(tmp_path / "secret.png")
    path = tmp_path / "table.csv"
    path.write_text(f"picture,a,b\n{first},x,y\n0.png,y,y\n")
    return read_table(path, show=["picture"]), str(root)


def test_images_are_below_their_root(tmp_path: Path, storage: str) -> None:
    table, root = images(tmp_path, "0.png")
    with create_study(table, "s", storage=storage, eps=0.1, media="picture", media_root=root) as study:
        assert study.item(0).media == Media("image/png", file=Path(root) / "0.png")


@pytest.mark.parametrize("path", ["../secret.png", "/etc/passwd", "link.png", "missing.png", ""])
def test_images_elsewhere_are_refused(tmp_path: Path, storage: str, path: str) -> None:
    table, root = images(tmp_path, path)
    with pytest.raises(InvalidInputError, match="row 1"):
        create_study(table, "s", storage=storage, eps=0.1, media="picture", media_root=root)
    assert not (tmp_path / "studies.db").exists()


def test_predictions_as_an_array_must_be_whole_numbers(storage: str) -> None:
    with pytest.raises(InvalidInputError, match="whole numbers"):
        create_study(np.zeros((2, 3)), "s", storage=storage, eps=0.1)


def test_an_exported_log_carries_its_chain(tmp_path: Path, storage: str, study: Study) -> None:
    answer(study, 30)
    export_study(storage, "s", tmp_path / "log.jsonl", "log")
    unchain = Unchain()
    for line in (tmp_path / "log.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        unchain.take(json.dumps({key: value for key, value in row.items() if key not in ("seq", "written_at")}))
    assert unchain.head == study.head
