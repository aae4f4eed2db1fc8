"""The two reference learners: what one round may add, which their intervals rest on."""

from __future__ import annotations

import math

import numpy as np
import pytest

from onebit.hypotheses.finite import PredictionTable
from onebit.learners.contract import Learner, run
from onebit.learners.items import Pool
from onebit.learners.paper.final import ErmResult
from onebit.learners.paper.full_information import FullInformationLearner
from onebit.learners.paper.uniform import UniformLearner
from onebit.records import Answer, Question, Status

K, N_ROUNDS, DELTA = 7, 4000, 0.1
CLASS = PredictionTable([[0, 1, 2], [3, 4, 5], [6, 6, 6]], n_labels=K)


@pytest.mark.parametrize(
    ("learner", "largest"),
    [
        (UniformLearner(CLASS, Pool(np.arange(3)), N_ROUNDS, delta=DELTA, seed=0), K),
        (FullInformationLearner(CLASS, Pool(np.arange(3)), N_ROUNDS, delta=DELTA, seed=0), 1),
    ],
    ids=["uniform", "full labels"],
)
def test_the_intervals_have_the_range_of_a_round(learner: Learner[ErmResult], largest: float) -> None:
    """With no yes at all the variance is 0 and the width is the range's alone: 7 * largest * log(4 / f) / (3 (n - 1)).

    Uniform guesses weigh a yes by K; with a smaller range the interval would not hold.
    """
    intervals = run(learner, lambda question: Answer.CANT_TELL).intervals
    assert intervals is not None
    width = 7 * largest * math.log(4 * 3 / DELTA) / (3 * (N_ROUNDS - 1))
    assert intervals.upper.tolist() == pytest.approx([width] * 3)
    assert intervals.lower.tolist() == [0, 0, 0]


def test_the_promise_names_the_probability_with_which_the_intervals_hold() -> None:
    learner = UniformLearner(CLASS, Pool(np.arange(3)), N_ROUNDS, delta=0.25, seed=0)
    assert "with probability at least 0.75" in learner.result.promise
    assert "all 3 hypotheses" in learner.result.promise


def test_a_yes_to_a_uniform_guess_counts_K_times() -> None:
    result = run(UniformLearner(CLASS, Pool(np.arange(3)), N_ROUNDS, seed=1), lambda question: Answer.YES)
    assert result.intervals is not None
    # Every label is right: each hypothesis has accuracy 1, up to a deviation of sqrt((K - 1) / n) = .04.
    assert result.intervals.estimate == pytest.approx(np.ones(3), abs=0.25)
    assert (result.intervals.upper >= 1).all()


@pytest.mark.parametrize("kind", [UniformLearner, FullInformationLearner])
def test_it_ends_with_its_last_round_and_once(kind: type[UniformLearner | FullInformationLearner]) -> None:
    """Asked one at a time, so that an end a round too early shows; one call of the oracle, however often it is read."""
    learner = kind(CLASS, Pool(np.arange(3)), 5, seed=0)
    asked = 0
    while not isinstance(questions := learner.ask(1), Status):
        asked += 1
        learner.tell(questions[0].id, Answer.CANT_TELL)
        assert (learner.result.chosen is None) == (asked < 5)
    assert asked == 5
    assert learner.result.oracle_calls == 1


def test_the_first_label_counts_as_every_other_and_who_cant_tell_says_nothing() -> None:
    said, right = np.array([[1, 1, 1, 1], [0, 0, 1, 1]]), (0, 0, 1, None)
    learner = FullInformationLearner(PredictionTable(said, 2), Pool(np.arange(4)), 4000, seed=0)

    def rater(question: Question) -> Answer | int:
        label = right[question.item]
        return Answer.CANT_TELL if label is None else label

    result = run(learner, rater)
    assert result.chosen == 1
    assert result.intervals is not None
    # A share of 4,000 draws has a deviation of at most .008.
    assert result.intervals.estimate == pytest.approx([0.25, 0.75], abs=0.05)
