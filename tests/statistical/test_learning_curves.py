"""The intervals of a learning curve hold all at once in at least 1 - delta of trainings.

60 seeded trainings of each protocol, end to end, of a classifier whose accuracy on the population is known exactly at
every moment. If a curve failed with probability delta = .1 exactly, more than MOST_FAILURES would come with probability
below 1e-3 (binomial). The twin takes the other items for fresh ones, which were chosen because they are uncertain, or
were not passed over, and must exceed that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

import numpy as np
import pytest
from scipy.stats import binom
from tests.statistical.cells import N_LABELS, CellShares, accuracy, drawn

from onebit.estimate.learning_curve import Tried, learning_curve
from onebit.learners.training import planning
from onebit.learners.training.estimator import EstimatorModel
from onebit.learners.training.learner import TrainingLearner
from onebit.records import Answer, TrainingProtocol

N_RUNS, DELTA, BUDGET, N_ITEMS = 60, 0.1, 260, 600
MOST_FAILURES = int(binom.isf(1e-3, N_RUNS, DELTA))


@dataclass(frozen=True)
class Moment:
    """An epoch: the model's accuracy, and whether its guesses were right at fresh items, and at chosen ones."""

    accuracy: float
    fresh: tuple[bool, ...]
    chosen: tuple[bool, ...]


def trained(seed: int, protocol: TrainingProtocol) -> tuple[list[Moment], TrainingLearner]:
    x, y = drawn(N_ITEMS, np.random.default_rng(seed))
    model = EstimatorModel(CellShares(), N_LABELS)
    learner = TrainingLearner(model, x, N_LABELS, budget=BUDGET, audit=0, delta=DELTA, protocol=protocol, seed=seed)
    moments: list[Moment] = []
    while isinstance(questions := learner.ask(1), tuple):
        plan = learner.epochs[-1]
        if len(moments) < len(learner.epochs):
            right = (y[list(plan.items)] == np.array(plan.guesses)).tolist()
            n_fresh = sum(plan.fresh)
            moments.append(Moment(accuracy(model), tuple(right[:n_fresh]), tuple(right[n_fresh:])))
        for question in questions:
            learner.tell(question.id, Answer.YES if y[question.item] == question.label else Answer.NO)
    return moments, learner


def covers(moments: list[Moment], tried: list[tuple[bool, ...]]) -> bool:
    """Whether every interval of the curve has the mean accuracy of its items."""
    right = np.concatenate([np.full(len(hits), each.accuracy) for each, hits in zip(moments, tried, strict=True)])
    counted = [Tried(n + 1, len(hits), *2 * [sum(hits)]) for n, hits in enumerate(tried) if hits]
    at = 0
    for point in learning_curve(counted, DELTA):
        if not point.low <= right[at : at + point.n_items].mean() <= point.high:
            return False
        at += point.n_items
    return True


@pytest.mark.parametrize("protocol", get_args(TrainingProtocol))
def test_the_curve_covers_and_one_of_chosen_items_does_not(
    protocol: TrainingProtocol, monkeypatch: pytest.MonkeyPatch
) -> None:
    # More of them at random, so that a short training has several points.
    monkeypatch.setattr(planning, "RANDOM_SHARE", 0.5)
    missed = twin = 0
    for seed in range(N_RUNS):
        moments, learner = trained(seed, protocol)
        missed += not covers(moments, [each.fresh for each in moments])
        twin += not covers(moments, [each.chosen for each in moments])
        if seed == 0:
            told = learner.result.curve
            assert len(told) > 1
            # The last epoch may have been cut short by the budget.
            fresh = [hits for each in moments if (hits := each.fresh)]
            assert sum(point.n_items for point in told) <= sum(map(len, fresh))
            assert told[0].estimate == pytest.approx(np.mean(np.concatenate(fresh)[: told[0].n_items]))
    assert missed <= MOST_FAILURES
    assert twin > MOST_FAILURES
