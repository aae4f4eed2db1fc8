"""The shipped suites over every hypothesis class, each with every label pattern that it realises, listed anew."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier
from tests.problems import Ints
from tests.unit.passes.shards import write_shards

from onebit.errors import InvalidInputError, NegativeWeightError
from onebit.hypotheses.base import HypothesisClass
from onebit.hypotheses.cost_sensitive import CostSensitiveClass
from onebit.hypotheses.cover import CoverClass, build_cover
from onebit.hypotheses.estimator import EstimatorClass
from onebit.hypotheses.finite import ModelList, PredictionTable
from onebit.hypotheses.intervals import IntervalClass
from onebit.hypotheses.stumps import StumpClass
from onebit.hypotheses.trees import TreeClass
from onebit.passes import ShardedTable
from onebit.testing import ExactSuite, HypothesisSuite

N_LABELS = 3
TABLE = np.random.default_rng(5).integers(-1, N_LABELS, (7, 6))
FULL = np.maximum(TABLE, 0)


class RowSuite(ExactSuite):
    """Examples are the columns of a small table."""

    def examples(self, rng: np.random.Generator, n: int) -> Any:
        return rng.integers(0, 6, n)

    def patterns(self, x: Any) -> Iterable[Ints]:
        return TABLE[:, x]


class TestTable(RowSuite):
    def make(self) -> HypothesisClass:
        return PredictionTable(TABLE, N_LABELS)


class TestShards(RowSuite):
    @pytest.fixture(autouse=True)
    def shards(self, tmp_path: Path) -> None:
        self.folder = tmp_path / "shards"
        write_shards(self.folder, TABLE, n_files=2, group_size=2)

    def make(self) -> HypothesisClass:
        return ShardedTable(self.folder, N_LABELS, models=[f"m{h}" for h in range(7)])


class TestModels(RowSuite):
    def make(self) -> HypothesisClass:
        return ModelList([lambda x, h=h: TABLE[h][x] for h in range(7)], N_LABELS)


class TestCover(RowSuite):
    def make(self) -> HypothesisClass:
        table = PredictionTable(FULL, N_LABELS)
        return CoverClass(table, build_cover(table, np.arange(6)))

    def patterns(self, x: Any) -> Iterable[Ints]:
        return FULL[:, x]


class TestIntervals(ExactSuite):
    def make(self) -> HypothesisClass:
        return IntervalClass(2, N_LABELS)

    def examples(self, rng: np.random.Generator, n: int) -> Any:
        return rng.integers(0, 6, n).astype(float)

    def patterns(self, x: Any) -> Iterator[Ints]:
        values, place = np.unique(x, return_inverse=True)
        for labels in itertools.product(range(N_LABELS), repeat=values.size):
            if np.count_nonzero(np.diff(labels)) <= 2:
                yield np.array(labels, dtype=np.int64)[place]


class PlaneSuite(ExactSuite):
    """Examples are points of a small grid."""

    def examples(self, rng: np.random.Generator, n: int) -> Any:
        return rng.integers(0, 4, (n, 2)).astype(float)


class TestStumps(PlaneSuite):
    def make(self) -> HypothesisClass:
        return StumpClass(2, N_LABELS)

    def patterns(self, x: Any) -> Iterator[Ints]:
        return stump_patterns(x)


class TestTrees(PlaneSuite):
    def make(self) -> HypothesisClass:
        return TreeClass(2, N_LABELS)

    def patterns(self, x: Any) -> Iterator[Ints]:
        stumps = list({p.tobytes(): p for p in stump_patterns(x)}.values())
        for root in sides(x):
            for left, right in itertools.product(stumps, repeat=2):
                yield np.where(root, left, right)


def sides(x: Any) -> list[Any]:
    """Every way in which one axis-aligned split parts the examples, the trivial one included."""
    if x.shape[0] == 0:
        return [np.zeros(0, dtype=bool)]
    return [x[:, feature] < threshold for feature in range(x.shape[1]) for threshold in np.unique(x[:, feature])]


def stump_patterns(x: Any) -> Iterator[Ints]:
    for left in sides(x):
        for a, b in itertools.product(range(N_LABELS), repeat=2):
            yield np.where(left, a, b)


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
def test_errors_say_what_is_wrong_with_a_sample(y: list[int], weight: list[float], says: str) -> None:
    with pytest.raises(InvalidInputError, match=says):
        PredictionTable(TABLE, N_LABELS).erm(np.arange(3), y, weight)


def test_errors_say_what_is_wrong_with_a_number_of_columns() -> None:
    with pytest.raises(InvalidInputError, match="n_columns is"):
        PredictionTable(TABLE, N_LABELS).erm_columns(np.arange(1), [0], [1.0], 0)


class PositiveOnly(PredictionTable):
    """A table whose oracle refuses negative weights, as those of learned classes do."""

    takes_negative_weights = False

    def _columns(self, x: Any, y: Any, weight: Any, n_columns: int) -> tuple[int, ...]:
        if (weight < 0).any():
            raise NegativeWeightError("no")
        return super()._columns(x, y, weight, n_columns)


class TestCostSensitive(RowSuite):
    """Over an oracle that refuses negative weights the reduction has the least error of signed weights, exactly."""

    def make(self) -> HypothesisClass:
        return CostSensitiveClass(PositiveOnly(FULL, N_LABELS))

    def patterns(self, x: Any) -> Iterable[Ints]:
        return FULL[:, x]


class TestEstimator(HypothesisSuite):
    """The inexact oracle: what holds of it, and what it refuses."""

    hypotheses = EstimatorClass(DecisionTreeClassifier(max_depth=3, random_state=0), N_LABELS)
    x = np.arange(6.0)[:, None]

    def make(self) -> HypothesisClass:
        return self.hypotheses

    def examples(self, rng: np.random.Generator, n: int) -> Any:
        return rng.integers(0, 4, (n, 2)).astype(float)

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
