"""YesNoClassifier as a user meets it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import skops.io  # type: ignore[import-untyped]
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.exceptions import NotFittedError
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from onebit.classifier import YesNoClassifier
from onebit.errors import InvalidInputError, OnebitError

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
        ({"answer": lambda index, label: True, "labels": ["a", "a"]}, "some are equal"),
        ({"answer": lambda index, label: True, "labels": ["a", "b"], "y": Y}, "both y and answer"),
        ({"answer": lambda index, label: "no", "labels": ["a", "b"]}, "must be True, False"),
        ({"answer": lambda index, label: True, "labels": [0, 1, "2", 3.0]}, "labels 0 and '2' one is a text"),
    ],
)
def test_bad_input_is_one_clear_error(arguments: dict, says: str) -> None:
    with pytest.raises(InvalidInputError, match=says):
        YesNoClassifier(budget=50).fit(X, **arguments)


@pytest.mark.parametrize(
    ("x", "says"),
    [
        (np.zeros((150, 8, 8)), r"shape \(150, 8, 8\).*reshape"),
        (pd.DataFrame({"size": X[:, 0], "city": ["Rome"] * 150}), "column 'city' holds texts, such as 'Rome'"),
        (["a text"] * 3 + [None] + ["a text"] * 146, "row 3 is None, and others are texts"),
    ],
)
def test_items_that_the_built_in_model_does_not_take_are_one_clear_error(x: object, says: str) -> None:
    with pytest.raises(InvalidInputError, match=says):
        YesNoClassifier(budget=50).fit(x, Y)


def test_nan_is_refused_and_so_is_predicting_too_early() -> None:
    broken = X.copy()
    broken[3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        YesNoClassifier().fit(broken, Y)
    with pytest.raises(NotFittedError):
        YesNoClassifier().predict(X)


class GivesUp(GaussianNB):  # type: ignore[misc]
    """Fits a few rows, and raises once there are more."""

    def fit(self, X: np.ndarray, y: np.ndarray, sample_weight: np.ndarray | None = None) -> GivesUp:
        if len(y) > 60:
            raise RuntimeError("too much for me")
        return super().fit(X, y, sample_weight)


def test_answers_outlast_an_estimator_that_raises() -> None:
    asked = []

    def answer(index: int, label: str) -> bool:
        asked.append((index, label, "yes" if Y[index] == label else "no"))
        return bool(Y[index] == label)

    model = YesNoClassifier(GivesUp(), budget=200)
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


def test_a_target_that_was_not_shown() -> None:
    model = YesNoClassifier(target=0.7, budget=500, protocol="follow-up", seed=0)
    model.fit(X, answer=lambda index, label: index % 7 != 0 and bool(Y[index] == label), labels=np.unique(Y).tolist())
    assert model.accuracy_interval_ is not None
    assert model.accuracy_interval_[0] < 0.7
    assert model.status_ == "the target was not shown: there was nothing left to ask that teaches or audits"
    assert model.n_answers_ < 500
