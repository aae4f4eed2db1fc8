"""An alarm of a watch is false as seldom as it is stated, and a change is found; twins that break a rule fail.

Every comparison raises a false alarm with probability at most 1e-6 even for a watch that errs exactly as often as it
may. ``make bench-watches`` has 300 runs of each.
"""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest
from tests.statistical.watch_populations import QUIET, TWINS, change

RUNS = int(os.environ.get("ONEBIT_RUNS", "20"))
#: Enough for twins that fail in all runs, and in a quarter of them.
TWIN_RUNS = {"a test of fixed size, looked at after each batch": 120}
#: Those that take a few seconds together; the others are for the benchmark.
QUICK = (
    "equal models",
    "ahead by exactly eps",
    "rows in an order that favours the rival",
    "batches made by who sees the evidence",
    "nine rivals at eps",
    "raters who leave out what speaks for the choice",
    "batches of 20 items",
    "independent items, ahead by exactly eps, batches of 50",
)


@pytest.mark.parametrize("name", QUIET if "ONEBIT_RUNS" in os.environ else QUICK)
def test_alarms_are_false_as_seldom_as_stated(name: str, measured: Callable[[str], None]) -> None:
    case = QUIET[name]
    found = case.tally(RUNS)
    measured(f"watch, {name}, at most {case.delta:g} within {case.horizon} batches: {found}")
    assert found.wrong <= found.most(case.delta)


@pytest.mark.parametrize("name", TWINS)
def test_a_twin_that_breaks_a_rule_fails(name: str, measured: Callable[[str], None]) -> None:
    twin = TWINS[name]
    found = twin.tally(TWIN_RUNS.get(name, 20))
    measured(f"twin of the watch, {name}, bound {twin.delta:g}: {found}")
    assert found.wrong > found.most(twin.delta)


def test_a_change_is_found_and_not_before_it_comes(measured: Callable[[str], None]) -> None:
    found = change(ahead=0.15, at=6).tally(10)
    measured(f"watch, 15 points from batch 6 on: {found}, in batches {found.batches}")
    # Before the change an alarm has probability at most 5 / 1,000 in each run; more than one in ten is not to be.
    assert found.wrong == 10
    assert sum(rang < 6 for rang in found.batches) <= 1
