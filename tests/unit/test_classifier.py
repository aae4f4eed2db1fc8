"""YesNoClassifier as a user meets it."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import skops.io  # type: ignore[import-untyped]
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.exceptions import FitFailedWarning, NotFittedError
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from onebit.classifier import YesNoClassifier
from onebit.errors import InvalidInputError, OnebitError
from onebit.learners.training.audit import audit_for_target, fewest_that_show

X, NUMBERS = load_iris(return_X_y=True)
Y = np.array(["setosa", "versicolor", "virginica"])[NUMBERS]


@parametrize_with_checks([YesNoClassifier(seed=0)])  # type: ignore[untyped-decorator]
def test_it_is_a_scikit_learn_classifier(estimator: YesNoClassifier, check: Callable[[YesNoClassifier], None]) -> None:
    check(estimator)


def test_a_function_that_answers_trains_it_and_confirms_labels() -> None:
    asked = []

    def answer(index: int, label: str) -> bool:
        asked.append((index, label))
        return bool(Y[index] == label)

    trained = YesNoClassifier(budget=200, audit=30).fit(X, answer=answer, labels=["virginica", "setosa", "versicolor"])
    assert len(asked) == len(set(asked)) == trained.n_answers_ <= 200
    assert trained.classes_.tolist() == ["setosa", "versicolor", "virginica"]
    assert trained.score(X, Y) > 0.85
    assert (Y[trained.verified_items_] == trained.verified_labels_).all()
    assert trained.verified_items_.size == sum(Y[index] == label for index, label in asked)
    assert trained.accuracy_interval_ is not None
    low, high = trained.accuracy_interval_
    assert 0 < low < 1
    assert low < high
    np.testing.assert_allclose(trained.predict_proba(X).sum(axis=1), 1.0)


def test_the_same_seed_gives_the_same_classifier_and_clone_keeps_the_options() -> None:
    first = YesNoClassifier(protocol="follow-up", budget=60, seed=3).fit(X, Y)
    again = clone(first).fit(X, Y)
    np.testing.assert_array_equal(first.predict_proba(X), again.predict_proba(X))


@pytest.mark.parametrize("estimator", [None, ExtraTreesClassifier(n_estimators=5, random_state=0)])
def test_saved_without_pickle_and_loaded(tmp_path: Path, estimator: object) -> None:
    trained = YesNoClassifier(estimator, budget=100).fit(X, Y)
    skops.io.dump(trained, tmp_path / "model.skops")
    types = skops.io.get_untrusted_types(file=tmp_path / "model.skops")
    assert all(name.startswith(("onebit.", "sklearn.")) for name in types)
    loaded = skops.io.load(tmp_path / "model.skops", trusted=types)
    np.testing.assert_array_equal(loaded.predict(X), trained.predict(X))


def test_a_pipeline_and_sparse_numbers() -> None:
    pipeline = make_pipeline(StandardScaler(), ExtraTreesClassifier(n_estimators=10, random_state=0))
    assert YesNoClassifier(pipeline, protocol="follow-up", budget=150).fit(X, Y).score(X, Y) > 0.85
    assert YesNoClassifier(protocol="follow-up", budget=150).fit(csr_array(X), Y).score(csr_array(X), Y) > 0.8


def test_texts() -> None:
    rng = np.random.default_rng(0)
    words = {"food": ["bread", "soup", "rice", "salt"], "sky": ["cloud", "rain", "sun", "star"]}
    truth = rng.choice(list(words), 120)
    texts = [" ".join(rng.choice([*words[label], "the", "a"], 6)) for label in truth]
    trained = YesNoClassifier(budget=100).fit(texts, truth)
    assert trained.score(texts, truth) > 0.9


def test_constant_features_and_a_label_that_never_comes() -> None:
    trained = YesNoClassifier(budget=60).fit(
        np.ones((50, 3)), answer=lambda index, label: label == "a", labels=["a", "b", "never"]
    )
    assert set(trained.predict(np.ones((5, 3)))) == {"a"}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"y": np.zeros(150)}, "only one class"),
        ({"y": Y[:10]}, "10 labels for 150 rows"),
        ({}, "y to be passed"),
        ({"answer": lambda index, label: True}, "without labels"),
        ({"answer": lambda index, label: True, "labels": ["a", "a"]}, "some are equal, such as 'a'"),
        ({"answer": lambda index, label: True, "labels": ["a", "b"], "y": Y}, "both y and answer"),
        ({"answer": lambda index, label: "no", "labels": ["a", "b"]}, "must be True, False"),
        ({"answer": [True] * 150, "labels": ["a", "b"]}, "give a function of a row's number and a label that says"),
        ({"y": ["a"] * 150}, "only one class, 'a'; give"),
        ({"answer": lambda index, label: True, "labels": "abc"}, "the labels are 'abc'; give a list"),
        ({"answer": lambda index, label: True, "labels": 3}, "the labels are 3; give a list"),
        ({"y": Y, "labels": [1]}, "labels 'setosa' and 1 one is a text"),
    ],
)
def test_bad_input_is_one_clear_error(arguments: dict, says: str) -> None:
    with pytest.raises(InvalidInputError, match=says):
        YesNoClassifier(budget=50).fit(X, **arguments)


@pytest.mark.parametrize(
    ("labels", "says"),
    [
        ([0, 1, "2"], "0 and '2' one is a whole number and one is a text"),
        ([0, 1, 3.0], "0 and 3.0 one is a whole number and one is a number with a point"),
        ([True, False, 2], "True and 2 one is a truth value"),
        ([datetime.date(2020, 1, 1), datetime.date(2021, 1, 1)], "of type date; .*as a text"),
        ([np.datetime64("2020"), np.datetime64("2021")], "of type datetime64"),
        ([2**64, 1], "18446744073709551616, of type int"),
        ([b"a", b"b"], "of type bytes"),
        ([1, None, 2], "there is None, which is no label"),
        (["a", None], "there is None, which is no label"),
        ([1.0, float("nan")], "there is nan, which is no label"),
        ([frozenset("a"), frozenset("b")], "of type frozenset"),
    ],
)
def test_labels_of_several_kinds_or_of_none_are_refused_and_in_y_too(labels: list, says: str) -> None:
    with pytest.raises(InvalidInputError, match=f"the labels .*{says}"):
        YesNoClassifier().fit(X, answer=lambda index, label: True, labels=labels)
    with pytest.raises(InvalidInputError, match=f"the labels in y .*{says}"):
        YesNoClassifier().fit(X, (150 * labels)[:150])


@pytest.mark.parametrize("labels", [[(1, 2), (3, 4)], [[1], [2]], np.array([[1], [2]])])
def test_labels_that_are_rows_are_refused(labels: Sequence) -> None:
    with pytest.raises(InvalidInputError, match="among the labels there is"):
        YesNoClassifier().fit(X, answer=lambda index, label: True, labels=labels)


@pytest.mark.parametrize(
    "labels", [["a", "b"], [1, 2], [True, False], [0.5, 1.5], np.array(["a", "b"], dtype=object), pd.Series([1, 2])]
)
def test_labels_are_asked_about_as_they_were_given(labels: Sequence) -> None:
    asked = []

    def answer(index: int, label: Any) -> bool:
        asked.append(label)
        return False

    for given in (labels, iter(labels)):
        YesNoClassifier(budget=20).fit(X, answer=answer, labels=given)
    assert {type(each) for each in asked} == {type(each) for each in list(labels)}
    assert set(asked) == set(labels)


@pytest.mark.parametrize(
    ("learned", "x", "says"),
    [
        (["some text", "any words"] * 75, X, "has learned texts, and X, of type ndarray, holds none; give a list"),
        (["some text", "any words"] * 75, "some text", r"X is 'some text'; .* such as \['some text'\]"),
        (["some text", "any words"] * 75, ["some text", None], "row 1 is None"),
        (X, ["some text"], "has learned numbers, and X holds texts, such as 'some text'; give"),
    ],
)
def test_other_rows_than_were_learned_are_one_clear_error(learned: Any, x: object, says: str) -> None:
    model = YesNoClassifier(budget=20, seed=0).fit(learned, Y)
    with pytest.raises(InvalidInputError, match=says):
        model.predict(x)


def test_too_few_rows() -> None:
    for rows in (X[:0], X[:1]):
        with pytest.raises(InvalidInputError, match=f"n_samples={len(rows)}; at least two rows are needed"):
            YesNoClassifier(GaussianNB()).fit(rows, Y[: len(rows)])


@pytest.mark.parametrize(
    ("x", "says"),
    [
        (np.zeros((150, 8, 8)), r"shape \(150, 8, 8\).*reshape"),
        (pd.DataFrame({"size": X[:, 0], "city": ["Rome"] * 150}), "column 'city' holds texts, such as 'Rome'"),
        (pd.DataFrame({"city": ["Rome"] * 150}), r"one column, 'city', .*give X\['city'\]"),
        (
            pd.DataFrame({"size": X[:, 0], "at": pd.Timestamp("2024-05-01")}),
            "'at' holds .*2024-05-01.*as numbers",
        ),
        (pd.DataFrame({"size": X[:, 0], "at": pd.Timestamp("2024-05-01", tz="UTC")}), "'at' holds Timestamp"),
        (pd.DataFrame({"size": X[:, 0], "took": pd.Timedelta("1h")}), "column 'took' holds .*, of type timedelta64"),
        (pd.DataFrame({"size": X[:, 0], "on": [datetime.date(2024, 5, 1)] * 150}), "column 'on' holds datetime.date"),
        (
            pd.DataFrame({"size": X[:, 0], "words": [["a", "b"]] * 150}),
            r"'words' holds \['a', 'b'\], of type list",
        ),
        (pd.DataFrame(X[:, [0, 0]], columns=["a", "a"]), "two columns are called 'a'"),
        (["a text"] * 3 + [None] + ["a text"] * 146, "row 3 is None, and others are texts"),
    ],
)
def test_items_that_the_built_in_model_does_not_take_are_one_clear_error(x: object, says: str) -> None:
    with pytest.raises(InvalidInputError, match=says):
        YesNoClassifier(budget=50).fit(x, Y)


def test_decimals_and_columns_of_nothing_but_times_are_numbers() -> None:
    times = pd.Timestamp("2024-05-01") + pd.to_timedelta(NUMBERS, unit="D")
    decimals = [Decimal(number) for number in NUMBERS.tolist()]
    for frame in (pd.DataFrame({"at": times}), pd.DataFrame({"size": X[:, 0], "price": decimals})):
        assert YesNoClassifier(budget=60, audit=0, seed=0).fit(frame, Y).score(frame, Y) > 0.9


def test_nan_is_refused_and_so_is_predicting_too_early() -> None:
    broken = X.copy()
    broken[3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        YesNoClassifier().fit(broken, Y)
    with pytest.raises(NotFittedError):
        YesNoClassifier().predict(X)


class GivesUp(GaussianNB):  # type: ignore[misc]
    """Fits the labels that are made up to try it, and few rows that have others."""

    most = 60

    def fit(self, X: np.ndarray, y: np.ndarray, sample_weight: np.ndarray | None = None) -> GivesUp:
        if len(y) > self.most and not np.array_equal(y, np.arange(len(y)) % 2):
            raise RuntimeError("too much for me")
        return super().fit(X, y, sample_weight)


class NeverBegins(GivesUp):
    most = 0


def test_an_estimator_that_gives_up_on_the_way_stays_as_it_was_and_this_is_told() -> None:
    model = YesNoClassifier(GivesUp(), protocol="follow-up", budget=120, audit=20, seed=0)
    with pytest.warns(FitFailedWarning, match="too much for me. The classifier is the one that was fitted after"):
        model.fit(X, Y)
    assert model.n_answers_ == 120
    assert "too much for me" in (model.warning_ or "")
    assert model.score(X, Y) > 0.8


def test_answers_outlast_an_estimator_that_raises() -> None:
    asked = []

    def answer(index: int, label: str) -> bool:
        asked.append((index, label, "yes" if Y[index] == label else "no"))
        return bool(Y[index] == label)

    model = YesNoClassifier(NeverBegins(), budget=200)
    with pytest.raises(OnebitError, match="too much for me"):
        model.fit(X, answer=answer, labels=np.unique(Y).tolist())
    kept = zip(model.answered_items_, model.answered_labels_, model.answers_, strict=True)
    assert [(int(item), str(label), str(said)) for item, label, said in kept] == asked
    assert len(asked) > 20


def test_answers_outlast_a_rater_who_leaves() -> None:
    def answer(index: int, label: str) -> bool:
        if len(asked) == 25:
            raise KeyboardInterrupt
        asked.append(index)
        return bool(Y[index] == label)

    asked: list[int] = []
    model = YesNoClassifier(budget=100)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, answer=answer, labels=np.unique(Y).tolist())
    assert model.answered_items_.tolist() == asked
    assert model.answers_.size == 25


def test_a_fit_that_is_interrupted_does_not_keep_the_interval_of_the_one_before() -> None:
    def leaves(index: int, label: str) -> bool:
        raise KeyboardInterrupt

    labels = np.unique(Y).tolist()
    model = YesNoClassifier(budget=100, audit=20, seed=0).fit(X, Y)
    assert model.accuracy_interval_ is not None
    with pytest.raises(KeyboardInterrupt):
        model.set_params(budget=200).fit(X, answer=leaves, labels=labels, answers=model.history_)
    assert len(model.history_) == 100
    assert not hasattr(model, "accuracy_interval_")
    assert not hasattr(model, "learning_curve_")


def test_a_fit_that_cannot_begin_leaves_the_classifier_as_it_was() -> None:
    model = YesNoClassifier(budget=100, audit=20, seed=0).fit(X, Y)
    before, history, interval = model.predict_proba(X), model.history_, model.accuracy_interval_
    for bad in ({"answers": history}, {"labels": [*np.unique(Y), "other"], "label_features": 3}):
        with pytest.raises(InvalidInputError):
            model.fit(X[:, :1], Y, **bad)
        np.testing.assert_array_equal(model.predict_proba(X), before)
        assert model.history_ is history
        assert model.accuracy_interval_ == interval


def test_labels_never_met_and_a_rater_who_only_denies() -> None:
    """No label is ever confirmed: the classifier is a guess, and the audit says so."""
    for estimator in (None, GaussianNB()):
        model = YesNoClassifier(estimator, budget=120, audit=40)
        model.fit(X, answer=lambda index, label: False, labels=["a", "b", "c", "d"])
        assert model.verified_items_.size == 0
        assert model.accuracy_interval_ is not None
        assert model.accuracy_interval_[0] == 0.0
        assert model.accuracy_interval_[1] < 0.2
        np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


def test_nan_at_prediction_is_refused() -> None:
    trained = YesNoClassifier(budget=40).fit(X, Y)
    with pytest.raises(ValueError, match="NaN"):
        trained.predict(np.full((1, 4), np.nan))


def test_a_target_that_cannot_be_shown_is_an_error_before_the_first_question() -> None:
    def answer(index: int, label: str) -> bool:
        raise AssertionError("asked")

    with pytest.raises(InvalidInputError, match=r"target is 0\.95, and takes an audit of 146 answers"):
        YesNoClassifier(target=0.95, budget=200).fit(X, answer=answer, labels=["a", "b"])


@pytest.mark.parametrize("target", [0.5, 0.9, 0.95, 0.99])
def test_what_is_said_to_show_a_target_does(target: float) -> None:
    least = fewest_that_show(target, 0.05)
    with pytest.raises(InvalidInputError, match=f"audit={least} in Python, or a lower target") as refused:
        audit_for_target(target, None, least, least, (0, least), 0.05)
    said = re.search(r"From ([\d,]+) answers and ([\d,]+) items on", str(refused.value))
    assert said is not None
    budget, n_items = (int(number.replace(",", "")) for number in said.groups())
    assert audit_for_target(target, None, budget, n_items, (0, n_items), 0.05) >= least
    for short in ((budget - 2, n_items), (budget, n_items - 5)):
        with pytest.raises(InvalidInputError, match="give more of what is short"):
            audit_for_target(target, None, *short, (0, n_items), 0.05)
    with pytest.raises(InvalidInputError, match=f"audit is 2. Give audit={least} or more"):
        audit_for_target(target, 2, budget, n_items, (0, n_items), 0.05)


def test_a_target_that_was_not_shown() -> None:
    model = YesNoClassifier(target=0.7, budget=500, protocol="follow-up", seed=0)
    model.fit(X, answer=lambda index, label: index % 7 != 0 and bool(Y[index] == label), labels=np.unique(Y).tolist())
    assert model.accuracy_interval_ is not None
    assert model.accuracy_interval_[0] < 0.7
    assert model.status_ == "the target was not shown: there was nothing left to ask that teaches or audits"
    assert model.n_answers_ < 500
