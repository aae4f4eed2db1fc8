"""The accuracy interval holds where a training was interrupted and another goes on from its answers, with another seed.

60 seeded trainings by follow-up, each stopped before its audit and gone on with by a second one. If an interval failed
with probability delta = .1 exactly, more than MOST_FAILURES would come with probability below 1e-3 (binomial). The twin
is told the answers alone, and audits rows that nobody was asked about: those that were passed over because they are
easy. It must exceed that. The same for an audit that is larger than what the first training had set aside.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.base import BaseEstimator, ClassifierMixin

from onebit.learners.contract import run
from onebit.learners.training.earlier import EarlierAnswer
from onebit.learners.training.estimator import EstimatorModel
from onebit.learners.training.history import Sample
from onebit.learners.training.learner import TrainingLearner
from onebit.learners.training.model import mean_belief
from onebit.records import Answer, Question

N_RUNS, DELTA, N_ITEMS, N_LABELS, N_BEFORE, BUDGET, AUDIT = 60, 0.1, 500, 3, 300, 420, 100
MOST_FAILURES = int(binom.isf(1e-3, N_RUNS, DELTA))
#: The probability of the likeliest label in each cell: most cells are easy, and what is uncertain is in the others.
LIKELIEST = np.array([1.0, 1.0, 1.0, 1.0, 0.4, 0.4])
N_CELLS = LIKELIEST.size
CHANCES = np.tile((1 - LIKELIEST)[:, None] / (N_LABELS - 1), N_LABELS)
CHANCES[np.arange(N_CELLS), np.arange(N_CELLS) % N_LABELS] = LIKELIEST


class CellShares(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The share of each label in each cell, one more of each added; an example is the number of its cell."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> CellShares:
        self.classes_, label = np.unique(y, return_inverse=True)
        self.counts_ = np.ones((N_CELLS, self.classes_.size))
        np.add.at(self.counts_, (X[:, 0].astype(int), label), 1.0)
        return self

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        counts = self.counts_[X[:, 0].astype(int)]
        return counts / counts.sum(axis=1, keepdims=True)

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def missed(seed: int, knows_sample: bool, audit_before: int) -> bool:
    """Whether the interval of a training that goes on misses its accuracy on the population, which is known exactly."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, N_CELLS, (N_ITEMS, 1))
    y = (CHANCES.cumsum(axis=1)[x[:, 0]] < rng.random((N_ITEMS, 1))).sum(axis=1).clip(max=N_LABELS - 1)

    def rater(question: Question) -> Answer:
        return Answer.YES if y[question.item] == question.label else Answer.NO

    options: dict[str, Any] = {"budget": BUDGET, "delta": DELTA, "protocol": "follow-up"}
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
    guess = mean_belief(model, np.arange(N_CELLS)[:, None]).argmax(axis=1)
    accuracy = CHANCES[np.arange(N_CELLS), guess].mean()
    assert audited is not None
    assert audited.n_answers == AUDIT
    return not audited.low <= accuracy <= audited.high


@pytest.mark.parametrize("audit_before", [AUDIT, AUDIT - 10])
def test_the_interval_of_a_training_that_goes_on_covers(audit_before: int) -> None:
    assert sum(missed(seed, True, audit_before) for seed in range(N_RUNS)) <= MOST_FAILURES


def test_an_audit_of_what_was_passed_over_does_not() -> None:
    assert sum(missed(seed, False, AUDIT) for seed in range(N_RUNS)) > MOST_FAILURES
