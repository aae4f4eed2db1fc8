"""Reading prediction tables: what is read, and one clear error for everything that cannot be."""

from __future__ import annotations

import csv
import io
import json
import re
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from onebit.errors import InvalidInputError
from onebit.tables import ModelTable, csv_file, labels, parquet_file, read_table
from onebit.tables.data import Wanted, read_data
from onebit.tables.formats import FORMATS, Format
from onebit.tables.record import narrow

CSV = "name,text,right,a,b\nx,one,cat,cat,dog\ny,two,dog,,dog\nz,three,emu,cat,10\nw,four,9,9,9\n"


def written(folder: Path, text: str | bytes, name: str = "table.csv") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_csv(tmp_path: Path) -> None:
    table = read_table(written(tmp_path, CSV), id="name", truth="right", show=["text"])
    assert table.models == ("a", "b")
    assert table.labels == ("9", "10", "cat", "dog", "emu")
    np.testing.assert_array_equal(table.predictions, [[2, -1, 2, 0], [3, 3, 1, 0]])
    assert table.truth is not None
    np.testing.assert_array_equal(table.truth, [2, 3, 4, 0])
    assert [table.item_id(i) for i in range(4)] == ["x", "y", "z", "w"]
    assert table.shown(2) == {"text": "three"}
    np.testing.assert_allclose(table.accuracy(), [0.5, 0.5])
    assert table.predictions.dtype == np.int8


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a,b,t\nc,d,C\nd,d,C \n", "They differ only in spaces or capitals; write them alike"),
        ("a,b,t\ncat,dog,1\ndog,dog,0\n", "One side has numbers and the other has names"),
        ("a,b,t\ncat,cat,dog\ndog,dog,cat\n", "the rows are probably in another order"),
        ("a,b,t\ncat,dog,x\ndog,dog,y\n", "It has 'x', 'y'; the models say 'cat', 'dog'. Name the column"),
    ],
)
def test_a_truth_that_no_model_ever_meets_is_refused(tmp_path: Path, text: str, says: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(InvalidInputError, match="column 't': no model is right on any of the 2 items") as caught:
        read_table(path, truth="t")
    assert says in str(caught.value)
    assert read_table(path, show=["t"]).n_models == 2


def test_the_truth_is_read_only_when_asked_for(tmp_path: Path) -> None:
    table = read_table(written(tmp_path, CSV), id="name", show=["text", "right"])
    assert table.truth is None
    assert "emu" not in table.labels
    with pytest.raises(InvalidInputError, match="known only where the truth is"):
        table.accuracy()


def test_rows_without_an_id_are_numbered_from_one(tmp_path: Path) -> None:
    table = read_table(written(tmp_path, "a,b\nx,y\ny,y\n"))
    assert table.item_id(1) == "2"
    assert table.shown(0) == {}


@pytest.mark.parametrize("block", [48, 80, 10_000])
def test_quotes_blank_lines_and_line_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    monkeypatch.setattr(csv_file, "BLOCK", block)
    text = '\ufeff"a","b, c",t\r\n"x, 1",y,q\r\n\r\ny,x;1,"say\r\n""hi"""\r\n"",y,q'
    table = read_table(written(tmp_path, text), show=["t"])
    assert table.models == ("a", "b, c")
    assert set(table.labels) == {"x, 1", "y", "x;1"}
    assert table.shown(1) == {"t": 'say\r\n"hi"'}
    assert table.predictions[0, 2] == -1


def test_given_labels_keep_their_order(tmp_path: Path) -> None:
    table = read_table(written(tmp_path, "a,b\nx,y\ny,y\n"), labels=["z", "y", "x"])
    assert table.labels == ("z", "y", "x")
    np.testing.assert_array_equal(table.predictions, [[2, 1], [1, 1]])


def test_types_grow_with_the_number_of_labels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_file, "BLOCK", 1024)
    rows = [f"{i // 2},{i // 3}" for i in range(70_000)]
    table = read_table(written(tmp_path, "a,b\n" + "\n".join(rows)))
    assert table.predictions.dtype == np.int32
    np.testing.assert_array_equal(table.predictions, [np.arange(70_000) // 2, np.arange(70_000) // 3])
    assert [narrow(k) for k in (128, 129, 32_768, 32_769)] == [np.int8, np.int16, np.int16, np.int32]


def as_parquet(folder: Path, **values: Any) -> Path:
    path = folder / "table.parquet"
    pq.write_table(pa.table(values), path)
    return path


def as_jsonl(folder: Path, *rows: dict[str, Any]) -> Path:
    return written(folder, "".join(json.dumps(row) + "\n" for row in rows), "table.jsonl")


def test_the_formats_agree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_file, "BATCH_CELLS", 6)
    said = np.array([[0, 2, -1, 1], [1, 1, 0, 2]])
    np.savez(tmp_path / "t.npz", preds=said, models=["a", "b"], labels=["x", "y", "z"], y=[0, 1, 1, 2])
    from_npz = read_table(tmp_path / "t.npz", truth="y")
    from_csv = read_table(written(tmp_path, "a,b,t\nx,y,x\nz,y,y\n,x,y\ny,z,z\n"), truth="t")
    category = pa.array(["y", "y", "x", "z"]).dictionary_encode()
    path = as_parquet(tmp_path, a=["x", "z", None, "y"], b=category, t=["x", "y", "y", "z"])
    from_parquet = read_table(path, truth="t")
    from_tsv = read_table(written(tmp_path, "a\tb\tt\nx\ty\tx\nz\ty\ty\n\tx\ty\ny\tz\tz\n", "t.tsv"), truth="t")
    said_in_rows = [("x", "y", "x"), ("z", "y", "y"), (None, "x", "y"), ("y", "z", "z")]
    from_jsonl = read_table(
        as_jsonl(tmp_path, *(dict(zip("abt", row, strict=True)) for row in said_in_rows)), truth="t"
    )
    for table in (from_npz, from_csv, from_tsv, from_parquet, from_jsonl):
        assert (table.models, table.labels) == (("a", "b"), ("x", "y", "z"))
        np.testing.assert_array_equal(table.predictions, said)
        np.testing.assert_array_equal(table.truth, [0, 1, 1, 2])
        assert table.digest == from_npz.digest


def test_the_digest_stands_for_models_labels_and_predictions(tmp_path: Path) -> None:
    def digest(text: str, **options: Any) -> str:
        return read_table(written(tmp_path, text), **options).digest

    plain = digest("a,b\nx,y\ny,y\n")
    assert digest("id,a,b\n1,x,y\n2,y,y\n", id="id") == plain
    others = [
        digest("a,c\nx,y\ny,y\n"),
        digest("a,b\nx,z\nz,z\n"),
        digest("a,b\ny,y\nx,y\n"),
        digest("a,b\nx,y\ny,y\n", labels=["x", "y", "z"]),
    ]
    assert len({plain, *others}) == 5


def test_numbers_in_parquet_are_labels(tmp_path: Path) -> None:
    path = as_parquet(
        tmp_path, a=pa.array([1, 10, 2]), b=pa.array([1.0, None, float("nan")]), c=pa.array([True, False, None])
    )
    table = read_table(path)
    assert table.labels == ("1", "2", "10", "false", "true")
    np.testing.assert_array_equal(table.predictions, [[0, 2, 1], [0, -1, -1], [4, 3, -1]])


def test_an_npz_without_names(tmp_path: Path) -> None:
    np.savez(tmp_path / "t.npz", preds=np.array([[0, 2], [1, -7]]), y=np.array([3, 2], dtype=np.uint8))
    table = read_table(tmp_path / "t.npz", truth="y")
    assert (table.models, table.labels) == (("model (row 0)", "model (row 1)"), ("0", "1", "2", "3"))
    np.testing.assert_array_equal(table.predictions, [[0, 2], [1, -1]])
    assert read_table(tmp_path / "t.npz").truth is None


def test_equal_names_in_an_npz_are_told_apart(tmp_path: Path) -> None:
    np.savez(tmp_path / "t.npz", preds=np.eye(3, dtype=int), models=["a", "b", "a"])
    assert read_table(tmp_path / "t.npz").models == ("a (row 0)", "b", "a (row 2)")


@pytest.mark.parametrize(
    ("text", "options", "says"),
    [
        ("", {}, "is empty"),
        ("\n\n", {}, "has no line that is not blank"),
        ("a,b\n", {}, "no rows"),
        ("a,b\nx,y\nx\n", {}, "table.csv, line 3: the row has 1 columns, and there are 2"),
        ("a,b\nx,y\n\nx,y,z\n", {}, "table.csv, line 4: the row has 3 columns"),
        ('s,a,b\n1,x,y\n"2\n3",x,y\n4,x,y\n\nx\n', {"show": ["s"]}, "table.csv, line 7: the row has 1 columns"),
        ('a,b\nx,y\rx,y\n"x",y\r"x",y\nx\n', {}, "table.csv, line 6: the row has 1 columns"),
        ("a,b\nx,y\rx,y\nx\n", {}, "table.csv, line 4: the row has 1 columns"),
        ("a,b\nx,y\nx,w\n", {"labels": ["x", "y"]}, "line 3, column 'b': 'w' is not one of the 2 labels given"),
        ("a,b\nx,y\n", {"labels": ["x", "x"]}, "the label 'x' was given; labels are texts"),
        ("i\n1\n", {"id": "i"}, "no column is a model's"),
        ("i,a\n1,x\n", {"id": "i"}, "only the column 'a' is a model's"),
        ("a;b;c\nx;y;z\nx;y\n", {}, "line 3: the row has 2 columns, and there are 3 column names; a semicolon"),
        ("a,b\nx,y\nx,NaN\n", {}, "line 3, column 'b': 'NaN' is what programs write where there is no value"),
        ("a,b\nrefund,y\nrefund, REFUND\n", {}, "line 3, column 'b': ' REFUND' differs only in spaces or capitals"),
        ("a,b,a\nx,y,z\n", {}, "the column 'a' is there 2 times"),
        (",a,b\n0,x,y\n", {}, "column 1 has no name"),
        ("a,b\nx,y\n", {"truth": "t"}, "there is no column 't' (--truth); there are 'a', 'b'"),
        ("a,b\nx,y\n", {"id": "t"}, "(--id)"),
        ("a,b\nx,y\n", {"show": ["t"]}, "(--show)"),
        ("t,a,b\nx,x,y\n", {"truth": "t", "show": ["t"]}, "would give it to the raters"),
        ("t,a,b\nx,x,y\n,x,y\n", {"truth": "t"}, "line 3, column 't': the truth is missing"),
        ("i,a,b\n1,x,y\n,x,y\n", {"id": "i"}, "line 3, column 'i': the id is missing"),
        ("i,a,b\n1,x,y\n2,x,y\n1,x,y\n", {"id": "i"}, "line 4, column 'i': the id '1' is there before"),
        ("i,m,o\n1,x,y\n1,z,y\n", {"id": "i"}, "If there is one row for each item and model, give --long"),
        ("a,b\nx,\ny,\n", {}, "column 'b': the model has no prediction at all"),
        (b"a,b\nx,y\nx,\xe9t\xe9\n", {}, "line 3, column 'b': b'\\xe9t\\xe9' is not UTF-8"),
        (b"a,b,s\nx,y,z\nx,y,\xe9\n", {"show": ["s"]}, "line 3, column 's': b'\\xe9' is not UTF-8"),
        (b"a,\xe9\nx,y\n", {}, "line 1: the column names are not UTF-8"),
        (b"\xff\xfea\x00,\x00b\x00\n\x00", {}, "not UTF-8"),
        (
            'a,b\nx,"y\nx,y\n',
            {},
            "line 2, column 'b': 'y\\nx,y\\n'... goes over several lines, as no label does; is a quote",
        ),
    ],
)
def test_a_csv_that_cannot_be_read(tmp_path: Path, text: str | bytes, options: dict[str, Any], says: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        read_table(written(tmp_path, text), **options)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_column_that_is_no_model(tmp_path: Path) -> None:
    rows = "\n".join(f"item {i},{i % 2},{i % 3}" for i in range(30))
    with pytest.raises(InvalidInputError, match=r"column 'key': every value is different .* name it with --id"):
        read_table(written(tmp_path, f"key,a,b\n{rows}\n"))
    # A model with labels of its own is a model, if it has the same one twice.
    assert read_table(written(tmp_path, f"key,a,b\n{rows}\nitem 1,0,0\n")).n_models == 3


def test_ever_more_labels_are_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(labels, "MOST_LABELS", 10)
    rows = "\n".join(f"0,text {i}" for i in range(12))
    with pytest.raises(InvalidInputError, match="line 11, column 'b': 'text 9' would be label 11"):
        read_table(written(tmp_path, f"a,b\n{rows}\n"))


def test_a_row_longer_than_a_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_file, "BLOCK", 64)
    with pytest.raises(InvalidInputError, match="a row of more than 64 bytes; is a quote never closed"):
        read_table(written(tmp_path, "a,b\n" + 'x,"y\n' + "x,y\n" * 100))


@pytest.mark.parametrize(
    ("values", "options", "says"),
    [
        ({"a": ["x", "y"], "b": [[1], [2]]}, {}, "column 'b': values of type list"),
        ({"a": ["x", "y"], "b": [1.0, 1.5]}, {}, "row 2, column 'b': 1.5 is no label"),
        ({"a": ["x", "y"], "b": pa.array([None, None])}, {}, "column 'b': the model has no prediction"),
        ({"a": ["x", "y"], "b": ["x", "z"]}, {"labels": ["x", "y"]}, "row 2, column 'b': 'z' is not one of"),
        ({"a": ["x"], "b": ["y"], "s": pa.array([{"k": 1}])}, {"show": ["s"]}, "cannot be shown as text"),
    ],
)
def test_a_parquet_file_that_cannot_be_read(
    tmp_path: Path, values: dict[str, Any], options: dict[str, Any], says: str
) -> None:
    with pytest.raises(InvalidInputError) as caught:
        read_table(as_parquet(tmp_path, **values), **options)
    assert says in str(caught.value)


SAID = np.array([[0, 1], [1, 0]])


@pytest.mark.parametrize(
    ("arrays", "options", "says"),
    [
        ({"x": SAID}, {}, "no array 'preds'"),
        ({"preds": SAID[0]}, {}, "preds has shape (2,)"),
        ({"preds": SAID / 2}, {}, "type float64"),
        ({"preds": SAID[:1]}, {}, "at least two models"),
        ({"preds": SAID, "models": ["a"]}, {}, "models has shape (1,)"),
        ({"preds": SAID, "models": ["a", ""]}, {}, "models[1] is empty"),
        ({"preds": np.eye(3, dtype=int), "models": ["a", "a", "a (row 0)"]}, {}, "cannot be told apart"),
        ({"preds": SAID, "labels": ["x", "x"]}, {}, "the label 'x' was given"),
        ({"preds": SAID, "models": np.array(["a", None], dtype=object)}, {}, "pickled objects, which are never loaded"),
        (
            {"preds": SAID, "labels": ["x"]},
            {},
            "item 1, model 'model (row 0)': the prediction is 1, and there are 1 labels",
        ),
        ({"preds": SAID}, {"truth": "y"}, "no array 'y'"),
        (
            {"preds": SAID, "y": [0, 1, 1]},
            {"truth": "y"},
            "y has shape (3,) and type int64; it must be a whole number for each of the 2 items",
        ),
        ({"preds": SAID, "y": [0, -1]}, {"truth": "y"}, "y[1] is negative"),
        (
            {"preds": SAID, "y": [0, 2], "labels": ["u", "v"]},
            {"truth": "y"},
            "item 1, array 'y': the truth is 2, and there are 2 labels",
        ),
        ({"preds": SAID, "y": [0, 1]}, {"truth": "right"}, "give --truth y"),
        ({"preds": SAID}, {"id": "i"}, "holds no ids"),
        ({"preds": np.array([[0, 1], [-1, -1]])}, {}, "column 'model (row 1)': the model has no prediction"),
    ],
)
def test_an_npz_that_cannot_be_read(tmp_path: Path, arrays: dict[str, Any], options: dict[str, Any], says: str) -> None:
    np.savez(tmp_path / "t.npz", **arrays)
    with pytest.raises(InvalidInputError) as caught:
        read_table(tmp_path / "t.npz", **options)
    assert says in str(caught.value)


def damage(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-200] + b"\0" * 100)


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("t.npz", b"PK\x03\x04 no zip", "t.npz cannot be read as NPZ"),
        ("t.xlsx", b"PK\x03\x04 no zip", "t.xlsx cannot be read as Excel"),
        ("t.csv", b"PK\x03\x04 no zip", "t.csv is a zip that holds no table"),
        ("t.npz", b"PAR1 no parquet PAR1", "t.npz cannot be read as Parquet"),
        ("t.csv", b"ARROW1\0\0 no arrow", "t.csv cannot be read as Arrow"),
        ("t.csv", b"\x1f\x8b no gzip", "t.csv cannot be unpacked"),
    ],
)
def test_damaged_files(tmp_path: Path, name: str, content: bytes, says: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        read_table(written(tmp_path, content, name))
    assert says in str(caught.value)


def test_a_damaged_npz(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "t.npz", preds=SAID)
    damage(tmp_path / "t.npz")
    with pytest.raises(InvalidInputError, match="cannot be read as NPZ"):
        read_table(tmp_path / "t.npz")


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="there is no file"):
        read_table(tmp_path / "none.csv")
    with pytest.raises(InvalidInputError, match=r"is a folder and holds no state.json, .*; give a file, or all files"):
        read_table(tmp_path)


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int]:
    """A CSV of 16 MB and the number of its rows."""
    rng = np.random.default_rng(0)
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerows(rng.integers(1000, 1050, (5_000, 20)).tolist())
    path = tmp_path_factory.mktemp("large") / "large.csv"
    with path.open("w") as file:
        file.write(",".join(f"model {h}" for h in range(20)) + "\n")
        for _ in range(32):
            file.write(text.getvalue())
    return path, 160_000


def test_a_large_csv_is_streamed_with_progress(large: tuple[Path, int], monkeypatch: pytest.MonkeyPatch) -> None:
    path, n_rows = large
    monkeypatch.setattr(csv_file, "BLOCK", 2**18)
    seen: list[tuple[int, int]] = []
    held: list[int] = []

    def progress(done: int, whole: int) -> None:
        seen.append((done, whole))
        held.append(pa.default_memory_pool().bytes_allocated())

    tracemalloc.start()
    table = read_table(path, progress=progress)
    python_most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert table.predictions.shape == (20, n_rows)
    size = path.stat().st_size
    assert len(seen) > 10
    assert seen == sorted(seen)
    assert seen[-1] == (size, size)
    # One byte a prediction where the file has five; and the reader holds a few blocks, however many it has read.
    assert table.predictions.nbytes == 20 * n_rows
    assert python_most < 2 * table.predictions.nbytes
    third = len(held) // 3
    assert max(held[-third:]) < 1.5 * max(held[:third])


@pytest.mark.parametrize(
    ("last", "says"),
    [
        (b"1001,1002\n", "line 160002: the row has 2 columns"),
        (b"1001," * 18 + b"lynx,1001\n", "line 160002, column 'model 18': 'lynx' is not one of the 50 labels given"),
        (b"1001," * 18 + b"\xff,1001", "line 160002, column 'model 18': b'\\xff' is not UTF-8"),
    ],
)
def test_a_fault_in_the_last_row_of_a_large_csv(
    large: tuple[Path, int], tmp_path: Path, last: bytes, says: str
) -> None:
    path = written(tmp_path, large[0].read_bytes() + last)
    with pytest.raises(InvalidInputError) as caught:
        read_table(path, labels=[str(label) for label in range(1000, 1050)])
    assert says in str(caught.value)


def test_reading_is_the_same_in_blocks_of_any_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    rows = "\n".join(",".join(map(str, row)) for row in rng.integers(0, 200, (300, 3)).tolist())
    path = written(tmp_path, f"a,b,c\n{rows}\n")
    read: Callable[[], ModelTable] = lambda: read_table(path)  # noqa: E731
    whole = read()
    for block in (32, 100, 1000):
        monkeypatch.setattr(csv_file, "BLOCK", block)
        assert read().digest == whole.digest


def test_numbers_in_jsonl_are_labels_as_in_parquet(tmp_path: Path) -> None:
    rows = ({"a": 1, "b": 1.0, "c": True, "score": 0.5}, {"a": 10, "b": None, "c": "", "score": 2})
    table = read_table(as_jsonl(tmp_path, *rows), show=["score"])
    assert table.labels == ("1", "10", "true")
    np.testing.assert_array_equal(table.predictions, [[0, 1], [0, -1], [2, -1]])
    assert [table.shown(i) for i in range(2)] == [{"score": "0.5"}, {"score": "2"}]


@pytest.mark.parametrize(
    ("second", "says"),
    [
        ({"a": 1.5, "b": 1}, "table.jsonl, line 2, column 'a': 1.5 is no label; labels are texts or whole numbers"),
        ({"a": {}, "b": 1}, "table.jsonl, line 2, column 'a': {} is neither a text nor a number"),
        ({"a": "\ud800", "b": 1}, "table.jsonl, line 1 or after: '\\ud800' is no text in UTF-8"),
    ],
)
def test_a_jsonl_that_cannot_be_read(tmp_path: Path, second: dict[str, Any], says: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        read_table(as_jsonl(tmp_path, {"a": 1, "b": 2}, second))
    assert says in str(caught.value)


def test_examples_with_another_sign_between_columns(tmp_path: Path) -> None:
    path = written(tmp_path, "a;kind\n1;x\n")
    data = read_data(path, Wanted(label="kind"))
    assert (data.x.tolist(), data.columns) == ([[1.0]], ("a",))
    with pytest.raises(InvalidInputError, match=r"no column 'sort' \(--label\); there are 'a', 'kind'"):
        read_data(path, Wanted(label="sort"))


def test_examples_are_the_same_in_blocks_of_any_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = "\n".join(f"{i},{i / 7},kind {i % 3},text {i}" for i in range(200))
    path = written(tmp_path, f"id,a,kind,note\n{rows}\n\n200,red,kind 1,last\n")
    wanted = Wanted(numbers=("a",), label="kind", id="id", show=("note",))
    for block in (64, 1000, 10_000):
        monkeypatch.setattr(csv_file, "BLOCK", block)
        with pytest.raises(InvalidInputError, match="line 203, column 'a': 'red' is no number"):
            read_data(path, wanted)
        data = read_data(path, Wanted(text=("note", "a"), label="kind", id="id"))
        assert data.x[[3, -1]].tolist() == [f"text 3\n{3 / 7}", "last\nred"]
        assert data.labels is not None
        assert data.labels[[3, -1]].tolist() == ["kind 0", "kind 1"]
        assert data.item_id(200) == "200"
        assert data.shown(200) == {"note": "last", "a": "red"}


def test_tsv_has_tabs_where_csv_has_commas(tmp_path: Path) -> None:
    text = '\ufeffid\ta, b\tc\tnote\r\n1\tx, 1\ty\t"one\r\n""two"""\r\n\r\n2\t\ty\t"a\ttab"\r\n'
    table = read_table(written(tmp_path, text, "t.TSV"), id="id", show=["note"])
    assert (table.models, table.labels) == (("a, b", "c"), ("x, 1", "y"))
    np.testing.assert_array_equal(table.predictions, [[0, -1], [1, 1]])
    assert [table.shown(i)["note"] for i in range(2)] == ['one\r\n"two"', "a\ttab"]
    data = read_data(tmp_path / "t.TSV", Wanted(text=("note",), label="c"))
    assert data.x.tolist() == ['one\r\n"two"', "a\ttab"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('a\tb\n"x\ny"\tz\n\nx\ty\tz\n', "t.tsv, line 5: the row has 3 columns, and there are 2 column names; a tab"),
        ('a\tb\tc\nx\tx\t"y\nz"\n', "t.tsv, line 2, column 'c': 'y\\nz'... goes over several lines"),
    ],
)
def test_a_tsv_that_cannot_be_read(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        read_table(written(tmp_path, text, "t.tsv"))
    assert says in str(caught.value)


@pytest.mark.parametrize("format", FORMATS, ids=lambda each: each.name)
@pytest.mark.parametrize("content", [b"\0", b"\n", b"\xff\xfe", b"{}", b"a" * 200_000, b"\r\r", b'"', b"[" * 100_000])
def test_no_format_reads_nonsense(tmp_path: Path, format: Format, content: bytes) -> None:
    path = written(tmp_path, content, f"t{format.endings[0]}")
    for read in (read_table, lambda path: read_data(path, Wanted())):
        with pytest.raises(InvalidInputError, match=re.escape(f"t{format.endings[0]}")):
            read(path)


def test_a_name_that_is_too_long_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="there is no file"):
        read_table(tmp_path / f"{'a' * 300}.csv")


def test_a_label_of_many_digits_is_a_label(tmp_path: Path) -> None:
    long = "1" * 10_000
    assert read_table(written(tmp_path, f"a,b\n{long},2\n2,10\n")).labels == ("2", "10", long)
