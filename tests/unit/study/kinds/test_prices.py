"""What other ways to ask would have cost, where nobody knows the truth."""

from __future__ import annotations

import numpy as np
import pytest
from tests.unit.study.kinds.votes import synthetic

from onebit.records import Setting
from onebit.study.constants import IMAGINED
from onebit.study.kinds.selection import prices, rehearsal
from onebit.study.kinds.selection.imagining import Answered, Table
from onebit.study.kinds.selection.prices import counted_prices, forecast_prices


def test_the_other_ways_are_priced_in_their_own_unit() -> None:
    said, truth = synthetic(3, n_items=600)
    rows = np.arange(300)
    answered = Answered(rows, said[0, :300], said[0, :300] == truth[:300])
    table = Table(said, int(said.max()) + 1)
    parts: list[tuple[int, int]] = []
    found = forecast_prices(
        table, Setting(0.05, 0.05, "one-shot", f_no=0.1), answered, lambda *part: parts.append(part)
    )
    assert [(price.way, price.unit) for price in found] == [
        ("Follow-up", "answers"),
        ("Full labels of random items", "labels"),
    ]
    for price in found:
        assert 0 < price.answers <= 20 * said.shape[1]
        assert price.source.startswith("forecast, likely ")
    # Two ways, each with all rehearsals.
    n_parts = 2 * len(IMAGINED)
    assert parts == [(done, n_parts) for done in range(1, n_parts + 1)]
    ways = [price.way for price in forecast_prices(table, Setting(0.05, 0.05, "follow-up", exhaustive=True))]
    assert ways == ["One-shot", "Full labels of random items"]


def test_of_panels_gates_and_large_tables_nothing_is_forecast(monkeypatch: pytest.MonkeyPatch) -> None:
    said, _ = synthetic(3)
    table = Table(said, int(said.max()) + 1)
    assert forecast_prices(table, Setting(0.05, 0.05, "panel")) == ()
    assert forecast_prices(table, Setting(0.05, 0.05, "one-shot", baseline=0)) == ()
    monkeypatch.setattr(prices, "MOST_TO_REHEARSE", said.size - 1)
    assert forecast_prices(table, Setting(0.05, 0.05, "one-shot")) == ()


def test_rehearsals_that_are_given_up_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    said, _ = synthetic(3)
    table = Table(said, int(said.max()) + 1)
    monkeypatch.setattr(rehearsal, "MOST_REHEARSED", 1)
    assert forecast_prices(table, Setting(0.0001, 0.05, "one-shot")) == ()


def test_the_same_table_and_answers_give_the_same_prices() -> None:
    """Whatever the seed of the study: who verifies a report recomputes them."""
    said, truth = synthetic(3, n_items=300)
    answered = Answered(np.arange(50), said[0, :50], said[0, :50] == truth[:50])
    one, two = (
        forecast_prices(Table(said, int(said.max()) + 1), Setting(0.05, 0.05, "follow-up", seed=seed), answered)
        for seed in (1, 2)
    )
    assert one == two


def test_what_everything_costs_is_counted_on_the_table() -> None:
    """Three, two and one labels on three items; abstentions are not asked about."""
    predictions = np.array([[0, 0, 1], [1, 0, 1], [2, 1, -1]])
    assert [(price.answers, price.unit) for price in counted_prices(predictions, Setting(0.05, 0.05, "one-shot"))] == [
        (6, "answers"),
        (3, "labels"),
    ]
    assert [price.unit for price in counted_prices(predictions, Setting(0.05, 0.05, "labels"))] == ["answers"]
