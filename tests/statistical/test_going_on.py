"""The accuracy interval holds where a training was interrupted and another goes on from its answers, with another seed.

60 seeded trainings of each protocol, each stopped before its audit and gone on with by a second one. If an interval
failed with probability delta = .1 exactly, more than MOST_FAILURES would come with probability below 1e-3 (binomial).
The twin is told the answers alone, and audits rows that nobody was asked about: those that were passed over because
they are easy. It must exceed that. The same for an audit that is larger than what the first training had set aside.
"""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
import pytest
from scipy.stats import binom
from tests.statistical.cells import N_LABELS, CellShares, accuracy, drawn

from onebit.learners.contract import run
from onebit.learners.training.earlier import EarlierAnswer
from onebit.learners.training.estimator import EstimatorModel
from onebit.learners.training.history import Sample
from onebit.learners.training.learner import TrainingLearner
from onebit.records import Answer, Question, TrainingProtocol

N_RUNS, DELTA, N_ITEMS, N_BEFORE, BUDGET, AUDIT = 60, 0.1, 500, 300, 420, 100
MOST_FAILURES = int(binom.isf(1e-3, N_RUNS, DELTA))


def missed(seed: int, protocol: TrainingProtocol, knows_sample: bool, audit_before: int = AUDIT) -> bool:
    """Whether the interval of a training that goes on misses its accuracy on the population, which is known exactly."""
    x, y = drawn(N_ITEMS, np.random.default_rng(seed))

    def rater(question: Question) -> Answer:
        return Answer.YES if y[question.item] == question.label else Answer.NO

    options: dict[str, Any] = {"budget": BUDGET, "delta": DELTA, "protocol": protocol}
    first = TrainingLearner(EstimatorModel(CellShares(), N_LABELS), x, N_LABELS, audit=audit_before, seed=0, **options)
    earlier: list[EarlierAnswer] = []
    while len(earlier) < N_BEFORE and isinstance(questions := first.ask(1), tuple):
        for question in questions:
            first.tell(question.id, rater(question))
            earlier.append(EarlierAnswer(question.item, question.label or 0, rater(question)))
    model = EstimatorModel(CellShares(), N_LABELS)
    sample = first.sample if knows_sample else Sample.after(earlier)
    second = TrainingLearner(model, x, N_LABELS, audit=AUDIT, earlier=earlier, sample=sample, seed=seed + 1, **options)
    audited = run(second, rater).accuracy
    assert audited is not None
    assert audited.n_answers == AUDIT
    return not audited.low <= accuracy(model) <= audited.high


@pytest.mark.parametrize("protocol", get_args(TrainingProtocol))
@pytest.mark.parametrize("audit_before", [AUDIT, AUDIT - 10])
def test_the_interval_of_a_training_that_goes_on_covers(protocol: TrainingProtocol, audit_before: int) -> None:
    assert sum(missed(seed, protocol, True, audit_before) for seed in range(N_RUNS)) <= MOST_FAILURES


@pytest.mark.parametrize("protocol", get_args(TrainingProtocol))
def test_an_audit_of_what_was_passed_over_does_not(protocol: TrainingProtocol) -> None:
    assert sum(missed(seed, protocol, False) for seed in range(N_RUNS)) > MOST_FAILURES
