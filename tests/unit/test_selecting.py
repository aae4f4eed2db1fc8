"""``onebit.select``, ``compare`` and ``plan``: tables at hand, and a function that answers."""

from __future__ import annotations

import json
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import onebit
from onebit.errors import InvalidInputError, OptionError
from onebit.study.folder import StudyFolder
from onebit.study.proof import verify_study

LABELS = np.array(["cat", "dog", "emu", "fox"])
LOGS = Path(__file__).parents[1] / "fixtures" / "logs"


def columns(n_items: int = 300, seed: int = 0) -> tuple[dict[str, list[Any]], list[str]]:
    """Four models, the last the best, with a text for each item; and the right labels."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 4, n_items)
    table: dict[str, list[Any]] = {"text": [f"item number {i}" for i in range(n_items)]}
    for name, share in (("poor", 0.2), ("fair", 0.5), ("good", 0.7), ("best", 0.97)):
        said = np.where(rng.random(n_items) < share, truth, rng.integers(0, 4, n_items))
        table[name] = LABELS[said].tolist()
    return table, LABELS[truth].tolist()


def as_pandas(table: dict[str, Any]) -> Any:
    return pytest.importorskip("pandas").DataFrame(table)


def as_polars(table: dict[str, Any]) -> Any:
    return pytest.importorskip("polars").DataFrame(table)


@pytest.mark.parametrize("make", [dict, as_pandas, as_polars])
def test_a_function_answers_about_what_it_is_shown(make: Any) -> None:
    table, truth = columns()
    seen = []

    def ask(item: dict[str, Any], label: str) -> bool:
        assert item["text"] == f"item number {item['row']}"
        seen.append((item["row"], label))
        return truth[item["row"]] == label

    found = onebit.select(make(table), ask, eps=0.1, show=["text"], seed=3)
    assert (found.chosen, found.status) == ("best", "certified")
    assert found.certified_eps is not None
    assert found.certified_eps <= 0.1
    assert found.answers == len(seen)
    assert not found.report.simulated


def test_an_array_of_right_labels_simulates_raters() -> None:
    table, truth = columns()
    del table["text"]
    truth[0] = "a label that no model gives"
    by_array = onebit.select(table, np.array(truth), eps=0.1, seed=3)
    by_column = onebit.select({**table, "right": truth}, truth="right", eps=0.1, seed=3)
    assert by_array.report.simulated
    assert by_array.chosen == by_column.chosen == "best"
    assert by_array.report.leaderboard[0].accuracy == by_column.report.leaderboard[0].accuracy


def test_what_is_shown_of_a_result() -> None:
    table, truth = columns()
    found = onebit.select(table, truth, eps=0.1, show=["text"], seed=3)
    assert repr(found).startswith("best. Within ")
    assert repr(found).endswith(f"({found.answers} simulated yes/no answers, delta 0.05)")
    page = found._repr_html_()
    assert page.count('<svg class="chart"') == 1
    assert "Leaderboard" in page
    frame = found.to_frame()
    assert frame["model"].tolist()[0] == "best"
    assert ((frame["accepted_low"] <= frame["accepted"]) & (frame["accepted"] <= frame["accepted_high"])).all()
    assert frame["difference"].tolist()[0] == frame["difference_high"].tolist()[0] == 0
    assert frame["difference_high"].max() <= found.certified_eps
    assert set(frame["model"]) == {"poor", "fair", "good", "best"}
    assert frame["accuracy"].max() == frame["accuracy"][0]


class Kind(Enum):
    CAT = 1
    DOG = 2


def test_labels_of_any_kind_come_back_as_they_were() -> None:
    asked: set[Any] = set()

    def ask(item: dict[str, Any], label: Any) -> bool:
        asked.add(label)
        return bool(label == Kind.CAT)

    found = onebit.select({"a": [Kind.CAT] * 40, "b": [Kind.DOG] * 40}, ask, eps=0.2)
    assert found.chosen == "a"
    assert asked <= {Kind.CAT, Kind.DOG}
    assert asked


def test_two_models_are_compared() -> None:
    table, truth = columns()
    found = onebit.compare(table["best"], table["poor"], truth, eps=0.1, names=("new", "old"), seed=3)
    assert found.chosen == "new"
    shown = []

    def ask(item: dict[str, Any], label: str) -> bool:
        shown.append(item["text"])
        return truth[item["row"]] == label

    series = pytest.importorskip("pandas").Series(table["fair"], name="fair")
    assert onebit.compare(series, table["best"], ask, items={"text": table["text"]}, eps=0.1).chosen == "b"
    assert all(text.startswith("item number") for text in shown)
    with pytest.raises(InvalidInputError, match="give them other names"):
        onebit.compare(series, series, truth)


def test_a_gate() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 4, 400)
    said = {
        name: np.where(rng.random(400) < p, truth, 0).tolist() for name, p in (("old", 0.7), ("new", 0.9), ("bad", 0.3))
    }
    passed = onebit.gate(said, truth, baseline="old", candidates="new", margin=0.05)
    assert (passed.passed, passed.verdict, list(passed.verdicts)) == (True, "pass", ["new"])
    assert repr(passed).startswith("pass: new is ")
    assert "Candidates beside old" in passed._repr_html_()
    both = onebit.gate(said, truth, baseline="old")
    assert (both.passed, both.verdict, both.verdicts["bad"]) == (False, "worse", "worse")
    assert both.to_frame().columns.tolist() == ["name", "verdict", "behind_at_most", "ahead_at_most", "difference"]
    stopped = onebit.gate(said, truth, baseline="old", candidates=["new"], budget=4)
    assert (stopped.verdict, stopped.answers) == ("not yet", 4)


def test_the_best_and_tiers() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 4, 400)
    right = (("a", 0.5), ("b", 0.95), ("c", 0.9), ("d", 0.3))
    said = {name: np.where(rng.random(400) < p, truth, (truth + 1) % 4).tolist() for name, p in right}
    top = onebit.select(said, truth, top=2, eps=0.1)
    assert (sorted(top.best), top.status) == (["b", "c"], "certified")
    assert [sorted(each) for each in top.tiers] == [["b", "c"], ["a", "d"]]
    ranked = onebit.select(said, truth, tiers=True, eps=0.1)
    assert ranked.tiers[-1] == ("d",)
    assert ranked.tiers[-2] == ("a",)
    assert ranked.to_frame().columns.tolist()[:4] == ["model", "tier", "best_rank", "worst_rank"]
    assert "What is shown of each model" in ranked._repr_html_()
    assert onebit.select(said, truth, eps=0.1).tiers == ()


def test_logs_are_compared_by_their_paths() -> None:
    found = onebit.compare(LOGS / "careful.eval", LOGS / "hasty.eval", truth="target", eps=0.3, quiet=True)
    assert found.chosen == "mockllm/careful"
    assert found.notes[0].startswith("repeats (epochs) of an item")
    assert "Note: repeats (epochs) of an item" in repr(found)
    assert "Note: repeats (epochs) of an item" in found._repr_html_()


def test_a_folder_keeps_every_answer_and_goes_on(tmp_path: Path) -> None:
    table, truth = columns()
    said = 0

    def ask(item: dict[str, Any], label: str) -> bool:
        nonlocal said
        if said == 30:
            raise KeyboardInterrupt
        said += 1
        return truth[item["row"]] == label

    out = tmp_path / "run"
    first = onebit.select(table, ask, eps=0.1, show=["text"], out=out)
    assert (first.answers, first.status) == (30, "budget")
    said = -10_000
    found = onebit.select(table, ask, eps=0.1, show=["text"], out=out)
    assert (found.chosen, found.answers) == ("best", said + 10_030)
    assert json.loads((out / "report.json").read_text())["chosen"] == ["best"]
    folder = StudyFolder(out)
    assert not verify_study(folder.storage, folder.name()).problems


def test_the_report_of_a_run_that_is_over_forecasts_other_ways(tmp_path: Path) -> None:
    """On the table itself, and again by whoever verifies it."""
    table, truth = columns()
    out = tmp_path / "run"

    def ask(item: dict[str, Any], label: str) -> bool:
        return truth[item["row"]] == label

    onebit.select(table, ask, eps=0.1, show=["text"], out=out)
    folder, figures = StudyFolder(out), out / "report.json"
    told = json.loads(figures.read_text())
    forecasts = [price for price in told["prices"] if price["source"].startswith("forecast, likely ")]
    assert [price["way"] for price in forecasts] == ["Follow-up", "Full labels of random items"]
    assert "A forecast runs the other way on this table" in folder.page.read_text()
    assert list(folder.report_faults()) == []
    forecasts[0]["answers"] += 1
    figures.write_text(json.dumps(told))
    assert len(list(folder.report_faults())) == 1


def test_a_plan() -> None:
    table, _ = columns(n_items=100)
    forecast = onebit.plan(table, eps=(0.2, 0.3), show=["text"])
    frame = forecast.to_frame()
    assert frame["protocol"].tolist() == ["one-shot", "one-shot", "follow-up", "follow-up"]
    assert frame["eps"].tolist() == [0.3, 0.2] * 2
    assert "one-shot, within 0.3: " in repr(forecast)
    assert forecast._repr_html_().count("<tr>") == 5
    assert onebit.plan(table, eps=0.3, show=["text"]).to_frame()["answers"][0] == frame["answers"][0]


def test_without_pandas_there_is_arrow(monkeypatch: pytest.MonkeyPatch) -> None:
    table, truth = columns()
    found = onebit.select(table, truth, eps=0.3, show=["text"])

    class NoPandas:
        def to_pandas(self) -> Any:
            raise ModuleNotFoundError("pandas")

    monkeypatch.setattr(type(found), "to_arrow", lambda self: NoPandas())
    with pytest.raises(InvalidInputError, match=r"pandas is not installed; install it, or use to_arrow\(\)"):
        found.to_frame()


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({}, "nobody answers: give ask"),
        ({"ask": ["cat"]}, "ask has 1 right labels, and there are 300 items"),
        ({"ask": [None] * 300}, "the right label of row 0 is missing"),
        ({"ask": lambda item, label: True, "truth": "best"}, "give one of them"),
        ({"ask": lambda item, label: "no"}, "the answer was 'no'; it must be True, False, None or an Answer"),
    ],
)
def test_who_answers_has_to_be_clear(given: dict[str, Any], says: str) -> None:
    table, _ = columns()
    with pytest.raises(InvalidInputError) as caught:
        onebit.select(table, eps=0.1, show=["text"], **given)
    assert says in str(caught.value)


def test_options_are_those_of_the_spec() -> None:
    with pytest.raises(OptionError, match="eps is 1; it must be above 0 and below 1"):
        onebit.plan({"a": [1], "b": [2]}, eps=1)
    with pytest.raises(OptionError, match="eps is 2"):
        onebit.select({"a": [1], "b": [2]}, [1], eps=2)
    with pytest.raises(TypeError, match="epsilon"):
        onebit.select({"a": [1], "b": [2]}, [1], epsilon=0.1)
    with pytest.raises(OptionError, match="model is 'm' and long is not given"):
        onebit.select({"a": [1], "b": [2]}, [1], model="m")


@pytest.mark.parametrize("protocol", ["labels", "one-shot"])
def test_scores_of_logs_are_the_judge_where_one_is_heeded(protocol: str) -> None:
    found = onebit.select(
        [LOGS / "careful.eval", LOGS / "hasty.eval"], truth="target", protocol=protocol, eps=0.3, quiet=True
    )
    judged = protocol != "labels"
    assert (found.report.judge is not None) is judged
    assert [note.startswith("the scores are the judge") for note in found.notes[1:]] == [judged]
    assert judged or found.notes[1].startswith("the scores are not used as a judge: nothing is guessed")


def test_the_notes_of_a_plan_are_in_a_notebook_too() -> None:
    told = onebit.plan([LOGS / "careful.eval", LOGS / "hasty.eval"], eps=0.3)
    assert "Note: repeats (epochs) of an item" in told._repr_html_()


@pytest.mark.parametrize("make", [dict, as_pandas, as_polars])
def test_a_study_is_made_from_a_table_at_hand(make: Any, tmp_path: Path) -> None:
    table, truth = columns(40)
    storage = f"sqlite:///{tmp_path}/s.db"
    known = {**table, "known": [*truth[:10], *[None] * 30]}
    with onebit.create_study(make(known), "s", storage=storage, eps=0.1, show=["text"], gold="known") as study:
        assert study.about.models == ("poor", "fair", "good", "best")
        assert len(study.about.gold) == 10
        assert study.item(3).shown == {"text": "item number 3"}
    with pytest.raises(InvalidInputError, match="the table: there is no column 'words'"):
        onebit.create_study(make(table), "t", storage=storage, show=["words"])


def test_a_study_is_made_from_logs_and_heeds_their_judge(tmp_path: Path) -> None:
    logs = [LOGS / "careful.eval", LOGS / "hasty.eval"]
    with onebit.create_study(logs, "s", storage=f"sqlite:///{tmp_path}/s.db", eps=0.3) as study:
        assert study.about.models == ("mockllm/careful", "mockllm/hasty")
        assert study.kind.needs_verdicts
    with onebit.create_study(
        {"a": [1, 2], "b": [2, 2], "s_a": [1, 0], "s_b": [0, 1]},
        "t",
        judge="s_*",
        storage=f"sqlite:///{tmp_path}/s.db",
    ) as study:
        assert study.about.models == ("a", "b")
        assert study.kind.needs_verdicts
