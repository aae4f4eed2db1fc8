"""One suite for every hypothesis class: what ``predict`` and ``erm`` promise, checked against brute force.

A new class joins by adding a :class:`Case`: the class, a way to draw examples, and every label pattern that the class
realises on given examples, listed by a method of its own.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier
from tests.problems import Ints

from onebit.errors import InvalidInputError, NegativeWeightError
from onebit.hypotheses.base import HypothesisClass
from onebit.hypotheses.counting import CountingClass
from onebit.hypotheses.cover import CoverClass, build_cover
from onebit.hypotheses.estimator import EstimatorClass
from onebit.hypotheses.finite import ModelList, PredictionTable
from onebit.hypotheses.intervals import IntervalClass
from onebit.hypotheses.stumps import StumpClass
from onebit.hypotheses.trees import TreeClass

N_LABELS = 3
TABLE = np.random.default_rng(5).integers(-1, N_LABELS, (7, 6))
FULL = np.maximum(TABLE, 0)
Patterns = Callable[[Any], Iterator[Ints]]


@dataclass(frozen=True)
class Case:
    name: str
    hypotheses: HypothesisClass
    examples: Callable[[np.random.Generator, int], Any]
    patterns: Patterns


def table_patterns(x: Any) -> Iterator[Ints]:
    yield from TABLE[:, x]


def interval_patterns(x: Any) -> Iterator[Ints]:
    values, place = np.unique(x, return_inverse=True)
    for labels in itertools.product(range(N_LABELS), repeat=values.size):
        if np.count_nonzero(np.diff(labels)) <= 2:
            yield np.array(labels, dtype=np.int64)[place]


def sides(x: Any) -> Iterator[Any]:
    """Every way in which one axis-aligned split parts the examples, the trivial one included."""
    for feature in range(x.shape[1]):
        for threshold in np.unique(x[:, feature]):
            yield x[:, feature] < threshold


def stump_patterns(x: Any) -> Iterator[Ints]:
    for left in sides(x) if x.shape[0] else [np.zeros(0, dtype=bool)]:
        for a, b in itertools.product(range(N_LABELS), repeat=2):
            yield np.where(left, a, b)


def tree_patterns(x: Any) -> Iterator[Ints]:
    stumps = list({p.tobytes(): p for p in stump_patterns(x)}.values())
    for root in sides(x) if x.shape[0] else [np.zeros(0, dtype=bool)]:
        for left, right in itertools.product(stumps, repeat=2):
            yield np.where(root, left, right)


def plane(rng: np.random.Generator, n: int) -> Any:
    return rng.integers(0, 4, (n, 2)).astype(float)


EXACT = [
    Case("table", PredictionTable(TABLE, N_LABELS), lambda rng, n: rng.integers(0, 6, n), table_patterns),
    Case(
        "models",
        ModelList([lambda x, h=h: TABLE[h][x] for h in range(7)], N_LABELS),
        lambda rng, n: rng.integers(0, 6, n),
        table_patterns,
    ),
    Case(
        "intervals", IntervalClass(2, N_LABELS), lambda rng, n: rng.integers(0, 6, n).astype(float), interval_patterns
    ),
    Case(
        "cover",
        CoverClass(PredictionTable(FULL, N_LABELS), build_cover(PredictionTable(FULL, N_LABELS), np.arange(6))),
        lambda rng, n: rng.integers(0, 6, n),
        lambda x: iter(FULL[:, x]),
    ),
    Case("stumps", StumpClass(2, N_LABELS), plane, stump_patterns),
    Case("trees", TreeClass(2, N_LABELS), plane, tree_patterns),
]
exact = pytest.mark.parametrize("case", EXACT, ids=lambda case: case.name)


def loss(said: Ints, y: Ints, weight: Any) -> float:
    return float(weight @ (said != y))


@exact
@pytest.mark.parametrize("sign", ["mixed", "positive", "negative"])
def test_erm_is_brute_force(case: Case, sign: str) -> None:
    rng = np.random.default_rng(len(sign))
    for n in (0, 1, 2, 4, 5, 6) * 3:
        x, y, weight = case.examples(rng, n), rng.integers(0, N_LABELS, n), rng.normal(size=n)
        weight = {"mixed": weight, "positive": abs(weight), "negative": -abs(weight)}[sign]
        h = case.hypotheses.erm(x, y, weight)
        least = min(loss(p, y, weight) for p in case.patterns(x))
        assert loss(case.hypotheses.predict(h, x), y, weight) == pytest.approx(least, abs=1e-12)


@exact
def test_what_it_predicts_is_one_of_its_patterns(case: Case) -> None:
    rng = np.random.default_rng(1)
    x = case.examples(rng, 5)
    patterns = {tuple(p) for p in case.patterns(x)}
    for _ in range(10):
        h = case.hypotheses.erm(x, rng.integers(0, N_LABELS, 5), rng.normal(size=5))
        assert tuple(case.hypotheses.predict(h, x)) in patterns


@exact
def test_columns_are_distinct_and_begin_with_the_minimiser(case: Case) -> None:
    rng = np.random.default_rng(2)
    for _ in range(10):
        x, y, weight = case.examples(rng, 6), rng.integers(0, N_LABELS, 6), rng.normal(size=6)
        columns = case.hypotheses.erm_columns(x, y, weight, 4)
        assert 1 <= len(columns) <= 4
        assert len(set(columns)) == len(columns)
        assert columns[0] == case.hypotheses.erm(x, y, weight)
        losses = [loss(case.hypotheses.predict(h, x), y, weight) for h in columns]
        assert losses == pytest.approx(sorted(losses))


@exact
def test_same_sample_same_answer(case: Case) -> None:
    rng = np.random.default_rng(3)
    x, y = case.examples(rng, 6), rng.integers(0, N_LABELS, 6)
    assert case.hypotheses.erm(x, y, np.zeros(6)) == case.hypotheses.erm(x, y, np.zeros(6))


@exact
def test_counting_wrapper_counts_calls_and_changes_nothing(case: Case) -> None:
    rng = np.random.default_rng(4)
    counted = CountingClass(case.hypotheses)
    x, y, weight = case.examples(rng, 6), rng.integers(0, N_LABELS, 6), rng.normal(size=6)
    assert counted.erm(x, y, weight) == case.hypotheses.erm(x, y, weight)
    counted.erm_columns(x, y, weight, 3)
    assert counted.n_calls == 2
    assert (counted.n_labels, counted.exact, counted.n_hypotheses) == (
        case.hypotheses.n_labels,
        case.hypotheses.exact,
        case.hypotheses.n_hypotheses,
    )


@exact
@pytest.mark.parametrize(
    ("y", "weight", "says"),
    [
        ([0, 1, N_LABELS], [1.0, 1.0, 1.0], "label 2 is 3"),
        ([0, 1, -1], [1.0, 1.0, 1.0], "label 2 is -1"),
        ([0.0, 1.0, 2.0], [1.0, 1.0, 1.0], "whole numbers"),
        ([0, 1, 2], ["a", "b", "c"], "weights are not numbers"),
        ([[0], [1, 2]], [1.0, 1.0, 1.0], "labels do not make an array"),
        ([0, 1], [1.0, 1.0, 1.0], "one label and one weight"),
        ([0, 1, 2], [1.0, 1.0], "one label and one weight"),
        ([0, 1, 2], [1.0, float("nan"), 1.0], "weight 1 is nan"),
        ([0, 1, 2], [1.0, float("inf"), 1.0], "weight 1 is inf"),
    ],
)
def test_bad_samples_are_refused(case: Case, y: list[int], weight: list[float], says: str) -> None:
    x = case.examples(np.random.default_rng(0), 3)
    with pytest.raises(InvalidInputError, match=says):
        case.hypotheses.erm(x, y, weight)


@exact
def test_no_columns_is_refused(case: Case) -> None:
    x = case.examples(np.random.default_rng(0), 1)
    for n_columns in (0, 2.5, "1"):
        with pytest.raises(InvalidInputError, match="n_columns is"):
            case.hypotheses.erm_columns(x, [0], [1.0], n_columns)  # type: ignore[arg-type]


@exact
def test_on_a_fixed_sample_it_is_the_same_oracle(case: Case) -> None:
    rng = np.random.default_rng(6)
    x, y = case.examples(rng, 6), rng.integers(0, N_LABELS, 6)
    counted = CountingClass(case.hypotheses)
    fixed = counted.on_sample(x, y)
    for _ in range(5):
        weight = rng.normal(size=6)
        columns = fixed.best(weight, 3)
        assert columns == case.hypotheses.erm_columns(x, y, weight, 3)
        for h in columns:
            assert (fixed.right(h) == (case.hypotheses.predict(h, x) == y)).all()
    assert counted.n_calls == 5
    assert (fixed.exact, fixed.n_samples) == (case.hypotheses.exact, 6)
    reachable = np.any([p == y for p in case.patterns(x)], axis=0)
    assert (fixed.within_reach() | ~reachable).all()


@exact
def test_foreign_hypothesis_is_refused(case: Case) -> None:
    with pytest.raises(InvalidInputError):
        case.hypotheses.predict("not one of yours", case.examples(np.random.default_rng(0), 1))


class TestEstimator:
    """The inexact oracle: what holds of it, and what it refuses."""

    hypotheses = EstimatorClass(DecisionTreeClassifier(max_depth=3, random_state=0), N_LABELS)
    x = np.arange(6.0)[:, None]

    def test_fits_what_it_is_given(self) -> None:
        y = np.array([0, 0, 1, 1, 2, 2])
        h = self.hypotheses.erm(self.x, y, np.ones(6))
        assert self.hypotheses.predict(h, self.x).tolist() == y.tolist()
        assert not self.hypotheses.exact
        assert self.hypotheses.n_hypotheses is None

    def test_weights_matter(self) -> None:
        y = np.array([0, 1, 0, 1, 0, 1])
        h = self.hypotheses.erm(np.zeros((6, 1)), y, np.where(y == 1, 5.0, 1.0))
        assert set(self.hypotheses.predict(h, self.x)) == {1}

    def test_negative_weights_are_refused(self) -> None:
        with pytest.raises(NegativeWeightError, match="1 of 6 weights are negative"):
            self.hypotheses.erm(self.x, [0, 1, 2, 0, 1, 2], [1, 1, 1, 1, 1, -1])

    def test_one_label_gives_the_constant(self) -> None:
        h = self.hypotheses.erm(self.x, [2, 2, 2, 1, 1, 1], [1, 1, 1, 0, 0, 0])
        assert set(self.hypotheses.predict(h, self.x)) == {2}

    def test_what_cannot_fit_weights_is_refused(self) -> None:
        with pytest.raises(InvalidInputError, match="no fit and predict"):
            EstimatorClass(object(), 3)
        with pytest.raises(InvalidInputError, match="no sample_weight"):
            EstimatorClass(KNeighborsClassifier(), 3)
