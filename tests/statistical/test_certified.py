"""What the certified learner promises holds as often as it says, scored on the truth; twins that break a rule fail.

A small set of runs; ``make bench-certificates`` has 2,000 of each. Every comparison raises a false alarm with
probability at most 1e-6 even for a learner that errs exactly as often as delta permits.
"""

from __future__ import annotations

import os
from collections.abc import Callable

import numpy as np
import pytest
from tests.statistical.certified_populations import POPULATIONS, Rater, Tally, tally
from tests.statistical.certified_twins import TWINS

from onebit.learners.certified import CertifiedLearner

RUNS = int(os.environ.get("ONEBIT_RUNS", "50"))
#: Enough for the twins, which fail in most runs.
TWIN_RUNS, HONEST_RUNS = 40, 20


@pytest.mark.parametrize("name", POPULATIONS)
def test_the_promise_holds(name: str, measured: Callable[[str], None]) -> None:
    population = POPULATIONS[name]
    accuracy = np.unique(population.accuracy)
    # The best is ahead by more than eps, so that choosing any other would be wrong.
    assert accuracy[-1] - accuracy[-2] > population.eps
    found = tally(population, RUNS)
    measured(f"certified learner, {name}, delta = {population.delta:g}: {found}")
    assert found.complete == found.runs
    assert found.failed <= found.most(population.delta)


@pytest.mark.parametrize("name", TWINS)
def test_a_twin_that_breaks_a_rule_fails(name: str, measured: Callable[[str], None]) -> None:
    twin = TWINS[name]
    found = twin.tally(TWIN_RUNS)
    measured(f"twin, {name}, delta = {twin.population.delta:g}: {found}")
    assert found.failed > found.most(twin.population.delta)


@pytest.mark.parametrize("name", [name for name, twin in TWINS.items() if twin.honest is not None])
def test_where_twins_fail_the_promise_holds(name: str) -> None:
    twin = TWINS[name]
    assert twin.honest is not None
    found = twin.honest(HONEST_RUNS)
    assert found.failed <= found.most(twin.population.delta)


@pytest.mark.parametrize("name", ["two models", "a pool to its end, two models"])
def test_the_event_behind_the_promise_is_as_rare_as_delta(name: str, measured: Callable[[str], None]) -> None:
    """Whatever is wrong in a run of two models needs one event: their wealth at their true gap ever reaches 1 / delta.

    It is counted at the end of each epoch, and more often than what it causes: it does not ask who leads, nor for the
    smaller share of delta that the one of lower rank would have.
    """
    population = POPULATIONS[name]
    best, other = population.best, 1 - population.best
    # A hair below the gap, so that rounding does not ask for more than a pool has.
    gap = float(population.accuracy[best] - population.accuracy[other]) - 1e-12
    happened = Tally()

    def drive(learner: CertifiedLearner, rater: Rater) -> None:
        highest, asked = 0.0, learner.ask(10_000)
        while isinstance(asked, tuple):
            for question in asked:
                learner.tell(question.id, rater(question))
            # Closes the epoch if that was all of it.
            asked = learner.ask(10_000)
            highest = max(highest, float(learner._evidence.wealth.log_wealth(other, gap)[best]))
        happened.runs += 1
        happened.failed += highest >= -np.log(population.delta)

    found = tally(population, RUNS, drive=drive)
    measured(f"wealth at the true gap reached 1 / delta, {name}: {happened.failed} of {happened.runs} runs")
    assert found.failed <= happened.failed
    assert happened.failed <= happened.most(population.delta)
