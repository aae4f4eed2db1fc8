"""Algorithm 1 in detail: its questions' law, its two phases, its oracle calls, what it measures and promises."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from tests.problems import models_of_accuracy

from onebit.errors import InvalidInputError
from onebit.explore.mixture import Mixture
from onebit.explore.potential import W_gamma
from onebit.hypotheses.base import HypothesisClass
from onebit.hypotheses.estimator import EstimatorClass
from onebit.hypotheses.finite import PredictionTable
from onebit.hypotheses.intervals import IntervalClass
from onebit.learners.base import run
from onebit.learners.items import Pool
from onebit.learners.paper import Exploration, PaperLearner, Solver
from onebit.learners.schedule import Plan, theorem_plan
from onebit.raters import SimulatedRater
from onebit.records import Answer, Question, RunStatus

N_LABELS = 4
TABLE, TRUTH = models_of_accuracy(np.random.default_rng(0), np.array([0.3, 0.6, 0.9]), 50, N_LABELS)
CLASS = PredictionTable(TABLE, N_LABELS)
POOL = Pool(np.arange(50))
rater = SimulatedRater(TRUTH)


@pytest.mark.parametrize("table", [TABLE, np.where(np.arange(50) % 3 == 0, -1, TABLE)], ids=["plain", "abstaining"])
def test_propensities_are_the_law_of_the_questions(table: np.ndarray) -> None:
    """Exact: every cell of a grid of uniform numbers is equally likely, so label frequencies are probabilities.

    From this, E[X(h)] = P(h(x) = y) for every h: importance weights are unbiased.
    """
    learner = PaperLearner(PredictionTable(table, N_LABELS), POOL, Plan(1, 1, gamma=0.25))
    mixture = Mixture((0, 1, 2), np.array([0.125, 0.375, 0.5]))
    learner._exploration = Exploration(mixture, 1, 1.0, 0.0, True)
    # Midpoints of cells that no boundary of the draw cuts: 4 guesses, eighths for the mixture, quarters for gamma.
    grid = [((np.arange(n) + 0.5) / n).tolist() for n in (N_LABELS, 8, 4)]
    uniform = np.array(list(itertools.product(*grid)))
    for item in range(50):
        label, propensity = learner._choose(np.full(len(uniform), item), uniform)
        frequency = np.bincount(label, minlength=N_LABELS) / len(uniform)
        assert propensity == pytest.approx(frequency[label])
        if (table[:, item] >= 0).all():
            assert propensity == pytest.approx(
                W_gamma(mixture.label_mass(CLASS, np.array([item]))[0], 0.25, N_LABELS)[label]
            )
        # The unbiased estimate, by summing over what can be asked:
        for h in range(3):
            estimate = np.mean((label == TRUTH[item]) * (table[h, item] == label) / propensity)
            assert estimate == pytest.approx(float(table[h, item] == TRUTH[item]))


def test_phases_and_counts() -> None:
    result = run(PaperLearner(CLASS, POOL, Plan(15, 100), seed=1), rater, at_a_time=1)
    assert result.exploration is not None
    # One question at a time is Algorithm 1 to the letter: phase 1 ends with the 15th yes.
    assert result.exploration.n_confirmed == 15
    assert result.rounds_phase_2 == 100
    assert result.n_rounds == result.rounds_phase_1 + 100
    assert result.rounds_phase_1 >= 15


def test_a_batch_may_confirm_more_and_all_are_used() -> None:
    result = run(PaperLearner(CLASS, POOL, Plan(15, 100), seed=1), rater, at_a_time=200)
    assert result.exploration is not None
    assert result.exploration.n_confirmed > 15
    assert result.rounds_phase_1 == 200


def test_oracle_calls_are_the_schedules() -> None:
    """SPIDER: one for P_1, T for the steps, one for the result. What only measures is not counted."""
    plan = Plan(30, 50, n_steps=77)
    assert run(PaperLearner(CLASS, POOL, plan, solver="spider"), rater).oracle_calls == 1 + 77 + 1


def test_what_is_measured_is_what_it_says() -> None:
    confirmed = []

    def remembering(question: Question) -> Answer | int:
        answer = rater(question)
        confirmed.extend([question.item] if question.epoch == 0 and answer is Answer.YES else [])
        return answer

    found = run(PaperLearner(CLASS, POOL, Plan(8, 20), seed=2), remembering).exploration
    assert found is not None
    assert found.certified
    assert found.n_confirmed == len(confirmed)
    right = TABLE[:, confirmed] == TRUTH[confirmed]
    W = found.mixture.W(CLASS, np.array(confirmed), TRUTH[confirmed])
    covered = (right / W_gamma(W, 0.5, N_LABELS)).mean(axis=1)
    assert found.variance_bound == pytest.approx(covered.max())
    # The gap in its other form: max_h D_h - 1, D_h = (1 - gamma) E[r / W_gamma] + E[(gamma / K) / W_gamma].
    floor = (0.5 / N_LABELS / W_gamma(W, 0.5, N_LABELS)).mean()
    assert found.gap == pytest.approx(0.5 * covered.max() + floor - 1)


def test_phase_1_gives_up_when_nobody_says_yes() -> None:
    result = run(PaperLearner(CLASS, POOL, Plan(10, 100)), lambda question: Answer.NO)
    assert result.status is RunStatus.BUDGET
    assert result.chosen is None
    assert result.exploration is None
    assert result.n_rounds == 4 * N_LABELS * 10


def test_achieved_eps_comes_from_the_intervals() -> None:
    result = run(PaperLearner(CLASS, POOL, Plan(20, 20_000), seed=3), rater)
    assert result.intervals is not None
    rivals = np.delete(result.intervals.upper, result.chosen)
    expected = max(0.0, rivals.max() - result.intervals.lower[result.chosen])
    assert result.achieved_eps == pytest.approx(expected)


def test_promises_say_which_row_applies() -> None:
    theorem = theorem_plan(N_LABELS, 3, 0.1, 0.05)

    def promise(plan: Plan, solver: Solver = "spider", hypotheses: HypothesisClass = CLASS) -> str:
        return PaperLearner(hypotheses, POOL, plan, solver=solver).result.promise

    assert promise(theorem).startswith("Theorem 1")
    assert promise(theorem, solver="frank-wolfe").startswith("the excess error is at most achieved_eps")
    assert promise(theorem.scaled(phase_1=1e-9)).startswith("the excess error is at most achieved_eps")
    assert promise(theorem.scaled(phase_1=0.5), hypotheses=IntervalClass(2, N_LABELS)).startswith("none")


def test_an_infinite_class_can_be_learned() -> None:
    rng = np.random.default_rng(4)
    x = rng.uniform(size=400)
    truth = np.searchsorted([0.3, 0.7], x)
    learner = PaperLearner(IntervalClass(2, 3), Pool(x), Plan(60, 1500, n_steps=60), solver="spider", seed=4)
    result = run(learner, SimulatedRater(truth))
    assert result.intervals is None
    assert (IntervalClass(2, 3).predict(result.chosen, x) == truth).mean() > 0.97


def test_an_estimator_can_explore_but_certifies_nothing() -> None:
    from sklearn.tree import DecisionTreeClassifier

    rng = np.random.default_rng(5)
    x = rng.uniform(size=(300, 2))
    truth = (x[:, 0] > 0.5).astype(int) + (x[:, 1] > 0.5)
    hypotheses = EstimatorClass(DecisionTreeClassifier(max_depth=2, random_state=0), 3)
    result = run(PaperLearner(hypotheses, Pool(x), Plan(60, 1000), seed=5), SimulatedRater(truth))
    assert result.exploration is not None
    assert not result.exploration.certified
    assert result.promise.startswith("none")
    assert (hypotheses.predict(result.chosen, x) == truth).mean() > 0.9


def test_spider_without_steps_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="n_steps"):
        PaperLearner(CLASS, POOL, Plan(10, 10), solver="spider")
