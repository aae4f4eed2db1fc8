"""Algorithm 1 in detail: its questions' law, its two phases, its oracle calls, what it measures and promises."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier
from tests.problems import models_of_accuracy

from onebit.errors import InvalidInputError
from onebit.explore.corrective import solve_paper_potential
from onebit.explore.frank_wolfe import frank_wolfe
from onebit.explore.mixture import Mixture
from onebit.explore.potential import W_gamma, potential
from onebit.explore.solution import Iteration
from onebit.explore.spider import PotentialOnSamples
from onebit.hypotheses.base import HypothesisClass
from onebit.hypotheses.cost_sensitive import CostSensitiveClass
from onebit.hypotheses.counting import CountingClass
from onebit.hypotheses.estimator import EstimatorClass
from onebit.hypotheses.finite import PredictionTable
from onebit.hypotheses.intervals import IntervalClass
from onebit.hypotheses.stumps import StumpClass
from onebit.learners.contract import run
from onebit.learners.items import Pool
from onebit.learners.paper.algorithm1 import Exploration, PaperLearner, Solver
from onebit.learners.paper.schedule import Plan, batch, theorem_plan
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
    learner = PaperLearner(PredictionTable(table, N_LABELS), POOL, Plan(1, 2, gamma=0.25))
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
            W = mixture.W(CLASS, np.full(len(uniform), item), label)
            assert propensity == pytest.approx(W_gamma(W, 0.25, N_LABELS))
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


def test_phase_1_uses_the_first_confirmed_in_the_order_drawn() -> None:
    """However many are asked at a time, and in whatever order answers come: the mixture is Algorithm 1's."""

    def explored(at_a_time: int, late: bool) -> Exploration:
        learner = PaperLearner(CLASS, POOL, Plan(15, 10), seed=1)
        while isinstance(questions := learner.ask(at_a_time), tuple) and questions[0].epoch == 0:
            # Late: the items of even number are answered after the others, and the batch is closed by the last.
            for question in sorted(questions, key=lambda q: q.item % 2 == 0) if late else questions:
                learner.tell(question.id, rater(question))
        found = learner.result.exploration
        assert found is not None
        return found

    letter_by_letter = explored(1, late=False)
    for found in (explored(200, late=False), explored(7, late=True), explored(200, late=True)):
        assert found.n_confirmed == 15
        assert found.mixture.hypotheses == letter_by_letter.mixture.hypotheses
        assert found.mixture.probabilities == pytest.approx(letter_by_letter.mixture.probabilities)
        assert found.variance_bound == pytest.approx(letter_by_letter.variance_bound)


def test_intervals_are_the_formula_on_the_recorded_rounds() -> None:
    """Everything anew, from the questions as asked and the answers as given: can't tell counts as no."""
    rounds: list[tuple[Question, Answer | int]] = []

    def recording(question: Question) -> Answer | int:
        answer = Answer.CANT_TELL if question.id % 7 == 0 else rater(question)
        rounds.append((question, answer))
        return answer

    plan = Plan(20, 30_000, gamma=0.4, delta=0.02)
    result = run(PaperLearner(CLASS, POOL, plan, seed=3), recording)
    final = [(q, answer is Answer.YES) for q, answer in rounds if q.epoch == 1]
    X = np.array([[yes * (TABLE[h, q.item] == q.label) / q.propensity for q, yes in final] for h in range(3)])
    n, log_term = len(final), np.log(4 * 3 / 0.02)
    width = np.sqrt(2 * X.var(axis=1, ddof=1) * log_term / n) + 7 * (N_LABELS / 0.4) * log_term / (3 * (n - 1))
    assert result.intervals is not None
    assert result.intervals.estimate == pytest.approx(X.mean(axis=1))
    assert (X.mean(axis=1) - width).min() > 0
    assert (X.mean(axis=1) + width).max() < 1
    assert result.intervals.lower == pytest.approx(X.mean(axis=1) - width)
    assert result.intervals.upper == pytest.approx(X.mean(axis=1) + width)
    confirmed = [q for q, answer in rounds if q.epoch == 0 and answer is Answer.YES]
    assert result.exploration is not None
    assert result.exploration.n_confirmed == 20 <= len(confirmed)


def test_oracle_calls_are_the_schedules() -> None:
    """SPIDER: one for P_1, T for the steps, one for the result. What only measures is not counted."""
    plan = Plan(30, 50, n_steps=77)
    assert run(PaperLearner(CLASS, POOL, plan), rater).oracle_calls == 1 + 77 + 1


def test_spider_draws_the_schedules_batches_from_its_own_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[int] = []
    firsts: list[tuple[int, ...]] = []
    draw = PotentialOnSamples.draw

    def counting(self: PotentialOnSamples, n: int) -> np.ndarray:
        batch_drawn = draw(self, n)
        drawn.append(n)
        firsts.append(tuple(batch_drawn))
        return batch_drawn

    monkeypatch.setattr(PotentialOnSamples, "draw", counting)
    for seed in (1, 2):
        run(PaperLearner(CLASS, POOL, Plan(30, 5, n_steps=40), seed=seed), rater)
    assert drawn == 2 * [batch(t, N_LABELS, 0.5) for t in range(1, 41)]
    assert firsts[:40] != firsts[40:]


@pytest.mark.parametrize("solver", ["corrective", "frank-wolfe"])
def test_what_is_measured_is_what_it_says(solver: Solver) -> None:
    confirmed = []

    def remembering(question: Question) -> Answer | int:
        answer = rater(question)
        confirmed.extend([question.item] if question.epoch == 0 and answer is Answer.YES else [])
        return answer

    found = run(PaperLearner(CLASS, POOL, Plan(8, 20), solver=solver, seed=2), remembering, at_a_time=1).exploration
    assert found is not None
    assert found.certified
    assert found.n_confirmed == len(confirmed) == 8
    right = TABLE[:, confirmed] == TRUTH[confirmed]
    W = found.mixture.W(CLASS, np.array(confirmed), TRUTH[confirmed])
    covered = (right / W_gamma(W, 0.5, N_LABELS)).mean(axis=1)
    assert found.variance_bound == pytest.approx(covered.max())
    # The gap in its other form: max_h D_h - 1, D_h = (1 - gamma) E[r / W_gamma] + E[(gamma / K) / W_gamma].
    floor = (0.5 / N_LABELS / W_gamma(W, 0.5, N_LABELS)).mean()
    assert found.gap == pytest.approx(0.5 * covered.max() + floor - 1, abs=1e-12)
    assert found.gap <= 1e-2


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

    def promise(plan: Plan, hypotheses: HypothesisClass = CLASS, **options: Any) -> str:
        return PaperLearner(hypotheses, Pool([0.0]) if hypotheses is LINE else POOL, plan, **options).result.promise

    after_the_fact = "the excess error is at most achieved_eps"
    assert promise(theorem) == "Theorem 1: the excess error is at most 0.1 with probability at least 0.95"
    assert promise(theorem, CountingClass(CLASS)).startswith("Theorem 1")
    assert promise(theorem, solver="corrective").startswith(after_the_fact)
    assert promise(theorem.scaled(phase_1=1e-9)).startswith(after_the_fact)
    assert promise(theorem_plan(N_LABELS, 2, 0.1, 0.05)).startswith(after_the_fact)  # made for a smaller class
    assert promise(theorem_plan(N_LABELS - 1, 3, 0.1, 0.05)).startswith(after_the_fact)  # ... for fewer labels
    assert promise(theorem, InexactTable(TABLE, N_LABELS)).startswith(after_the_fact)
    assert promise(theorem, LINE).startswith("none")


class InexactTable(PredictionTable):
    """A table that does not claim to find the minimiser."""

    exact = False


LINE = IntervalClass(2, N_LABELS)


def test_a_scaled_theorem_runs_end_to_end() -> None:
    plan = theorem_plan(N_LABELS, 3, 0.3, 0.1).scaled(phase_1=1e-10, phase_2=0.2)
    result = run(PaperLearner(CLASS, POOL, plan, seed=1), rater)
    assert plan.n_steps is not None
    assert result.oracle_calls == plan.n_steps + 2
    assert result.rounds_phase_2 == plan.n_final
    assert result.chosen == 2
    assert result.plan.origin.startswith("Theorem 1 with T solved from Theorem 3, phase 1 scaled by 1e-10")


def test_an_infinite_class_can_be_learned() -> None:
    rng = np.random.default_rng(4)
    x = rng.uniform(size=400)
    truth = np.searchsorted([0.3, 0.7], x)
    learner = PaperLearner(IntervalClass(2, 3), Pool(x), Plan(60, 1500, n_steps=60), solver="spider", seed=4)
    result = run(learner, SimulatedRater(truth))
    assert result.intervals is None
    assert (IntervalClass(2, 3).predict(result.chosen, x) == truth).mean() > 0.97


def test_an_estimator_can_explore_but_certifies_nothing() -> None:
    rng = np.random.default_rng(5)
    x = rng.uniform(size=(300, 2))
    truth = (x[:, 0] > 0.5).astype(int) + (x[:, 1] > 0.5)
    hypotheses = EstimatorClass(DecisionTreeClassifier(max_depth=2, random_state=0), 3)
    result = run(PaperLearner(hypotheses, Pool(x), Plan(60, 1000), seed=5), SimulatedRater(truth))
    assert result.exploration is not None
    assert not result.exploration.certified
    assert result.promise.startswith("none")
    assert (hypotheses.predict(result.chosen, x) == truth).mean() > 0.9


def test_solvers_that_cannot_run_are_refused_at_once() -> None:
    trees = EstimatorClass(DecisionTreeClassifier(), N_LABELS)
    with pytest.raises(InvalidInputError, match="n_steps"):
        PaperLearner(CLASS, POOL, Plan(10, 10), solver="spider")
    with pytest.raises(InvalidInputError, match="solver is 'SPIDER'"):
        PaperLearner(CLASS, POOL, Plan(10, 10), solver="SPIDER")  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="negative weights"):
        PaperLearner(trees, Pool(np.zeros((3, 2))), Plan(10, 10, n_steps=5))


@pytest.mark.parametrize(
    ("hypotheses", "pool"),
    [
        (CLASS, np.arange(51)),
        (LINE, np.array([0.0, np.nan])),
        (StumpClass(2, 2), np.zeros(3)),
        (CLASS, np.zeros((2, 2))),
    ],
    ids=["item out of range", "NaN", "wrong shape", "not items"],
)
def test_a_pool_that_is_not_of_the_class_is_refused_at_once(hypotheses: HypothesisClass, pool: np.ndarray) -> None:
    with pytest.raises(InvalidInputError):
        PaperLearner(hypotheses, Pool(pool), Plan(10, 10))


@pytest.mark.parametrize(
    ("plan", "solver", "sees_gaps"),
    [
        (Plan(40, 50, n_steps=12), "spider", False),
        (Plan(40, 50), "corrective", True),
        (Plan(40, 50), "frank-wolfe", True),
    ],
)
def test_every_iteration_of_phase_1_can_be_observed(plan: Plan, solver: Solver, sees_gaps: bool) -> None:
    records: list[Iteration] = []
    run(PaperLearner(CLASS, POOL, plan, solver=solver, observe=records.append, seed=3), rater)
    steps = [each.number for each in records]
    assert steps == list(range(steps[0], steps[0] + len(steps)))
    assert all((each.gap is not None) is sees_gaps for each in records)
    if solver == "spider":
        assert steps == list(range(1, 13))


@pytest.mark.parametrize("solver", [None, "corrective", "frank-wolfe"])
def test_the_solver_that_is_named_runs_to_its_gap(solver: Solver | None) -> None:
    """Its records are those of the solver itself on the same sample; without a name and n_steps, the corrective one."""
    sample: list[tuple[Any, Any]] = []

    def keep(hypotheses: HypothesisClass, x: Any, y: Any, gamma: float) -> Mixture:
        sample.append((x, y))
        return Mixture.point(0)

    run(PaperLearner(CLASS, POOL, Plan(40, 50), solver=keep, seed=3), rater)
    seen: list[Iteration] = []
    run(PaperLearner(CLASS, POOL, Plan(40, 50), solver=solver, observe=seen.append, seed=3), rater)
    alone: list[Iteration] = []
    if solver == "frank-wolfe":
        frank_wolfe(CLASS, *sample[0], 0.5, 1e-2, observe=alone.append)
    else:
        solve_paper_potential(CLASS, *sample[0], 0.5, 1e-4, observe=alone.append)
    assert seen == alone


def test_the_records_of_the_iterations_are_what_the_mixtures_have() -> None:
    """Of two hypotheses that are right on one sample each, the plain method starts at the first, with all its mass.

    There W = (1, 0), so Phi = -(ln(3/4) + ln(1/4)) / 2 with gamma = 1/2 and K = 2, and the gap is (1/2)(1/(1/4) - 1 /
    (3/4)) / 2. The corrective one ends at half and half, where W_gamma is 1/2 and there is no gap.
    """
    table, x, y = PredictionTable([[0, 1], [1, 0]], n_labels=2), np.array([0, 1]), np.array([0, 0])
    plain: list[Iteration] = []
    frank_wolfe(table, x, y, 0.5, 1e-3, observe=plain.append)
    assert (plain[0].number, plain[0].support) == (1, 1)
    assert plain[0].potential == pytest.approx(-np.log(3 / 16) / 2)
    assert plain[0].gap == pytest.approx(2 / 3)
    assert plain[1].support == 2
    assert plain[-1].potential < plain[0].potential
    corrective: list[Iteration] = []
    solve_paper_potential(table, x, y, 0.5, 1e-6, observe=corrective.append)
    assert corrective[-1].potential == pytest.approx(np.log(2))
    assert corrective[-1].support == 2
    assert corrective[-1].gap == pytest.approx(0, abs=1e-6)


def test_spider_records_the_potential_of_the_mixture_that_it_has() -> None:
    """What is seen before step 12 is the mixture that 11 steps end with; its support is at most the number of steps."""
    sample: list[tuple[Any, Any]] = []

    def keep(hypotheses: HypothesisClass, x: Any, y: Any, gamma: float) -> Mixture:
        sample.append((x, y))
        return Mixture.point(0)

    records: list[Iteration] = []
    run(PaperLearner(CLASS, POOL, Plan(40, 50), solver=keep, seed=3), rater)
    run(PaperLearner(CLASS, POOL, Plan(40, 50, n_steps=12), observe=records.append, seed=3), rater)
    eleven = run(PaperLearner(CLASS, POOL, Plan(40, 50, n_steps=11), seed=3), rater).exploration
    assert eleven is not None
    W = eleven.mixture.W(CLASS, *sample[0])
    assert records[-1].potential == pytest.approx(potential(W, 0.5, N_LABELS))
    assert records[-1].support == len(eleven.mixture.hypotheses)
    assert all(each.support <= max(1, each.number - 1) for each in records)


def test_a_solver_of_ones_own_explores_and_promises_no_theorem() -> None:
    given: list[int] = []

    def first_and_last(hypotheses: HypothesisClass, x: Any, y: Any, gamma: float) -> Mixture:
        given.append(y.size)
        assert gamma == 0.5
        hypotheses.erm(x, y, np.ones(y.size))
        return Mixture((0, 2), np.array([0.25, 0.75]))

    plan = theorem_plan(N_LABELS, 3, 0.5, 0.5)
    small = Plan(40, 2000, gamma=plan.gamma, guarantee=plan.guarantee)
    result = run(PaperLearner(CLASS, POOL, small, solver=first_and_last, seed=4), rater)
    assert given == [40]
    assert result.exploration is not None
    assert result.exploration.mixture.hypotheses == (0, 2)
    assert result.oracle_calls == 2
    assert result.chosen == 2
    assert "Theorem 1" not in result.promise


def test_spider_runs_on_a_learned_class_by_the_cost_sensitive_reduction() -> None:
    """A tree learner refuses negative weights; wrapped, SPIDER finds a mixture that explores better than guesses.

    One tree is right everywhere, so uniform guesses have a variance of 3, the number of labels.
    """
    x = np.arange(60.0)[:, None]
    trees = EstimatorClass(DecisionTreeClassifier(max_depth=2, random_state=0), 3)
    truth = (x[:, 0] >= 30).astype(np.int64)
    plan = Plan(60, 200, n_steps=30)
    with pytest.raises(InvalidInputError, match="wrap it in CostSensitiveClass"):
        PaperLearner(trees, Pool(x), plan)
    learner = PaperLearner(CostSensitiveClass(trees), Pool(x), plan, seed=0)
    result = run(learner, SimulatedRater(truth))
    assert result.exploration is not None
    assert not result.exploration.certified
    assert result.exploration.variance_bound < 3
    assert result.oracle_calls == 30 + 1 + 1
    assert (trees.predict(result.chosen, x) == truth).mean() > 0.9
