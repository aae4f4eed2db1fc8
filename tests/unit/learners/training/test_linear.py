"""Logistic regression beside the networks: what scikit-learn's says, in the labels met."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

from onebit.learners.training.constants import FEW_FOR_LINES, FITTED_GROWTH, LINEAR_STEPS
from onebit.learners.training.linear import Linear
from onebit.learners.training.model import Known, softened

X, Y = load_digits(return_X_y=True)
X = ((X - X.mean()) / X.std()).astype(np.float32)
K = 10


@pytest.mark.parametrize("labels", [range(K), (3, 7, 8), (3, 7)])
def test_it_says_what_scikit_learn_says_of_the_labels_met(labels: tuple[int, ...]) -> None:
    rows = np.flatnonzero(np.isin(Y, list(labels)))[:200]
    linear = Linear(K)
    linear.learn(Known(X[rows], np.eye(K, dtype=np.bool_)[Y[rows]], 200), np.random.default_rng(0))
    reference = LogisticRegression(max_iter=LINEAR_STEPS).fit(X[rows], Y[rows])
    said = np.zeros((len(X), K))
    said[:, reference.classes_] = reference.predict_proba(X)
    expected = softened(said, np.bincount(Y[rows], minlength=K))
    np.testing.assert_allclose(linear.belief(X), expected, atol=1e-4)
    np.testing.assert_allclose(np.exp(linear.logs(X)), expected, atol=1e-4)


def test_as_many_labels_as_rows_are_learned_without_a_warning() -> None:
    """Warnings are errors here."""
    rows = np.array([np.flatnonzero(k == Y)[0] for k in range(K)])
    linear = Linear(K)
    linear.learn(Known(X[rows], np.eye(K, dtype=np.bool_)[Y[rows]], K), np.random.default_rng(0))
    assert (linear.belief(X[rows]).argmax(axis=1) == Y[rows]).all()


def test_it_says_nothing_of_one_label() -> None:
    rows = np.flatnonzero(Y == 4)[:20]
    linear = Linear(K)
    linear.learn(Known(X[rows], np.eye(K, dtype=np.bool_)[Y[rows]], 20), np.random.default_rng(0))
    np.testing.assert_allclose(linear.belief(X[:5]), 1 / K)


def test_few_rows_are_learned_at_once_and_many_when_the_answers_have_grown() -> None:
    def fitted(first: int, then: int, n_answers: int) -> bool:
        """Whether it learns ``then`` rows after ``first`` ones, if 1,000 answers become ``n_answers``."""
        linear, said = Linear(K), list[np.ndarray]()
        for n_rows, n_known in ((first, 1000), (then, n_answers)):
            possible = np.eye(K, dtype=np.bool_)[Y[:n_rows]]
            linear.learn(Known(X[:n_rows], possible, n_known), np.random.default_rng(0))
            said.append(linear.belief(X))
        before, after = said
        return not np.array_equal(before, after)

    assert fitted(50, 51, 1001)
    assert not fitted(50, 50, 1001)
    assert not fitted(FEW_FOR_LINES, FEW_FOR_LINES + 1, 1001)
    assert fitted(FEW_FOR_LINES, FEW_FOR_LINES + 1, int(FITTED_GROWTH * 1000) + 1)
