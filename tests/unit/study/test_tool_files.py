"""Verdicts as tools read them; tests/fixtures/logs/read_back.py does so with the tools themselves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as parquet
import pytest
from typer.testing import CliRunner

from onebit.cli.main import app
from onebit.errors import InvalidInputError
from onebit.records import Answer, SelectionSpec
from onebit.store.store import Store
from onebit.study.creation import create
from onebit.study.export import export_for_tool
from onebit.study.opening import create_learning_study, load_study
from onebit.study.study import Offer, Study
from onebit.tables import read_table
from onebit.tables.opening import open_source

LOGS = Path(__file__).parents[2] / "fixtures" / "logs"


@pytest.fixture
def storage(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/studies.db"


@pytest.fixture
def said(storage: str) -> dict[tuple[str, str], Answer]:
    """A study of two logs in which ann answered everything: about an item and an output, what she said."""
    table = read_table([LOGS / "careful.eval", LOGS / "hasty.eval"])
    with Store(storage) as store:
        create(store, "sums", SelectionSpec(eps=0.3, budget=100), table)
    given = {}
    with load_study("sums", storage=storage) as study:
        while isinstance(offer := study.ask("ann"), Offer):
            assert offer.label is not None
            item, output = study.item(offer.item), table.labels[offer.label]
            number = int(item.shown["input"].split()[2])
            answer = Answer.CANT_TELL if number == 0 else Answer.YES if output == str(2 * number) else Answer.NO
            study.tell(offer, answer)
            given[item.id, output] = answer
    return given


def test_inspect_has_a_log_for_each_model(tmp_path: Path, storage: str, said: dict[tuple[str, str], Answer]) -> None:
    assert export_for_tool(storage, "sums", tmp_path / "logs", "inspect") == len(said)
    told = {}
    for path in (tmp_path / "logs").iterdir():
        log = json.loads(path.read_text())
        assert (log["version"], log["status"]) == (2, "success")
        for sample in log["samples"]:
            score = sample["scores"]["human"]
            edit = score["history"][-1]["provenance"]
            assert (edit["author"], score["metadata"]["provenance"]) == ("ann", "human")
            assert edit["timestamp"].startswith("20")
            told[log["eval"]["model"], sample["id"], sample["epoch"]] = score["value"], score["answer"]
    grades = {Answer.YES: "C", Answer.NO: "I", Answer.CANT_TELL: "N"}
    for (item, output), answer in said.items():
        id, epoch = item.split(", epoch ")
        model = "mockllm/careful" if output == {"q0": "0", "q1": "2", "q2": "5"}[id] else "mockllm/hasty"
        assert told[model, id, int(epoch)] == (grades[answer], output)


def test_what_inspect_is_given_is_read_as_a_log_again(
    tmp_path: Path, storage: str, said: dict[tuple[str, str], Answer]
) -> None:
    export_for_tool(storage, "sums", tmp_path / "logs", "inspect")
    source = open_source(sorted((tmp_path / "logs").iterdir()))
    assert set(source.scores) == {"mockllm/careful", "mockllm/hasty"}
    assert read_table(source).n_items == len(said) // 2


def test_label_studio(tmp_path: Path, storage: str, said: dict[tuple[str, str], Answer]) -> None:
    export_for_tool(storage, "sums", tmp_path / "tasks.json", "label-studio", anonymous=True)
    tasks = json.loads((tmp_path / "tasks.json").read_text())
    assert {(task["data"]["item"], task["data"]["output"]) for task in tasks} == set(said)
    for task in tasks:
        (annotation,) = task["annotations"]
        (result,) = annotation["result"]
        assert result["value"]["choices"] == [said[task["data"]["item"], task["data"]["output"]].value]
        assert (result["origin"], annotation["completed_by"]) == ("manual", 1)
        assert result["meta"]["text"][:2] == ["rater: rater 1", "provenance: human"]


def test_every_eval_ever(tmp_path: Path, storage: str, said: dict[tuple[str, str], Answer]) -> None:
    export_for_tool(storage, "sums", tmp_path / "instances.jsonl", "every-eval-ever")
    lines: list[dict[str, Any]] = [json.loads(line) for line in (tmp_path / "instances.jsonl").read_text().splitlines()]
    assert len(lines) == len(said)
    for line in lines:
        answer = said[line["sample_id"], line["output"]["raw"][0]]
        assert line["evaluation"] == {"score": float(answer is Answer.YES), "is_correct": answer is Answer.YES}
        assert (line["metadata"]["answer"], line["metadata"]["provenance"]) == (answer.value, "human")
    assert open_source(tmp_path / "instances.jsonl").target is None


@pytest.mark.parametrize(("to", "name"), [("csv", "verdicts"), ("parquet", "v.bin"), ("jsonl", "v.jsonl")])
def test_tables_are_written_under_any_name(
    tmp_path: Path, storage: str, said: dict[tuple[str, str], Answer], to: str, name: str
) -> None:
    done = CliRunner().invoke(app, ["study", "export", "sums", str(tmp_path / name), "--to", to, "--storage", storage])
    assert done.exit_code == 0, done.output
    if to == "parquet":
        rows = parquet.read_table(tmp_path / name).to_pylist()
        assert {(row["item"], row["label"]): Answer(row["answer"]) for row in rows} == said
        assert {row["provenance"] for row in rows} == {"human"}
    else:
        assert "human" in (tmp_path / name).read_text()


def test_a_run_at_the_terminal_is_exported_by_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    logs = [str(LOGS / "careful.eval"), str(LOGS / "hasty.eval")]
    run = CliRunner()
    assert run.invoke(app, ["select", *logs, "--truth", "target", "--eps", "0.3"]).exit_code == 0
    assert run.invoke(app, ["export", "selection", "out", "--to", "inspect"]).exit_code == 0
    found = [json.loads(path.read_text()) for path in Path("out").iterdir()]
    assert {name for log in found for sample in log["samples"] for name in sample["scores"]} == {"simulated"}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["export", "nothing", "x.csv"], "holds no run"),
        (
            ["study", "export", "sums", "x.csv", "--to", "excel"],
            "--to is 'excel'; it must be one of csv, jsonl",
        ),
        (["study", "export", "sums", "x", "--to", "inspect", "--log"], "--to is for verdicts, and --log writes all"),
        (["study", "export", "sums", "x.skops", "--to", "inspect"], "a model holds none"),
        (["study", "export", "sums", ".", "--to", "inspect"], ". is there already"),
        (["study", "export", "sums", "no/folder/x", "--to", "label-studio"], "cannot be written"),
    ],
)
def test_what_cannot_be_exported(
    tmp_path: Path,
    storage: str,
    said: dict[tuple[str, str], Answer],
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    says: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ONEBIT_STORAGE", storage)
    with pytest.raises(InvalidInputError) as caught:
        CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert says in str(caught.value)


def test_a_study_without_models_or_answers_has_nothing_for_tools(tmp_path: Path, storage: str) -> None:
    study: Study = create_learning_study(["a text", "another"] * 5, "trained", storage=storage, labels=("a", "b"))
    study.close()
    with pytest.raises(InvalidInputError, match="trains a classifier, and inspect takes verdicts about outputs"):
        export_for_tool(storage, "trained", tmp_path / "x", "inspect")
    with Store(storage) as store:
        create(store, "new", SelectionSpec(), read_table({"a": [1, 2], "b": [2, 2]}))
    with pytest.raises(InvalidInputError, match="has no answers yet"):
        export_for_tool(storage, "new", tmp_path / "x", "label-studio")
