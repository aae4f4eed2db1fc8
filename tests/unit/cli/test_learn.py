"""``onebit learn`` and ``onebit predict``: what is learned, kept, printed, written and refused."""

from __future__ import annotations

import csv
import json
import os
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
import skops.io  # type: ignore[import-untyped]
from sklearn.preprocessing import FunctionTransformer
from tests.unit.cli.notes import write_texts
from typer.testing import CliRunner

from onebit.cli import predict as predict_module
from onebit.cli.main import app
from onebit.errors import InvalidInputError
from onebit.tables.data import Wanted, read_data, read_pool
from onebit.tables.formats import ENDINGS

runner = CliRunner()
KINDS = ("cat", "dog", "=emu")
CENTRES = np.array([[4.0, 0.0], [-4.0, 0.0], [0.0, 5.0]])


def invoke(*options: object) -> str:
    done = runner.invoke(app, [str(option) for option in options])
    if done.exception is not None:
        raise done.exception
    return done.stdout


def learned(*options: object) -> dict[str, Any]:
    figures: dict[str, Any] = json.loads(invoke("learn", *options, "--seed", 0, "--json"))
    return figures


def examples(n: int = 200) -> tuple[np.ndarray[Any, Any], list[str]]:
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 3, n)
    return CENTRES[kind] + rng.standard_normal((n, 2)), [KINDS[k] for k in kind]


def write_numbers(folder: Path, suffix: str) -> Path:
    x, y = examples()
    path = folder / f"animals{suffix}"
    if suffix == ".npz":
        np.savez(path, X=x, y=np.array(y))
        return path
    table = pa.table({"name": [f"@{i}" for i in range(len(y))], "a": x[:, 0], "b": x[:, 1], "kind": y})
    if suffix == ".parquet":
        parquet.write_table(table, path)
    elif suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))
    else:
        rows = [table.column_names, *(row.values() for row in table.to_pylist())]
        sign = "\t" if suffix == ".tsv" else ","
        path.write_text("".join(sign.join(map(str, row)) + "\n" for row in rows))
    return path


def test_the_report_of_a_training_is_refused_with_a_command_that_tells_of_it(tmp_path: Path) -> None:
    path = write_numbers(tmp_path, ".csv")
    learned(path, "--label", "kind", "--id", "name", "--budget", 40)
    with pytest.raises(
        InvalidInputError, match="holds a training, and only the selection of a model has a report"
    ) as no:
        invoke("report", path.with_suffix(""))
    program, *command = shlex.split(str(no.value).partition("told by: ")[2])
    assert program == "onebit"
    assert "complete" in invoke(*command)


@pytest.mark.parametrize("suffix", ENDINGS)
def test_learn_and_predict_from_every_format(tmp_path: Path, suffix: str) -> None:
    path = write_numbers(tmp_path, suffix)
    options = ["--label", "y"] if suffix == ".npz" else ["--label", "kind", "--id", "name"]
    figures = learned(path, *options, "--budget", 150)
    assert figures["n_answers"] <= 150
    assert (figures["n_items"], figures["n_held_out"]) == (160, 40)
    assert figures["accuracy"] > 0.9
    low, high = figures["accuracy_interval"]
    assert 0 <= low < high <= 1
    assert figures["labels"] == sorted(KINDS)
    checkpoints = figures["checkpoints"]
    assert len(checkpoints) > 5
    assert [c["answers"] for c in checkpoints] == sorted({c["answers"] for c in checkpoints})
    assert checkpoints[-1] == {
        "answers": figures["n_answers"],
        "accuracy": figures["accuracy"],
        "recent_yes_rate": pytest.approx(checkpoints[-1]["recent_yes_rate"]),
    }
    assert 0 < checkpoints[-1]["recent_yes_rate"] <= 1
    assert figures["model"] == str(tmp_path / "animals" / "model.skops")

    out = tmp_path / "said.csv"
    told = json.loads(invoke("predict", figures["model"], path, "--out", tmp_path / "as.csv", "--json"))
    assert (told["predictions"], sum(told["labels"].values())) == (200, 200)
    assert list(told["labels"]) == sorted(KINDS)
    assert Path(told["file"]).is_file()
    named = [] if suffix == ".npz" else ["--id", "name"]
    assert "200 predictions" in invoke("predict", figures["model"], path, "--out", out, *named)
    with out.open(newline="") as file:
        rows = list(csv.DictReader(file))
    right = [row["label"].removeprefix("'") == kind for row, kind in zip(rows, examples()[1], strict=True)]
    assert np.mean(right) > 0.9
    # No cell is one that a spreadsheet would run.
    assert {row["label"] for row in rows} == {"cat", "dog", "'=emu"}
    assert rows[0]["item"] == ("1" if suffix == ".npz" else "'@0")
    assert all(1 / 3 <= float(row["probability"]) <= 1 for row in rows)


def test_all_formats_hold_the_same(tmp_path: Path) -> None:
    runs = []
    for suffix in ENDINGS:
        options = ["--label", "y"] if suffix == ".npz" else ["--label", "kind", "--id", "name"]
        figures = learned(write_numbers(tmp_path, suffix), *options, "--budget", 60, "--out", tmp_path / f"m{suffix}")
        # An NPZ has no names of items, so those that were left are counted.
        figures["left"] = len(figures["left"])
        runs.append({key: value for key, value in figures.items() if key not in ("model", "seconds")})
    assert all(run == runs[0] for run in runs)


def test_a_folder_is_predicted_file_by_file_and_goes_on_where_it_stopped(tmp_path: Path) -> None:
    path = write_numbers(tmp_path, ".parquet")
    model = learned(path, "--label", "kind", "--id", "name", "--budget", 60, "--out", tmp_path / "m")["model"]
    folder, out = tmp_path / "pool", tmp_path / "said"
    table = parquet.read_table(path)
    for number, first in enumerate(range(0, 200, 80)):
        (folder / f"{number}").mkdir(parents=True)
        parquet.write_table(table.slice(first, 80), folder / f"{number}" / "part.parquet")
    whole = json.loads(invoke("predict", model, path, "--out", tmp_path / "whole.csv", "--json"))
    told = json.loads(invoke("predict", model, folder, "--id", "name", "--out", out, "--json"))
    assert told == {**whole, "file": str(out)}
    parts = sorted(out.rglob("*.csv"))
    assert [part.relative_to(out).as_posix() for part in parts] == ["0/part.csv", "1/part.csv", "2/part.csv"]
    said = {part: part.read_bytes() for part in parts}
    parts[1].unlink()
    parts[0].write_bytes(said[parts[0]] + b"more,cat,0.5\n")
    again = json.loads(invoke("predict", model, folder, "--id", "name", "--out", out, "--json"))
    assert parts[1].read_bytes() == said[parts[1]]
    assert again["predictions"] == 201, "what was there was predicted again"
    with pytest.raises(InvalidInputError, match="it must be a number of processes"):
        invoke("predict", model, folder, "--out", tmp_path / "other", "--workers", "some")


def test_texts_by_name(tmp_path: Path) -> None:
    path = write_texts(tmp_path)
    figures = learned(path, "--label", "kind", "--text", "note", "--protocol", "follow-up", "--budget", 60)
    assert figures["accuracy"] > 0.9
    new = tmp_path / "new.csv"
    new.write_text('other,note\n1,"it barks and runs, day 900"\n2,it purrs and sleeps\n')
    invoke("predict", figures["model"], new)
    with (tmp_path / "new.predictions.csv").open(newline="") as file:
        assert [row["label"] for row in csv.DictReader(file)] == ["dog", "cat"]


def test_in_words(tmp_path: Path) -> None:
    shown = invoke("learn", write_numbers(tmp_path, ".npz"), "--label", "y", "--budget", 100)
    for words in (
        "simulated yes/no answers, from a pool of 160 items",
        "40 rows that were held out",
        "with probability 0.95",
        "model is in",
    ):
        assert words in shown


def test_a_model_is_named_by_the_folder_of_its_run(tmp_path: Path) -> None:
    data = write_numbers(tmp_path, ".npz")
    learned(data, "--label", "y", "--budget", 60, "--out", tmp_path / "run")
    assert "200 predictions" in invoke("predict", tmp_path / "run", data)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InvalidInputError, match=r"no file .*model\.skops; onebit learn writes one when it is over"):
        invoke("predict", tmp_path / "empty", data, "--out", tmp_path / "again.csv")


def test_help_speaks_of_training() -> None:
    for command in (["learn"], ["study", "learn"]):
        told = " ".join(invoke(*command, "--help").split())
        assert "choose a model" not in told
        assert "models give" not in told


@pytest.mark.parametrize(
    ("content", "options", "says"),
    [
        ("a,kind\n1,x\nred,y\n", ["--label", "kind"], "line 3, column 'a': 'red' is no number"),
        ("a,kind\n1,x\n\n,y\n", ["--label", "kind"], "line 4, column 'a'"),
        ("a,kind\n1,x\nnan,y\n", ["--label", "kind"], "line 3, column 'a': .* no finite number"),
        ("a,kind\n1,x\n2,\n", ["--label", "kind"], "line 3, column 'kind': the label is missing"),
        ("a,kind\n1,x\n2,y,z\n", ["--label", "kind"], "line 3: the row has 3 columns"),
        ("a,kind\n1,x\n2,x\n", ["--label", "kind"], "data.csv has 'x' as the label of every row; .* two or more"),
        ("a,kind\n", ["--label", "kind"], "no rows"),
        ("a,a,kind\n1,2,x\n", ["--label", "kind"], "the column .a. is there 2 times"),
        ("a,kind\n1,x\n", ["--label", "sort"], "no column 'sort' .--label.; there are 'a', 'kind'"),
        ("kind\nx\ny\n", ["--label", "kind"], "no column is left"),
        ("t,kind\n" + '"",x\n"",y\n' * 3, ["--label", "kind", "--text", "t"], "texts are empty"),
        ("t,kind\n\xff,x\n", ["--label", "kind", "--text", "t"], "line 2, column 't': .* is not UTF-8"),
        ("a,kind\n1,x\n", [], "neither --label nor --labels"),
        ("a,kind\n1,x\n", ["--label", "kind", "--id", "kind"], "--label: the column 'kind' has another use too"),
        ("a,kind\n1,x\n2,y\n", ["--label", "kind", "--budget", "0"], "budget is 0"),
        ("a,kind\n1,x\n2,y\n3,y\n", ["--label", "kind", "--protocol", "all"], "one of one-shot, follow-up"),
    ],
)
def test_what_cannot_be_learned_from_is_refused(tmp_path: Path, content: str, options: list[str], says: str) -> None:
    path = tmp_path / "data.csv"
    path.write_bytes(content.encode("latin-1"))
    with pytest.raises(InvalidInputError, match=says):
        learned(path, *options)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("arrays", "says"),
    [
        ({"y": np.array([1, 2])}, "no array 'X'"),
        ({"X": np.zeros((2, 2))}, "no array 'y'"),
        ({"X": np.array([[1.0, np.inf], [0, 0]]), "y": np.array([1, 2])}, "inf in row 0, place 1"),
        ({"X": np.zeros((2, 2)), "y": np.array([1, 2, 3])}, "y has shape"),
        ({"X": np.array([{}, {}]), "y": np.array([1, 2])}, "pickled objects, which are never loaded"),
    ],
)
def test_an_npz_that_cannot_be_learned_from(tmp_path: Path, arrays: dict[str, Any], says: str) -> None:
    np.savez(tmp_path / "data.npz", **arrays)
    with pytest.raises(InvalidInputError, match=says):
        learned(tmp_path / "data.npz", "--label", "y")


def test_labels_must_be_among_those_given(tmp_path: Path) -> None:
    path = write_numbers(tmp_path, ".npz")
    (tmp_path / "labels.txt").write_text("cat\ndog\n")
    with pytest.raises(InvalidInputError, match="the label '=emu', which is not in the file"):
        learned(path, "--label", "y", "--labels", tmp_path / "labels.txt")


def test_nothing_is_written_over(tmp_path: Path) -> None:
    path = write_numbers(tmp_path, ".npz")
    (tmp_path / "animals").mkdir()
    (tmp_path / "animals" / "model.skops").write_text("mine")
    with pytest.raises(InvalidInputError, match="holds other things"):
        learned(path, "--label", "y")
    assert (tmp_path / "animals" / "model.skops").read_text() == "mine"
    with pytest.raises(InvalidInputError, match="it names a folder"):
        learned(path, "--label", "y", "--out", tmp_path / "mine.skops")


def test_the_same_command_tells_a_finished_run_again_and_writes_a_lost_model(tmp_path: Path) -> None:
    path = write_numbers(tmp_path, ".npz")
    first = learned(path, "--label", "y", "--budget", 60)
    Path(first["model"]).unlink()
    again = learned(path, "--label", "y", "--budget", 60)
    for key in ("status", "n_answers", "accuracy", "accuracy_interval", "seed", "model"):
        assert again[key] == first[key]
    assert Path(first["model"]).is_file()
    assert "Verified: from" in invoke("verify", tmp_path / "animals")
    with pytest.raises(InvalidInputError, match="animals: the log belongs to another setting: its budget is 60"):
        learned(path, "--label", "y", "--budget", 70)


def test_predicting_shows_how_far_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of many rows it takes a while; and the predictions are those of all rows at once."""
    data, told, found = write_numbers(tmp_path, ".csv"), list[tuple[int, int]](), list[str]()
    learned(data, "--label", "kind", "--id", "name", "--budget", 60)

    @contextmanager
    def told_of(what: str) -> Iterator[Callable[[int, int], None]]:
        assert what == "predicting animals.csv"
        yield lambda done, whole: told.append((done, whole))

    monkeypatch.setattr(predict_module, "progress_bar", told_of)
    for at_once in (90, 1000):
        monkeypatch.setattr(predict_module, "ROWS_AT_ONCE", at_once)
        invoke("predict", tmp_path / "animals", data, "--out", tmp_path / f"{at_once}.csv")
        found.append((tmp_path / f"{at_once}.csv").read_text())
    assert told == [(90, 200), (180, 200), (200, 200), (200, 200)]
    assert found[0] == found[1]


def test_predict_refuses_what_is_no_model_of_ours(tmp_path: Path) -> None:
    data, model = write_numbers(tmp_path, ".npz"), tmp_path / "model.skops"
    model.write_text("nonsense")
    with pytest.raises(InvalidInputError, match="no model, or damaged"):
        invoke("predict", model, data)
    skops.io.dump({"format": "onebit classifier 1", "classifier": FunctionTransformer(os.system)}, model)
    with pytest.raises(InvalidInputError, match=r"holds the type .*system, which onebit never writes"):
        invoke("predict", model, data)
    skops.io.dump({"format": "onebit classifier 1", "classifier": 1}, model)
    with pytest.raises(InvalidInputError, match="a model of another version of onebit; move it away"):
        invoke("predict", model, data)
    skops.io.dump({"other": 1}, model)
    with pytest.raises(InvalidInputError, match="no model that onebit wrote"):
        invoke("predict", model, data)
    assert not (tmp_path / "animals.predictions.csv").exists()


def test_predict_refuses_data_of_another_kind(tmp_path: Path) -> None:
    model = learned(write_numbers(tmp_path, ".npz"), "--label", "y", "--budget", 40)["model"]
    with pytest.raises(InvalidInputError, match="learned from an NPZ"):
        invoke("predict", model, write_texts(tmp_path))
    np.savez(tmp_path / "texts.npz", X=np.array(["a", "b"]))
    with pytest.raises(InvalidInputError, match=r"learned from numbers, and .* has texts"):
        invoke("predict", model, tmp_path / "texts.npz")
    np.savez(tmp_path / "wide.npz", X=np.zeros((3, 5)))
    with pytest.raises(InvalidInputError, match=r"5 numbers per row, and .* learned from 2"):
        invoke("predict", model, tmp_path / "wide.npz")
    (tmp_path / "empty.csv").touch()
    with pytest.raises(InvalidInputError, match="is empty; it must hold examples, one per row"):
        invoke("predict", model, tmp_path / "empty.csv")


def test_predict_needs_the_columns_that_were_learned_from(tmp_path: Path) -> None:
    csv_file = write_numbers(tmp_path, ".csv")
    model = learned(csv_file, "--label", "kind", "--id", "name", "--budget", 40)["model"]
    new = tmp_path / "new.csv"
    new.write_text("b,kind\n1,x\n")
    with pytest.raises(InvalidInputError, match=r"no column 'a' \(the model learned from it\); there are 'b', 'kind'"):
        invoke("predict", model, new)
    new.write_text("b,a\n1,x\n")
    with pytest.raises(InvalidInputError, match="line 2, column 'a': 'x' is no number; the model learned from numbers"):
        invoke("predict", model, new)
    with pytest.raises(InvalidInputError, match="learned from the columns a, b"):
        invoke("predict", model, write_numbers(tmp_path, ".npz"))


def test_parquet_types_that_are_numbers_and_those_that_are_not(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    kind = pa.array(["x", "y"] * 10).dictionary_encode()
    columns = {"flag": [True, False] * 10, "whole": [2**60 + 1] * 20, "digits": pa.array(["1", "2"] * 10)}
    columns["digits"] = columns["digits"].dictionary_encode()
    parquet.write_table(pa.table({**columns, "kind": kind}), path)
    data = read_data(path, Wanted(label="kind"))
    np.testing.assert_array_equal(data.x[:2], [[1, 2.0**60, 1], [0, 2.0**60, 2]])
    assert data.labels is not None
    assert data.labels[:2].tolist() == ["x", "y"]
    parquet.write_table(pa.table({"list": [[1]] * 20, "kind": kind}), path)
    with pytest.raises(InvalidInputError, match=r"column 'list': values of type list<.*> are no numbers"):
        read_data(path, Wanted(label="kind"))
    parquet.write_table(pa.table({"a": [1, None] * 10, "kind": kind}), path)
    with pytest.raises(InvalidInputError, match="row 2, column 'a': the number is missing"):
        read_data(path, Wanted(label="kind"))


def test_nobody_is_asked_without_a_terminal(tmp_path: Path) -> None:
    (tmp_path / "labels.txt").write_text("cat\ndog\n")
    with pytest.raises(InvalidInputError, match="no terminal to ask at"):
        learned(write_texts(tmp_path), "--text", "note", "--labels", tmp_path / "labels.txt")


def write_folder(folder: Path) -> Path:
    """The rows of ``examples`` in three Parquet files."""
    x, y = examples()
    (folder / "pool").mkdir()
    for number, rows in enumerate(np.array_split(np.arange(len(y)), 3)):
        named = {"name": [f"@{row}" for row in rows], "kind": [y[row] for row in rows]}
        table = pa.table({**named, "a": x[rows, 0], "b": x[rows, 1]})
        parquet.write_table(table, folder / "pool" / f"{number}.parquet", row_group_size=20)
    return folder / "pool"


def test_a_folder_is_learned_from_as_one_file_is(tmp_path: Path) -> None:
    pool, whole = write_folder(tmp_path), tmp_path / "whole.parquet"
    parquet.write_table(pa.concat_tables([parquet.read_table(path) for path in sorted(pool.iterdir())]), whole)
    options = ["--label", "kind", "--id", "name", "--budget", 60]
    found = [learned(data, *options, "--out", tmp_path / name) for name, data in (("a", pool), ("b", whole))]
    for each in found:
        del each["seconds"], each["model"]
    assert found[0] == found[1]
    with pytest.raises(InvalidInputError, match="so --out must name another one"):
        learned(pool, *options)


def test_of_many_rows_some_are_drawn_and_the_same_command_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("onebit.records.pool.MOST_POOL", 120)
    pool, out = write_folder(tmp_path), tmp_path / "out"
    options = ["learn", pool, "--label", "kind", "--show", "name", "--budget", 60, "--out", out]
    done = runner.invoke(app, [*map(str, options), "--json"])
    figures = json.loads(done.stdout)
    assert figures["n_items"] + figures["n_held_out"] == 120
    assert "120 rows were drawn at random from the 200 of pool" in done.stderr
    # Its seed was drawn, and is kept: the same rows are drawn again.
    again = json.loads(invoke(*options, "--json"))
    assert (again["seed"], again["accuracy"]) == (figures["seed"], figures["accuracy"])
    drawn = read_pool(pool, Wanted(label="kind", show=("name",)), 60, figures["seed"])
    assert (drawn.n_items, drawn.drawn_from) == (120, 200)
    for item in range(120):
        row = int(drawn.item_id(item)) - 1
        assert drawn.shown(item) == {"name": f"@{row}"}
        assert drawn.x[item].tolist() == examples()[0][row].tolist()
