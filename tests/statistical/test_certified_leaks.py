"""Ways around a certificate: it holds where it once broke, and the behaviour that let it break still shows.

A small set of runs; ``make bench-certificates`` has 300 of each. Every comparison raises a false alarm with probability
at most 1e-6 even for a learner that errs exactly as often as delta permits.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.statistical.certified_leaks import LEAKS, SOUND

RUNS, TWIN_RUNS = 40, 40


@pytest.mark.parametrize("name", [*LEAKS, *SOUND])
def test_the_promise_holds(name: str, measured: Callable[[str], None]) -> None:
    found = (LEAKS | SOUND)[name].tally(RUNS, 0.05)
    measured(f"certified learner, {name}, delta = 0.05: {found}")
    assert found.failed <= found.most(0.05)


@pytest.mark.parametrize("name", LEAKS)
def test_the_behaviour_that_broke_it_still_breaks_it(name: str, measured: Callable[[str], None]) -> None:
    found = LEAKS[name].of_twin(TWIN_RUNS, 0.01)
    measured(f"twin, {name}, delta = 0.01: {found}")
    assert found.failed > found.most(0.01)
