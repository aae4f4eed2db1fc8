"""Your own learner, hypothesis class, rater and store, held against onebit's contracts: ``pytest own_tests.py``.

Each is written first, as briefly as can be; its suite is the few lines below it.
"""

from __future__ import annotations

import sys

import numpy as np
import pytest

from onebit import Answer, HypothesisClass
from onebit.errors import InvalidInputError
from onebit.learners.contract import EpochLearner, Result
from onebit.store.store import Store
from onebit.testing import ExactSuite, SteadyRaterSuite, StoreSuite, StreamLearnerSuite


class AskTheVote(EpochLearner):
    """Asks whether the label that most models give is right; chooses the model that shares most confirmed votes."""

    def __init__(self, models, items, n_rounds, seed=None):
        super().__init__(models, items, seed)
        self._models, self._n_rounds, self._chosen = models, n_rounds, None

    def _n_wanted(self):
        return self._n_rounds - len(self._ledger.questions)

    def _choose(self, x, uniform):
        said = self._models.predictions(x)
        votes = [(said == label).sum(axis=0) for label in range(self._n_labels)]
        return np.argmax(votes, axis=0), np.ones(len(x))

    def _close_epoch(self):
        if self._epoch > 0 or self._n_wanted() > 0:
            return False
        yes = [q for q, answer in zip(*self._rounds(0), strict=True) if answer is Answer.YES]
        self._chosen = self._hypotheses.erm(self._examples(yes), [q.label for q in yes], np.ones(len(yes)))
        return True

    @property
    def result(self):
        self._settle()
        status = self._status(complete=self._chosen is not None)
        return Result(status, "none: votes may be wrong together", self._ledger.n_answered, self._chosen)


class TestAskTheVote(StreamLearnerSuite):
    def make_on(self, items, seed):
        return AskTheVote(self.hypotheses, items, n_rounds=100, seed=seed)


class Thresholds(HypothesisClass):
    """Label 1 from a threshold on, 0 below it; a hypothesis is the threshold."""

    n_labels = 2
    exact = True

    def predict(self, h, x):
        if not isinstance(h, float):
            raise InvalidInputError(f"{h!r} is no threshold")
        return (np.asarray(x) >= h).astype(np.int64)

    def _columns(self, x, y, weight, n_columns):
        thresholds = [-np.inf, *np.unique(x), np.inf]
        losses = [weight @ ((x >= h) != y) for h in thresholds]
        return (float(thresholds[np.argmin(losses)]),)


class TestThresholds(ExactSuite):
    def make(self):
        return Thresholds()

    def examples(self, rng, n):
        return rng.integers(0, 5, n).astype(float)

    def patterns(self, x):
        return [(x >= cut).astype(np.int64) for cut in (0, 1, 2, 3, 4, 5)]


def parity_rater(question):
    """Even numbers have label 0, odd ones label 1."""
    if question.label is None:
        return question.item % 2
    return Answer.YES if question.label == question.item % 2 else Answer.NO


class TestParityRater(SteadyRaterSuite):
    n_items, n_labels, most_yes, gives_labels = 20, 2, 1, True

    def make(self):
        return parity_rater


class CountingStore(Store):
    """Counts the writes to each study."""

    def __init__(self, url):
        super().__init__(url)
        self.n_writes = {}

    def append(self, study_id, first, texts):
        super().append(study_id, first, texts)
        self.n_writes[study_id] = self.n_writes.get(study_id, 0) + 1


class TestCountingStore(StoreSuite):
    @pytest.fixture
    def open_store(self, tmp_path):
        return lambda: CountingStore(f"sqlite:///{tmp_path}/studies.db")


if __name__ == "__main__":
    # The options keep pytest from reading and writing anything around this file.
    sys.exit(pytest.main(["-q", "-o", "addopts=", "-p", "no:cacheprovider", __file__]))
