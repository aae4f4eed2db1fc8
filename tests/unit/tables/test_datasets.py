"""Folders of Hugging Face ``datasets`` (tests/fixtures/logs/make.py), and the names of their classes."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from onebit.cli.main import app
from onebit.errors import InvalidInputError
from onebit.tables import read_table
from onebit.tables.opening import Long

FOLDER = Path(__file__).parents[2] / "fixtures" / "logs" / "datasets"


def test_a_split_is_a_table_and_its_classes_have_names() -> None:
    seen: list[tuple[int, int]] = []
    table = read_table(
        FOLDER / "train", id="id", show=["question"], progress=lambda done, whole: seen.append((done, whole))
    )
    assert table.models == ("careful", "hasty")
    assert [table.item_id(i) for i in range(3)] == ["q0", "q1", "q2"]
    said = [[table.labels[code] if code >= 0 else None for code in row] for row in table.predictions.tolist()]
    assert said == [["zero", "two", "five"], ["one", "three", None]]
    assert table.shown(1) == {"question": "What is 1 + 1?"}
    first, second = (file.stat().st_size for file in sorted((FOLDER / "train").glob("*.arrow")))
    assert seen[0][0] <= first < seen[-1][0] <= first + second == seen[-1][1]


def test_one_of_several_splits_has_to_be_named() -> None:
    with pytest.raises(InvalidInputError, match=r"^datasets has 2 splits, 'train', 'test'; .* datasets/test$"):
        read_table(FOLDER)


def test_a_split_that_is_the_only_one_is_taken(tmp_path: Path) -> None:
    copy = shutil.copytree(FOLDER, tmp_path / "one")
    (copy / "dataset_dict.json").write_text('{"splits": ["test"]}')
    assert read_table(copy, id="id", show=["question"]).item_id(0) == "q2"


def state(content: Any) -> Callable[[Path], object]:
    return lambda folder: (folder / "state.json").write_text(json.dumps(content))


def named(*files: str) -> Callable[[Path], object]:
    return state({"_data_files": [{"filename": file} for file in files]})


def other_columns(folder: Path) -> None:
    with pa.ipc.new_stream(folder / "data-00001-of-00002.arrow", pa.schema([("x", pa.int8())])) as file:
        file.write_table(pa.table({"x": pa.array([1], pa.int8())}))


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda folder: (folder / "state.json").unlink(), "holds no state.json, as one of Hugging Face datasets does"),
        (state([]), "d/state.json names no files; write the data set again"),
        (state({"_data_files": [1]}), "d/state.json names no files"),
        (named("none.arrow"), "names the file none.arrow, which is not in the folder; copy the whole folder"),
        (named("../outside.arrow"), "names the file outside.arrow, which is not in the folder"),
        (lambda folder: (folder / "dataset_dict.json").write_text("{}"), "d/dataset_dict.json names no splits"),
        (other_columns, "d: data-00001-of-00002.arrow has other columns than data-00000-of-00002.arrow"),
        (lambda folder: (folder / "data-00000-of-00002.arrow").write_bytes(b"no arrow"), "cannot be read as Arrow"),
    ],
)
def test_a_folder_that_cannot_be_read(tmp_path: Path, spoil: Callable[[Path], object], says: str) -> None:
    folder = shutil.copytree(FOLDER / "train", tmp_path / "d")
    shutil.copy(folder / "data-00000-of-00002.arrow", tmp_path / "outside.arrow")
    spoil(folder)
    with pytest.raises(InvalidInputError) as caught:
        read_table(folder)
    assert says in str(caught.value)


def as_datasets(columns: dict[str, Any], **names: list[str]) -> Any:
    """A table with the metadata that ``datasets`` write; ``names`` are those of classes, by column."""
    features = {name: {"_type": "ClassLabel", "names": each} for name, each in names.items()}
    told = {"info": {"features": {name: {"_type": "Value"} for name in columns} | features}}
    return pa.table(columns).replace_schema_metadata({"huggingface": json.dumps(told)})


ANIMALS = ["cat", "dog"]


def test_classes_have_names_wherever_datasets_wrote_them(tmp_path: Path) -> None:
    table = as_datasets({"a": [0, 1], "b": [1, -1]}, a=ANIMALS, b=ANIMALS)
    pq.write_table(table, tmp_path / "t.parquet")
    for source in (table, tmp_path / "t.parquet"):
        read = read_table(source)
        assert (read.labels, read.predictions.tolist()) == (("cat", "dog"), [[0, 1], [1, -1]])
    rows = {"id": [1, 1, 2, 2], "model": list("abab"), "output": [0, 1, 1, 0]}
    assert read_table(as_datasets(rows, output=ANIMALS), long=Long()).labels == ("cat", "dog")


def test_classes_stay_numbers_where_models_give_numbers() -> None:
    table = as_datasets({"a": [0, 1], "b": [1, 1], "label": [0, 1]}, label=ANIMALS)
    assert read_table(table, truth="label").accuracy().tolist() == [1.0, 0.5]


def test_a_class_without_a_name_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="column 'a': there is the class 2, and 2 classes have names; name all"):
        read_table(as_datasets({"a": [0, 2], "b": [1, 0]}, a=ANIMALS, b=ANIMALS))


@pytest.mark.parametrize("told", ["", "[]", "{}", '{"info": {"features": {"a": {"_type": "ClassLabel", "names": 1}}}}'])
def test_metadata_of_others_are_left_alone(told: str) -> None:
    table = pa.table({"a": [0, 1], "b": [1, 1]}).replace_schema_metadata({"huggingface": told})
    assert read_table(table).labels == ("0", "1")


class Splits(dict[str, Any]):
    """What a dict of splits can do."""

    column_names = ("train", "test")

    def with_format(self, kind: str) -> Any: ...


class Streamed:
    """What a data set that is streamed can do."""

    column_names = ("a", "b")

    def with_format(self, kind: str) -> Any: ...


@pytest.mark.parametrize(
    ("table", "says"),
    [
        (Splits(train=1, test=2), "the table has 2 splits, 'train', 'test'; give one of them: table['test']"),
        (Streamed(), "the table is of type Streamed, which is read once, row by row; load it without streaming"),
    ],
)
def test_what_is_one_data_set_and_at_hand(table: Any, says: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        read_table(table)
    assert str(caught.value) == says


def test_a_run_on_a_folder_is_kept_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "d"
    folder.mkdir()
    table = pa.table({"a": ["x", "y"] * 20, "b": ["x", "x"] * 20, "t": ["x", "y"] * 20})
    with pa.ipc.new_stream(folder / "data.arrow", table.schema) as file:
        file.write_table(table)
    named("data.arrow")(folder)
    done = CliRunner().invoke(app, ["select", "d", "--truth", "t", "--eps", "0.2"], catch_exceptions=False)
    assert done.exit_code == 0
    assert (tmp_path / "selection" / "report.html").is_file()
    assert {file.name for file in folder.iterdir()} == {"data.arrow", "state.json"}
