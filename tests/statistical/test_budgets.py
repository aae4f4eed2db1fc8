"""What a spent budget certifies holds as often as it promises, though belief chose the questions; a twin fails.

Every comparison raises a false alarm with probability at most 1e-6 even for a learner that errs exactly as often as
delta permits. ``ONEBIT_RUNS=300`` runs all populations that often, as ``make bench-budget_promises`` does.
"""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest
from tests.statistical.budget_populations import POPULATIONS, TWINS
from tests.statistical.certified_populations import tally

RUNS = int(os.environ.get("ONEBIT_RUNS", "16"))
TWIN_RUNS = 30
QUICK = (
    "equal models",
    "barely different",
    "one far ahead",
    "rows in an order that favours one",
    "a crowd that is wrong",
    "two right labels",
    "split where the best loses",
    "sure where the best wins",
)


@pytest.mark.parametrize("name", POPULATIONS if "ONEBIT_RUNS" in os.environ else QUICK)
def test_the_promise_holds(name: str, measured: Callable[[str], None]) -> None:
    population = POPULATIONS[name]
    found = tally(population, RUNS)
    measured(f"budget spent, {name}, delta = {population.delta:g}: {found}")
    assert found.failed <= found.most(population.delta)


@pytest.mark.parametrize("name", TWINS)
def test_a_twin_that_breaks_a_rule_fails(name: str, measured: Callable[[str], None]) -> None:
    population, kind = TWINS[name]
    found = tally(population, TWIN_RUNS, kind)
    measured(f"twin of the budget, {name}, delta = {population.delta:g}: {found}")
    assert found.failed > found.most(population.delta)
