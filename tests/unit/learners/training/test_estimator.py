"""Any classifier as the model: what it is taught, what it takes, and what is refused."""

from __future__ import annotations

import warnings
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import SparseEfficiencyWarning, csr_array
from scipy.stats import binom
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, IsolationForest, StackingClassifier
from sklearn.feature_extraction import DictVectorizer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import CategoricalNB, GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.semi_supervised import LabelPropagation
from sklearn.svm import LinearSVC

from onebit.classifier import YesNoClassifier
from onebit.errors import InvalidInputError, OnebitError
from onebit.learners.training import guide as guide_module
from onebit.learners.training.columns import features_of_anything
from onebit.learners.training.estimator import EstimatorModel
from onebit.learners.training.guide import Guide
from onebit.learners.training.learner import TrainingLearner
from onebit.learners.training.model import Known, mean_belief, take
from onebit.learners.training.pooled import built_in
from onebit.learners.training.rows import with_gaps
from onebit.records import ANSWERS_PER_ITEM, Answer, TrainingProtocol

K = 8
LABELS = [f"kind {label}" for label in range(K)]


def clusters(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, K, n)
    return 3 * rng.standard_normal((K, 5))[y] + rng.standard_normal((n, 5)), y


X, Y = clusters(600)
DIGITS, OF_DIGITS = (each[:400] for each in load_digits(return_X_y=True))


def right_by_labels(estimator: object, x: Any, protocol: TrainingProtocol, budget: int) -> float:
    """The accuracy of the same estimator, fitted to labels of as many rows as guessing at random would confirm.

    Guessing confirms one of K questions in one-shot, and takes (K + 1) / 2 questions for each row in follow-up.
    """
    n_rows = int(budget / (K if protocol == "one-shot" else (K + 1) / 2))
    rows, rival = np.random.default_rng(2).permutation(len(Y))[:n_rows], EstimatorModel(estimator, K)
    rival.learn(Known(take(x, rows), np.eye(K, dtype=np.bool_)[Y[rows]], budget), np.random.default_rng(0))
    return float(np.mean(mean_belief(rival, x).argmax(axis=1) == Y))


def test_many_labels_of_few_rows_are_fitted_without_a_warning() -> None:
    """scikit-learn would warn of each tree, at every fit while little is known. (An error would be tried again.)"""
    n_rows = 30
    model, labels = EstimatorModel(ExtraTreesClassifier(5), n_rows), np.eye(n_rows, dtype=np.bool_)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model.learn(Known(X[:n_rows], labels, n_rows), np.random.default_rng(0))
    assert not told
    assert (mean_belief(model, X[:n_rows]).argmax(axis=1) == np.arange(n_rows)).all()


#: Two accuracies on 600 rows differ by so much without a reason in one case of 700 (three standard deviations at most).
BY_CHANCE = 3 * np.sqrt(2 * 0.25 / 600)


def check_is_as_good(model: YesNoClassifier, estimator: object, x: Any) -> None:
    """At least as good as labels of the rows that guessing would have confirmed."""
    right = float(np.mean(model.predict(x) == np.array(LABELS)[Y]))
    budget = ANSWERS_PER_ITEM * len(Y) if model.budget is None else model.budget
    assert right > right_by_labels(estimator, x, model.protocol, budget) - BY_CHANCE


def trained(estimator: object, x: Any, protocol: TrainingProtocol, budget: int = 400) -> YesNoClassifier:
    model = YesNoClassifier(estimator, protocol=protocol, budget=budget, audit=0, seed=0)
    return model.fit(x, answer=lambda row, label: bool(LABELS[Y[row]] == label), labels=LABELS)


@pytest.mark.parametrize("protocol", ["one-shot", "follow-up"])
@pytest.mark.parametrize(
    "estimator",
    [
        LogisticRegression(max_iter=1000),
        ExtraTreesClassifier(20, random_state=0),
        KNeighborsClassifier(),
        CalibratedClassifierCV(GaussianNB()),
        LinearSVC(),
    ],
    ids=lambda each: type(each).__name__,
)
def test_classifiers_of_every_kind_learn_and_every_label_is_asked(
    estimator: object, protocol: TrainingProtocol
) -> None:
    """Neighbours need rows, cross-validation rows of each label; a support vector machine has no probabilities."""
    model = trained(estimator, X, protocol, 300)
    check_is_as_good(model, estimator, X)
    assert np.mean(model.predict(X) == np.array(LABELS)[Y]) > 0.8
    assert min(Counter(model.answered_labels_.tolist())[label] for label in LABELS) > 5
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


def test_numbers_with_gaps_for_those_that_take_them() -> None:
    gaps = np.where(np.random.default_rng(1).random(X.shape) < 0.1, np.nan, X)
    estimator = HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=5)
    model = trained(estimator, gaps, "follow-up", 200)
    check_is_as_good(model, estimator, gaps)
    assert np.mean(model.predict(gaps) == np.array(LABELS)[Y]) > 0.6


@pytest.mark.parametrize("estimator", [LinearRegression(), KNeighborsRegressor(), IsolationForest(n_estimators=5)])
def test_what_predicts_other_things_than_labels_is_no_classifier(estimator: object) -> None:
    """Rounded down, what a regressor says would be a label like any other; and -1 would be the last one."""
    check_is_refused(estimator, X, r"which is none of the labels 0 to 1 that it was given; it must be a classifier")


def test_and_for_others_they_are_refused_before_any_question() -> None:
    gaps = X.copy()
    gaps[-1, 0] = np.nan
    check_is_refused(LogisticRegression(), gaps, "contains NaN")


def check_is_refused(estimator: object, x: Any, says: str) -> None:
    """One clear error before any question."""
    asked = list[int]()

    def answer(row: int, label: str) -> bool:
        asked.append(row)
        return False

    with pytest.raises(OnebitError, match=f"(?s){says}.*Nothing was asked yet"):
        YesNoClassifier(estimator, budget=100).fit(x, answer=answer, labels=LABELS)
    assert asked == []


def with_one_gap(kind: str) -> Any:
    gaps = np.repeat(X, 8, axis=0)
    gaps[2111, 1] = np.nan
    made: dict[str, Any] = {
        "pandas": pd.DataFrame(gaps),
        "nullable": pd.DataFrame(gaps).convert_dtypes(),
        "polars": pl.DataFrame(gaps),
        "null": pl.DataFrame(gaps).fill_nan(None),
        "objects": gaps.astype(object),
        "lists": gaps.tolist(),
        "sparse": csr_array(gaps),
    }
    return made[kind]


@pytest.mark.parametrize("kind", ["pandas", "nullable", "polars", "null", "objects", "lists", "sparse"])
def test_a_gap_is_found_wherever_it_is(kind: str) -> None:
    check_is_refused(LogisticRegression(), with_one_gap(kind), "NaN")


@pytest.mark.parametrize("series", [list, pd.Series, pl.Series])
def test_a_missing_text_is_found(series: Any) -> None:
    texts = [f"text {number}" for number in range(5000)]
    check_is_refused(make_pipeline(TfidfVectorizer(), MultinomialNB()), series([*texts, None]), "failed to fit")


def test_each_column_that_has_gaps_is_tried_with_one() -> None:
    frame = pd.DataFrame(X)
    frame.iloc[:300, 0], frame.iloc[500, 1] = np.nan, np.nan
    assert 500 in with_gaps(frame)
    assert with_gaps(frame).size == 2


def test_a_list_of_rows_reaches_the_estimator_as_it_is() -> None:
    rows = [[f"color {label // 2}", "1"] for label in Y]
    estimator = make_pipeline(OneHotEncoder(handle_unknown="ignore"), LogisticRegression(max_iter=1000))
    assert np.mean(trained(estimator, rows, "follow-up").predict(rows) == np.array(LABELS)[Y]) > 0.3


@pytest.mark.parametrize("kind", ["coo", "dia", "bsr", "csc"])
def test_sparse_numbers_of_every_format(kind: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SparseEfficiencyWarning)
        x = csr_array(X * (X > 0)).asformat(kind)
    assert trained(SeesSparse(), x, "follow-up", 60).predict(x).shape == (600,)
    assert trained(None, x, "follow-up", 60).predict(x).shape == (600,)


class SeesSparse(LogisticRegression):  # type: ignore[misc]
    """Takes sparse numbers alone."""

    def fit(self, X: Any, y: np.ndarray) -> SeesSparse:
        assert X.format == "csr"
        return super().fit(X, y)


@pytest.mark.parametrize("x", ["a text", {"a": X}, iter(X), {"a", "b"}, 5, np.array(5), pl.DataFrame(X).lazy()])
@pytest.mark.parametrize("estimator", [None, LogisticRegression()])
def test_what_has_no_rows_is_one_clear_error(estimator: object, x: object) -> None:
    with pytest.raises(InvalidInputError, match=r"^X is "):
        YesNoClassifier(estimator).fit(x, Y)


class SeesFrames(LogisticRegression):  # type: ignore[misc]
    """Takes nothing but a data frame with its columns as they were."""

    def fit(self, X: Any, y: np.ndarray) -> SeesFrames:
        assert list(X.columns) == ["a", "b", "color"]
        return super().fit(np.asarray(X[["a", "b"]], dtype=float), y)

    def predict_proba(self, X: Any) -> np.ndarray:
        assert list(X.columns) == ["a", "b", "color"]
        return super().predict_proba(np.asarray(X[["a", "b"]], dtype=float))


def columns() -> dict[str, Any]:
    """Two numbers and a color; either of the two kinds tells half of the label."""
    return {"a": X[:, 0], "b": X[:, 1], "color": np.array([f"color {label // 2}" for label in Y])}


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_a_data_frame_reaches_the_estimator_as_it_is(frame: Any) -> None:
    model = trained(SeesFrames(), frame(columns()), "follow-up", 200)
    assert model.predict(frame(columns())).shape == (600,)


def test_a_pipeline_over_columns_of_several_kinds() -> None:
    mixed = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), ["color"]), (StandardScaler(), ["a", "b"]))
    frame = pd.DataFrame(columns())
    estimator = make_pipeline(mixed, LogisticRegression(max_iter=1000))
    model = trained(estimator, frame, "follow-up", 200)
    check_is_as_good(model, estimator, frame)
    assert np.mean(model.predict(frame) == np.array(LABELS)[Y]) > 0.8


def test_rows_that_are_neither_numbers_nor_texts() -> None:
    rows = [{"x": float(row[0]), f"label {label // 4}": 1.0} for row, label in zip(X, Y, strict=True)]
    model = trained(make_pipeline(DictVectorizer(), LogisticRegression(max_iter=1000)), rows, "one-shot", 400)
    # Whoever learned nothing gives one label to all rows at best; false alarm 1e-6.
    n_right = int((model.predict(rows) == np.array(LABELS)[Y]).sum())
    assert n_right > binom.isf(1e-6, len(Y), np.bincount(Y).max() / len(Y))


def test_an_item_that_is_not_known_is_taught_where_the_guide_is_sure() -> None:
    possible = np.eye(K, dtype=np.bool_)[Y]
    possible[:300] = True
    possible[np.arange(300), (Y[:300] + 1) % K] = False
    left = np.where(np.arange(600)[:, None] < 200, np.eye(K)[Y], 1 / K)
    fitted = []

    class Counts(LogisticRegression):  # type: ignore[misc]
        def fit(self, X: np.ndarray, y: np.ndarray) -> Counts:
            fitted.append(len(y))
            return super().fit(X * 0, y)

    for guided in (left, None):
        model = EstimatorModel(Counts(), K)
        known = Known(X, possible, n_answers=600, left=None if guided is None else lambda: left)
        model.learn(known, np.random.default_rng(0))
    assert fitted == [500, 300]


@pytest.mark.parametrize("protocol", ["one-shot", "follow-up"])
def test_what_tries_the_classifier_was_never_taught_before(
    protocol: TrainingProtocol, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows that the guide is sure of are taught in follow-up, and none that is drawn to try it, or to audit it."""
    # So that they are taught from the first answers on.
    monkeypatch.setattr(guide_module, "LEAST_TRIED", 0)
    taught: list[set[int]] = []

    class Noting(LogisticRegression):  # type: ignore[misc]
        def fit(self, X: np.ndarray, y: np.ndarray) -> Noting:
            taught.append(set(X[:, -1].astype(int).tolist()))
            return super().fit(X[:, :-1], y)

        def predict_proba(self, X: np.ndarray) -> np.ndarray:
            found: np.ndarray = super().predict_proba(X[:, :-1])
            return found

    numbered = np.column_stack([X, np.arange(len(X))])
    features = features_of_anything(X, 0)
    assert features is not None
    guide = Guide(built_in(X.shape[1], K, None, np.random.default_rng(0)), features)
    model = EstimatorModel(Noting(max_iter=1000), K)
    learner = TrainingLearner(
        model, numbered, K, budget=400, protocol=protocol, audit=40, guide=guide, takes_none=False, seed=0
    )
    asked, guessed = set[int](), set[int]()
    while isinstance(questions := learner.ask(1), tuple):
        (question,) = questions
        plan = learner.epochs[-1]
        fresh = {item for item, is_fresh in zip(plan.items, plan.fresh, strict=True) if is_fresh}
        if question.item in fresh and question.item not in asked:
            assert not any(question.item in rows for rows in taught)
        asked.add(question.item)
        learner.tell(question.id, Answer.YES if Y[question.item] == question.label else Answer.NO)
        guessed |= set().union(*taught) - asked
    assert bool(guessed) is (protocol == "follow-up")


def test_it_is_fitted_now_and_then_and_at_the_end() -> None:
    fits = []

    class Counts(LogisticRegression):  # type: ignore[misc]
        def fit(self, X: np.ndarray, y: np.ndarray) -> Counts:
            fits.append(len(y))
            return super().fit(X * 0, y)

    model, rng = EstimatorModel(Counts(), K), np.random.default_rng(0)
    for n_answers, is_final, n_fits in (
        (100, False, 1),
        (105, False, 1),
        (105, True, 2),
        (105, True, 2),
        (130, False, 3),
    ):
        model.learn(Known(X, np.eye(K, dtype=np.bool_)[Y], n_answers, is_final=is_final), rng)
        assert len(fits) == n_fits


def test_before_two_labels_are_known_it_gives_each_its_share() -> None:
    model = EstimatorModel(LogisticRegression(max_iter=1000), K)
    np.testing.assert_allclose(mean_belief(model, X[:3]), 1 / K)
    model.learn(Known(X[:4], np.eye(K, dtype=np.bool_)[[2] * 4], n_answers=40), np.random.default_rng(0))
    np.testing.assert_allclose(mean_belief(model, X[:3])[:, 2], 5 / (4 + K))


class Raises(LogisticRegression):  # type: ignore[misc]
    def fit(self, X: object, y: object) -> Raises:
        raise RuntimeError("out of luck")


def lessons(n_rows: int, is_final: bool = False) -> Known:
    return Known(X[:n_rows], np.eye(K, dtype=np.bool_)[Y[:n_rows]], n_rows, is_final=is_final)


def test_an_estimator_that_raises_is_one_clear_error_at_the_end() -> None:
    model = EstimatorModel(Raises(), K)
    model.learn(lessons(50), np.random.default_rng(0))
    np.testing.assert_allclose(mean_belief(model, X[:3])[:, 1], (1 + (Y[:50] == 1).sum()) / (50 + K))
    with pytest.raises(OnebitError, match=r"Raises\(\) failed to fit 60 rows: RuntimeError: out of luck. Every answer"):
        model.learn(lessons(60, is_final=True), np.random.default_rng(0))


@pytest.mark.parametrize("estimator", ["a name", LogisticRegression, StandardScaler()])
def test_what_is_no_classifier_is_refused(estimator: object) -> None:
    with pytest.raises(OnebitError, match="no fit and predict"):
        EstimatorModel(estimator, K)


class NeedsRows(GaussianNB):  # type: ignore[misc]
    """Fits so many rows, and no others; a warning of scikit-learn's kind ends with a full stop."""

    def __init__(self, least: int = 0, most: int = 10**9) -> None:
        super().__init__()
        self.least, self.most = least, most

    def fit(self, X: np.ndarray, y: np.ndarray, sample_weight: np.ndarray | None = None) -> NeedsRows:
        if not self.least <= len(np.unique(X, axis=0)) <= self.most:
            raise ValueError(f"{len(y)} rows do not suit me.")
        return super().fit(X, y, sample_weight)


def test_a_fit_that_fails_for_want_of_rows_is_tried_again_with_more() -> None:
    model, rng = EstimatorModel(NeedsRows(100), K), np.random.default_rng(0)
    model.learn(lessons(50), rng)
    assert model.warning is not None
    model.learn(lessons(200), rng)
    assert model.warning is None
    assert np.mean(mean_belief(model, X).argmax(axis=1) == Y) > 0.8


def test_the_last_clone_stays_where_later_fits_fail_and_this_is_told() -> None:
    model, rng = EstimatorModel(NeedsRows(0, 60), K), np.random.default_rng(0)
    model.learn(lessons(50), rng)
    before = mean_belief(model, X)
    model.learn(lessons(200, is_final=True), rng)
    np.testing.assert_array_equal(mean_belief(model, X), before)
    assert model.warning is not None
    assert "200 rows do not suit me. The classifier is the one that was fitted after 50 answers" in model.warning


@pytest.mark.parametrize(
    "estimator",
    [
        StackingClassifier([("a", GaussianNB())]),
        make_pipeline(PCA(30), LogisticRegression()),
        KNeighborsClassifier(30),
        CalibratedClassifierCV(GaussianNB(), cv=20),
    ],
    ids=lambda each: type(each).__name__,
)
def test_estimators_that_need_more_than_a_few_rows(estimator: object) -> None:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        assert YesNoClassifier(estimator, budget=120, seed=0).fit(DIGITS, OF_DIGITS).n_answers_ == 120


def test_words_that_must_be_in_ten_texts() -> None:
    rng = np.random.default_rng(0)
    texts = [f"kind{label} word{number}" for label, number in zip(Y, rng.integers(0, 5000, len(Y)), strict=True)]
    estimator = make_pipeline(TfidfVectorizer(min_df=10), MultinomialNB())
    assert trained(estimator, texts, "follow-up", 300).predict(texts).shape == (600,)


def test_few_rows_in_all_are_tried_all() -> None:
    EstimatorModel(NeedsRows(30), K).try_on(X[:40])
    with pytest.raises(OnebitError, match=r"failed to fit 40 rows.*Nothing was asked yet"):
        EstimatorModel(NeedsRows(60), K).try_on(X[:40])


@pytest.mark.parametrize("n_rows", [2, 3, 4])
def test_a_pool_of_few_rows_is_tried_with_two_labels(n_rows: int) -> None:
    """A tree takes one label alone, and says nothing of a second."""
    EstimatorModel(ExtraTreesClassifier(5), K).try_on(X[:n_rows])


@pytest.mark.parametrize(
    ("estimator", "says"),
    [
        (make_pipeline(OneHotEncoder(), LogisticRegression()), "failed to predict.*unknown categories"),
        (CategoricalNB(), "failed to predict.*out of bounds"),
        (LabelPropagation(), r"LabelPropagation\(\) gave row .*nan"),
    ],
    ids=lambda each: type(each).__name__,
)
def test_what_cannot_predict_new_rows_is_refused_before_any_question(estimator: object, says: str) -> None:
    check_is_refused(estimator, DIGITS, says)


class Forgets(GaussianNB):  # type: ignore[misc]
    """Knows nothing of rows whose first number is above 1."""

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        found: np.ndarray = super().predict_proba(X)
        return np.where(X[:, :1] > 1, np.nan, found)


def test_a_clone_that_fails_to_predict_waits_for_the_next_and_is_an_error_at_the_end() -> None:
    model, rng = EstimatorModel(Forgets(), K), np.random.default_rng(0)
    some = Known(x := X[X[:, 0] <= 1], np.eye(K, dtype=np.bool_)[Y[X[:, 0] <= 1]], 300)
    model.learn(some, rng)
    assert np.ptp(mean_belief(model, x), axis=0).max() > 0.9
    assert np.isfinite(mean_belief(model, X)).all()
    model.learn(replace(some, is_final=True), rng)
    with pytest.raises(OnebitError, match=r"Forgets\(\) gave row .*nan"):
        mean_belief(model, X)
