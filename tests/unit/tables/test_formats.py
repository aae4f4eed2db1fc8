"""Formats are told by what is in a file, and all give the same table."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.ipc as ipc
import pyarrow.parquet as pq
import pytest

from onebit.errors import InvalidInputError
from onebit.tables import read_table
from onebit.tables.formats import column_names
from onebit.tables.sniffing import sniffed

ROWS: list[dict[str, Any]] = [
    {"key": "k1", "a": "x", "b": "y", "t": "x"},
    {"key": "k2", "a": "z", "b": "y", "t": "y"},
    {"key": "k3", "a": None, "b": "x", "t": "y"},
    {"key": "k4", "a": "y", "b": "z", "t": "z"},
]


def separated(sign: str) -> bytes:
    lines = [sign.join(ROWS[0]), *(sign.join(str(cell or "") for cell in row.values()) for row in ROWS)]
    return ("\n".join(lines) + "\n").encode()


def arrow_stream() -> bytes:
    sink = pa.BufferOutputStream()
    table = pa.Table.from_pylist(ROWS)
    with ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def by_writer(write: Callable[[Any, Path], object]) -> Callable[[Path], object]:
    return lambda path: write(pa.Table.from_pylist(ROWS), path)


def jsonl() -> bytes:
    return "".join(json.dumps(row) + "\n" for row in ROWS).encode()


FILES: dict[str, tuple[str, Callable[[Path], Any]]] = {
    "commas": ("CSV", lambda path: path.write_bytes(separated(","))),
    "tabs": ("CSV", lambda path: path.write_bytes(separated("\t"))),
    "semicolons": ("CSV", lambda path: path.write_bytes(separated(";"))),
    "bars": ("CSV", lambda path: path.write_bytes(separated("|"))),
    "packed": ("CSV", lambda path: path.write_bytes(gzip.compress(separated(",")))),
    "json": ("JSON", lambda path: path.write_text(json.dumps(ROWS))),
    "json in lines": ("JSON", lambda path: path.write_text(json.dumps(ROWS, indent=1))),
    "jsonl": ("JSONL", lambda path: path.write_bytes(jsonl())),
    "packed jsonl": ("JSONL", lambda path: path.write_bytes(gzip.compress(jsonl()))),
    "parquet": ("Parquet", by_writer(pq.write_table)),
    "feather": ("Arrow", by_writer(feather.write_feather)),
    "stream": ("Arrow", lambda path: path.write_bytes(arrow_stream())),
}


@pytest.mark.parametrize("name", ["table", "table.csv", "table.parquet", "table.npz"])
@pytest.mark.parametrize("kind", FILES)
def test_what_is_in_a_file_decides_and_not_its_name(tmp_path: Path, kind: str, name: str) -> None:
    expected, write = FILES[kind]
    path = tmp_path / name
    write(path)
    assert sniffed(path) == expected
    assert column_names(path) == ("key", "a", "b", "t")
    table = read_table(path, id="key", truth="t")
    assert (table.models, table.labels) == (("a", "b"), ("x", "y", "z"))
    np.testing.assert_array_equal(table.predictions, [[0, 2, -1, 1], [1, 1, 0, 2]])
    np.testing.assert_array_equal(table.truth, [0, 1, 1, 2])
    assert table.item_id(3) == "k4"


def workbook(path: Path, *sheets: list[list[Any]]) -> Path:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.remove(book.active)
    for number, rows in enumerate(sheets):
        sheet = book.create_sheet(f"sheet {number}")
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def test_excel(tmp_path: Path) -> None:
    rows = [[], list(ROWS[0]), *(list(row.values()) for row in ROWS[:2]), [], *(list(row.values()) for row in ROWS[2:])]
    path = workbook(tmp_path / "t.bin", rows, [])
    assert sniffed(path) == "Excel"
    table = read_table(path, id="key", truth="t")
    np.testing.assert_array_equal(table.predictions, [[0, 2, -1, 1], [1, 1, 0, 2]])
    numbers = workbook(tmp_path / "n.xlsx", [["a", "b", "day"], [1, 2.0, "x"], [2, True, None]])
    assert read_table(numbers, show=["day"]).labels == ("1", "2", "true")


@pytest.mark.parametrize(
    ("sheets", "options", "says"),
    [
        ([], {}, "has no sheet with cells"),
        ([[["a", "b"], ["x", "y"]], [["c"]]], {}, "has 2 sheets with cells, 'sheet 0', 'sheet 1'; keep one of them"),
        ([[["a", "b"], ["x", "y"], ["x", "y", "z"]]], {}, "row 3: there is a cell beyond the 2 columns"),
        ([[["a", "b"], ["x", "y"], [], ["x", 1.5]]], {}, "row 4, column 'b': 1.5 is no label"),
        ([[["i", "a", "b"], [1, "x", "y"], [], [1, "x", "y"]]], {"id": "i"}, "row 4, column 'i': the id '1' is there"),
    ],
)
def test_an_excel_file_that_cannot_be_read(
    tmp_path: Path, sheets: list[Any], options: dict[str, Any], says: str
) -> None:
    with pytest.raises(InvalidInputError) as caught:
        read_table(workbook(tmp_path / "t.xlsx", *(sheets or [[]])), **options)
    assert says in str(caught.value)


def test_without_openpyxl_the_way_out_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = workbook(tmp_path / "t.xlsx", [["a", "b"], ["x", "y"]])
    monkeypatch.setitem(__import__("sys").modules, "openpyxl", None)
    with pytest.raises(InvalidInputError, match=r"pip install 'onebit\[excel\]', or save the file as CSV"):
        read_table(path)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ('{"a": ["x"], "b": ["y"]}\n', "only"),
        ('{\n"a": ["x"], "b": ["y"]}', "holds an object; it must be an array with one object for each item"),
        ("[]", "holds an empty array"),
        ("[1]", "record 1 is no object"),
        ('[{"a": 1, "b": 2}, {"a": 1}]', "record 2: the column 'b' is missing; write null where a model abstains"),
        ('[{"a": 1, "b": 2}, {"a": 1, "b": 2, "c": 3}]', "record 2: the column 'c' is not in record 1"),
        ('[{"a": 1, "b": 2}, {"a": 1, "b": [2]}]', "record 2, column 'b': [2] is neither a text nor a number"),
        ('[{"a": 1, "b": 2}', "holds no JSON array"),
    ],
)
def test_a_json_that_cannot_be_read(tmp_path: Path, content: str, says: str) -> None:
    path = tmp_path / "t.json"
    path.write_text(content)
    with pytest.raises(InvalidInputError) as caught:
        read_table(path)
    assert "t.json" in str(caught.value)
    assert says in str(caught.value) or says == "only"


def test_the_sign_that_a_name_promises_comes_first(tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    path.write_text("a, b, c\td\nx\ty\n")
    assert column_names(path) == ("a, b, c", "d")
    assert column_names(path.rename(tmp_path / "t.csv")) == ("a", " b", " c\td")
    assert column_names(path.with_name("t.csv").rename(tmp_path / "t")) == ("a", " b", " c\td")


@pytest.mark.parametrize("labels", [None, ["A", "a", "NaN", "refund", "Refund"]])
def test_labels_that_are_alike_have_to_be_given(tmp_path: Path, labels: list[str] | None) -> None:
    path = tmp_path / "t.csv"
    path.write_text("m,n\nA,a\na,a\n")
    assert set(read_table(path).labels) == {"A", "a"}
    path.write_text("m,n\nA,Refund\nNaN,refund\n")
    if labels is None:
        with pytest.raises(InvalidInputError, match="give all labels with --labels"):
            read_table(path)
    else:
        assert read_table(path, labels=labels).n_labels == 5
