"""The forest beside the networks: it votes as scikit-learn's trees do, and waits until it has something to say."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.tree import ExtraTreeClassifier

from onebit.errors import InvalidInputError
from onebit.learners.training.constants import FITTED_GROWTH, N_TREES
from onebit.learners.training.forest import Forest
from onebit.learners.training.model import Known, softened

X, Y = load_digits(return_X_y=True)
X = X.astype(np.float32)
K = 10


def known(rows: np.ndarray, n_answers: int) -> Known:
    possible = np.eye(K, dtype=np.bool_)[Y[rows]]
    return Known(X[rows], possible, n_answers)


def test_it_votes_as_the_trees_that_it_was_grown_from() -> None:
    rows = np.arange(300)
    forest = Forest(K)
    forest.learn(known(rows, 300), np.random.default_rng(0))
    seeds = np.random.default_rng(0).integers(0, 2**31, N_TREES)
    trees = [ExtraTreeClassifier(random_state=int(seed)).fit(X[rows], Y[rows]) for seed in seeds]
    votes = np.mean([np.eye(K)[tree.predict(X)] for tree in trees], axis=0)
    np.testing.assert_allclose(forest.belief(X), softened(votes, np.bincount(Y[rows], minlength=K)), atol=1e-9)


def test_labels_that_were_not_met_are_not_ruled_out() -> None:
    rows = np.flatnonzero(np.isin(Y, [3, 7]))[:60]
    forest = Forest(K)
    forest.learn(known(rows, 60), np.random.default_rng(0))
    belief = forest.belief(X[rows])
    assert (belief > 0).all()
    assert (belief.argmax(axis=1) == Y[rows]).all()
    np.testing.assert_allclose(belief.sum(axis=1), 1.0)


def test_it_says_nothing_until_labels_have_been_met_twice() -> None:
    of_one_label, once_each = np.flatnonzero(Y == 4)[:20], np.array([np.flatnonzero(k == Y)[0] for k in range(K)])
    for rows in (of_one_label, once_each):
        forest = Forest(K)
        forest.learn(known(rows, 100), np.random.default_rng(0))
        np.testing.assert_allclose(forest.belief(X[:5]), 1 / K)


def test_rows_with_noes_alone_are_not_learned() -> None:
    rows = np.arange(200)
    with_noes = known(rows, 200)
    possible = with_noes.possible.copy()
    possible[100:] = ~possible[100:]
    forest, of_half = Forest(K), Forest(K)
    forest.learn(Known(X[rows], possible, 200), np.random.default_rng(1))
    of_half.learn(known(rows[:100], 200), np.random.default_rng(1))
    np.testing.assert_array_equal(forest.belief(X), of_half.belief(X))


def test_it_is_grown_anew_when_the_answers_have_grown() -> None:
    forest = Forest(K)
    forest.learn(known(np.arange(100), 100), np.random.default_rng(0))
    first = forest.belief(X)
    forest.learn(known(np.arange(200), int(FITTED_GROWTH * 100) - 1), np.random.default_rng(1))
    np.testing.assert_array_equal(forest.belief(X), first)
    forest.learn(known(np.arange(200), int(FITTED_GROWTH * 100) + 1), np.random.default_rng(1))
    assert (forest.belief(X).argmax(axis=1) == Y).mean() > (first.argmax(axis=1) == Y).mean()


#: What a file may say of a forest, part by part, that would lead a vote out of its arrays, or around for ever.
TRAPS: dict[str, tuple[str, Callable[[np.ndarray], np.ndarray]]] = {
    "labels": ("_label", lambda label: label + 50_000_000),
    "negative labels": ("_label", lambda label: label - 50_000_000),
    "roots": ("_roots", lambda roots: roots + 50_000_000),
    "no roots": ("_roots", lambda roots: roots[:0]),
    "branches": ("_branches", lambda branches: branches + 50_000_000),
    "circles": ("_branches", np.zeros_like),
    "fewer thresholds": ("_threshold", lambda threshold: threshold[:3]),
    "another kind": ("_column", lambda column: column.astype(np.float64)),
    "masked": ("_label", lambda label: np.ma.masked_array(label + 50_000_000, mask=True)),
    "fewer labels": ("_n_of_each_label", lambda counts: counts[:1]),
    "no array": ("_n_of_each_label", lambda counts: counts.tolist()),
}


@pytest.mark.parametrize("trap", TRAPS)
def test_what_leads_out_of_a_forest_is_refused_when_it_is_read(trap: str) -> None:
    forest = Forest(K)
    # One that is not grown yet is none that leads out.
    Forest(K).__setstate__(vars(forest))
    forest.learn(known(np.arange(300), 300), np.random.default_rng(0))
    state = dict(vars(forest))
    again = Forest(K)
    again.__setstate__(state)
    np.testing.assert_array_equal(again.belief(X), forest.belief(X))
    part, changed = TRAPS[trap]
    with pytest.raises(InvalidInputError, match="lead nowhere, or labels"):
        Forest(K).__setstate__(state | {part: changed(state[part])})


def test_a_forest_is_not_asked_about_rows_of_fewer_columns() -> None:
    forest = Forest(K)
    forest.learn(known(np.arange(300), 300), np.random.default_rng(0))
    with pytest.raises(InvalidInputError, match="rows have 2"):
        forest.belief(X[:, :2])
