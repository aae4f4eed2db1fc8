"""The plan: it grows with everything that costs answers, and checks cost what it says."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.unit.web.served import LABELS, TRUTH, known_labels, write_table

from onebit.records import SelectionSpec, TrainingSpec
from onebit.study.foresight import foresee
from onebit.study.gold import split_gold
from onebit.study.needed import Needed
from onebit.study.opening import create_study
from onebit.study.study import Offer
from onebit.tables import ModelTable, read_table
from onebit.tables.data import data_of

ONE_SHOT = SelectionSpec(eps=0.1)


@pytest.fixture
def table(tmp_path: Path) -> ModelTable:
    return read_table(write_table(tmp_path / "table.csv"), id="id", show=["text"], labels=LABELS)


def test_overlap_and_checks_are_counted(table: ModelTable) -> None:
    alone = foresee(ONE_SHOT, table)
    assert 0 < alone.low <= alone.middle <= alone.high
    assert not alone.at_least
    # A majority of three is two at the least, and all three at the most.
    by_three = foresee(SelectionSpec(eps=0.1, overlap=3), table)
    assert (by_three.low, by_three.high) == (2 * alone.low, 3 * alone.high)
    assert 2 * alone.middle < by_three.middle < 3 * alone.middle
    # One answer in five is a check, so there is one for every four others.
    checked = foresee(SelectionSpec(eps=0.1, repeat_share=0.2), table)
    assert checked.low == pytest.approx(1.25 * alone.low, abs=1)


def test_raters_who_err_cost_more(table: ModelTable) -> None:
    sure, erring = (foresee(each, table) for each in (ONE_SHOT, SelectionSpec(eps=0.1, f_no=0.2, f_yes=0.02)))
    assert erring.low > sure.low
    assert erring.high > sure.high


@pytest.mark.parametrize("protocol", ["follow-up", "labels"])
def test_every_protocol_can_be_foreseen(table: ModelTable, protocol: str) -> None:
    seen = foresee(SelectionSpec(eps=0.1, protocol=protocol), table)  # type: ignore[arg-type]
    assert 0 < seen.high < 5 * table.n_items


def test_a_budget_is_the_most(table: ModelTable) -> None:
    assert foresee(SelectionSpec(eps=0.001, budget=40), table).high <= 40


def test_training_takes_its_budget_with_all_who_answer() -> None:
    data = data_of(np.zeros((50, 2)))
    spec = TrainingSpec(labels=("a", "b"), overlap=3, repeat_share=0.2)
    assert foresee(spec, data) == Needed(225, 243, 325)
    assert foresee(replace(spec, budget=40, overlap=1, repeat_share=0), data).high == 40


def test_a_simulation_that_takes_too_long_is_cut_off(table: ModelTable) -> None:
    assert foresee(SelectionSpec(eps=0.001), table, seconds=0.0).at_least


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
