"""The plan: it grows with everything that costs answers, and checks cost what it says."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.web.served import LABELS, TRUTH, known_labels, write_table

from onebit.records import Setting
from onebit.study.gold import split_gold
from onebit.study.opening import create_study
from onebit.study.study import Offer
from onebit.tables import ModelTable, read_table
from onebit.web import foresee as module
from onebit.web.foresee import Foresight, foresee

ONE_SHOT = Setting(0.1)


@pytest.fixture
def table(tmp_path: Path) -> ModelTable:
    return read_table(write_table(tmp_path / "table.csv"), id="id", show=["text"], labels=LABELS)


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """However slow the machine is."""
    monkeypatch.setattr(module, "PATIENCE", 600.0)


def test_overlap_and_checks_are_counted(table: ModelTable) -> None:
    alone = foresee(table, ONE_SHOT, 1, 0.0)
    assert 0 < alone.low <= alone.high
    assert not alone.at_least
    # A majority of three is two at the least, and all three at the most.
    assert foresee(table, ONE_SHOT, 3, 0.0) == Foresight(2 * alone.low, 3 * alone.high, False)
    # One answer in five is a check, so there is one for every four others.
    checked = foresee(table, ONE_SHOT, 1, 0.2)
    assert checked.low == pytest.approx(1.25 * alone.low, abs=1)
    assert checked.hours[1] == pytest.approx(checked.high * module.SECONDS_PER_ANSWER / 3600)


def test_raters_who_err_cost_more(table: ModelTable) -> None:
    sure, erring = foresee(table, ONE_SHOT, 1, 0.0), foresee(table, Setting(0.1, f_no=0.2, f_yes=0.02), 1, 0.0)
    assert erring.low > sure.low
    assert erring.high > sure.high


@pytest.mark.parametrize("protocol", ["follow-up", "labels"])
def test_every_protocol_can_be_foreseen(table: ModelTable, protocol: str) -> None:
    setting = Setting(0.1, protocol=protocol)  # type: ignore[arg-type]
    seen = foresee(table, setting, 1, 0.0)
    assert 0 < seen.high < 5 * table.n_items
    assert seen.seconds_per_answer == (module.SECONDS_PER_LABEL if protocol == "labels" else module.SECONDS_PER_ANSWER)


def test_a_budget_is_the_most(table: ModelTable) -> None:
    assert foresee(table, Setting(0.001, budget=40), 1, 0.0).high <= 40


def test_a_simulation_that_takes_too_long_is_cut_off(table: ModelTable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PATIENCE", 0.0)
    assert foresee(table, Setting(0.001), 1, 0.0).at_least


def test_a_real_study_plants_as_many_checks_as_the_plan_counts(tmp_path: Path) -> None:
    """With a share of a fifth there is one check for every four questions, within four standard deviations."""
    path = write_table(tmp_path / "table.csv", known=known_labels(300))
    known, gold = split_gold(read_table(path, id="id", show=["text", "known"], labels=LABELS), "known", LABELS)
    study = create_study(known, "s", storage=f"sqlite:///{tmp_path}/s.db", eps=0.01, gold=gold, gold_share=0.2)
    n_cards = 0
    with study:
        while isinstance(offer := study.ask(f"rater {n_cards % 10}"), Offer):
            study.tell(offer, bool(offer.label == TRUTH[offer.item]))
            n_cards += 1
        n_checks = n_cards - study.status().n_answers
    assert n_cards > 100
    assert abs(n_checks / n_cards - 0.2) < 4 * (0.2 * 0.8 / n_cards) ** 0.5
