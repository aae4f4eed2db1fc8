"""Judges from files and arrays: each way to name one, and what is no judge."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from onebit.errors import InvalidInputError
from onebit.tables import ModelTable, read_table
from onebit.tables.judge import judge_of

TABLE = """key,text,m1,m2,judge_m1,judge_m2,said
a,one,cat,dog,0.9,0.25,dog
b,two,cat,cat,,1,cat
c,three,,dog,0.5,0,horse
d,four,dog,cat,1,,
"""
NAN = np.nan


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "t.csv").write_text(TABLE)
    return tmp_path / "t.csv"


def read(path: Path, judge: str, *show: str, **options: Any) -> ModelTable:
    return read_table(path, id="key", show=("text", *show), judge=judge, **options)


def scores(table: ModelTable) -> list[list[float]]:
    assert table.judge is not None
    assert table.judge.dtype == np.float32
    assert table.judge.shape == table.predictions.shape
    return [[round(float(score), 4) for score in row] for row in table.judge]


def same(found: list[list[float]], wanted: list[list[float]]) -> bool:
    return bool(np.array_equal(np.array(found), np.array(wanted), equal_nan=True))


def test_columns_of_scores(path: Path) -> None:
    table = read(path, "judge_*", "said")
    assert table.models == ("m1", "m2")
    assert same(scores(table), [[0.9, NAN, 0.5, 1.0], [0.25, 1.0, 0.0, NAN]])
    assert table.digest == read_table(path, id="key", show=("text", "said", "judge_m1", "judge_m2")).digest


def test_models_without_a_column_have_no_score(path: Path) -> None:
    path.write_text("\n".join(",".join(line.split(",")[:5]) for line in TABLE.splitlines()))
    assert same(scores(read(path, "judge_*"))[1:], [[NAN] * 4])


def test_a_column_of_labels(path: Path) -> None:
    """A label that no model gives is nobody's; an empty cell says nothing. Labels of the table stay as they are."""
    table = read(path, "said", "judge_m1", "judge_m2")
    assert table.labels == ("cat", "dog")
    assert same(scores(table), [[0, 1, 0, NAN], [1, 1, 0, NAN]])


def test_a_file_of_scores(path: Path, tmp_path: Path) -> None:
    """Rows in another order, one of them missing."""
    (tmp_path / "s.csv").write_text("m2,key,m1\n0.1,d,0.2\n,a,0.4\n0.7,b,1\n")
    table = read(path, str(tmp_path / "s.csv"), "said", "judge_m1", "judge_m2")
    assert same(scores(table), [[0.4, 1.0, NAN, 0.2], [NAN, 0.7, NAN, 0.1]])


def test_formats_say_the_same(path: Path, tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow.csv")
    from pyarrow import parquet

    parquet.write_table(pyarrow.read_csv(path), tmp_path / "t.parquet")
    lines = [line.split(",") for line in TABLE.splitlines()]
    rows = [dict(zip(lines[0], (cell or None for cell in line), strict=True)) for line in lines[1:]]
    import json

    (tmp_path / "t.jsonl").write_text("\n".join(map(json.dumps, rows)))
    for judge, others in (("judge_*", ("said",)), ("said", ("judge_m1", "judge_m2"))):
        wanted = scores(read(path, judge, *others))
        for ending in ("parquet", "jsonl"):
            assert same(scores(read(tmp_path / f"t.{ending}", judge, *others)), wanted), (judge, ending)


def test_an_array_of_an_npz(tmp_path: Path) -> None:
    preds = np.array([[0, 1, -1], [1, 1, 0]])
    np.savez(tmp_path / "t.npz", preds=preds, j=np.array([[0.5, NAN, 1], [0, 1, 0.25]]), label=np.array([1, -1, 0]))
    assert same(scores(read_table(tmp_path / "t.npz", judge="j")), [[0.5, NAN, 1], [0, 1, 0.25]])
    assert same(scores(read_table(tmp_path / "t.npz", judge="label")), [[0, NAN, 0], [1, NAN, 1]])
    with pytest.raises(InvalidInputError, match="no array 'other'"):
        read_table(tmp_path / "t.npz", judge="other")


@pytest.mark.parametrize(
    ("change", "judge", "said"),
    [
        (("0.9", "1.1"), "judge_*", r"line 2, column 'judge_m1': 1.1 is no score; scores are numbers from 0 to 1"),
        (("0.9", "high"), "judge_*", r"line 2, column 'judge_m1': 'high' is no number"),
        (("0.9", "inf"), "judge_*", r"line 2, column 'judge_m1': 'inf' is no finite number"),
        (("judge_m2", "judge_m3"), "judge_*", r"the column 'judge_m3' would judge the model 'm3', and there is none"),
        (("judge", "score"), "judge_*", "there are no columns of scores, as judge_"),
        (("said", "spoke"), "said", "has no such column; name one with labels"),
        (("cat\nc", "Horse\nc"), "judge_m1", "gives no label that a model gives, but"),
        (("0.9", "0.9"), "text", "the column 'text' has another use too"),
        (("0.9", "0.9"), "none.csv", "there is no file none.csv"),
        (("0.9", "0.9"), "none.npz", "there is no file none.npz"),
    ],
    ids=str,
)
def test_what_is_no_judge(path: Path, change: tuple[str, str], judge: str, said: str) -> None:
    path.write_text(TABLE.replace(*change))
    left = [name for name in ("judge_m1", "judge_m2", "said") if name in path.read_text() and judge != name]
    others = [] if judge == "judge_*" else left
    with pytest.raises(InvalidInputError, match=said):
        read(path, judge, *others, *(["spoke"] if "spoke" in path.read_text() else []))


def test_what_is_no_file_of_scores(path: Path, tmp_path: Path) -> None:
    others = ("said", "judge_m1", "judge_m2")
    file = tmp_path / "s.csv"
    for text, said in (
        ("key,m1\na,0.5\nx,1\n", "line 3: 'x' is no item of the table"),
        ("key,m1\na,0.5\na,1\n", "there before"),
        ("key,m7\na,0.5\n", "there is none"),
        ("key\na\n", "no columns of scores, one per model"),
        ("id,m1\na,0.5\n", "no column 'key'"),
    ):
        file.write_text(text)
        with pytest.raises(InvalidInputError, match=said):
            read(path, str(file), *others)
    with pytest.raises(InvalidInputError, match="by the column --id"):
        read_table(path, show=("key", "text", *others), judge=str(file))
    np.savez(tmp_path / "s.npz", m1=np.zeros(3))
    with pytest.raises(InvalidInputError, match="an NPZ has not"):
        read(path, str(tmp_path / "s.npz"), *others)


def test_arrays() -> None:
    said = np.array([[0, 1, -1], [1, 1, 0]])
    assert judge_of(said, np.array([[0, 1, 1], [1, 0, 0]])).tolist() == [[0, 1, 1], [1, 0, 0]]
    assert same(judge_of(said, [1, -1, 5]).tolist(), [[0, NAN, 0], [1, NAN, 0]])
    for wrong, words in (
        (np.zeros((2, 2)), "shape"),
        (np.array([0.5, 0.5, 0.5]), "shape"),
        (np.full((2, 3), -0.1), "to model 0 at item 0"),
        (np.array([["a"] * 3] * 2), "type"),
    ):
        with pytest.raises(InvalidInputError, match=words):
            judge_of(said, wrong)
