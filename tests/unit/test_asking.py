"""Ask and tell: a loop of one's own, in rows and labels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris

from onebit import Answer, YesNoClassifier
from onebit.errors import InvalidInputError, UnknownQuestionError

X, NUMBERS = load_iris(return_X_y=True)
NAMES = ["setosa", "versicolor", "virginica"]
Y = np.array(NAMES)[NUMBERS]


def answered(learner: Any, n: int, most: int = 10**9) -> int:
    n_told = 0
    while n_told < most and (questions := learner.ask(n)):
        # In any order.
        for question in reversed(questions):
            learner.tell(question, bool(Y[question.row] == question.label))
        n_told += len(questions)
    return n_told


@pytest.mark.parametrize("protocol", ["one-shot", "follow-up"])
def test_a_loop_of_ones_own_gives_what_fit_gives(protocol: Any) -> None:
    options: dict = {"protocol": protocol, "budget": 120, "audit": 20, "seed": 1}
    fitted = YesNoClassifier(**options).fit(X, answer=lambda row, label: bool(Y[row] == label), labels=NAMES)
    learner = YesNoClassifier(**options).learner(X, labels=NAMES)
    assert not learner.is_over
    assert answered(learner, 256) == 120
    assert learner.is_over
    own = learner.classifier
    assert sorted(own.history_) == sorted(fitted.history_)
    np.testing.assert_array_equal(own.predict_proba(X), fitted.predict_proba(X))
    assert own.accuracy_interval_ == fitted.accuracy_interval_
    assert own.status_ == "complete"


def test_it_can_be_used_on_the_way_and_gone_on_with() -> None:
    learner = YesNoClassifier(protocol="follow-up", budget=150, audit=20, seed=1).learner(X, labels=NAMES)
    answered(learner, 1, most=90)
    early = learner.classifier
    assert early.status_ == "running"
    assert early.accuracy_interval_ is None
    assert early.score(X, Y) > 0.7
    again = YesNoClassifier(protocol="follow-up", budget=150, seed=2).learner(X, labels=NAMES, answers=learner.history)
    assert answered(again, 3) == 60
    assert again.history[:90] == learner.history
    audited = {row for row, _, _, was in again.history if was}
    assert learner.history.sample is not None
    assert audited == set(learner.history.sample.aside)
    assert again.classifier.n_answers_ == 150
    assert again.classifier.accuracy_interval_ is not None


def test_an_answer_that_another_learner_asked_for_is_refused() -> None:
    """Questions are numbered anew by whoever goes on: a late answer would be taken for one about another row."""
    options: dict = {"protocol": "follow-up", "budget": 150, "audit": 20}
    first = YesNoClassifier(**options, seed=1).learner(X, labels=NAMES)
    told, late, _ = first.ask(3)
    first.tell(told, bool(Y[told.row] == told.label))
    again = YesNoClassifier(**options, seed=2).learner(X, labels=NAMES, answers=first.history)
    own = again.ask(3)[late.id]
    assert (own.row, own.label) != (late.row, late.label)
    with pytest.raises(UnknownQuestionError, match=f"another learner, and here question 1 is about row {own.row} and"):
        again.tell(late, True)
    again.tell(own.id, False)
    assert again.history[1:] == [(own.row, own.label, "no", False)]


def test_two_trainings_that_one_classifier_began_do_not_mix() -> None:
    """Neither has the model of the other beside its own interval and labels."""
    model = YesNoClassifier(protocol="follow-up", budget=120, audit=20, seed=1)
    learner = model.learner(X, labels=NAMES)
    answered(learner, 5)
    interval, score = learner.classifier.accuracy_interval_, learner.classifier.score(X, Y)
    other = model.learner(X[:, :2], labels=["a", "b"])
    assert not hasattr(model, "accuracy_interval_")
    assert learner.classifier.score(X, Y) == score > 0.9
    assert learner.classifier.accuracy_interval_ == interval
    assert other.classifier.classes_.tolist() == ["a", "b"]
    assert other.classifier.accuracy_interval_ is None
    assert other.classifier.predict_proba(X[:, :2]).shape == (len(X), 2)


def test_what_is_told_is_checked() -> None:
    learner = YesNoClassifier(budget=50, seed=0).learner(X, labels=NAMES)
    first, second, third = learner.ask(3)
    assert first.label in NAMES
    with pytest.raises(InvalidInputError, match="must be True, False, None or an Answer"):
        learner.tell(first, "no")
    learner.tell(first.id, None)
    learner.tell(second, Answer.NONE)
    learner.tell(third, np.bool_(False))
    with pytest.raises(UnknownQuestionError, match="question 0 is not open"):
        learner.tell(first, True)
    assert [said for _, _, said, _ in learner.history] == ["can't tell", "none of these", "no"]
    with pytest.raises(InvalidInputError, match="without labels"):
        YesNoClassifier().learner(X, labels=[])


def test_answers_from_before_count_in_curve_forecast_and_what_is_observed() -> None:
    first = YesNoClassifier(protocol="one-shot", budget=100, audit=10, seed=0).fit(X, Y)
    seen: list[int] = []
    second = YesNoClassifier(protocol="one-shot", budget=160, audit=10, seed=0)
    second.fit(X, Y, answers=first.history_, observe=lambda n, result: seen.append(n))
    assert second.learning_curve_[0].first == 90, "those that were trained on"
    assert 100 < second.learning_curve_[-1].last <= 150
    assert min(seen) > 100
    assert seen[-1] == second.n_answers_
    assert all(point.n_answers >= 300 for point in second.forecast_)
