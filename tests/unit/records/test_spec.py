"""The spec of a study: its defaults, its checks, and that every interface refuses for the same reason."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.unit.web.served import LABELS, Served, serve, write_table

from onebit.cli.main import main
from onebit.cli.options import flag
from onebit.errors import OptionError
from onebit.records import DELTA, SelectionSpec, StudySpec, TrainingSpec
from onebit.records.option import options
from onebit.records.selection_spec import MARGIN, eps_of_budget
from onebit.records.spec import GOLD_SHARE, SECONDS_PER_ANSWER, SECONDS_PER_LABEL
from onebit.study.opening import create_learning_study, create_study


def test_a_selection_by_default() -> None:
    spec = SelectionSpec()
    setting = spec.setting()
    assert (setting.eps, setting.delta, setting.protocol, setting.population) == (0.01, DELTA, "one-shot", "pool")
    assert (setting.budget, setting.f_no, setting.f_yes, setting.exhaustive) == (None, 0, 0, False)
    assert (spec.learner, spec.overlap, spec.check_share, spec.seconds_per_answer) == (
        "certified",
        1,
        0,
        SECONDS_PER_ANSWER,
    )


def test_a_budget_without_eps_is_spent() -> None:
    setting = SelectionSpec(budget=300).setting()
    assert (setting.spends, setting.budget, setting.eps) == (True, 300, eps_of_budget(300))
    for told in ({"eps": 0.02}, {"baseline": "a"}, {"learner": "uniform"}):
        assert not SelectionSpec(budget=300, **told).setting().spends
    assert SelectionSpec(budget=300, eps=0.02).setting().eps == 0.02
    assert [eps_of_budget(n) for n in (1, 75, 1500, 10**9)] == [0.2, 0.2, 0.01, 0.002]


def test_a_training_by_default() -> None:
    setting = TrainingSpec(labels=("a", "b")).setting(n_items=50)
    assert (setting.protocol, setting.budget, setting.delta, setting.audit) == ("follow-up", 100, DELTA, None)


def test_a_seed_is_drawn_unless_it_is_given() -> None:
    first, second = SelectionSpec().setting(), SelectionSpec().setting()
    assert first.seed != second.seed
    assert not first.seed_given
    assert TrainingSpec(labels=("a", "b"), seed=7).setting(9).seed == 7
    assert SelectionSpec(seed=7).setting().seed_given


def test_gold_has_a_share_by_itself() -> None:
    assert SelectionSpec(gold={0: 1}).planted_share == GOLD_SHARE
    assert SelectionSpec(gold="known", gold_share=0.2, repeat_share=0.1).check_share == pytest.approx(0.3)


def test_a_baseline_makes_a_gate() -> None:
    spec = SelectionSpec(baseline="b", candidates=("c", "a"))
    assert (spec.setting().baseline, spec.setting().eps) == (0, MARGIN)
    assert replace(spec, margin=0.1).setting().eps == 0.1
    assert spec.models_of_gate(["a", "b", "c", "d"]) == ("b", "c", "a")
    assert SelectionSpec(baseline="b").models_of_gate(["a", "b", "c"]) == ("b", "a", "c")
    assert SelectionSpec().models_of_gate(["a", "b"]) is None
    assert SelectionSpec().setting().baseline is None


@pytest.mark.parametrize(
    ("given", "option"),
    [
        ({"margin": 0.1}, "margin"),
        ({"candidates": ("a",)}, "candidates"),
        ({"baseline": "a", "candidates": ("a",)}, "candidates"),
        ({"baseline": "a", "candidates": ("b", "b")}, "candidates"),
        ({"baseline": "a", "margin": 1.0}, "margin"),
        ({"baseline": "a", "eps": 0.1}, "eps"),
        ({"baseline": "a", "learner": "paper"}, "learner"),
        ({"top": 0}, "top"),
        ({"top": 2, "baseline": "a"}, "top"),
        ({"tiers": True, "baseline": "a"}, "tiers"),
        ({"tiers": True, "top": 2}, "tiers"),
        ({"top": 2, "learner": "uniform"}, "top"),
    ],
)
def test_an_aim_that_cannot_be_is_refused(given: dict[str, Any], option: str) -> None:
    with pytest.raises(OptionError) as refused:
        SelectionSpec(**given)
    assert refused.value.option == option


@pytest.mark.parametrize(("models", "option"), [(["a"], "candidates"), (["b", "c"], "baseline")])
def test_a_gate_needs_its_models_in_the_table(models: list[str], option: str) -> None:
    with pytest.raises(OptionError) as refused:
        SelectionSpec(baseline="a").models_of_gate(models)
    assert refused.value.option == option


@pytest.mark.parametrize(("given", "n_models", "option"), [({"top": 3}, 3, "top"), ({"tiers": True}, 1, "tiers")])
def test_ranks_need_models_enough(given: dict[str, Any], n_models: int, option: str) -> None:
    SelectionSpec(**given).check_has_models(n_models + 1)
    with pytest.raises(OptionError) as refused:
        SelectionSpec(**given).check_has_models(n_models)
    assert refused.value.option == option


def test_labels_take_longer_than_yes_or_no() -> None:
    assert SelectionSpec(protocol="labels").seconds_per_answer == SECONDS_PER_LABEL > SECONDS_PER_ANSWER


def test_lists_become_tuples() -> None:
    given: Any = {"labels": ["a", "b"], "show": ["text"]}
    assert SelectionSpec(**given) == SelectionSpec(labels=("a", "b"), show=("text",))


@pytest.mark.parametrize("kind", [SelectionSpec, TrainingSpec])
def test_every_option_has_a_help_and_a_form(kind: type[StudySpec]) -> None:
    for name, option in options(kind).items():
        assert option.help.endswith("."), name
        assert option.form, name


SELECTION: list[tuple[dict[str, Any], str, str]] = [
    ({"eps": 0}, "eps", "eps is 0; it must be above 0 and below 1"),
    ({"eps": "much"}, "eps", "eps is 'much'"),
    ({"delta": 1}, "delta", "below 1"),
    ({"delta": float("nan")}, "delta", "delta is nan"),
    ({"budget": 0}, "budget", "a whole number of at least 1"),
    ({"budget": 1.5}, "budget", "a whole number"),
    ({"seed": -1}, "seed", "at least 0"),
    ({"protocol": "poll"}, "protocol", "one of auto, one-shot, follow-up, panel, labels"),
    ({"population": "all"}, "population", "one of pool, stream"),
    ({"learner": "magic"}, "learner", "one of certified, paper, uniform"),
    ({"overlap": 0}, "overlap", "at least 1"),
    ({"overlap": 2}, "overlap", "must be odd"),
    ({"lease_seconds": 0}, "lease_seconds", "above 0"),
    ({"lease_seconds": float("inf")}, "lease_seconds", "below inf"),
    ({"gold_share": 0.6, "gold": "known"}, "gold_share", "at most 0.5"),
    ({"gold_share": 0.1}, "gold_share", "there is no gold"),
    ({"gold_share": 0.5, "gold": "known", "repeat_share": 0.5}, "repeat_share", "no room"),
    ({"media": "picture"}, "media", "needs media_root"),
    ({"model": "who"}, "model", "model is 'who' and long is not given"),
    ({"output": "said"}, "output", "only a long table has such a column"),
    ({"media_root": "."}, "media_root", "there is no media"),
    ({"media_hosts": ("files.example.org",)}, "media_hosts", "there is no media"),
    ({"truth": "right", "show": ("right",)}, "truth", "has another use"),
    ({"gold": "right", "truth": "right"}, "truth", "has another use"),
    ({"gold": "right", "id": "right"}, "gold", "has another use"),
    ({"labels": ("a",)}, "labels", "two or more"),
    ({"labels": ("a", "a")}, "labels", "all different"),
    ({"labels": ("a", "b", "")}, "labels", "none empty"),
    ({"f_no": -0.1}, "f_no", "at least 0"),
    ({"f_no": 0.7, "f_yes": 0.3}, "f_no", "below 1 together"),
    ({"f_no": 0.1, "protocol": "follow-up"}, "f_no", "use one-shot"),
    ({"f_yes": 0.1, "learner": "uniform"}, "f_yes", "only the learner certified"),
    ({"exhaustive": True, "protocol": "one-shot"}, "exhaustive", "only follow-up asks"),
    ({"learner": "paper", "protocol": "follow-up"}, "learner", "one yes/no question about each example"),
    ({"judge": "said", "show": ("said",)}, "judge", "has another use"),
    ({"judge": "said", "truth": "said"}, "judge", "has another use"),
    ({"judge": "*_*"}, "judge", "one star"),
    ({"judge": "judge_*", "protocol": "labels"}, "judge", "makes no guesses"),
    ({"judge": "judge_*", "learner": "uniform"}, "judge", "the learner uniform"),
    ({"overlap": 3, "protocol": "labels"}, "overlap", "yes/no questions"),
    ({"gold": "known", "protocol": "labels"}, "gold_share", "yes/no questions"),
    ({"repeat_share": 0.1, "protocol": "labels"}, "repeat_share", "yes/no questions"),
]
TRAINING: list[tuple[dict[str, Any], str, str]] = [
    ({"labels": None}, "labels", "no labels are given"),
    ({"protocol": "labels"}, "protocol", "one of one-shot, follow-up"),
    ({"target": 2}, "target", "below 1"),
    ({"f_no": -0.1}, "f_no", "at least 0"),
    ({"f_yes": 1.0}, "f_yes", "below 1"),
    ({"f_no": 0.5, "f_yes": 0.5}, "f_no", "below 1 together"),
    ({"audit": -1}, "audit", "at least 0"),
    ({"text": ("known",), "gold": "known"}, "gold", "learned from"),
]


@pytest.mark.parametrize(("given", "option", "said"), SELECTION, ids=str)
def test_a_selection_that_cannot_be(given: dict[str, Any], option: str, said: str) -> None:
    with pytest.raises(OptionError) as caught:
        SelectionSpec(**given)
    assert (caught.value.option, said in str(caught.value)) == (option, True), caught.value


@pytest.mark.parametrize(("given", "option", "said"), TRAINING, ids=str)
def test_a_training_that_cannot_be(given: dict[str, Any], option: str, said: str) -> None:
    with pytest.raises(OptionError) as caught:
        TrainingSpec(**({"labels": ("a", "b")} | given))
    assert (caught.value.option, said in str(caught.value)) == (option, True), caught.value


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("three")
    made = serve(folder)
    write_table(folder / "new.csv")
    (folder / "labels.txt").write_text("\n".join(LABELS))
    yield made
    made.site.close()


#: One of each sort: out of bounds, unknown, two that do not go together.
BY_ALL: list[tuple[str, dict[str, Any]]] = [
    ("selection", {"eps": 2.0}),
    ("selection", {"protocol": "poll"}),
    ("selection", {"exhaustive": True, "protocol": "one-shot"}),
    ("selection", {"gold_share": 0.1, "protocol": "one-shot"}),
    ("selection", {"overlap": 2, "protocol": "one-shot"}),
    ("training", {"target": 2.0}),
    ("training", {"repeat_share": 0.9}),
]


@pytest.mark.parametrize(("kind", "given"), BY_ALL, ids=str)
def test_all_interfaces_refuse_for_the_same_reason(
    served: Served,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    kind: str,
    given: dict[str, Any],
) -> None:
    trains = kind == "training"
    labels: dict[str, Any] = {"labels": list(LABELS)} if trains else {}
    make, table = (create_learning_study, np.zeros((9, 2))) if trains else (create_study, np.eye(2, dtype=int))
    with pytest.raises(OptionError) as caught:
        make(table, "new", storage=served.site.storage, **given, **labels)
    option, reason = caught.value.option, str(caught.value)
    told = served.post("studies", served.owner, name="new", kind=kind, path="new.csv", **given, **labels).json()
    assert told == {"error": reason, "field": option, "refused": True}
    words = [
        word for name, value in given.items() for word in (flag(name), "" if value is True else str(value)) if word
    ]
    files = ["--labels", str(served.site.folder / "labels.txt")] if trains else []
    command = ["learn" if trains else "create", "new", str(served.site.folder / "new.csv")]
    monkeypatch.setattr(sys, "argv", ["onebit", "study", *command, *words, *files])
    with pytest.raises(SystemExit):
        main()
    said = " ".join(capsys.readouterr().err.split())
    assert said == f"onebit: {reason.replace(option, flag(option), 1)}"
    assert [entry.name for entry in served.site.entries()] == ["intents"]
