"""Items that have none of the labels: the formulas written out, what is left, and what raters who say so settle."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.datasets import load_digits, load_iris, make_classification

from onebit.classifier import YesNoClassifier
from onebit.errors import InvalidInputError
from onebit.estimate.accuracy import exact_interval
from onebit.estimate.delta import failure_of_whole_audit
from onebit.learners.contract import run
from onebit.learners.training import unlisted
from onebit.learners.training.constants import (
    HEEDED,
    LEAST_LISTED,
    MOST_SURE,
    NEAR_HEEDED,
    NEVER_LEFT,
    NONE_LIKELY,
    UNTAUGHT,
)
from onebit.learners.training.knowledge import Knowledge
from onebit.learners.training.learner import TrainingLearner
from onebit.learners.training.neighbours import Neighbours
from onebit.learners.training.pooled import built_in
from onebit.learners.training.result import missing_label
from onebit.learners.training.unlisted import Unlisted, tempered
from onebit.randomness import generator
from onebit.records import Answer, EpochPlan, Question, RunStatus, TrainingProtocol

K = 6
PROTOCOLS: list[TrainingProtocol] = ["one-shot", "follow-up"]


def groups(n: int, n_kinds: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    kind = np.arange(n) % n_kinds
    return (5 * np.eye(n_kinds)[kind] + rng.standard_normal((n, n_kinds))).astype(np.float32), kind


def test_the_evidence_of_noes_is_that_of_the_formula() -> None:
    """Two noes about one item, and a yes about another, worked out by hand."""
    known, unlisted = Knowledge(np.ones(3, dtype=np.bool_), K), Unlisted(3)
    belief = np.array([0.5, 0.2, 0.1, 0.1, 0.05, 0.05])
    asked = [(0, 0, Answer.NO), (0, 1, Answer.NO), (1, 2, Answer.YES)]
    questions = [Question(n, item, label, 1.0, 0) for n, (item, label, _) in enumerate(asked)]
    known.deny(0, 0)
    known.deny(0, 1)
    unlisted.learn(questions, [answer for *_, answer in asked], {0: belief, 1: belief}, known)
    fit, missed, share = -UNTAUGHT * np.array(HEEDED), 0.0, 1 / (LEAST_LISTED + 1)
    for _, label, left in ((0, 0, [0, 1, 2, 3, 4, 5]), (0, 1, [1, 2, 3, 4, 5])):
        p = np.array([belief[label] ** a / (belief[left] ** a).sum() for a in HEEDED])
        listed = 1 - share / (share + (1 - share) * np.exp(missed))
        fit *= 1 - 1 / 300
        missed += np.log(1 - (np.exp(fit) / np.exp(fit).sum()) @ p)
        fit += np.log(1 - listed * p)
    assert unlisted.log_missed[0] == pytest.approx(missed)
    assert unlisted.log_missed[1:].tolist() == [0.0, 0.0], "a yes is no evidence, and of the third nothing was asked"
    listed = 1 - share
    p = np.array([belief[2] ** a / (belief**a).sum() for a in HEEDED])
    np.testing.assert_allclose(unlisted.fit, fit * (1 - 1 / 300) + np.log(listed * p))


def test_the_share_is_where_the_answers_are_likeliest() -> None:
    """Against a fine grid."""
    known, unlisted = Knowledge(np.ones(400, dtype=np.bool_), K), Unlisted(400)
    known.asked[:] = True
    known.confirmed[:300] = True
    known.has_none[300:310] = True
    unlisted.log_missed[310:] = np.log(np.linspace(0.001, 0.9, 90))
    grid = np.linspace(0.001, 0.999, 9981)
    mixed = grid[:, None] + (1 - grid[:, None]) * np.exp(unlisted.log_missed[310:])
    best = grid[np.argmax(np.log(mixed).sum(axis=1) + (10 + 1) * np.log(grid) + (300 + LEAST_LISTED) * np.log1p(-grid))]
    assert unlisted.share(known) == pytest.approx(best, abs=0.02)


def test_what_is_near_speaks_by_the_formula() -> None:
    x, _ = groups(60, 3)
    known, unlisted = Knowledge(np.ones(60, dtype=np.bool_), K), Unlisted(60)
    neighbours = Neighbours(x, np.arange(60))
    for item, label in ((0, 0), (3, 0), (1, 1)):
        known.take_in(Question(item, item, label, 1.0, 0), Answer.YES)
    known.take_in(Question(9, 2, 0, 1.0, 0), Answer.NONE)
    unlisted.log_missed[[5, 8]] = np.log([0.1, 0.5])
    known.asked[[5, 8]] = True
    share, same = unlisted.share(known), neighbours.same(known)
    found = unlisted.chances(np.arange(60), known, neighbours)
    for item in range(60):
        odds = share / (1 - share) / np.exp(unlisted.log_missed[item])
        for s, other in zip(same, neighbours.near_of(np.array([item]))[1][0], strict=True):
            a1, a0 = s + (1 - s) * share, (1 - s) * share
            missed = 0.0 if other == 2 else np.exp(unlisted.log_missed[other])
            ratio = (a1 + (1 - a1) * missed) / (a0 + (1 - a0) * missed)
            if known.confirmed[other]:
                ratio = (1 - a1) / (1 - a0)
            odds *= ratio**NEAR_HEEDED
        assert found[item] == pytest.approx(odds / (1 + odds), rel=1e-6)


def test_enough_noes_are_as_many_as_make_it_likely() -> None:
    unlisted, chance = Unlisted(2), np.array([0.1, 0.1])
    # Nearly all weight on alpha = 1.
    unlisted.fit = np.where(np.array(HEEDED) == 1, 0.0, -50.0)
    belief = np.array([[0.9, 0.08, 0.01, 0.01, 0, 0], [1 / K] * K])
    order = np.tile(np.arange(5), (2, 1))
    possible = np.ones((2, K), dtype=np.bool_)
    # After one no .1 / (.1 + .9 * .1) = .53, after two .1 / (.1 + .9 * .02) = .85, after three .1 / (.1 + .9 * .01).
    assert unlisted.noes_enough(chance, belief, order, possible, 0.5, 5).tolist() == [1, 5]
    assert unlisted.noes_enough(chance, belief, order, possible, 0.9, 5).tolist() == [3, 5]
    assert unlisted.noes_enough(chance, belief, order, possible, 0.95, 5).tolist() == [5, 5]
    assert MOST_SURE == 0.99, "three noes had .99 above"


def test_beliefs_are_tempered_among_what_is_possible() -> None:
    belief, possible = np.array([[0.5, 0.3, 0.2], [0.0, 0.5, 0.5]]), np.array([[True, True, False], [False] * 3])
    found = tempered(belief, possible)
    np.testing.assert_allclose(found.sum(axis=-1), 1.0)
    np.testing.assert_allclose(found[HEEDED.index(1.0), 0], [0.625, 0.375, 0], atol=1e-12)
    np.testing.assert_allclose(found[HEEDED.index(0.0), 0], [0.5, 0.5, 0], atol=1e-12)


def learner_of(protocol: TrainingProtocol, x: np.ndarray, budget: int, **more: Any) -> TrainingLearner:
    model = built_in(x.shape[1], K, None, generator(0, "networks"))
    return TrainingLearner(model, x, K, budget=budget, protocol=protocol, audit=20, near_are_alike=True, **more)


def followed(kinds: int, leaves: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Follow-up about 60 items of each kind, of which the last may have none of the labels, with 450 answers.

    The kinds, how often each item was asked about, and the items that were left.
    """
    x, kind = groups(420, K + 1)
    x, kind = x[kind < kinds], kind[kind < kinds]
    asked: list[int] = []

    def rater(question: Question) -> Answer:
        asked.append(question.item)
        return Answer.YES if kind[question.item] == question.label else Answer.NO

    with pytest.MonkeyPatch.context() as patch:
        if not leaves:
            patch.setattr(unlisted, "NONE_LIKELY", 2.0)
            patch.setattr(unlisted, "NONE_LIKELIER", 2.0)
        result = run(learner_of("follow-up", x, 450), rater)
    return kind, np.bincount(asked, minlength=kind.size), np.array(result.left, dtype=np.int64)


def test_items_without_a_label_take_fewer_answers_than_if_none_were_left() -> None:
    """Its twins leave nothing, and have nothing to leave."""
    kind, n_asked, left = followed(K + 1, leaves=True)
    _, n_asked_twin, left_by_twin = followed(K + 1, leaves=False)
    *_, left_wrongly = followed(K, leaves=True)
    assert left_by_twin.size == 0
    assert n_asked[kind == K].sum() < n_asked_twin[kind == K].sum()
    assert n_asked[kind < K].sum() > n_asked_twin[kind < K].sum()
    # Each was held to be one with probability .9 at least; false alarm 1e-3.
    assert (kind[left] < K).sum() <= binom.isf(1e-3, left.size, 1 - NONE_LIKELY)
    assert left_wrongly.size < left.size


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_run_that_leaves_items_is_gone_through_again_without_its_model(protocol: TrainingProtocol) -> None:
    x, kind = groups(280, K + 1)
    rater = {"asked": 0}

    def answer(question: Question) -> Answer:
        rater["asked"] += 1
        if kind[question.item] == K and rater["asked"] % 5 == 0:
            return Answer.NONE
        return Answer.YES if kind[question.item] == question.label else Answer.NO

    first = learner_of(protocol, x, 900)
    result = run(first, answer, at_a_time=5)
    assert result.left
    assert result.without_label
    again = learner_of(protocol, x, 900)
    again.restore(len(first.epochs), first.unlisted)
    for plan in first.epochs:
        again.adopt(plan)
        asked = [question for question in first._ledger.questions if question.epoch == plan.number]
        while asked:
            n_ready = len(again._epoch.ready)  # type: ignore[union-attr]
            again.ask_again(asked[:n_ready])
            for question in asked[:n_ready]:
                again.tell(question.id, first._ledger.answers[question.id])  # type: ignore[arg-type]
            asked = asked[n_ready:]
    assert again.result.status is RunStatus.COMPLETE
    assert (again.result.left, again.result.without_label) == (result.left, result.without_label)
    assert again.epochs == first.epochs


def test_a_plan_that_leaves_what_could_not_be_left_is_refused() -> None:
    x, _ = groups(60, 3)
    for wrong in ({"left": (5,)}, {"limits": (2,)}):
        learner = learner_of("one-shot", x, 50)
        plan = learner_of("one-shot", x, 50)
        first = plan.ask(1)
        assert isinstance(first, tuple)
        planned = plan.epochs[0]
        edited = EpochPlan(**{**{name: getattr(planned, name) for name in planned.__slots__}, **wrong})
        with pytest.raises(InvalidInputError, match="epoch 0"):
            learner.adopt(edited)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_rater_who_says_none_settles_the_item(protocol: TrainingProtocol) -> None:
    x, kind = groups(280, K + 1)
    said: dict[int, list[Answer]] = {}

    def answer(row: int, label: int) -> Answer | bool:
        found = Answer.NONE if kind[row] == K else bool(kind[row] == label)
        said.setdefault(row, []).append(Answer.NONE if kind[row] == K else Answer.NO)
        return found

    model = YesNoClassifier(protocol=protocol, budget=400, audit=40, seed=0)
    model.fit(x, answer=answer, labels=range(K))
    none = {row for row, answers in said.items() if Answer.NONE in answers}
    assert none
    assert set(model.without_label_items_.tolist()) == none
    assert all(len(said[row]) == 1 for row in none), "nothing more is asked"
    assert not set(model.verified_items_.tolist()) & none
    assert "by what raters said" in (model.warning_ or "")
    # Any prediction is wrong there, so the audit counts a no.
    audited = [each for each in model.history_ if each[3]]
    n_yes = sum(each[2] == "yes" for each in audited)
    expected = exact_interval(n_yes, len(audited), failure_of_whole_audit(model.delta))
    assert model.accuracy_interval_ == (expected.low, expected.high)
    again = YesNoClassifier(protocol=protocol, budget=450, seed=0)
    again.fit(x, answer=answer, labels=range(K), answers=model.history_)
    assert set(again.without_label_items_.tolist()) >= none - {row for row, *_, audited in model.history_ if audited}


def test_none_can_be_taken_back_and_learners_that_cannot_take_it_say_so() -> None:
    x, _ = groups(60, 3)
    learner = learner_of("follow-up", x, 50)
    asked = learner.ask(1)
    assert isinstance(asked, tuple)
    learner.tell(asked[0].id, Answer.NONE)
    learner.untell(asked[0].id)
    assert learner._known.possible[asked[0].item].all()
    refuses = learner_of("follow-up", x, 50, takes_none=False)
    asked = refuses.ask(1)
    assert isinstance(asked, tuple)
    with pytest.raises(InvalidInputError, match="none of these"):
        refuses.tell(asked[0].id, Answer.NONE)


def test_what_is_said_of_them() -> None:
    assert missing_label(0, 0, 10) is None
    assert missing_label(1, 0, 10) == (
        "10 items were asked about: 1 has none of the labels, by what raters said. A label may be missing"
    )
    assert missing_label(0, 1, 10) == (
        "10 items were asked about: 1 seems to have none of the labels, and is no longer asked about. A label may be "
        "missing"
    )
    assert "3 seem to have none, and are no longer asked about" in (missing_label(2, 3, 10) or "")


def test_a_share_of_the_items_is_never_left() -> None:
    learner = learner_of("follow-up", groups(2000, 4)[0], 50)
    n_never = int(learner._known.never_left.sum())
    # Binomial; five standard deviations.
    assert abs(n_never - 2000 * NEVER_LEFT) < 5 * np.sqrt(2000 * NEVER_LEFT)


def test_with_two_labels_hard_rows_are_not_taken_for_rows_without_one() -> None:
    """A no to one leaves the other; with a first share of a third all six runs left rows."""
    x, y = make_classification(600, 10, n_informative=5, flip_y=0.1, random_state=0)
    digits, number = load_digits(return_X_y=True)
    for seed in range(3):
        hard = YesNoClassifier(protocol="follow-up", budget=200, seed=seed).fit(x, y)
        early = YesNoClassifier(budget=60, seed=seed).fit(digits[:400], number[:400] > 4)
        assert hard.left_items_.size + early.left_items_.size == 0
        assert hard.warning_ is None


def test_with_two_labels_a_third_that_is_missing_is_found() -> None:
    x, y = load_iris(return_X_y=True)
    model = YesNoClassifier(protocol="follow-up", budget=200, audit=5, seed=0)
    model.fit(x, answer=lambda row, label: bool(y[row] == label), labels=[0, 1])
    assert (y[model.left_items_] == 2).sum() > 25
    assert (y[model.left_items_] < 2).sum() <= 5
