"""Logs that the tools themselves wrote (tests/fixtures/logs/make.py), and what is told of what does not fit."""

from __future__ import annotations

import json
import shutil
import zipfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from onebit.errors import InvalidInputError
from onebit.tables import read_table
from onebit.tables.logs.zips import Zip
from onebit.tables.matching import matched
from onebit.tables.opening import open_source
from onebit.tables.samples import Log, Sample
from onebit.tables.source import Source

LOGS = Path(__file__).parents[2] / "fixtures" / "logs"


def outputs(source: Source) -> dict[str, list[Any]]:
    """The columns of a source."""
    return pa.Table.from_batches(list(source.columns.batches((), lambda done, whole: None))).to_pydict()


def test_inspect() -> None:
    source = open_source([LOGS / "careful.eval", LOGS / "hasty.eval"])
    told = outputs(source)
    assert told["id"] == ["q0, epoch 1", "q1, epoch 1", "q2, epoch 1", "q0, epoch 2", "q1, epoch 2", "q2, epoch 2"]
    assert told["input"][:3] == ["What is 0 + 0?", "What is 1 + 1?", "What is 2 + 2?"]
    assert told["target"] == ["0", "2", "4"] * 2
    assert told["mockllm/careful"] == ["0", "2", "5"] * 2
    assert told["mockllm/hasty"] == ["1", "3", "4"] * 2
    assert told["score_mockllm/careful"] == [1.0, 1.0, 0.0] * 2
    assert source.notes == ("repeats (epochs) of an item count as items of their own: 3",)
    table = read_table(source, truth="target")
    assert table.models == ("mockllm/careful", "mockllm/hasty")
    assert table.shown(0) == {"input": "What is 0 + 0?"}
    assert table.accuracy().tolist() == pytest.approx([2 / 3, 1 / 3])


def test_items_that_not_every_model_was_given_are_left_out_and_told() -> None:
    paths = [LOGS / "careful.eval", LOGS / "third.json"]
    table = read_table(paths, show=["input", "target"])
    assert table.n_items == 4
    assert table.shown(3) == {"input": "What is 1 + 1?", "target": "2"}
    assert table.notes[0] == "items that were not given to every model are left out: 2 ('mockllm/third' lacks 2)"


def test_promptfoo() -> None:
    source = open_source(LOGS / "promptfoo.json")
    told = outputs(source)
    assert told["loud, Add {{a}} and {{a}}"] == ["ADD 0 AND 0", "ADD 1 AND 1"]
    assert told["plain, What is {{a}} + {{a}}?"] == ["What is 0 + 0?", "What is 1 + 1?"]
    assert (told["id"], told["input"], told["target"]) == (["1", "2"], ["a: 0", "a: 1"], ["What", "ADD 1"])
    assert told["score_loud, Add {{a}} and {{a}}"] == [0.0, 1.0]
    assert read_table(source).n_models == 4


def test_lm_evaluation_harness() -> None:
    paths = sorted(LOGS.glob("*/samples_*.jsonl"))
    source = open_source(paths)
    told = outputs(source)
    models = list(source.scores)
    assert models[1] == "second"
    assert told["id"] == [f"{task}/{i}" for task in ("picks", "sums") for i in range(3)]
    assert told["input"] == ["What is 0 + 0?", "What is 1 + 1?", "What is 2 + 2?"] * 2
    for model in models:
        picks = told[model][:3]
        assert all(pick in (str(2 * i), str(2 * i + 1)) for i, pick in enumerate(picks))
        assert told[f"score_{model}"][:3] == [float(pick == str(2 * i)) for i, pick in enumerate(picks)]
        assert told[model][3:] == ["lol"] * 3
    assert read_table(paths, truth="target").n_items == 6


def test_the_model_of_a_harness_is_named_by_its_folder_where_results_are_missing(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        shutil.copy(next(LOGS.glob("first/samples_sums_*.jsonl")), tmp_path / name)
    assert read_table(sorted(tmp_path.glob("*/*.jsonl"))).models == ("one", "two")


def test_every_eval_ever() -> None:
    source = open_source(LOGS / "every_eval_ever.jsonl")
    told = outputs(source)
    assert (told["id"], told["target"]) == (["q0", "q1", "q2"], ["0", "2", "4"])
    assert (told["mock/careful"], told["mock/hasty"]) == (["0", "2", "5"], ["1", "3", "4"])
    assert told["score_mock/hasty"] == [0.0, 0.0, 1.0]


def test_results_by_other_metrics_are_told(tmp_path: Path) -> None:
    lines = [json.loads(line) for line in (LOGS / "every_eval_ever.jsonl").read_text().splitlines()]
    more = [{**line, "evaluation_name": "sums by a judge"} for line in lines]
    path = tmp_path / "instances.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in [*lines, *more]))
    source = open_source(path)
    assert outputs(source)["id"] == ["q0", "q1", "q2"]
    assert source.notes == (
        "instances.jsonl has results by several metrics; the first of each sample is its score, and 6 others are not "
        "used",
    )


def test_label_studio() -> None:
    told = outputs(open_source(LOGS / "label_studio.json"))
    assert (told["careful"], told["hasty"]) == (["0", "2", "5"], ["1", "3", "4"])
    assert (told["input"][1], told["target"]) == ("text: What is 1 + 1?", ["0", "2", "4"])


def log(name: str, *samples: Sample) -> Log:
    return Log(name, samples)


def sample(model: str, id: str = "1", **given: Any) -> Sample:
    return Sample(**{"model": model, "id": id, "input": f"question {id}", "output": "yes", **given})


def test_repeats_of_a_run_are_further_epochs() -> None:
    again = log("b", sample("m", output="no"), sample("n"))
    source = matched([log("a", sample("m"), sample("n")), again])
    assert outputs(source)["id"] == ["1, epoch 1", "1, epoch 2"]
    assert outputs(source)["m"] == ["yes", "no"]


def test_one_model_in_two_setups_is_two_candidates() -> None:
    source = matched([log("a", sample("m", setup="cot")), log("b", sample("m", setup="plain"))])
    assert source.columns.names[2:] == ("m (1)", "m (2)")
    assert source.notes == ("m (1) is m as it was run in a", "m (2) is m as it was run in b")


def test_outputs_that_are_missing_are_told() -> None:
    source = matched([log("a", sample("m", output=None), sample("m", "2"), sample("n"), sample("n", "2"))])
    assert source.notes == ("outputs that are missing count as not right: 'm' 1",)
    assert read_table(source).predictions.tolist() == [[-1, 0], [0, 0]]


def test_half_a_character_is_a_question_mark() -> None:
    assert outputs(matched([log("a", sample("m", output="cut \ud83d"), sample("n"))]))["m"] == ["cut ?"]


def test_targets_that_differ_are_told() -> None:
    source = matched([log("a", sample("m", target="x"), sample("n", target="y"))])
    assert outputs(source)["target"] == ["x"]
    assert source.notes == ("of targets that differ between samples of an item the first is used: 1",)


def test_the_same_id_with_another_input_is_another_item() -> None:
    samples = [sample(model, input=text) for model in "mn" for text in ("one", "two")]
    source = matched([log("a", *samples)])
    assert outputs(source)["id"] == ["1 (input 1)", "1 (input 2)"]


def test_outputs_over_several_lines_and_all_different_are_read() -> None:
    samples = [sample(model, str(i), output=f"{model}\nsays {i}") for model in "mn" for i in range(30)]
    assert read_table(matched([log("a", *samples)])).n_labels == 60


@pytest.mark.parametrize("name", ["id", "input", "target"])
def test_a_model_may_be_called_as_a_column_is(name: str) -> None:
    assert f"{name} (model)" in matched([log("a", sample(name), sample("n"))]).columns.names


@pytest.mark.parametrize(
    ("samples", "says"),
    [
        ([sample("m")], "a: all samples are of one model, 'm', and two are needed; give the logs of the others too"),
        ([sample("m"), sample("n", "2")], "their ids differ. Give logs of one task"),
        ([sample("m"), sample("n", input="other")], "some ids are the same, as '1', but not their inputs"),
    ],
)
def test_logs_that_have_nothing_in_common(samples: list[Sample], says: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        matched([log("a", *samples)])
    assert says in str(caught.value)


def edited(tmp_path: Path, name: str, edit: Any) -> Path:
    found = json.loads((LOGS / name).read_text())
    path = tmp_path / name
    path.write_text(json.dumps(edit(found)))
    return path


@pytest.mark.parametrize(
    ("name", "edit", "says"),
    [
        ("third.json", lambda log: {**log, "samples": []}, "third.json holds no samples"),
        ("third.json", lambda log: {**log, "samples": [1]}, "third.json has a sample that cannot be read"),
        ("third.json", lambda log: {**log, "eval": {}}, "third.json names no model"),
        (
            "promptfoo.json",
            lambda log: {**log, "results": {**log["results"], "version": 2}},
            "promptfoo.json has results of version 2, and 3 is needed",
        ),
        (
            "label_studio.json",
            lambda tasks: [{**task, "predictions": []} for task in tasks],
            "label_studio.json holds no predictions of models; import predictions",
        ),
        (
            "label_studio.json",
            lambda tasks: [*tasks, {"id": 7}],
            "label_studio.json, task 4 has no data; export the project as JSON",
        ),
    ],
)
def test_a_log_that_cannot_be_read(tmp_path: Path, name: str, edit: Any, says: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        open_source(edited(tmp_path, name, edit))
    assert says in str(caught.value)


def spoiled(value: Any) -> Any:
    """The same keys, with a number in place of every list and object below the second level."""

    def spoil(value: Any, depth: int) -> Any:
        if depth == 2:
            return 7 if isinstance(value, list | dict) else value
        if isinstance(value, dict):
            return {key: spoil(each, depth + 1) for key, each in value.items()}
        return [spoil(each, depth + 1) for each in value] if isinstance(value, list) else value

    return spoil(value, 0)


@pytest.mark.parametrize("path", sorted(LOGS.glob("*.json*")), ids=lambda path: path.name)
def test_a_log_with_other_values_than_the_tool_writes_is_refused_in_words(tmp_path: Path, path: Path) -> None:
    lines = path.read_text().splitlines() if path.suffix == ".jsonl" else [path.read_text()]
    for edit in (spoiled, lambda found: dict.fromkeys(found, 7) if isinstance(found, dict) else [7, *found]):
        (tmp_path / path.name).write_text("".join(json.dumps(edit(json.loads(line))) + "\n" for line in lines))
        with pytest.raises(InvalidInputError, match=path.stem):
            read_table([tmp_path / path.name])


def test_a_log_of_a_run_that_failed_is_used_and_told(tmp_path: Path) -> None:
    def fail(log: Any) -> Any:
        log["samples"][0]["error"] = {"message": "no connection"}
        return {**log, "status": "error"}

    source = open_source([edited(tmp_path, "third.json", fail), LOGS / "hasty.eval"])
    assert source.notes[0] == "third.json is of a run with the status 'error'; its 4 samples are used"
    assert source.notes[-1] == "outputs that are missing count as not right: 'mockllm/third' 1"


def test_a_log_that_was_cut_off_is_used_and_told(tmp_path: Path) -> None:
    """Without a header, and packed as older versions of Inspect do."""
    path = tmp_path / "cut.eval"
    with Zip(LOGS / "careful.eval") as whole, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as cut:
        for name in whole.names:
            if name not in ("header.json", "samples/q0_epoch_2.json"):
                cut.writestr(name, whole.read(name))
    source = open_source([path, LOGS / "hasty.eval"])
    assert source.notes[0] == "cut.eval is of a run with the status 'started'; its 5 samples are used"
    assert len(outputs(source)["mockllm/careful"]) == 5


def test_conversations_and_choices_are_shown_in_words(tmp_path: Path) -> None:
    def talk(log: Any) -> Any:
        log["samples"][0]["input"] = [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": [{"type": "text", "text": "attachment://abc"}, {"type": "image"}]},
        ]
        log["samples"][1]["choices"] = ["one", "two"]
        log["samples"] = log["samples"][:2]
        return log

    both = json.loads((LOGS / "third.json").read_text())
    both["eval"]["model"] = "other"
    (tmp_path / "other.json").write_text(json.dumps(talk(both)))
    told = outputs(open_source([edited(tmp_path, "third.json", talk), tmp_path / "other.json"]))
    assert told["input"] == ["system: Be brief.\nattachment://abc\n[image]", "What is 1 + 1?\nA) one\nB) two"]


def test_several_files_are_for_logs(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("a,b\nx,y\n")
    with pytest.raises(InvalidInputError, match=r"t.csv is a table \(CSV\) among 2 files; several are for logs"):
        read_table([LOGS / "careful.eval", table])


def test_a_log_is_no_table_of_examples() -> None:
    from onebit.tables.data import Wanted, read_data

    with pytest.raises(InvalidInputError, match=r"careful.eval is a log of Inspect; give a table"):
        read_data(LOGS / "careful.eval", Wanted())


def test_a_damaged_eval(tmp_path: Path) -> None:
    path = tmp_path / "t.eval"
    whole = (LOGS / "careful.eval").read_bytes()
    path.write_bytes(whole[:200])
    with pytest.raises(InvalidInputError, match=r"t.eval is damaged"):
        open_source(path)
    with zipfile.ZipFile(LOGS / "careful.eval") as file:
        at = file.getinfo("samples/q1_epoch_1.json").header_offset
    path.write_bytes(whole[: at + 100] + b"\0" * 200 + whole[at + 300 :])
    with pytest.raises(InvalidInputError, match=r"t.eval is damaged"):
        open_source(path)
