"""What a sequel of a study says holds as often as it promises, whatever its makers had seen; twins fail.

Every comparison raises a false alarm with probability at most 1e-6 even for a learner that errs exactly as often as it
may. ``make bench-sequels`` has 300 runs of each.
"""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest
from tests.statistical.sequel_populations import CASES, TWINS

RUNS = int(os.environ.get("ONEBIT_RUNS", "12"))
#: Those that take a few seconds together; the others are for the benchmark.
QUICK = (
    "a newcomer as good as the best",
    "a newcomer fitted to what was answered",
    "a newcomer fitted to what was answered, one-shot",
    "the best is withdrawn, the others are equal",
    "new items on which others are better",
)


@pytest.mark.parametrize("name", CASES if "ONEBIT_RUNS" in os.environ else QUICK)
def test_the_promise_holds(name: str, measured: Callable[[str], None]) -> None:
    case = CASES[name]
    found = case.tally(RUNS)
    measured(f"sequel, {name}, delta = {case.delta:g}: {found}")
    assert found.wrong <= found.most(case.delta)


@pytest.mark.parametrize("name", TWINS)
def test_a_twin_that_breaks_a_rule_fails(name: str, measured: Callable[[str], None]) -> None:
    twin = TWINS[name]
    found = twin.tally(25)
    measured(f"twin of a sequel, {name}, delta = {twin.delta:g}: {found}")
    assert found.wrong > found.most(twin.delta)
