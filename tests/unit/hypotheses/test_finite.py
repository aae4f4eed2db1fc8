"""Finite classes: storage, agreement, abstentions, bad input."""

from __future__ import annotations

import re

import numpy as np
import pytest

from onebit.errors import InvalidInputError
from onebit.hypotheses.finite import ModelList, PredictionTable
from onebit.hypotheses.intervals import IntervalClass, Intervals


@pytest.mark.parametrize("n_labels", [2, 127, 128, 129, 300, 40_000])
def test_tables_of_any_number_of_labels_keep_their_values(n_labels: int) -> None:
    rng = np.random.default_rng(n_labels)
    values = rng.integers(-1, n_labels, (4, 30))
    values[0, 0], values[0, 1] = n_labels - 1, -1
    table = PredictionTable(values, n_labels)
    assert (table.predictions(np.arange(30)) == values).all()
    assert (table.predict(2, np.arange(30)) == values[2]).all()


@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.int8, np.uint64])
def test_tables_of_any_integer_type(kind: type[np.integer]) -> None:
    values = np.array([[0, 1, 2], [2, 2, 0]], dtype=kind)
    assert (PredictionTable(values, 3).predictions(np.arange(3)) == values).all()


def test_any_negative_number_abstains_and_is_never_right() -> None:
    table = PredictionTable([[-7, 1], [0, -1]], 2)
    assert table.predictions(np.arange(2)).tolist() == [[-1, 1], [0, -1]]
    assert table.agreement([0, 1], [0, 1], [1.0, 2.0]).tolist() == [2.0, 1.0]


def test_agreement_is_the_plain_sum() -> None:
    rng = np.random.default_rng(0)
    values = rng.integers(0, 5, (20, 50))
    x, y, weight = rng.integers(0, 50, 200), rng.integers(0, 5, 200), rng.normal(size=200)
    expected = ((values[:, x] == y) * weight).sum(axis=1)
    assert PredictionTable(values, 5).agreement(x, y, weight) == pytest.approx(expected)
    models = ModelList([lambda x, row=row: row[x] for row in values], 5)
    assert models.agreement(x, y, weight) == pytest.approx(expected)


def test_ties_go_to_the_first_of_equal_rows() -> None:
    rng = np.random.default_rng(1)
    row = rng.integers(0, 3, 64)
    table = PredictionTable(np.stack([(row + 1) % 3, row, row, row]), 3)
    assert table.erm(np.arange(64), row, rng.uniform(size=64)) == 1


def test_distinct_hypotheses_of_all_items_and_of_some() -> None:
    """Rows 0 and 2 are equal on all items; on the last alone 1 equals them, too. -7 abstains as -1 does."""
    table = PredictionTable([[0, 1, -7], [1, 1, -1], [0, 1, -1]], n_labels=2)
    for x, of_rows in (([0, 1, 2], [0, 1, 0]), ([2], [0, 0, 0]), ([1, 0], [0, 1, 0])):
        first, which, said = table.distinct_on(np.array(x))
        assert which.tolist() == of_rows
        assert first.tolist() == [of_rows.index(row) for row in sorted(set(of_rows))]
        assert said[which].tolist() == table.predictions(np.array(x)).tolist()


def test_fitted_models_are_asked_through_predict() -> None:
    class Constant:
        def predict(self, x: np.ndarray) -> np.ndarray:
            return np.full(len(x), 1)

    assert ModelList([Constant()], 2).predict(0, np.zeros(3)).tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    ("predictions", "n_labels", "says"),
    [
        ([], 2, "shape"),
        (np.zeros((0, 3), dtype=int), 2, "at least one"),
        (np.zeros((3, 0), dtype=int), 2, "at least one"),
        ([[0, 1, 2], [0, 1, 3]], 3, "label (1, 2) is 3"),
        ([[0.0, float("nan")]], 3, "whole numbers"),
        ([["a", "b"]], 3, "whole numbers"),
        ([[0, None]], 3, "whole numbers"),
        ([[0, 1], [2]], 3, "do not make an array"),
        ([[0, 1]], 1, "at least 2"),
        ([[0, 1]], 2.5, "at least 2"),
    ],
)
def test_bad_tables_are_refused(predictions: object, n_labels: int, says: str) -> None:
    with pytest.raises(InvalidInputError, match=re.escape(says)):
        PredictionTable(predictions, n_labels)  # type: ignore[arg-type]


def test_bad_examples_models_and_names_are_refused() -> None:
    table = PredictionTable([[0, 1]], 2)
    for x in ([0, 2], [-1], [[0], [1]]):
        with pytest.raises(InvalidInputError, match="item numbers"):
            table.predictions(x)
    with pytest.raises(InvalidInputError, match="whole numbers"):
        table.predictions([0.5])
    with pytest.raises(InvalidInputError, match="hypothesis 1 is not"):
        table.predict(1, [0])
    with pytest.raises(InvalidInputError, match="empty"):
        ModelList([], 2)
    with pytest.raises(InvalidInputError, match="label 0 is 5"):
        ModelList([lambda x: np.full(len(x), 5)], 2).predict(0, np.zeros(1))
    for n in (2, 4):
        with pytest.raises(InvalidInputError, match="predictions for 3 examples"):
            ModelList([lambda x, n=n: np.zeros(n, dtype=int)], 2).agreement(np.zeros(3), [0, 0, 0], np.ones(3))
    with pytest.raises(InvalidInputError, match="predictions of model 0"):
        ModelList([lambda x: ["a"] * len(x)], 2).predict(0, np.zeros(3))


def test_bad_points_on_the_line_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="NaN"):
        IntervalClass(1, 2).erm([0.0, float("nan")], [0, 1], [1.0, 1.0])
    with pytest.raises(InvalidInputError, match="one number for each example"):
        IntervalClass(1, 2).erm(np.zeros((2, 2)), [0, 1], [1.0, 1.0])
    for n_cuts in (-1, 1.5):
        with pytest.raises(InvalidInputError, match="n_cuts is"):
            IntervalClass(n_cuts, 2)  # type: ignore[arg-type]
    for foreign in (Intervals((0.5,), (0, 7)), Intervals((0.2, 0.5), (0, 1, 0))):
        with pytest.raises(InvalidInputError, match="not a member"):
            IntervalClass(1, 2).predict(foreign, [0.1])


def test_cuts_separate_neighbouring_floats() -> None:
    low = 1.0
    x = np.array([low, np.nextafter(low, 2)])
    h = IntervalClass(1, 2).erm(x, [0, 1], [1.0, 1.0])
    assert IntervalClass(1, 2).predict(h, x).tolist() == [0, 1]
