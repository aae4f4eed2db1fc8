"""The shipped suites over every rater."""

from __future__ import annotations

import numpy as np
import pytest

from onebit.errors import InvalidInputError
from onebit.raters import CallableRater, DrawnLabelsRater, ErringRater, Rater, SimulatedRater, UnsureRater
from onebit.records import Answer, Question
from onebit.testing import RaterSuite, SteadyRaterSuite

N_ITEMS, N_LABELS = 30, 4
TRUTH = np.random.default_rng(0).integers(0, N_LABELS, N_ITEMS)


class TestSimulated(SteadyRaterSuite):
    n_items, n_labels, most_yes, gives_labels = N_ITEMS, N_LABELS, 1, True

    def make(self) -> Rater:
        return SimulatedRater(TRUTH)


class TestErring(SteadyRaterSuite):
    n_items, n_labels = N_ITEMS, N_LABELS

    def make(self) -> Rater:
        return ErringRater(TRUTH, f_no=0.2, f_yes=0.3, seed=1)


class TestErringAnew(RaterSuite):
    n_items, n_labels = N_ITEMS, N_LABELS

    def make(self) -> Rater:
        return ErringRater(TRUTH, f_no=0.2, f_yes=0.3, seed=1, anew=True)


class TestDrawnLabels(RaterSuite):
    n_items, n_labels, gives_labels = N_ITEMS, N_LABELS, True

    def make(self) -> Rater:
        return DrawnLabelsRater(np.full((N_ITEMS, N_LABELS), 1 / N_LABELS), seed=1)


class TestUnsure(SteadyRaterSuite):
    n_items, n_labels, most_yes, gives_labels = N_ITEMS, N_LABELS, 1, True

    def make(self) -> Rater:
        return UnsureRater(SimulatedRater(TRUTH), 0.4, seed=2)


class TestCallable(SteadyRaterSuite):
    n_items, n_labels, most_yes = N_ITEMS, N_LABELS, 1

    def make(self) -> Rater:
        return CallableRater(lambda item, label: None if item == 0 else bool(TRUTH[item] == label))


@pytest.mark.parametrize("said", ["no", 0, 1, float("nan")])
def test_a_callable_that_says_neither_true_nor_false_is_refused(said: object) -> None:
    question = Question(0, 0, 0, 1.0, 0)
    with pytest.raises(InvalidInputError, match="True, False, None or an Answer"):
        CallableRater(lambda item, label: said)(question)  # type: ignore[arg-type,return-value]
    assert CallableRater(lambda item, label: Answer.NO)(question) is Answer.NO
