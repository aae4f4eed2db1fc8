"""How many rows that nobody was asked about an estimator is taught, and which."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier

from onebit.learners.training import teaching as teaching_module
from onebit.learners.training.constants import GUESSES_AT_END, GUESSES_EACH
from onebit.learners.training.estimator import EstimatorModel
from onebit.learners.training.guide import Guide
from onebit.learners.training.knowledge import Knowledge
from onebit.learners.training.model import Floats, Known
from onebit.learners.training.teaching import Teaching
from onebit.records import Answer, Question

K, N, N_KNOWN = 5, 3000, 50
TRUTH = np.random.default_rng(0).integers(0, K, N)
#: The one column of each row is its number.
X = np.arange(N, dtype=np.float32)[:, None]


class Knows:
    """A guide's model that holds the right label of each row likeliest."""

    gamma, weights = 0.0, np.ones(1)

    def beliefs(self, x: np.ndarray) -> Floats:
        belief: Floats = (0.75 * np.eye(K)[TRUTH] + 0.05)[x[:, 0].astype(np.int64)][None]
        return belief

    def learn(self, known: Known, rng: np.random.Generator) -> None:
        pass


class Noting(DummyClassifier):  # type: ignore[misc]
    """Notes the rows that it is fitted to, and their labels."""

    fits: ClassVar[list[tuple[np.ndarray, np.ndarray]]] = []

    def fit(self, X: np.ndarray, y: np.ndarray) -> Noting:
        self.fits.append((X[:, 0].astype(np.int64), y))
        return super().fit(X, y)


@pytest.fixture
def knowledge() -> Iterator[Knowledge]:
    """The labels of the first rows are known; the last third is never trained on."""
    Noting.fits.clear()
    known = Knowledge(np.arange(N) < 2 * N // 3, K)
    for row in range(N_KNOWN):
        known.take_in(Question(row, row, int(TRUTH[row]), 1.0, 0), Answer.YES)
    yield known
    Noting.fits.clear()


def taught(known: Knowledge) -> Teaching:
    """It has seen that the guide is right as often as it believes."""
    guide, items = Guide(Knows(), X), known.taught()
    guide.judge(items, known.possible[items], np.full((items.size, K), 1 / K))
    return Teaching(EstimatorModel(Noting(), K), guide, X, known, seed=0, asks_once=False)


def test_on_the_way_as_many_guesses_as_known_rows_and_many_more_at_the_end(knowledge: Knowledge) -> None:
    teaching = taught(knowledge)
    teaching.after_epoch(0, np.empty(0, dtype=np.int64), N_KNOWN)
    teaching.before_audit(N_KNOWN)
    # Another audit, of the same classifier.
    teaching.before_audit(N_KNOWN)
    assert [rows.size - N_KNOWN for rows, _ in Noting.fits] == [GUESSES_EACH * N_KNOWN, GUESSES_AT_END * N_KNOWN]
    for rows, labels in Noting.fits:
        assert np.unique(rows).size == rows.size
        assert knowledge.trains_on[rows].all()
        np.testing.assert_array_equal(labels, TRUTH[rows])


def test_guesses_that_are_less_likely_are_taught_at_the_end_alone(
    knowledge: Knowledge, monkeypatch: pytest.MonkeyPatch
) -> None:
    teaching = taught(knowledge)
    monkeypatch.setattr(teaching_module, "GUESSED", 0.9)
    teaching.after_epoch(0, np.empty(0, dtype=np.int64), N_KNOWN)
    teaching.before_audit(N_KNOWN)
    assert [rows.size - N_KNOWN for rows, _ in Noting.fits] == [0, GUESSES_AT_END * N_KNOWN]


def test_at_the_end_there_is_a_limit(knowledge: Knowledge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(teaching_module, "MOST_GUESSED", 70)
    taught(knowledge).before_audit(N_KNOWN)
    ((rows, _),) = Noting.fits
    assert rows.size == N_KNOWN + 70
