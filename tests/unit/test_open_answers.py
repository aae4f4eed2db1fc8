"""Tables of free texts: which columns are models, which outputs are equal, which are right."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from onebit.errors import InvalidInputError
from onebit.tables import ModelTable, read_table
from onebit.tables.open_answers import (
    matching,
    normal_form,
    one_verdict_each,
    right_texts,
    same_where_equal,
    verdict_of_text,
)

ROWS: list[dict[str, Any]] = [
    {"question": "capital of France?", "answer_a": "Paris", "answer_b": "paris.", "answer_c": "It is\nLyon"},
    {"question": "2 + 2?", "answer_a": "4", "answer_b": "four", "answer_c": "5"},
    {"question": "largest planet?", "answer_a": "Jupiter", "answer_b": None, "answer_c": "Saturn, I think"},
    {"question": "author of Emma?", "answer_a": "Jane Austen", "answer_b": "Austen", "answer_c": "Bronte"},
]
RIGHT: dict[str, list[bool | None]] = {
    "a": [True, True, True, True],
    "b": [True, True, None, True],
    "c": [False, False, False, False],
}
LISTS = [["Paris"], ["4", "Four"], ["jupiter"], ["Jane Austen", "Austen"]]


def write(folder: Path, ending: str = "parquet", more: dict[str, Any] | None = None) -> Path:
    columns: dict[str, Any] = {name: [row[name] for row in ROWS] for name in ROWS[0]} | (more or {})
    path = folder / f"t.{ending}"
    if ending == "parquet":
        parquet.write_table(pa.table(columns), path)
    else:
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def read(path: Path, **options: Any) -> ModelTable:
    return read_table(path, **{"models": "answer_*", "show": ["question"], **options})


def said(table: ModelTable) -> list[list[str | None]]:
    return [[None if code < 0 else table.labels[code] for code in row] for row in table.predictions.tolist()]


@pytest.mark.parametrize("ending", ["parquet", "jsonl"])
def test_texts_of_several_lines_are_read_as_they_are(tmp_path: Path, ending: str) -> None:
    table = read(write(tmp_path, ending))
    assert table.models == ("a", "b", "c")
    assert table.is_open
    assert said(table) == [[row[f"answer_{model}"] for row in ROWS] for model in "abc"]
    assert table.shown(1) == {"question": "2 + 2?"}


def test_equal_outputs_are_equal_within_an_item_only(tmp_path: Path) -> None:
    path = write(tmp_path)
    assert read(path).predictions[0, 0] != read(path).predictions[1, 0]
    table = read(path, equal="normalised")
    # The first model's wording stands for both, and nothing else is touched.
    assert said(table)[1][0] == "Paris"
    assert said(table)[1][1] == "four"


def test_outputs_may_be_equal_by_columns_of_ones_own(tmp_path: Path) -> None:
    keys = {"key_a": ["p", "4", "", "x"], "key_b": ["q", "4", "", "x"], "key_c": ["r", "5", "", None]}
    table = read(write(tmp_path, more=keys), equal="key_*")
    assert (table.predictions[0] == table.predictions[1]).tolist() == [False, True, False, True]


def test_an_empty_output_abstains_or_is_an_answer(tmp_path: Path) -> None:
    path = write(tmp_path)
    assert read(path).predictions[1, 2] < 0
    table = read(path, empty="answer")
    assert said(table)[1][2] == ""
    assert (table.predictions >= 0).all()


@pytest.mark.parametrize(
    ("yes", "no"), [(True, False), (1, 0), ("yes", "no"), (1.0, 0.0), ("Correct", "wrong")], ids=str
)
def test_verdicts_by_column(tmp_path: Path, yes: object, no: object) -> None:
    as_written = {None: None, True: yes, False: no}
    columns = {f"right_{model}": [as_written[each] for each in verdicts] for model, verdicts in RIGHT.items()}
    table = read(write(tmp_path, more=columns), verdicts="right_*")
    assert table.verdicts is not None
    assert table.verdicts.tolist() == [[1, 1, 1, 1], [1, 1, -1, 1], [0, 0, 0, 0]]
    assert table.accuracy().tolist() == [1.0, 0.75, 0.0]


@pytest.mark.parametrize("as_text", [False, True])
def test_several_right_answers_in_a_cell(tmp_path: Path, as_text: bool) -> None:
    truth = [json.dumps(each) for each in LISTS] if as_text else LISTS
    path = write(tmp_path, more={"right": truth})
    exact = read(path, truth="right", several=True).verdicts
    assert exact is not None
    assert exact.tolist() == [[1, 1, 0, 1], [0, 0, -1, 1], [0, 0, 0, 0]]
    normalised = read(path, truth="right", several=True, equal="normalised").verdicts
    assert normalised is not None
    assert normalised.tolist() == [[1, 1, 1, 1], [1, 1, -1, 1], [0, 0, 0, 0]]


@pytest.mark.parametrize(
    ("more", "options", "says"),
    [
        ({}, {"models": "answer"}, "write one * where the model's name stands"),
        ({}, {"models": "reply_*"}, "no column is named as in 'reply_*' (--models)"),
        ({}, {"models": None, "show": []}, "the column 'question' would be a model's"),
        ({}, {"models": "*_a"}, "only the column 'answer' is a model's"),
        ({"right_a": [True] * 4}, {"verdicts": "right_*"}, "--verdicts names no column for the model 'b'"),
        (
            {f"right_{model}": ["perhaps"] * 4 for model in "abc"},
            {"verdicts": "right_*"},
            "row 1, column 'right_a': 'perhaps' is no verdict",
        ),
        ({f"right_{model}": [0] * 4 for model in "abc"}, {"verdicts": "right_*"}, "no output of any model is right"),
        ({"right": [["nobody"]] * 4}, {"truth": "right", "several": True}, "no output of any model is right"),
        ({}, {"truth": "question", "several": True}, "is the truth, and --id, --show or --reference would give it"),
        ({"right": LISTS}, {"truth": "right"}, "Several right answers are for --protocol panel"),
        ({}, {"reference": "nothing"}, "there is no column 'nothing' (--reference)"),
    ],
    ids=str,
)
def test_what_cannot_be_is_refused(
    tmp_path: Path, more: dict[str, list[Any]], options: dict[str, Any], says: str
) -> None:
    with pytest.raises(InvalidInputError) as caught:
        read(write(tmp_path, more=more), **options)
    assert says in str(caught.value)


def test_models_may_hardly_repeat_themselves_where_all_do(tmp_path: Path) -> None:
    """A column of ids among labels is refused; columns of texts are not taken for ids."""
    n = 30
    texts = {f"answer_{model}": [f"{model} says {i}" for i in range(n)] for model in "ab"}
    path = tmp_path / "t.parquet"
    parquet.write_table(pa.table({"question": [str(i) for i in range(n)]} | texts), path)
    assert read(path).is_open
    labels = {name: [str(i % 3) for i in range(n)] for name in ("x", "y")}
    parquet.write_table(pa.table({"key": [f"k{i}" for i in range(n)]} | labels), path)
    with pytest.raises(InvalidInputError, match="column 'key': every value is different"):
        read_table(path)


def test_matching_wants_a_model_for_the_star() -> None:
    assert matching("x_*_y", ["x__y", "x_a_y", "x_y", "z"], "--models") == {"a": "x_a_y"}


@pytest.mark.parametrize(("one", "other"), [("It's 3.5%", "it s 3 5"), ("ﬁne", "FINE"), ("  a\nb ", "A b!")])
def test_normal_form(one: str, other: str) -> None:
    assert normal_form(one) == normal_form(other)


def test_normal_form_keeps_what_is_all_punctuation() -> None:
    assert normal_form(" ?! ") == "?!"
    assert normal_form("!") != normal_form("?")


def test_equality_goes_to_the_first_of_all_that_are_equal() -> None:
    codes, keys = np.array([[0], [1], [2], [-1]]), np.array([[7], [7], [7], [7]])
    assert same_where_equal(codes, keys).ravel().tolist() == [0, 0, 0, -1]


def test_equal_outputs_have_the_first_verdict_there_is() -> None:
    codes = np.array([[4], [4], [4], [5], [-1]])
    verdicts = np.array([[-1], [0], [1], [-1], [1]], dtype=np.int8)
    assert one_verdict_each(codes, verdicts).ravel().tolist() == [0, 0, 0, -1, -1]


@pytest.mark.parametrize(
    ("cell", "texts"),
    [(None, []), ("", []), ("a", ["a"]), ('["a", "b"]', ["a", "b"]), ("[a", ["[a"]), (["a", None], ["a"])],
)
def test_right_texts(cell: object, texts: list[str]) -> None:
    assert right_texts(cell) == texts


def test_a_verdict_that_is_none() -> None:
    assert [verdict_of_text(text) for text in ("Yes", "0.0", " ", None, "2")] == [1, 0, -1, -1, None]
