"""ListLearner: with lists of one it is HedgeLearner; with longer ones its law and its estimates are exact."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from tests.problems import models_of_accuracy

from onebit.errors import InvalidInputError
from onebit.hypotheses.finite import PredictionTable
from onebit.hypotheses.lists import ListTable
from onebit.learners.contract import run
from onebit.learners.items import Pool
from onebit.learners.paper.hedge import HedgeLearner
from onebit.learners.paper.lists import ListLearner, filled_up, random_lists
from onebit.learners.paper.sequel_sizes import HedgePlan, hedge_plan
from onebit.randomness import RoundStream
from onebit.raters import CallableRater
from onebit.records import Answer, Question, Status

K, N_ITEMS = 6, 30
TABLE, TRUTH = models_of_accuracy(np.random.default_rng(2), np.array([0.3, 0.5, 0.7, 0.9]), N_ITEMS, K)
#: Two right labels for each item.
RIGHT = {item: {int(TRUTH[item]), int(TRUTH[item] + 2) % K} for item in range(N_ITEMS)}
rater = CallableRater(lambda item, label: label in RIGHT[item])


def pool() -> Pool:
    return Pool(np.arange(N_ITEMS))


def lists_of(m: int, short: bool = False) -> ListTable:
    """Lists of m labels; if ``short``, some have fewer, or none at all."""
    table = np.stack([(TABLE + 2 * j if j < 3 else TABLE + 2 * j + 1) % K for j in range(m)], axis=2)
    missing = np.random.default_rng(m).random(table.shape) < 0.4
    return ListTable(np.where(missing, -1, table) if short else table, K)


@pytest.mark.parametrize("abstaining", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_lists_of_one_are_hedge_run_for_run(seed: int, abstaining: bool) -> None:
    """The same questions with the same propensities, the same mixture, the same result to the last bit."""
    table = np.where((np.arange(N_ITEMS) % 3 == 0) & abstaining, -1, TABLE)
    finite, plan = PredictionTable(table, K), HedgePlan(150, 300, sparsity=2)
    asked: dict[str, list[Question]] = {"hedge": [], "lists": []}

    def seen_by(name: str, question: Question) -> Answer | int:
        asked[name].append(question)
        return rater(question)

    one = run(HedgeLearner(finite, pool(), plan, seed=seed), lambda q: seen_by("hedge", q))
    lists = ListTable(table[:, :, np.newaxis], K)
    other = run(ListLearner(lists, pool(), plan, seed=seed), lambda q: seen_by("lists", q), at_a_time=77)
    assert asked["hedge"] == asked["lists"]
    assert (one.chosen, one.achieved_eps, one.oracle_calls) == (other.chosen, other.achieved_eps, other.oracle_calls)
    assert (one.n_rounds, one.rounds_phase_1, one.rounds_phase_2) == (other.n_rounds, 150, 300)
    assert one.coverage is not None
    assert other.coverage is not None
    assert one.coverage.mixture.hypotheses == other.coverage.mixture.hypotheses
    assert one.coverage.mixture.probabilities.tolist() == other.coverage.mixture.probabilities.tolist()
    assert one.intervals is not None
    assert other.intervals is not None
    for name in ("estimate", "lower", "upper"):
        assert getattr(one.intervals, name).tolist() == getattr(other.intervals, name).tolist()


@pytest.mark.parametrize("short", [False, True])
@pytest.mark.parametrize("m", [2, 3, 5])
def test_a_label_is_asked_as_often_as_its_propensity_says(m: int, short: bool) -> None:
    """For each label of an item: the share of rounds that ask it, over its propensity, is 1 up to chance (6 sigma)."""
    learner = ListLearner(lists_of(m, short), pool(), HedgePlan(300, 12_000, list_size=m), seed=m)
    asked: Counter[tuple[int, int | None]] = Counter()
    propensity: dict[tuple[int, int | None], float] = {}
    rounds: Counter[int] = Counter()

    def counting(question: Question) -> Answer | int:
        if question.epoch == 1:
            asked[question.item, question.label] += 1
            propensity.setdefault((question.item, question.label), question.propensity)
            assert propensity[question.item, question.label] == pytest.approx(question.propensity)
            rounds[question.item] += question.id % m == 0
        return rater(question)

    run(learner, counting)
    for (item, label), q in propensity.items():
        n = rounds[item]
        assert abs(asked[item, label] - n * q) <= 6 * np.sqrt(n * q * (1 - q)) + 1e-9
    # A list has m labels, so the propensities of all labels of an item add up to m.
    for item in range(N_ITEMS):
        known = [propensity[item, label] for label in range(K) if (item, label) in propensity]
        if len(known) == K:
            assert sum(known) == pytest.approx(m)


def test_estimates_are_unbiased() -> None:
    """The mean of 60 runs is the mean number of right labels in a list, for every hypothesis (6 sigma)."""
    m, plan = 2, HedgePlan(60, 200, list_size=2, sparsity=2)
    members = lists_of(m).predictions(np.arange(N_ITEMS))
    truth = [[sum(j in RIGHT[i] for j in row[i]) for i in range(N_ITEMS)] for row in members.tolist()]
    found = []
    for seed in range(60):
        result = run(ListLearner(lists_of(m), pool(), plan, seed=seed), rater)
        assert result.intervals is not None
        found.append(result.intervals.estimate * m)
    error = np.mean(found, axis=0) - np.mean(truth, axis=1)
    assert (abs(error) <= 6 * np.std(found, axis=0) / np.sqrt(60)).all()


@pytest.mark.parametrize("m", [2, 5])
def test_no_number_that_draws_a_list_draws_a_hypothesis(m: int) -> None:
    """Theorem 7's proof needs the round's labels to be independent of who is drawn in it.

    Of a round's four numbers the third draws the hypothesis; a list takes the second, and then numbers of its own.
    """
    learner = ListLearner(lists_of(m), pool(), HedgePlan(20, 10, list_size=m), seed=9)
    pages = learner.ask_lists(20)
    assert isinstance(pages, tuple)
    first = RoundStream(9, "rounds").uniforms(0, 20)[:, 1:2]
    expected = random_lists(np.hstack([first, RoundStream(9, "list 0").uniforms(0, 20)])[:, :m], K)
    assert [[q.label for q in page] for page in pages] == expected.tolist()


def test_lists_are_uniform() -> None:
    rng = np.random.default_rng(0)
    lists = random_lists(rng.random((20_000, 3)), 5)
    seen = Counter(tuple(sorted(row)) for row in lists.tolist())
    assert set(seen) == set(combinations(range(5), 3))
    # Each of ten: 2,000 with a deviation of 42.
    assert max(abs(n - 2000) for n in seen.values()) < 6 * 43


def test_short_lists_are_filled_up_and_their_own_labels_are_asked_for_sure() -> None:
    """Theorem 6 counts on gamma m / K + (1 - gamma) Q at least, Q the mass of those who have the label; exact here.

    A list with one label of two has each of the other K - 1 as often as any.
    """
    short = np.stack([TABLE, np.full_like(TABLE, -1)], axis=2)
    learner = ListLearner(ListTable(short, K), pool(), HedgePlan(50, 100, list_size=2), seed=1)
    seen: list[Question] = []
    while isinstance(questions := learner.ask(40), tuple):
        seen += questions
        for question in questions:
            learner.tell(question.id, rater(question))
    coverage = learner.result.coverage
    assert coverage is not None
    mass = np.zeros(4)
    mass[list(coverage.mixture.hypotheses)] = coverage.mixture.probabilities
    final = [q for q in seen if q.epoch == 1]
    Q = np.array([mass @ (TABLE[:, q.item] == q.label) for q in final])
    assert [q.propensity for q in final] == pytest.approx(0.5 * 2 / K + 0.5 * (Q + (1 - Q) / (K - 1)))


def test_what_fills_up_a_list_is_uniform() -> None:
    """One label is there; each of the six pairs of the other four comes as often as any: 3,333 of 20,000 (6 sigma)."""
    guess = random_lists(np.random.default_rng(1).random((20_000, 3)), 5)
    lists = filled_up(np.tile([-1, 3, -1], (20_000, 1)), guess)
    assert (lists[:, 0] == 3).all()
    seen = Counter(tuple(sorted(row)) for row in lists[:, 1:].tolist())
    assert set(seen) == set(combinations([0, 1, 2, 4], 2))
    assert max(abs(n - 20_000 / 6) for n in seen.values()) < 6 * 53


def test_a_page_asks_which_of_these_are_right() -> None:
    learner = ListLearner(lists_of(3), pool(), HedgePlan(40, 60, list_size=3), seed=3)
    other = ListLearner(lists_of(3), pool(), HedgePlan(40, 60, list_size=3), seed=3)
    while isinstance(pages := learner.ask_lists(7), tuple):
        for page in pages:
            assert len({q.item for q in page}) == 1
            assert len({q.label for q in page}) == 3
            learner.tell_list(page, {q.label for q in page if q.label is not None} & RIGHT[page[0].item])
    assert pages is Status.DONE
    assert learner.result.achieved_eps == run(other, rater).achieved_eps
    assert learner.result.n_answers == 3 * learner.result.n_rounds == 300


def test_half_a_list_is_no_page_and_foreign_labels_are_no_answer() -> None:
    learner = ListLearner(lists_of(3), pool(), HedgePlan(40, 60, list_size=3), seed=3)
    first = learner.ask(1)
    assert isinstance(first, tuple)
    with pytest.raises(InvalidInputError, match="asked in part"):
        learner.ask_lists()
    rest = learner.ask(2)
    assert isinstance(rest, tuple)
    missing = next(label for label in range(K) if label not in {q.label for q in (*first, *rest)})
    with pytest.raises(InvalidInputError, match="not in the list"):
        learner.tell_list((*first, *rest), {missing})
    assert learner.result.n_answers == 0


def test_several_right_labels_beyond_the_plan_do_not_break_the_intervals() -> None:
    """The intervals do not rest on s: their range is that of m right labels."""
    plan = HedgePlan(60, 4000, list_size=2, sparsity=1)
    everything = CallableRater(lambda item, label: True)
    result = run(ListLearner(lists_of(2), pool(), plan, seed=2), everything)
    assert result.intervals is not None
    assert (result.intervals.upper >= 1).all()
    assert (result.intervals.lower > 0.5).all()


def test_the_promise_names_the_theorem_with_its_own_plan_only() -> None:
    plan = hedge_plan(K, 4, 0.5, 0.2, sparsity=2, list_size=2)
    assert "Theorem 6" in ListLearner(lists_of(2), pool(), plan, seed=0).result.promise
    given = replace(plan, guarantee=None)
    assert "achieved_eps" in ListLearner(lists_of(2), pool(), given, seed=0).result.promise


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="lists of 1 and the class gives lists of 2"):
        ListLearner(lists_of(2), pool(), HedgePlan(10, 10))
    with pytest.raises(InvalidInputError, match="ListLearner"):
        HedgeLearner(PredictionTable(TABLE, K), pool(), HedgePlan(10, 10, list_size=2))
    with pytest.raises(InvalidInputError, match="names a label twice"):
        ListTable([[[0, 0]]], 3)
    with pytest.raises(InvalidInputError, match="label"):
        ListTable([[[0, 3]]], 3)
    with pytest.raises(InvalidInputError, match="the same number of labels"):
        ListTable([[0, 1]], 3)
    with pytest.raises(InvalidInputError, match="only 2 labels"):
        ListLearner(ListTable([[[0, 1, -1]]], 2), Pool(np.arange(1)), HedgePlan(10, 10, list_size=3))
