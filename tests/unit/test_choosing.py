"""The certified choice among fitted classifiers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from onebit.choosing import choose
from onebit.errors import InvalidInputError
from onebit.records import RunStatus

X, NUMBERS = load_digits(return_X_y=True)
Y = np.array([f"digit {number}" for number in NUMBERS])
TRAINED = 600


@pytest.fixture(scope="module")
def candidates() -> list[Any]:
    models = (
        GaussianNB(),
        DecisionTreeClassifier(random_state=0),
        LogisticRegression(max_iter=3000),
        DummyClassifier(),
    )
    return [model.fit(X[:TRAINED], Y[:TRAINED]) for model in models]


def counted(asked: list[tuple[int, str]]) -> Callable[[int, str], bool]:
    def answer(row: int, label: str) -> bool:
        asked.append((row, label))
        return bool(Y[TRAINED + row] == label)

    return answer


@pytest.mark.parametrize("protocol", ["one-shot", "follow-up"])
def test_the_best_is_chosen_with_few_answers_and_no_question_twice(candidates: list[Any], protocol: Any) -> None:
    asked: list[tuple[int, str]] = []
    choice = choose(candidates, X[TRAINED:], answer=counted(asked), eps=0.05, protocol=protocol)
    accuracy = [model.score(X[TRAINED:], Y[TRAINED:]) for model in candidates]
    assert choice.certified.status is RunStatus.COMPLETE
    assert choice.index == int(np.argmax(accuracy)) == 2
    assert choice.estimator is candidates[2]
    assert choice.certified.achieved_eps is not None
    assert choice.certified.achieved_eps <= 0.05
    assert len(asked) == len(set(asked)) == choice.certified.n_answers < 1000


def test_out_of_budget_is_said(candidates: list[Any]) -> None:
    choice = choose(candidates[:3], X[TRAINED:], answer=counted([]), eps=0.001, budget=20)
    assert choice.certified.status is RunStatus.BUDGET
    assert choice.certified.n_answers == 20


def test_where_all_agree_nothing_is_asked(candidates: list[Any]) -> None:
    asked: list[tuple[int, str]] = []
    choose([candidates[0], candidates[0]], X[TRAINED:], answer=counted(asked), eps=0.05)
    assert asked == []


@pytest.mark.parametrize(
    ("estimators", "says"),
    [
        ([GaussianNB()], "there is 1 estimator"),
        ([GaussianNB(), DummyClassifier()], "No question was asked"),
    ],
)
def test_what_cannot_be_is_refused(estimators: list[Any], says: str) -> None:
    with pytest.raises(InvalidInputError, match=says):
        choose(estimators, X, answer=counted([]), eps=0.05)
