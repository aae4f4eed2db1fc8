"""Going on from earlier answers: with a larger budget, with more rows, or with answers from elsewhere."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
import skops.io  # type: ignore[import-untyped]
from sklearn.naive_bayes import GaussianNB

from onebit.classifier import YesNoClassifier
from onebit.errors import InvalidInputError
from onebit.learners.training.earlier import EarlierAnswer, Remembered, checked
from onebit.learners.training.history import History, Sample
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
        ([(0, "a", True), (0, "b", True)], "'a' has 'yes' and 'b' has 'yes'; each row has at most one right label"),
        ([(0, "a", True), (0, "b", Answer.NONE)], "each row has at most one right label"),
        ([(0, "b", Answer.NONE), (0, "a", True)], "each row has at most one right label"),
        ([(0, "a", True, "False")], "says 'False' for audited; give True or False"),
        ([(0, ["a"], True)], "none of the labels"),
        ([(0, "a", [True])], "True, False, None"),
        ([1, 2], "the earlier answer 1 must have a row, a label and an answer"),
        (["abc"], "the earlier answer 'abc' must have"),
        (None, "answers is None; it must be a list"),
        (5, "answers is 5; it must be a list"),
    ],
)
def test_bad_answers_are_one_clear_error(answers: Any, says: str) -> None:
    with pytest.raises(InvalidInputError, match=says):
        checked(History.of(answers), ["a", "b"], 9)
    with pytest.raises(InvalidInputError, match=says):
        YesNoClassifier(budget=50).fit(X[:9], answer=lambda row, label: True, labels=["a", "b"], answers=answers)


def test_raters_who_err_may_say_yes_twice_in_audits() -> None:
    said = [(0, "a", True, True), (0, "b", True, True)]
    assert len(checked(History.of(said), ["a", "b"], 9, raters_err=True)) == 2
    with pytest.raises(InvalidInputError, match="at most one right label"):
        checked(History.of([each[:3] for each in said]), ["a", "b"], 9, raters_err=True)


def test_what_an_answer_may_be_and_a_repeated_one() -> None:
    said = [(0, "a", True), (0, "b", "no"), (np.int64(1), "a", None), (1, "b", Answer.YES, True), (0, "a", "yes")]
    assert checked(History.of(said), ["a", "b"], 9) == [
        EarlierAnswer(0, 0, Answer.YES),
        EarlierAnswer(0, 1, Answer.NO),
        EarlierAnswer(1, 0, Answer.CANT_TELL),
        EarlierAnswer(1, 1, Answer.YES, True),
    ]


def sample_of(history: History) -> Sample:
    assert history.sample is not None
    return history.sample


def chosen_from(history: History) -> list[int]:
    among = sample_of(history).chosen_from
    assert among is not None
    found: list[int] = among.tolist()
    return found


def interrupted(protocol: TrainingProtocol, n_before: int, **options: Any) -> YesNoClassifier:
    """Training whose rater leaves after so many answers."""
    asked: list[int] = []

    def answer(row: int, label: int) -> bool:
        if len(asked) == n_before:
            raise KeyboardInterrupt
        asked.append(row)
        return bool(Y[row] == label)

    model = YesNoClassifier(GaussianNB(), protocol=protocol, **options)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, answer=answer, labels=range(K))
    return model


@pytest.mark.parametrize("protocol", ["one-shot", "follow-up"])
@pytest.mark.parametrize("n_before", [100, 175])
def test_what_was_set_aside_is_audited_after_an_interruption(protocol: TrainingProtocol, n_before: int) -> None:
    """Before the audit, or in its midst; with another seed, and after a copy."""
    history = interrupted(protocol, n_before, budget=200, audit=40, seed=1).history_
    aside = set(sample_of(history).aside)
    assert len(aside) == 40
    assert not aside & {row for row, _, _, audited in history if not audited}
    nothing: list[tuple] = []
    for kept in (
        pickle.loads(pickle.dumps(history)),
        copy.deepcopy(history),
        history + nothing,
        nothing + history,
        history[:],
    ):
        assert kept == list(history)
        assert repr(kept) == repr(list(history))
        assert sample_of(kept).aside == sample_of(history).aside
    again, _ = trained(250, 500, copy.copy(history), protocol=protocol)
    assert {row for row, _, _, audited in again.history_ if audited} == aside
    assert sample_of(again.history_).aside == sample_of(history).aside
    assert again.accuracy_interval_ is not None


def test_the_rows_set_aside_are_saved_with_a_classifier() -> None:
    model, _ = trained(150, 400, audit=30)
    loaded = skops.io.loads(data := skops.io.dumps(model), trusted=skops.io.get_untrusted_types(data=data))
    for again in (loaded, pickle.loads(pickle.dumps(model))):
        assert again.history_ == model.history_
        assert sample_of(again.history_).aside == sample_of(model.history_).aside
        assert chosen_from(again.history_) == chosen_from(model.history_)


def test_answers_of_a_training_without_what_it_set_aside_have_no_interval() -> None:
    """Rows left over were passed over for being easy, and an audit of them would say too much."""
    history = list(interrupted("follow-up", 100, budget=200, audit=40, seed=1).history_)
    again, _ = trained(200, 500, history, protocol="follow-up")
    assert again.accuracy_interval_ is None
    assert again.learning_curve_ == ()
    with pytest.raises(InvalidInputError, match="only 0 items can be audited"):
        trained(200, 500, history, protocol="follow-up", audit=40)
    with pytest.raises(InvalidInputError, match="0 of them a random sample"):
        trained(200, 500, history, protocol="follow-up", target=0.5)


@pytest.mark.parametrize("raters_err", [False, True])
@pytest.mark.parametrize("protocol", ["one-shot", "follow-up"])
def test_rows_that_had_none_of_the_labels_are_asked_about_those_that_came_since(
    protocol: TrainingProtocol, raters_err: bool
) -> None:
    """Whoever adds the label that was missing is asked about it, in training and in the audit, and about it alone."""
    asked: list[tuple] = []

    def fitted(n_labels: int, budget: int, history: Any = ()) -> YesNoClassifier:
        def answer(row: int, label: int) -> bool | Answer:
            asked.append((row, label))
            return Answer.NONE if Y[row] >= n_labels else bool(Y[row] == label)

        model = YesNoClassifier(
            GaussianNB(), budget=budget, protocol=protocol, audit=40, f_no=0.01 * raters_err, seed=0
        )
        return model.fit(X, answer=answer, labels=range(n_labels), answers=history)

    first = fitted(K - 1, 200)
    had_none = {row for row, _, said, _ in first.history_ if said == Answer.NONE.value}
    assert first.history_.none_of == dict.fromkeys(had_none, tuple(range(K - 1)))
    asked.clear()
    second = fitted(K, 700, pickle.loads(pickle.dumps(first)).history_)
    again = {(row, label) for row, label in asked if row in had_none}
    if not raters_err:
        assert {label for _, label in again} == {K - 1}, "what was denied is not asked again"
        assert {row for row, _ in again} >= had_none - {row for row, *_, audited in first.history_ if audited}
    predicted = second.predict(X)
    accepted = {row for row, label, said, of in second.history_ if of and label == predicted[row] and said == "yes"}
    audited = {row for row, *_, of in second.history_ if of}
    assert accepted == {row for row in audited if predicted[row] == Y[row]}
    assert accepted & had_none
    assert second.warning_ is None
    third = fitted(K, 750, second.history_)
    assert {row: third.history_.none_of[row] for row in had_none} == first.history_.none_of


def test_none_of_these_is_about_the_labels_that_there_were() -> None:
    history = History([(0, "a", Answer.NONE), (0, "c", True), (1, "a", Answer.NONE)], none_of={0: ("a", "b")})
    before = checked(history, ["a", "b", "c"], 9, none_of=history.none_of)
    assert before[0] == EarlierAnswer(0, 0, Answer.NONE, among=(0, 1))
    assert before[2] == EarlierAnswer(1, 0, Answer.NONE)
    assert checked(history[:1], ["a", "b"], 9, none_of=history.none_of) == [EarlierAnswer(0, 0, Answer.NONE)]
    said = [Remembered(before[:1], of).of(Question(0, 0, label, 1.0, 0)) for of in (True, False) for label in range(3)]
    assert said == [Answer.NO, Answer.NO, None, Answer.NO, None, None]
    for wrong in [(0, "b", True), (0, "d", True)]:
        with pytest.raises(InvalidInputError, match="each row has at most one right label"):
            checked([*history, wrong], ["a", "b", "c", "d"], 9, none_of=history.none_of)


@pytest.mark.parametrize("protocol", ["one-shot", "follow-up"])
def test_a_larger_audit_takes_rows_that_nobody_could_choose(protocol: TrainingProtocol) -> None:
    first, _ = trained(60, 500, protocol=protocol)
    before = {row for row, _, _, audited in first.history_ if audited}
    assert len(before) == 3
    second, _ = trained(200, 500, first.history_, protocol=protocol, audit=30)
    audited = {row for row, _, _, in_audit in second.history_ if in_audit}
    assert len(audited) == 30
    assert before < audited
    assert not (audited - before) & {row for row, *_ in first.history_}
    if protocol == "follow-up":
        assert not (audited - before) & set(chosen_from(first.history_))
        with pytest.raises(InvalidInputError, match="audit is 100, and after the earlier answers only"):
            trained(300, 500, first.history_, protocol=protocol, audit=100)


def test_a_smaller_audit_and_none_leave_the_other_rows_aside() -> None:
    first, _ = trained(150, 400, audit=30)
    aside = sample_of(first.history_).aside
    for audit in (10, 0):
        second, asked = trained(200, 400, first.history_, audit=audit)
        assert len([row for row, _ in asked if row not in aside]) == 50, "the budget has grown by so much"
        assert (second.accuracy_interval_ is None) is (audit == 0)
        assert sample_of(second.history_).aside == aside
        assert not set(aside) & {row for row, _, _, audited in second.history_ if not audited}
    with pytest.raises(InvalidInputError, match="audit is 90, and 50 answers of the budget are left"):
        trained(170, 500, first.history_, audit=90)


def test_rows_that_are_gone_are_one_clear_error() -> None:
    history = interrupted("one-shot", 20, budget=200, audit=40, seed=1).history_
    n_rows = max(row for row, *_ in history) + 1
    history.sample = Sample((499,))
    with pytest.raises(InvalidInputError, match="row 499 was set aside for the audit, and is not there"):
        trained(200, n_rows, history)


def test_a_budget_that_is_spent_and_rows_in_both_parts_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="budget is 2, and 2 answers are there"):
        trained(2, 400, [(0, 0, True), (1, 0, False)])
    with pytest.raises(InvalidInputError, match="item 3 has earlier answers to audit and to train on"):
        trained(50, 400, [(3, 0, False, True), (3, 1, False, False)])
