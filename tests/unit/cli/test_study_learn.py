"""``onebit study learn``: from texts in a file to a model that predicts."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest
from typer.testing import CliRunner, Result

from onebit.cli.main import app
from onebit.errors import InvalidInputError
from onebit.estimate.accuracy import exact_interval, with_errors
from onebit.estimate.delta import failure_of_whole_audit
from onebit.records import Answer, EpochPlan
from onebit.records.pool import rows_of_pool
from onebit.study.opening import load_study
from onebit.study.study import Offer

runner = CliRunner()
WORDS = {
    "fruit": ("apple pear", "pear plum", "plum apple juice"),
    "tool": ("hammer saw", "saw nail", "nail hammer box"),
}
ROWS = [(f"{text} {i}", label) for i in range(20) for label, texts in WORDS.items() for text in texts]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ONEBIT_STORAGE", f"sqlite:///{tmp_path}/studies.db")
    lines = [f"id{i},{text},{label if i < 30 else ''}" for i, (text, label) in enumerate(ROWS)]
    (tmp_path / "data.csv").write_text("\n".join(["name,words,known", *lines]) + "\n")
    (tmp_path / "labels.txt").write_text("fruit\ntool\n")
    return tmp_path


def run(*arguments: str) -> Result:
    result = runner.invoke(app, list(arguments), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result


def create(folder: Path, *options: str) -> None:
    run("study", "learn", "s", str(folder / "data.csv"), "--labels", str(folder / "labels.txt"), *options)


def test_from_texts_to_predictions(folder: Path) -> None:
    create(folder, "--text", "words", "--id", "name", "--gold", "known", "--gold-share", "0.2", "--budget", "60")
    with load_study("s") as study:
        while isinstance(offer := study.ask("ann"), Offer):
            assert study.item(offer.item).shown == {"words": ROWS[offer.item][0]}
            study.tell(offer, study.items.label(offer.label or 0).name == ROWS[offer.item][1])
    told = json.loads(run("study", "status", "s", "--json").stdout)
    assert told["status"] == "complete"
    assert told["n_answers"] == 60
    assert told["raters"][0]["f_no"]["n"] + told["raters"][0]["f_yes"]["n"] > 3
    shown = run("study", "status", "s").stdout
    assert "labels of 120 items" in shown
    assert "at most         60 answers" in shown
    assert "the accuracy is between" in run("study", "verify", "s").stdout
    run("study", "export", "s", str(folder / "model.skops"))
    run("predict", str(folder / "model.skops"), str(folder / "data.csv"), "--out", str(folder / "found.csv"))
    found = (folder / "found.csv").read_text().splitlines()[1:]
    right = sum(label in line for line, (_, label) in zip(found, ROWS, strict=True))
    assert right > 110


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--text", "nothing"), "nothing"),
        (("--show", "words", "--id", "name"), "known"),
        (("--text", "words", "--gold", "name"), "'id0' is no label"),
        (("--text", "words", "--target", "2"), "target is 2"),
        (("--text", "words", "--protocol", "guess"), "protocol is 'guess'"),
        (("--text", "words", "--error-rates", "0.6,0.4"), "below 1 together"),
    ],
)
def test_what_cannot_be_is_one_clear_error(folder: Path, options: tuple[str, ...], said: str) -> None:
    with pytest.raises(InvalidInputError, match=said):
        create(folder, *options)
    with pytest.raises(InvalidInputError, match="there is no study"):
        load_study("s")


def test_a_model_holds_no_answers(folder: Path) -> None:
    create(folder, "--text", "words", "--budget", "60")
    with pytest.raises(InvalidInputError, match="--log, --to and --anonymous"):
        run("study", "export", "s", str(folder / "model.skops"), "--log")


def test_raters_may_say_none_of_these_where_the_study_allows_it(folder: Path) -> None:
    """Every item that ends in 7 has none of the labels; errors are stated, so the interval is wider."""
    create(folder, "--text", "words", "--budget", "60", "--none-of-these", "--error-rates", "0.1,0.05", "--audit", "20")
    said: dict[int, list[Answer]] = defaultdict(list)
    with load_study("s") as study:
        while isinstance(offer := study.ask("ann"), Offer):
            right = study.items.label(offer.label or 0).name == ROWS[offer.item][1]
            answer = Answer.NONE if offer.item % 10 == 7 else Answer.YES if right else Answer.NO
            said[offer.item].append(answer)
            study.tell(offer, answer)
        plans = [plan for plan in study.kind.learner.epochs if isinstance(plan, EpochPlan) and plan.audits]
    audited = [item for plan in plans for item in plan.items]
    none = sorted(item for item, answers in said.items() if Answer.NONE in answers)
    assert none
    assert all(len(said[item]) == 1 for item in none)
    told = json.loads(run("study", "status", "s", "--json").stdout)
    assert told["without_label"] == none
    assert f"no label        {len(none)} items" in run("study", "status", "s").stdout
    assert f"{len(none)} have none of the labels" in told["warnings"][0]
    # On an item that has none of the labels every prediction is wrong.
    n_yes = sum(said[item] == [Answer.YES] for item in audited)
    without_errors = exact_interval(n_yes, 20, failure_of_whole_audit(0.05))
    expected = with_errors(without_errors, 0.1, 0.05)
    assert told["accuracy"] == [expected.low, expected.high]
    assert expected.low < without_errors.low
    assert "between {:.3f} and {:.3f}".format(*told["accuracy"]) in run("study", "verify", "s").stdout


def test_elsewhere_none_of_these_is_refused_and_nothing_is_written(folder: Path) -> None:
    create(folder, "--text", "words", "--budget", "60")
    with load_study("s") as study:
        offer = study.ask("ann")
        assert isinstance(offer, Offer)
        with pytest.raises(InvalidInputError, match="does not allow"):
            study.tell(offer, Answer.NONE)
        assert study.ask("ann") == offer
        assert study.view.answers == {}


def test_of_a_large_folder_rows_are_drawn_by_the_seed_of_the_study(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("onebit.records.pool.MOST_POOL", 50)
    (folder / "pool").mkdir()
    table = pa.table({"words": [words for words, _ in ROWS], "name": [f"n{row}" for row in range(len(ROWS))]})
    pa.parquet.write_table(table, folder / "pool" / "0.parquet", row_group_size=10)
    options = ["--labels", str(folder / "labels.txt"), "--text", "words", "--id", "name", "--budget", "20"]
    done = run("study", "learn", "s", str(folder / "pool"), *options)
    assert f"has 50 items, drawn at random from {len(ROWS)} rows, and" in done.output
    with load_study("s") as study:
        drawn = rows_of_pool(len(ROWS), 20, study.created.training.seed)
        assert drawn is not None
        assert not study.created.training.seed_given
        for item, row in enumerate(drawn.tolist()):
            assert study.item(item).shown == {"words": ROWS[row][0]}
            assert study.item(item).id == f"n{row}"
