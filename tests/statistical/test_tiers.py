"""What is said of the best models and of all pairs holds as often as promised, scored on the truth; twins fail.

Every comparison raises a false alarm with probability at most 1e-6 even for a learner that errs exactly as often as
delta permits. ``make bench-tiers`` has 300 runs of each.
"""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest
from tests.statistical.tiers_populations import CASES, TWINS

RUNS = int(os.environ.get("ONEBIT_RUNS", "15"))
#: Enough for twins that fail in half of the runs, and in nearly all.
TWIN_RUNS = {"the best k, every pair has all of delta": 120}
#: Those that take a second together; the others are for the benchmark.
QUICK = (
    "equal models",
    "barely different",
    "one far ahead",
    "missed by more than eps, follow-up",
    "an order that favours the worst",
    "tiers, equal models",
    "tiers, barely different",
    "tiers, ahead by exactly eps",
    "tiers, an order that favours the worst",
)
#: Those that fail in far more runs than delta permits; the other takes long, and fails in six runs of ten.
QUICK_TWINS = tuple(name for name in TWINS if not name.startswith("a test of fixed size"))


@pytest.mark.parametrize("name", CASES if "ONEBIT_RUNS" in os.environ else QUICK)
def test_the_promise_holds(name: str, measured: Callable[[str], None]) -> None:
    case = CASES[name]
    found = case.tally(RUNS)
    measured(f"{name}, delta = {case.delta:g}: {found}")
    assert found.complete == found.runs
    assert found.wrong <= found.most(case.delta)


@pytest.mark.parametrize("name", TWINS if "ONEBIT_RUNS" in os.environ else QUICK_TWINS)
def test_a_twin_that_breaks_a_rule_fails(name: str, measured: Callable[[str], None]) -> None:
    twin = TWINS[name]
    found = twin.tally(TWIN_RUNS.get(name, 40))
    measured(f"twin, {name}, delta = {twin.delta:g}: {found}")
    assert found.wrong > found.most(twin.delta)
