"""The accuracy interval holds at every moment at once in at least 1 - delta of runs.

500 seeded runs, each looked at after every answer. If the interval failed with probability delta = .1 exactly, more
than MOST_FAILURES would come with probability below 1e-3 (binomial); the twin, an interval that is valid at one fixed
moment only, must exceed that. The same for 500 runs of YesNoClassifier from end to end, looked at when they end; the
twin takes its interval from the confirmed training items.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.stats import binom, norm
from sklearn.base import BaseEstimator, ClassifierMixin

from onebit.classifier import YesNoClassifier
from onebit.estimate.accuracy import accuracy_interval

N_RUNS, N_ANSWERS, DELTA = 500, 300, 0.1
MOST_FAILURES = int(binom.isf(1e-3, N_RUNS, DELTA))


def failures(accuracy: float, fixed_moment: bool) -> int:
    """How many runs there are in which the interval misses the accuracy at some moment."""
    yes = np.random.default_rng(7).random((N_RUNS, N_ANSWERS)) < accuracy
    n_yes, n = yes.cumsum(axis=1), np.arange(1, N_ANSWERS + 1)
    if fixed_moment:
        estimate = n_yes / n
        width = norm.isf(DELTA / 2) * np.sqrt(accuracy * (1 - accuracy) / n)
        return int((np.abs(estimate - accuracy) > width)[:, 20:].any(axis=1).sum())
    missed = np.zeros(N_RUNS, dtype=np.bool_)
    for moment in range(N_ANSWERS):
        ends = {s: accuracy_interval(s, moment + 1, DELTA) for s in np.unique(n_yes[:, moment]).tolist()}
        outside = {s: not end.low <= accuracy <= end.high for s, end in ends.items()}
        missed |= [outside[s] for s in n_yes[:, moment].tolist()]
    return int(missed.sum())


@pytest.mark.parametrize("accuracy", [0.6, 0.95])
def test_it_covers(accuracy: float) -> None:
    assert failures(accuracy, fixed_moment=False) <= MOST_FAILURES


def test_an_interval_for_one_moment_does_not() -> None:
    assert failures(0.6, fixed_moment=True) > MOST_FAILURES


@pytest.mark.parametrize("share", [0.2, 0.3])
@pytest.mark.parametrize("delta", [0.05, 0.2])
def test_it_covers_accuracy_and_acceptance_where_raters_cant_tell(share: float, delta: float) -> None:
    """At every moment of 300 runs; false alarm 1e-6. The twin takes can't tell for wrong, at both ends."""
    accuracy, n_runs, rng = 0.9, 300, np.random.default_rng(11)
    most = int(binom.isf(1e-6, n_runs, delta))
    unsure = rng.random((n_runs, N_ANSWERS)) < share
    yes = (rng.random((n_runs, N_ANSWERS)) < accuracy) & ~unsure
    n_yes, n_unsure = yes.cumsum(axis=1), unsure.cumsum(axis=1)
    missed = {"accuracy": 0, "acceptance": 0, "accuracy by the twin": 0}
    for run in range(n_runs):
        outside = dict.fromkeys(missed, False)
        for n in range(10, N_ANSWERS + 1, 10):
            s, c = int(n_yes[run, n - 1]), int(n_unsure[run, n - 1])
            interval, twin = accuracy_interval(s, n, delta, c), accuracy_interval(s, n, delta)
            outside["accuracy"] |= not interval.low <= accuracy <= interval.high
            outside["acceptance"] |= not interval.low <= accuracy * (1 - share) <= interval.high
            outside["accuracy by the twin"] |= not twin.low <= accuracy <= twin.high
        for what, is_outside in outside.items():
            missed[what] += is_outside
    assert missed["accuracy"] <= most
    assert missed["acceptance"] <= most
    assert missed["accuracy by the twin"] > most


class CellVote(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The label with most weight in each cell; an example is the number of its cell."""

    def fit(self, X: np.ndarray, y: np.ndarray, sample_weight: np.ndarray) -> CellVote:
        self.classes_, label = np.unique(y, return_inverse=True)
        self.votes_ = np.full((N_CELLS, self.classes_.size), 1e-3)
        np.add.at(self.votes_, (X[:, 0].astype(int), label), sample_weight)
        return self

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        votes = self.votes_[X[:, 0].astype(int)]
        return votes / votes.sum(axis=1, keepdims=True)

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


N_CELLS, N_LABELS, N_ITEMS, BUDGET, AUDIT = 5, 3, 300, 90, 40
#: In each cell one label has this probability, and the others share the rest: so the best possible accuracy.
LIKELIEST = 0.7


@dataclass(frozen=True, eq=False)
class Run:
    """The accuracy on the population, exactly; the classifier's interval, and one from what it was trained on."""

    accuracy: float
    audited: tuple[float, float]
    from_training: tuple[float, float]

    def missed(self, interval: tuple[float, float]) -> bool:
        return not interval[0] <= self.accuracy <= interval[1]


def trained(seed: int) -> Run:
    """A classifier trained and audited on a random pool."""
    rng = np.random.default_rng(seed)
    chances = np.full((N_CELLS, N_LABELS), (1 - LIKELIEST) / (N_LABELS - 1))
    chances[np.arange(N_CELLS), np.arange(N_CELLS) % N_LABELS] = LIKELIEST
    x = rng.integers(0, N_CELLS, (N_ITEMS, 1))
    y = (chances.cumsum(axis=1)[x[:, 0]] < rng.random((N_ITEMS, 1))).sum(axis=1).clip(max=N_LABELS - 1)
    asked = []

    def answer(row: int, label: int) -> bool:
        asked.append(row)
        return bool(y[row] == label)

    model = YesNoClassifier(CellVote(), budget=BUDGET, audit=AUDIT, delta=DELTA, seed=seed)
    model.fit(x, answer=answer, labels=range(N_LABELS))
    predicted = model.predict(np.arange(N_CELLS)[:, None])
    taught = np.setdiff1d(model.verified_items_, asked[-AUDIT:])
    biased = accuracy_interval(int((model.predict(x[taught]) == y[taught]).sum()), taught.size, DELTA)
    assert model.accuracy_interval_ is not None
    return Run(chances[np.arange(N_CELLS), predicted].mean(), model.accuracy_interval_, (biased.low, biased.high))


@pytest.fixture(scope="module")
def runs() -> list[Run]:
    return [trained(seed) for seed in range(N_RUNS)]


def test_the_classifiers_own_interval_covers_its_accuracy_on_the_population(runs: list[Run]) -> None:
    assert sum(run.missed(run.audited) for run in runs) <= MOST_FAILURES


def test_an_interval_from_the_confirmed_training_items_does_not(runs: list[Run]) -> None:
    """They were trained on, and are those at which a guess was right."""
    assert sum(run.missed(run.from_training) for run in runs) > MOST_FAILURES
