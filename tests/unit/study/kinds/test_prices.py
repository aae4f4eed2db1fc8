"""What other ways to ask would have cost, where nobody knows the truth."""

from __future__ import annotations

import numpy as np
from tests.unit.study.kinds.votes import synthetic

from onebit.records import Setting
from onebit.study.kinds.selection.imagining import Answered, Table
from onebit.study.kinds.selection.prices import counted_prices, prices


def test_the_other_ways_are_priced_in_their_own_unit() -> None:
    said, truth = synthetic(3, n_items=600)
    rows = np.arange(300)
    answered = Answered(rows, said[0, :300], said[0, :300] == truth[:300])
    table = Table(said, int(said.max()) + 1)
    found = prices(table, Setting(0.05, 0.05, "one-shot", f_no=0.1), answered, seconds=60.0)
    assert [(price.way, price.unit) for price in found] == [
        ("Follow-up", "answers"),
        ("Full labels of random items", "labels"),
    ]
    for price in found:
        assert 0 < price.answers <= 20 * said.shape[1]
        assert price.source.startswith("forecast, likely ")
    ways = [price.way for price in prices(table, Setting(0.05, 0.05, "follow-up", exhaustive=True), seconds=60.0)]
    assert ways == ["One-shot", "Full labels of random items"]


def test_of_panels_and_without_an_end_nothing_is_said() -> None:
    said, _ = synthetic(3)
    table = Table(said, int(said.max()) + 1)
    assert prices(table, Setting(0.05, 0.05, "panel")) == ()
    assert prices(table, Setting(0.0001, 0.05, "one-shot"), seconds=0.0) == ()


def test_what_everything_costs_is_counted_on_the_table() -> None:
    """Three, two and one labels on three items; abstentions are not asked about."""
    predictions = np.array([[0, 0, 1], [1, 0, 1], [2, 1, -1]])
    assert [(price.answers, price.unit) for price in counted_prices(predictions, Setting(0.05, 0.05, "one-shot"))] == [
        (6, "answers"),
        (3, "labels"),
    ]
    assert [price.unit for price in counted_prices(predictions, Setting(0.05, 0.05, "labels"))] == ["answers"]
