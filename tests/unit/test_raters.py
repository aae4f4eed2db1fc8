"""Simulated raters err as often as they are told to, say the same when asked again, and late answers all arrive."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import binom

from onebit.errors import InvalidInputError, OnebitError
from onebit.hypotheses.finite import PredictionTable
from onebit.learners.contract import run
from onebit.learners.items import Pool
from onebit.learners.paper.algorithm1 import PaperLearner
from onebit.learners.paper.schedule import Plan
from onebit.raters import (
    DrawnLabelsRater,
    ErringRater,
    RandomDelays,
    Rater,
    SimulatedRater,
    UnsureRater,
    run_with_delays,
)
from onebit.records import Answer, Question, Status

N_ITEMS, N_LABELS = 4000, 5
TRUTH = np.arange(N_ITEMS) % N_LABELS
#: The chance that a rater with the right rate is failed, for each rate that is measured.
FALSE_ALARM = 1e-6


def question(item: int, label: int | None, number: int = 0) -> Question:
    return Question(number, item, label, propensity=0.5, epoch=0)


def assert_rate(count: int, n: int, rate: float) -> None:
    least, most = binom.ppf([FALSE_ALARM / 2, 1 - FALSE_ALARM / 2], n, rate)
    assert least <= count <= most


def n_said(rater: Rater, answer: Answer, shift: int, items: range = range(N_ITEMS)) -> int:
    """How often the rater says ``answer`` about the label that is ``shift`` above the truth."""
    return sum(rater(question(i, int(TRUTH[i] + shift) % N_LABELS)) is answer for i in items)


def test_constant_rates() -> None:
    rater = ErringRater(TRUTH, f_no=0.39, f_yes=0.02)
    assert_rate(n_said(rater, Answer.NO, shift=0), N_ITEMS, 0.39)
    for shift in range(1, N_LABELS):
        assert_rate(n_said(rater, Answer.YES, shift), N_ITEMS, 0.02)


def test_rates_for_each_item() -> None:
    rater = ErringRater(TRUTH, f_no=np.where(np.arange(N_ITEMS) < 2000, 0.1, 0.7), f_yes=0.0)
    assert_rate(n_said(rater, Answer.NO, shift=0, items=range(2000)), 2000, 0.1)
    assert_rate(n_said(rater, Answer.NO, shift=0, items=range(2000, N_ITEMS)), 2000, 0.7)
    assert n_said(rater, Answer.YES, shift=1) == 0


def test_errors_on_different_labels_of_an_item_are_independent() -> None:
    rater = ErringRater(TRUTH, f_no=0.5, f_yes=0.5)
    both = sum(
        all(rater(question(i, int(TRUTH[i] + shift) % N_LABELS)) is Answer.YES for shift in (1, 2))
        for i in range(N_ITEMS)
    )
    assert_rate(both, N_ITEMS, 0.25)


def test_without_errors_it_is_the_simulated_rater() -> None:
    erring, exact = ErringRater(TRUTH, f_no=0, f_yes=0), SimulatedRater(TRUTH)
    asked = [question(item, label) for item in range(20) for label in range(N_LABELS)]
    assert [erring(each) for each in asked] == [exact(each) for each in asked]


@pytest.mark.parametrize(
    "make",
    [
        lambda seed: ErringRater(TRUTH, f_no=0.5, f_yes=0.5, seed=seed),
        lambda seed: UnsureRater(SimulatedRater(TRUTH), 0.5, seed=seed),
    ],
    ids=["erring", "unsure"],
)
def test_the_same_question_has_the_same_answer(make: Callable[[int], Rater]) -> None:
    asked = [question(item, item % 3, number) for number, item in enumerate(range(200))]
    first, again, other = make(1), make(1), make(2)
    said = [first(each) for each in asked]
    # Neither the number of the question nor what was asked before matters.
    assert said == [again(question(each.item, each.label, each.id + 7)) for each in reversed(asked)][::-1]
    assert said != [other(each) for each in asked]


def test_cant_tell_depends_on_the_item_alone() -> None:
    rater = UnsureRater(SimulatedRater(TRUTH), np.where(np.arange(N_ITEMS) < 2000, 0.2, 0.0))
    unsure = [[rater(question(i, label)) is Answer.CANT_TELL for label in range(N_LABELS)] for i in range(N_ITEMS)]
    assert all(len(set(each)) == 1 for each in unsure)
    assert_rate(sum(each[0] for each in unsure[:2000]), 2000, 0.2)
    assert not any(each[0] for each in unsure[2000:])
    assert n_said(rater, Answer.NO, shift=0) == 0


def test_an_unsure_rater_may_be_asked_for_the_label() -> None:
    said = [UnsureRater(SimulatedRater(TRUTH), 0.5)(question(i, None)) for i in range(100)]
    assert set(said) == {Answer.CANT_TELL, *range(N_LABELS)}


def test_an_erring_rater_may_not() -> None:
    with pytest.raises(InvalidInputError, match="asks for the label itself"):
        ErringRater(TRUTH, f_no=0.1, f_yes=0.1)(question(0, None))


@pytest.mark.parametrize("rate", [-0.1, 1.1, math.nan, "0.5", True, [0.5, 0.5], [[0.5]], np.full(N_ITEMS, 2)])
def test_rates_are_checked(rate: object) -> None:
    with pytest.raises(InvalidInputError, match="f_no"):
        ErringRater(TRUTH, f_no=rate, f_yes=0.0)  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="f_yes"):
        ErringRater(TRUTH, f_no=0.0, f_yes=rate)  # type: ignore[arg-type]


def test_bad_input_is_refused() -> None:
    exact = SimulatedRater(TRUTH)
    with pytest.raises(InvalidInputError, match="can't tell"):
        UnsureRater(exact, 1.5)
    with pytest.raises(InvalidInputError, match="items 0 to 1, not for 2"):
        UnsureRater(exact, [0.5, 0.5])(question(2, 0))
    with pytest.raises(InvalidInputError, match="seed"):
        ErringRater(TRUTH, f_no=0.1, f_yes=0.1, seed=-1)
    with pytest.raises(InvalidInputError, match="mean delay"):
        RandomDelays(-1.0)
    with pytest.raises(InvalidInputError, match="lost"):
        RandomDelays(lost=1.0)
    with pytest.raises(InvalidInputError, match="n_raters"):
        run_with_delays(AsksAll(3), exact, RandomDelays(), n_raters=0)
    with pytest.raises(InvalidInputError, match="patience"):
        run_with_delays(AsksAll(3), exact, RandomDelays(), patience=0)
    with pytest.raises(InvalidInputError, match="question 0 is nan"):
        run_with_delays(AsksAll(3), exact, lambda question, attempt: math.nan)


class AsksAll:
    """A learner that asks one question about each of ``n`` items, ``at_once`` of them open, and keeps what it is told.

    It waits for all that are open before it asks further.
    """

    def __init__(self, n: int, at_once: int = 50) -> None:
        self._n, self._at_once, self._n_asked = n, at_once, 0
        self._open: set[int] = set()
        self._may_ask = at_once
        self.told: list[tuple[int, Answer | int]] = []

    @property
    def result(self) -> int:
        return len(self.told)

    def ask(self, n: int = 1) -> tuple[Question, ...] | Status:
        if not self._open:
            self._may_ask = self._at_once
        n = min(n, self._may_ask, self._n - self._n_asked)
        if n == 0:
            return Status.WAIT if self._open else Status.DONE
        new = tuple(question(i, 0, number=i) for i in range(self._n_asked, self._n_asked + n))
        self._n_asked += n
        self._may_ask -= n
        self._open |= {each.id for each in new}
        return new

    def tell(self, question_id: int, answer: Answer | int) -> None:
        self._open.remove(question_id)
        self.told.append((question_id, answer))


def test_delays_have_their_mean_and_their_losses() -> None:
    delays = RandomDelays(mean=3.0, lost=0.2)
    waits = [delays(question(0, 0, number), attempt) for number in range(2000) for attempt in range(2)]
    finite = [wait for wait in waits if wait < math.inf]
    assert_rate(len(waits) - len(finite), len(waits), 0.2)
    # An exponential exceeds its mean with probability 1/e.
    assert_rate(sum(wait > 3 for wait in finite), len(finite), math.exp(-1))


def test_late_answers_come_out_of_order_and_all_of_them() -> None:
    learner, rater = AsksAll(400), SimulatedRater(TRUTH)
    assert run_with_delays(learner, rater, RandomDelays(), n_raters=8) == 400
    numbers = [number for number, _ in learner.told]
    assert numbers != sorted(numbers)
    assert sorted(learner.told) == [(i, rater(question(i, 0))) for i in range(400)]


def test_lost_answers_are_asked_for_again() -> None:
    attempts: list[tuple[int, int]] = []
    random = RandomDelays(lost=0.3)

    def delay(asked: Question, attempt: int) -> float:
        attempts.append((asked.id, attempt))
        return random(asked, attempt)

    learner = AsksAll(400)
    assert run_with_delays(learner, SimulatedRater(TRUTH), delay, patience=5.0) == 400
    assert sorted({number for number, _ in learner.told}) == list(range(400))
    # Attempts at each question count up from 0, and lost ones were followed by another.
    assert len(set(attempts)) == len(attempts) > 400
    assert {number for number, attempt in attempts if attempt == 0} == set(range(400))


def test_what_is_slower_than_patience_is_lost() -> None:
    learner = AsksAll(5)
    run_with_delays(learner, SimulatedRater(TRUTH), lambda asked, attempt: 3.0 - 2 * attempt, n_raters=2, patience=2.0)
    assert len(learner.told) == 5


def test_one_prompt_rater_answers_in_order() -> None:
    learner = AsksAll(120)
    run_with_delays(learner, SimulatedRater(TRUTH), lambda asked, attempt: 0.0, n_raters=1)
    assert [number for number, _ in learner.told] == list(range(120))


def test_delays_repeat() -> None:
    def order(seed: int) -> list[tuple[int, Answer | int]]:
        learner = AsksAll(100)
        run_with_delays(learner, SimulatedRater(TRUTH), RandomDelays(lost=0.2, seed=seed))
        return learner.told

    assert order(1) == order(1)
    assert order(1) != order(2)


def test_answers_that_never_come_are_given_up() -> None:
    with pytest.raises(OnebitError, match="lost 1000 times"):
        run_with_delays(AsksAll(3), SimulatedRater(TRUTH), lambda asked, attempt: math.inf)


def test_errors_made_anew_do_not_depend_on_the_item() -> None:
    """The same item and label, asked a thousand times: always the same error, or anew as often as the rate says."""
    questions = [Question(number, 0, 1, 1.0, 0) for number in range(1000)]
    fixed = ErringRater([1], f_no=0.3, f_yes=0.0, seed=5)
    anew = ErringRater([1], f_no=0.3, f_yes=0.0, seed=5, anew=True)
    assert len({fixed(question) for question in questions}) == 1
    errors = sum(anew(question) is Answer.NO for question in questions)
    # Six standard errors.
    assert abs(errors - 300) < 6 * (1000 * 0.3 * 0.7) ** 0.5


def test_labels_drawn_anew_have_their_chances() -> None:
    """Of 4,000 rounds of one item each label is right as often as its chance says, up to six standard errors.

    The same round asked again has the same label; of all labels of a round one is right at most.
    """
    chances = np.array([[0.5, 0.2, 0.1], [0.0, 0.0, 1.0]])
    rater = DrawnLabelsRater(chances, seed=3)
    asked = [[rater(Question(n, 0, label, 1.0, 0)) is Answer.YES for label in range(3)] for n in range(4000)]
    assert max(map(sum, asked)) == 1
    share = np.mean(asked, axis=0)
    assert (np.abs(share - chances[0]) < 6 * np.sqrt(chances[0] * (1 - chances[0]) / 4000)).all()
    assert rater(Question(7, 1, None, 1.0, 0)) == 2
    nobody = next(n for n, answers in enumerate(asked) if not any(answers))
    with pytest.raises(InvalidInputError, match="no right label"):
        rater(Question(nobody, 0, None, 1.0, 0))
    for wrong in ([0.5, 0.5], [[0.9, 0.2]], [[-0.1, 0.2]]):
        with pytest.raises(InvalidInputError, match="the chances have shape"):
            DrawnLabelsRater(wrong)


def test_the_papers_learner_where_the_label_is_random_given_the_item() -> None:
    """Label 0 has chance .6 at every item and label 1 has .4: the rule that always says 0 is right .6 of the time.

    Its interval covers that, which it would not if an item kept the label that it was first given.
    """
    table = PredictionTable(np.array([[0] * 5, [1] * 5, [2] * 5]), 3)
    rater = DrawnLabelsRater(np.tile([0.6, 0.4, 0.0], (5, 1)), seed=1)
    result = run(PaperLearner(table, Pool(np.arange(5)), Plan(60, 6000), seed=2), rater)
    assert result.chosen == 0
    assert result.intervals is not None
    assert result.intervals.lower[0] < 0.6 < result.intervals.upper[0]
    assert result.intervals.upper[0] - result.intervals.lower[0] < 0.25
