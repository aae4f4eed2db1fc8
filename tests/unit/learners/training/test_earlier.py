"""Going on from earlier answers: with a larger budget, with more rows, or with answers from elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from onebit.classifier import YesNoClassifier
from onebit.errors import InvalidInputError
from onebit.learners.training.earlier import EarlierAnswer, Remembered, checked
from onebit.learners.training.learner import TrainingLearner
from onebit.learners.training.pooled import built_in
from onebit.records import Answer, Question, TrainingProtocol

K = 6
RNG = np.random.default_rng(2)
Y = RNG.integers(0, K, 500)
X = 2 * RNG.standard_normal((K, 4))[Y] + RNG.standard_normal((500, 4))


def trained(budget: int, n_rows: int, history: Any = (), **options: Any) -> tuple[YesNoClassifier, list[tuple]]:
    asked: list[tuple] = []

    def answer(row: int, label: int) -> bool:
        asked.append((row, label))
        return bool(Y[row] == label)

    model = YesNoClassifier(GaussianNB(), budget=budget, seed=0, **options)
    return model.fit(X[:n_rows], answer=answer, labels=range(K), answers=history), asked


@pytest.mark.parametrize("protocol", ["one-shot", "follow-up"])
@pytest.mark.parametrize("n_rows", [400, 500])
def test_a_larger_budget_or_a_larger_pool_asks_nothing_again(protocol: TrainingProtocol, n_rows: int) -> None:
    first, asked_first = trained(150, 400, protocol=protocol, audit=30)
    second, asked = trained(200, n_rows, first.history_, protocol=protocol, audit=30)
    assert not set(asked) & set(asked_first)
    audited = {row for row, _, _, in_audit in first.history_ if in_audit}
    assert len(audited) == 30
    about_audited = [row for row, _ in asked if row in audited]
    assert len(asked) - len(about_audited) == 50, "the budget has grown by so much"
    assert len(about_audited) == len(set(about_audited)) < 30, "only where the prediction has changed"
    assert second.n_answers_ == len(second.history_) == 150 + len(asked)
    assert not {row for row, _, _, in_audit in second.history_ if not in_audit} & audited, "never trained on"
    assert set(first.verified_items_) - audited <= set(second.verified_items_)


def test_the_interval_of_a_run_that_goes_on_is_that_of_the_whole_audit() -> None:
    first, _ = trained(150, 400, audit=30)
    second, _ = trained(200, 400, first.history_)
    right = [bool(Y[row] == second.predict(X[[row]])[0]) for row, _, _, in_audit in first.history_ if in_audit]
    assert second.accuracy_interval_ is not None
    assert second.accuracy_interval_[0] < np.mean(right) < second.accuracy_interval_[1]
    assert second.accuracy_interval_[1] - second.accuracy_interval_[0] < 0.4


def test_answers_from_elsewhere_are_trained_on_and_those_rows_are_not_audited() -> None:
    said = [(row, int(label), bool(Y[row] == label)) for row in range(40) for label in range(K)]
    model, asked = trained(len(said) + 30, 400, said, audit=20)
    assert len(asked) == 30
    assert min(row for row, _ in asked) >= 40
    assert set(range(40)) <= set(model.verified_items_.tolist())


def test_who_is_heeded_is_learned_from_earlier_answers() -> None:
    """No line tells the labels apart, nor do names; networks do, but where there are names they begin unheeded."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (500, 2)).astype(np.float32)
    y = (x[:, 0] * x[:, 1] > 0).astype(int)
    earlier = [EarlierAnswer(row, 1, Answer.YES if y[row] else Answer.NO) for row in range(400)]
    names = np.eye(2, dtype=np.float32)
    model = built_in(2, 2, names, rng)
    assert model.heeded[0] < 0.2
    TrainingLearner(model, x, 2, budget=500, near_are_alike=True, names=names, earlier=earlier)
    assert model.heeded[0] > 0.8


def test_what_is_remembered() -> None:
    earlier = [EarlierAnswer(0, 1, Answer.NO), EarlierAnswer(1, 2, Answer.YES)]
    for one_is_right in (True, False):
        remembered = Remembered(earlier, one_is_right)
        said = [remembered.of(Question(0, item, label, 1.0, 0)) for item, label in ((0, 1), (0, 2), (1, 2), (1, 0))]
        assert said == [Answer.NO, None, Answer.YES, Answer.NO if one_is_right else None]


@pytest.mark.parametrize(
    ("answers", "says"),
    [
        ([(9, "a", True)], "row 9; there are 9 rows"),
        ([(0, "c", True)], "none of the labels"),
        ([(0, "a", "maybe")], "True, False, None"),
        ([(0, "a")], "a row, a label and an answer"),
        ([(0, "a", True), (0, "a", False)], "two earlier answers"),
    ],
)
def test_bad_answers_are_one_clear_error(answers: list, says: str) -> None:
    with pytest.raises(InvalidInputError, match=says):
        checked(answers, ["a", "b"], 9)


def test_what_an_answer_may_be_and_a_repeated_one() -> None:
    said = [(0, "a", True), (0, "b", "no"), (np.int64(1), "a", None), (1, "b", Answer.YES, True), (0, "a", "yes")]
    assert checked(said, ["a", "b"], 9) == [
        EarlierAnswer(0, 0, Answer.YES),
        EarlierAnswer(0, 1, Answer.NO),
        EarlierAnswer(1, 0, Answer.CANT_TELL),
        EarlierAnswer(1, 1, Answer.YES, True),
    ]


def test_a_budget_that_is_spent_and_rows_in_both_parts_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="budget is 2, and 2 answers are there"):
        trained(2, 400, [(0, 0, True), (1, 0, False)])
    with pytest.raises(InvalidInputError, match="item 3 has earlier answers to audit and to train on"):
        trained(50, 400, [(3, 0, False, True), (3, 1, False, False)])
