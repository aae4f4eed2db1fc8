"""What a gate says holds as often as it promises, scored on the truth; twins that break a rule fail.

Every comparison raises a false alarm with probability at most 1e-6 even for a gate that errs exactly as often as delta
permits. ``make bench-gates`` has 300 runs of each.
"""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest
from tests.statistical.gate_populations import CASES, TWINS

RUNS = int(os.environ.get("ONEBIT_RUNS", "20"))
#: Enough for twins that fail in six runs of ten, and in all.
TWIN_RUNS = {"a test of fixed size, looked at again and again": 70, "the table's own order": 20}
#: Those that take a second together; the others are for the benchmark.
QUICK = (
    "equal models",
    "equal models, one-shot",
    "equal models, can't tell",
    "barely ahead",
    "far ahead",
    "worse by exactly the margin",
    "worse by exactly the margin, follow-up",
    "rows in an order that favours it",
    "twelve equal candidates",
    "raters who err",
)


@pytest.mark.parametrize("name", CASES if "ONEBIT_RUNS" in os.environ else QUICK)
def test_the_promise_holds(name: str, measured: Callable[[str], None]) -> None:
    case = CASES[name]
    found = case.tally(RUNS)
    measured(f"gate, {name}, delta = {case.delta:g}: {found}")
    assert found.complete == found.runs
    assert found.wrong <= found.most(case.delta)


@pytest.mark.parametrize("name", TWINS)
def test_a_twin_that_breaks_a_rule_fails(name: str, measured: Callable[[str], None]) -> None:
    twin = TWINS[name]
    found = twin.tally(TWIN_RUNS[name])
    measured(f"twin of the gate, {name}, delta = {twin.delta:g}: {found}")
    assert found.wrong > found.most(twin.delta)
