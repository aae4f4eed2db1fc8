"""Epochs that overlap: the promise holds with raters who are slow where it hurts; a twin that does not wait fails.

Every comparison raises a false alarm with probability at most 1e-6, even for a learner that errs exactly as often as
delta permits.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable

import numpy as np
import pytest
from tests.statistical.certified_populations import POPULATIONS, STREAM_LENGTH, Drive, Population, Rater, tally
from tests.statistical.certified_twins import DropsLateAnswers, won_by_the_best

from onebit.learners.certified import CertifiedLearner
from onebit.records import Question, RunStatus, Status

RUNS, TWIN_RUNS = int(os.environ.get("ONEBIT_RUNS", "40")), 20
N_RATERS = 40
#: On a pool and on a stream, with raters who err, with models that abstain, and a pool of which everything is asked.
NAMES = (
    "barely ahead",
    "barely ahead, stream",
    "two models, two labels",
    "raters who err",
    "abstainers",
    "a pool to its end, one-shot",
)


def slow_where_the_best_wins(population: Population, seen: list[int] | None = None) -> Drive:
    """Raters who answer at once, but where the best wins only when there is nothing else to answer."""
    won = won_by_the_best(population)

    def drive(learner: CertifiedLearner, rater: Rater) -> None:
        learner.expect(N_RATERS)
        examples = np.random.default_rng(learner.seed).integers(0, won.size, STREAM_LENGTH)
        is_slow, held = won[examples] if population.stream else won, deque[Question]()
        while (asked := learner.ask(8)) is not Status.DONE:
            if isinstance(asked, tuple):
                held.extend(question for question in asked if is_slow[question.item])
                now = [question for question in asked if not is_slow[question.item]]
            else:
                now = [held.popleft()]
            for question in now:
                learner.tell(question.id, rater(question))
        if seen is not None:
            seen.append(max(record.n_open for record in learner.epochs))

    return drive


@pytest.mark.parametrize("name", NAMES)
def test_the_promise_holds_where_epochs_overlap(name: str, measured: Callable[[str], None]) -> None:
    population, n_open = POPULATIONS[name], list[int]()
    found = tally(population, RUNS, drive=slow_where_the_best_wins(population, n_open))
    measured(f"epochs that overlap, {name}, delta = {population.delta:g}: {found}; up to {max(n_open)} open before one")
    assert np.mean(np.array(n_open) > 0) > 0.5
    assert found.complete == found.runs
    assert found.failed <= found.most(population.delta)


class GoesOnWithoutTheSlow(DropsLateAnswers):
    """Closes an epoch when the next has begun, without the rounds whose answers have not come."""

    def _settle(self) -> None:
        while len(self._under_way) > 1 and self._status is RunStatus.RUNNING:
            self.drop_open()
        super()._settle()


def test_a_twin_that_goes_on_without_the_slow_fails(measured: Callable[[str], None]) -> None:
    population = POPULATIONS["barely ahead"]
    found = tally(population, TWIN_RUNS, GoesOnWithoutTheSlow, drive=slow_where_the_best_wins(population))
    measured(f"twin, epochs closed without the slow, delta = {population.delta:g}: {found}")
    assert found.failed > found.most(population.delta)
