"""Wrong inputs as people give them: each is refused with the file, the row or column, and the way out."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from onebit.errors import InvalidInputError
from onebit.tables import read_table
from onebit.tables.opening import Long

LOGS = Path(__file__).parents[2] / "fixtures" / "logs"


@dataclass(frozen=True)
class Wrong:
    """A file that cannot be read, or not with these options; and what its refusal must name.

    ``place`` is where to look: a line, a row, a record, a column, a sheet, a model. ``way_out`` is what to do.
    """

    file: str
    content: str | bytes | Callable[[Path], object]
    place: tuple[str, ...]
    way_out: str
    options: dict[str, Any] = field(default_factory=dict)


def parquet(**columns: Any) -> Callable[[Path], object]:
    return lambda path: pq.write_table(pa.table(columns), path)


def npz(**arrays: Any) -> Callable[[Path], object]:
    return lambda path: np.savez(path, **arrays)


def workbook(*sheets: list[list[Any]]) -> Callable[[Path], object]:
    def write(path: Path) -> None:
        openpyxl = pytest.importorskip("openpyxl")
        book = openpyxl.Workbook()
        book.remove(book.active)
        for number, rows in enumerate(sheets):
            sheet = book.create_sheet(f"sheet {number}")
            for row in rows:
                sheet.append(row)
        book.save(path)

    return write


def edited(name: str, change: Callable[[Any], object]) -> Callable[[Path], object]:
    """A log of the fixtures with a fault."""

    def write(path: Path) -> None:
        text = (LOGS / name).read_text()
        found = [json.loads(line) for line in text.splitlines()] if name.endswith("jsonl") else json.loads(text)
        change(found)
        path.write_text("\n".join(map(json.dumps, found)) if name.endswith("jsonl") else json.dumps(found))

    return write


IDS = "".join(f"ticket {i},{i % 2},{i % 3}\n" for i in range(30))

WRONG: dict[str, Wrong] = {
    "not there": Wrong("none.csv", lambda path: None, ("none.csv",), "is the name right, and the folder?"),
    "empty": Wrong("t.csv", "", ("t.csv",), "it must hold a table"),
    "no rows": Wrong("t.csv", "a,b\n", ("column names",), "there must be one for each item"),
    "a row too short": Wrong("t.csv", "a,b\nx,y\nx\n", ("line 3",), "a comma inside a text needs quotes"),
    "a row too long": Wrong("t.csv", "a,b\nx,y\nx,y,z\n", ("line 3",), "a comma inside a text needs quotes"),
    "semicolons in some rows": Wrong("t.csv", "a;b\nx;y\nx\n", ("line 3",), "a semicolon inside a text needs quotes"),
    "tabs promised": Wrong("t.tsv", "a\tb\nx\ty\tz\n", ("line 2",), "a tab inside a text needs quotes"),
    "one column": Wrong("t.csv", "a:b\nx:y\n", ("'a:b'",), "cells have commas, tabs, semicolons or bars between them"),
    "a capital and a space": Wrong("t.csv", "a,b\nrefund, REFUND\n", ("line 2", "column 'b'"), "write them alike"),
    "NaN as a text": Wrong("t.csv", "a,b\nx,y\nx,NaN\n", ("line 3", "column 'b'"), "leave the cell empty, or give all"),
    "a quote that is never closed": Wrong(
        "t.csv", 'a,b\nx,"y\nx,y\n', ("line 2", "column 'b'"), "is a quote never closed?"
    ),
    "a label over lines": Wrong(
        "t.csv", 'a,b\nx,x\nx,"y\nz"\nx,x\n', ("line 3", "column 'b'"), "is a quote never closed?"
    ),
    "an id taken for a model": Wrong("t.csv", f"key,a,b\n{IDS}", ("column 'key'",), "name it with --id or --show"),
    "a text taken for a model": Wrong(
        "t.csv",
        "question,a,b\n" + "".join(f"q{i},r{i},s{i}\n" for i in range(30)),
        ("column 'question'",),
        "Name it with --id, --show",
    ),
    "Latin-1": Wrong("t.csv", b"a,b\nx,\xe9t\xe9\n", ("line 2", "column 'b'"), "save the file as UTF-8"),
    "UTF-16": Wrong("t.csv", "a,b\nx,y\n".encode("utf-16"), ("line 1", "column names"), "save the file as UTF-8"),
    "an index without a name": Wrong("t.csv", ",a,b\n0,x,y\n", ("column 1",), "to_csv(index=False)"),
    "a name twice": Wrong("t.csv", "a,b,a\nx,y,z\n", ("column 'a'",), "rename one"),
    "an id twice": Wrong("t.csv", "i,a,b\n1,x,y\n1,x,y\n", ("line 3", "column 'i'"), "give --long", {"id": "i"}),
    "an id missing": Wrong(
        "t.csv", "i,a,b\n1,x,y\n,x,y\n", ("line 3", "column 'i'"), "fill it in, or leave the row out", {"id": "i"}
    ),
    "a column that is not there": Wrong(
        "t.csv", "a,b\nx,y\n", ("'truth'", "--truth"), "there are 'a', 'b'", {"truth": "truth"}
    ),
    "a truth missing": Wrong(
        "t.csv", "t,a,b\nx,x,y\n,x,y\n", ("line 3", "column 't'"), "fill it in, or leave the row out", {"truth": "t"}
    ),
    "a truth that raters would see": Wrong(
        "t.csv", "t,a,b\nx,x,y\n", ("column 't'",), "name it with --truth alone", {"truth": "t", "show": ["t"]}
    ),
    "a truth by number": Wrong(
        "t.csv", "t,a,b\n0,cat,dog\n1,dog,dog\n", ("column 't'",), "give the names in both", {"truth": "t"}
    ),
    "a truth in another order": Wrong(
        "t.csv", "t,a,b\ndog,cat,cat\ncat,dog,dog\n", ("column 't'",), "join the two tables by a key", {"truth": "t"}
    ),
    "a label that was not given": Wrong(
        "t.csv", "a,b\nx,z\n", ("line 2", "column 'b'"), "add it to these, or mend the cell", {"labels": ["x", "y"]}
    ),
    "a model that says nothing": Wrong("t.csv", "a,b\nx,\ny,\n", ("column 'b'",), "take it out"),
    "no column for a verdict": Wrong(
        "t.csv",
        "a,b,ok_a\nx,y,1\n",
        ("model 'b'", "--verdicts"),
        "name it with --id, --show or --reference",
        {"verdicts": "ok_*"},
    ),
    "no verdict": Wrong(
        "t.csv", "a,b,ok_a,ok_b\nx,y,1,maybe\n", ("line 2", "column 'ok_b'"), "write yes or no", {"verdicts": "ok_*"}
    ),
    "a score above 1": Wrong(
        "t.csv", "a,b,s_a,s_b\nx,y,1,85\n", ("line 2", "column 's_b'"), "numbers from 0 to 1", {"judge": "s_*"}
    ),
    "a score that is a word": Wrong(
        "t.csv", "a,b,s_a,s_b\nx,y,1,good\n", ("line 2", "column 's_b'"), "numbers from 0 to 1", {"judge": "s_*"}
    ),
    "half a gzip": Wrong(
        "t.csv.gz", gzip.compress(b"a,b\nx,y\n" * 99)[:-9], ("to its end",), "copy the file again, or pack it again"
    ),
    "a zip": Wrong("t.zip", b"PK\x03\x04 no zip", ("zip",), "give CSV, TSV"),
    "two sheets": Wrong("t.xlsx", workbook([["a", "b"]], [["c"]]), ("'sheet 0', 'sheet 1'",), "keep one of them"),
    "a cell without a name": Wrong(
        "t.xlsx",
        workbook([["a", "b"], ["x", "y", "z"]]),
        ("row 2", "beyond the 2 columns"),
        "name its column, or empty it",
    ),
    "a fraction": Wrong(
        "t.xlsx", workbook([["a", "b"], ["x", 1.5]]), ("row 2", "column 'b'"), "Name a column of scores with --judge"
    ),
    "an object of columns": Wrong("t.json", '{\n"a": ["x"]}', ("object",), "to_json(orient='records')"),
    "a key missing": Wrong(
        "t.json", '[{"a": 1, "b": 2}, {"a": 1}]', ("record 2", "column 'b'"), "write null where a model abstains"
    ),
    "a key too many": Wrong(
        "t.json",
        '[{"a": 1, "b": 2}, {"a": 1, "b": 2, "c": 3}]',
        ("record 2", "column 'c'"),
        "give it everywhere, or nowhere",
    ),
    "a list in a cell": Wrong(
        "t.json", '[{"a": 1, "b": [2]}]', ("record 1", "column 'b'"), "several right answers are for --protocol panel"
    ),
    "a line that is no JSON": Wrong(
        "t.jsonl", '{"a": 1, "b": 2}\n{"a": 1,\n', ("line 2",), "every line must be one JSON object"
    ),
    "lists in Parquet": Wrong("t.parquet", parquet(a=["x"], b=[[1]]), ("column 'b'",), "are for --protocol panel"),
    "dates in Parquet": Wrong(
        "t.parquet", parquet(a=["x"], b=pa.array([1], pa.date32())), ("column 'b'",), "Name the column with --show"
    ),
    "no Parquet": Wrong("t.parquet", b"PAR1 and nothing PAR1", ("t.parquet",), "write it again"),
    "no array": Wrong(
        "t.npz", npz(predictions=np.eye(2)), ("array 'preds'",), "predictions are preds (N models x n items)"
    ),
    "an array turned": Wrong(
        "t.npz",
        npz(preds=np.zeros(3, int)),
        ("preds has shape (3,)",),
        "it must be whole numbers in 2 dimensions, N models x n items",
    ),
    "a label beyond the names": Wrong(
        "t.npz",
        npz(preds=np.array([[0, 2], [1, 0]]), labels=["x", "y"]),
        ("item 1", "model (row 0)"),
        "name all labels in the array labels",
    ),
    "long, no column for the item": Wrong(
        "t.csv", "q,model,output\n1,m,x\n", ("item", "'q', 'model', 'output'"), "name it with --id", {"long": Long()}
    ),
    "long, one model": Wrong(
        "t.csv",
        "id,model,output\n1,m,x\n",
        ("column 'model'", "'m'"),
        "name another column with --model",
        {"long": Long()},
    ),
    "long, said twice": Wrong(
        "t.csv",
        "id,model,output\n1,m,x\n1,n,x\n1,m,y\n",
        ("line 4", "item '1'", "model 'm'"),
        "number repeats in the item's name",
        {"long": Long()},
    ),
    "long, nothing in common": Wrong(
        "t.csv",
        "id,model,output\n1,m,x\n2,n,y\n",
        ("2 items", "2 models"),
        "write items alike for all models",
        {"long": Long()},
    ),
    "long, a model missing": Wrong(
        "t.csv",
        "id,model,output\n1,m,x\n1,,y\n",
        ("line 3", "column 'model'"),
        "fill it in, or leave the row out",
        {"long": Long()},
    ),
    "a log of one model": Wrong(
        "t.eval", lambda path: shutil.copy(LOGS / "careful.eval", path), ("'mockllm/careful'",), "give the logs of the"
    ),
    "a log without samples": Wrong(
        "t.json", edited("third.json", lambda log: log.pop("samples")), ("samples",), "not --no-log-samples"
    ),
    "a log cut in the middle": Wrong(
        "t.eval", lambda path: path.write_bytes((LOGS / "careful.eval").read_bytes()[:400]), ("damaged",), "copy it"
    ),
    "promptfoo of another version": Wrong(
        "t.json",
        edited("promptfoo.json", lambda log: log["results"].update(version=2)),
        ("version 2",),
        "promptfoo export eval ID -o FILE.json",
    ),
    "Label Studio without predictions": Wrong(
        "t.json",
        edited("label_studio.json", lambda tasks: [task.update(predictions=[]) for task in tasks]),
        ("predictions",),
        "each with its model_version",
    ),
    "a line of a log that is none": Wrong(
        "t.jsonl",
        lambda path: path.write_text((LOGS / "every_eval_ever.jsonl").read_text() + "[]\n"),
        ("line 7",),
        "every line must be one JSON object",
    ),
    "several splits": Wrong(
        "d", lambda path: shutil.copytree(LOGS / "datasets", path), ("'train', 'test'",), "give one of them: d/test"
    ),
    "a folder": Wrong("d", lambda path: path.mkdir(), ("state.json",), "give a file, or all files of a folder"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_input_is_refused_with_its_place_and_the_way_out(tmp_path: Path, case: str) -> None:
    wrong = WRONG[case]
    path = tmp_path / wrong.file
    if callable(wrong.content):
        wrong.content(path)
    else:
        path.write_bytes(wrong.content if isinstance(wrong.content, bytes) else wrong.content.encode())
    with pytest.raises(InvalidInputError) as caught:
        read_table(path, **wrong.options)
    said = str(caught.value)
    assert wrong.file in said
    for each in (*wrong.place, wrong.way_out):
        assert each in said
    # One message, on one line, that a terminal shows whole.
    assert "\n" not in said
    assert len(said) < 400
