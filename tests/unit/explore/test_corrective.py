"""Fully corrective Frank-Wolfe: its optimum, its gap, its warm start, and what it calls a certificate."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.tree import DecisionTreeClassifier
from tests.problems import Floats, random_right
from tests.reference.exact_potential import exact_minimum, exact_weighted_minimum, phi

from onebit.errors import InvalidInputError
from onebit.explore.corrective import (
    Barrier,
    corrective_frank_wolfe,
    minimise_over_mixtures,
    solve_paper_potential,
)
from onebit.explore.mixture import Mixture
from onebit.explore.solution import Iteration, Solution
from onebit.hypotheses.base import Examples, HypothesisClass, Labels
from onebit.hypotheses.counting import CountingClass
from onebit.hypotheses.estimator import EstimatorClass
from onebit.hypotheses.finite import PredictionTable
from onebit.hypotheses.intervals import IntervalClass
from onebit.hypotheses.on_sample import OnSample
from onebit.hypotheses.stumps import StumpClass
from onebit.hypotheses.trees import TreeClass

Bools = NDArray[np.bool_]
#: A class with an oracle, a sample, and what its hypotheses can say there (n_patterns, m).
Listed = tuple[HypothesisClass, Examples, Labels, Labels]
seeds = st.integers(0, 10_000)
#: The reference minimum is accurate to about this; the solver must agree within what its own gap allows besides.
REFERENCE = 1e-7
TIGHT = 1e-8


def table_of(right: Bools) -> PredictionTable:
    """The class whose hypotheses are right where ``right`` (N, m) says, the true label being 0."""
    return PredictionTable(np.where(right, 0, 1), n_labels=2)


def on_table(right: Bools) -> OnSample:
    n_samples = right.shape[1]
    return table_of(right).on_sample(np.arange(n_samples), np.zeros(n_samples, dtype=np.int64))


def random_barrier(rng: np.random.Generator, n_samples: int) -> Barrier:
    """Weights over two orders of magnitude, a floor of its own for each sample."""
    weight = 10 ** rng.uniform(-2, 0, n_samples)
    return Barrier(weight / weight.sum(), 10 ** rng.uniform(-2.5, -0.3, n_samples), float(rng.uniform(0.05, 0.9)))


def mass(solution: Solution, n_hypotheses: int) -> Floats:
    P = np.zeros(n_hypotheses)
    P[list(solution.mixture.hypotheses)] = solution.mixture.probabilities
    return P


def value(barrier: Barrier, W: Floats) -> float:
    return float(-(barrier.weight * np.log((1 - barrier.gamma) * W + barrier.floor)).sum())


def D(right: Bools, barrier: Barrier, P: Floats) -> Floats:
    """D_h of the module's docstring, for every h."""
    Q = (1 - barrier.gamma) * (P @ right) + barrier.floor
    return ((1 - barrier.gamma) * right + barrier.floor) @ (barrier.weight / Q)


@given(seeds)
def test_against_a_general_solver(seed: int) -> None:
    rng = np.random.default_rng(seed)
    right = random_right(rng, int(rng.integers(2, 14)), int(rng.integers(14, 25)))
    barrier = random_barrier(rng, right.shape[1])
    _, least = exact_weighted_minimum(right, barrier.weight, barrier.floor, barrier.gamma)
    found = corrective_frank_wolfe(on_table(right), barrier, TIGHT)
    P = mass(found, right.shape[0])
    assert found.converged
    assert found.certified
    assert found.gap <= TIGHT
    assert value(barrier, P @ right) == pytest.approx(least, abs=REFERENCE)
    # Nobody's D exceeds 1, and those with mass have it at 1.
    assert D(right, barrier, P).max() - 1 <= TIGHT + 1e-12
    assert D(right, barrier, P)[P > 1e-6] == pytest.approx(1, abs=1e-4)


@given(seeds)
def test_every_gap_on_the_way_bounds_the_excess(seed: int) -> None:
    rng = np.random.default_rng(seed)
    right = random_right(rng, 14, 20)
    barrier = random_barrier(rng, 20)
    _, least = exact_weighted_minimum(right, barrier.weight, barrier.floor, barrier.gamma)
    for max_passes in (2, 3, 4, 6):
        found = corrective_frank_wolfe(on_table(right), barrier, 1e-10, n_columns=1, max_passes=max_passes)
        P = mass(found, 14)
        assert found.n_passes <= max_passes
        assert -REFERENCE <= value(barrier, P @ right) - least <= found.gap + REFERENCE
        # It is the gap of the very mixture that is returned.
        assert found.gap == pytest.approx(D(right, barrier, P).max() - 1, abs=1e-9)
        assert found.converged == (found.gap <= 1e-10)


def test_the_papers_potential() -> None:
    rng = np.random.default_rng(0)
    right = random_right(rng, 12, 30)
    hypotheses = PredictionTable(np.where(right, 0, 1), n_labels=5)
    found = solve_paper_potential(hypotheses, np.arange(30), np.zeros(30, dtype=np.int64), 0.3, TIGHT)
    _, least = exact_minimum(right, 0.3, 5)
    assert phi(right, mass(found, 12), 0.3, 5) == pytest.approx(least, abs=REFERENCE)


def test_repeated_items_count_as_often_as_they_were_confirmed() -> None:
    """Item 0 was confirmed nine times and item 1 once: the minimum is that of all ten, not of the two."""
    table = PredictionTable([[0, 1], [1, 0]], n_labels=2)
    x, y = np.array([0] * 9 + [1]), np.zeros(10, dtype=np.int64)
    mixture = solve_paper_potential(table, x, y, 0.5, TIGHT).mixture
    right = table.predictions(x) == y
    assert phi(right, _probabilities(mixture, 2), 0.5, 2) == pytest.approx(
        exact_minimum(right, 0.5, 2)[1], abs=REFERENCE
    )
    of_two = solve_paper_potential(table, np.array([0, 1]), np.zeros(2, dtype=np.int64), 0.5, TIGHT).mixture
    assert _probabilities(of_two, 2) == pytest.approx([0.5, 0.5], abs=1e-3)
    assert _probabilities(mixture, 2)[0] > 0.9


def test_a_pair_is_repeated_only_with_its_label() -> None:
    """The same item confirmed with two labels is two samples, of which nobody is right on both."""
    table = PredictionTable([[0], [1]], n_labels=2)
    x, y = np.array([0, 0, 0, 0]), np.array([0, 0, 0, 1])
    mixture = solve_paper_potential(table, x, y, 0.5, TIGHT).mixture
    right = table.predictions(x) == y
    assert phi(right, _probabilities(mixture, 2), 0.5, 2) == pytest.approx(
        exact_minimum(right, 0.5, 2)[1], abs=REFERENCE
    )


def _probabilities(mixture: Mixture, n_hypotheses: int) -> Floats:
    dense = np.zeros(n_hypotheses)
    dense[list(mixture.hypotheses)] = mixture.probabilities
    return dense


@pytest.mark.parametrize("weight", [[0.0, 1.0], [0.5, 0.6], [-0.5, 1.5]])
def test_weights_that_are_no_distribution_are_refused(weight: list[float]) -> None:
    """A weight of 0 too: the sample would have no say, and the gap of the others would be that of another potential."""
    with pytest.raises(InvalidInputError, match="positive and add up to 1"):
        Barrier(np.array(weight), np.full(2, 0.1), 0.5)


def test_passes_are_the_calls_of_the_oracle() -> None:
    right = random_right(np.random.default_rng(1), 40, 60)
    counted = CountingClass(table_of(right))
    sample = np.arange(60), np.zeros(60, dtype=np.int64)
    seen: list[Iteration] = []
    found = corrective_frank_wolfe(
        counted.on_sample(*sample),
        Barrier.of_paper(60, 0.1, 2),
        TIGHT,
        n_columns=2,
        observe=seen.append,
    )
    assert counted.n_calls == found.n_passes
    # The first pass has no mixture yet whose gap it could measure.
    assert [each.number for each in seen] == list(range(2, found.n_passes + 1))
    assert seen[-1].gap == pytest.approx(found.gap)


def test_a_warm_start_takes_fewer_passes_to_the_same_optimum() -> None:
    rng = np.random.default_rng(2)
    right = rng.random((400, 330)) < rng.uniform(0.05, 0.4, (400, 1))
    before = corrective_frank_wolfe(on_table(right[:, :300]), Barrier.of_paper(300, 0.1, 10), TIGHT)
    barrier = Barrier.of_paper(330, 0.1, 10)
    cold = corrective_frank_wolfe(on_table(right), barrier, TIGHT)
    warm = corrective_frank_wolfe(on_table(right), barrier, TIGHT, start=before.mixture)
    again = corrective_frank_wolfe(on_table(right), barrier, TIGHT, start=cold.mixture)
    assert again.n_passes == 1
    assert warm.n_passes < cold.n_passes
    assert warm.converged
    objectives = [value(barrier, mass(found, 400) @ right) for found in (cold, warm)]
    assert objectives[0] == pytest.approx(objectives[1], abs=TIGHT)


def test_a_warm_start_may_hold_hypotheses_that_are_alike_on_the_sample() -> None:
    right = np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1]], dtype=bool)
    start = Mixture((0, 1, 2), np.array([0.4, 0.4, 0.2]))
    found = corrective_frank_wolfe(on_table(right), Barrier.of_paper(3, 0.5, 2), TIGHT, start=start)
    assert found.converged
    assert mass(found, 3)[:2].sum() == pytest.approx(mass(found, 3) @ [1, 1, 0])
    assert set(found.mixture.hypotheses) <= {0, 2}


def test_samples_on_which_nobody_is_right_change_only_the_value() -> None:
    rng = np.random.default_rng(3)
    right = random_right(rng, 15, 40)
    right[:, ::4] = False
    barrier = random_barrier(rng, 40)
    some = right.any(axis=0)
    share = barrier.weight[some].sum()
    # A sample that nobody is right on adds its weight to every D_h, so the others' optimum is the optimum.
    fewer = Barrier(barrier.weight[some] / share, barrier.floor[some], barrier.gamma)
    found = corrective_frank_wolfe(on_table(right), barrier, TIGHT)
    reduced = corrective_frank_wolfe(on_table(right[:, some]), fewer, TIGHT)
    assert mass(found, 15) @ right[:, some] == pytest.approx(mass(reduced, 15) @ right[:, some], abs=1e-3)
    assert value(fewer, mass(found, 15) @ right[:, some]) == pytest.approx(
        value(fewer, mass(reduced, 15) @ right[:, some]), abs=1e-7
    )


@pytest.mark.parametrize("n_hypotheses", [1, 7])
def test_all_hypotheses_wrong_everywhere(n_hypotheses: int) -> None:
    found = corrective_frank_wolfe(
        on_table(np.zeros((n_hypotheses, 5), dtype=bool)), Barrier.of_paper(5, 0.5, 4), TIGHT
    )
    assert found.converged
    assert found.gap == pytest.approx(0, abs=1e-12)
    assert found.n_passes == 2


def test_a_single_hypothesis() -> None:
    found = corrective_frank_wolfe(on_table(np.array([[True, False, True]])), Barrier.of_paper(3, 0.5, 4), TIGHT)
    assert found.mixture.hypotheses == (0,)
    assert found.converged


def test_a_single_sample() -> None:
    found = corrective_frank_wolfe(on_table(np.array([[False], [True], [False]])), Barrier.of_paper(1, 0.5, 2), TIGHT)
    assert found.mixture.hypotheses == (1,)


def test_duplicates_take_no_room() -> None:
    right = np.repeat(random_right(np.random.default_rng(4), 6, 20), 50, axis=0)
    barrier = Barrier.of_paper(20, 0.2, 2)
    found = corrective_frank_wolfe(on_table(right), barrier, TIGHT)
    single = corrective_frank_wolfe(on_table(right[::50]), barrier, TIGHT)
    assert found.converged
    assert len(found.mixture.hypotheses) <= 6
    assert value(barrier, mass(found, 300) @ right) == pytest.approx(
        value(barrier, mass(single, 6) @ right[::50]), abs=2 * TIGHT
    )


def test_dependent_columns() -> None:
    """All subsets of four samples: 16 hypotheses of rank four, whose optimum is to be right everywhere."""
    right = np.array(list(product([False, True], repeat=4)))
    found = corrective_frank_wolfe(on_table(right), Barrier.of_paper(4, 0.1, 4), TIGHT)
    assert found.mixture.hypotheses == (15,)
    # Without the hypothesis that is right everywhere, the four that are right on three of four share the mass.
    found = corrective_frank_wolfe(on_table(right[:15]), Barrier.of_paper(4, 0.1, 4), TIGHT)
    assert mass(found, 15) @ right[:15] == pytest.approx(0.75, abs=1e-4)


@pytest.mark.parametrize("least", [1e-3, 1e-8, 1e-14])
def test_extreme_weights_and_floors(least: float) -> None:
    rng = np.random.default_rng(5)
    right = random_right(rng, 60, 40)
    for _ in range(10):
        weight = 10 ** rng.uniform(np.log10(least), 0, 40)
        floor = 10 ** rng.uniform(np.log10(least), 0, 40)
        barrier = Barrier(weight / weight.sum(), floor, float(rng.choice([1e-6, 0.5, 0.99])))
        found = corrective_frank_wolfe(on_table(right), barrier, TIGHT)
        assert found.converged
        assert D(right, barrier, mass(found, 60)).max() - 1 <= 2 * TIGHT


def test_without_any_exploration_of_its_own() -> None:
    """gamma = 1 leaves nothing to choose, gamma = 0 is allowed as long as there is a floor."""
    right = random_right(np.random.default_rng(6), 5, 9)
    for gamma in (0.0, 1.0):
        barrier = Barrier(np.full(9, 1 / 9), np.full(9, 0.1), gamma)
        assert corrective_frank_wolfe(on_table(right), barrier, TIGHT).converged


@given(seeds)
def test_one_column_a_pass_reaches_the_same_optimum(seed: int) -> None:
    rng = np.random.default_rng(seed)
    right = random_right(rng, 50, 20)
    barrier = random_barrier(rng, 20)
    single = corrective_frank_wolfe(on_table(right), barrier, TIGHT, n_columns=1)
    several = corrective_frank_wolfe(on_table(right), barrier, TIGHT)
    assert single.converged
    assert several.n_passes <= single.n_passes
    values = [value(barrier, mass(found, 50) @ right) for found in (single, several)]
    assert values[0] == pytest.approx(values[1], abs=2 * TIGHT)


def test_running_out_of_passes_is_not_success() -> None:
    right = random_right(np.random.default_rng(7), 200, 100)
    found = corrective_frank_wolfe(on_table(right), Barrier.of_paper(100, 0.1, 10), TIGHT, n_columns=1, max_passes=2)
    assert found.n_passes == 2
    assert found.gap > TIGHT
    assert not found.converged


def test_a_tolerance_below_rounding_ends() -> None:
    right = random_right(np.random.default_rng(8), 200, 100)
    found = corrective_frank_wolfe(on_table(right), Barrier.of_paper(100, 0.1, 10), 1e-300)
    assert found.n_passes < 100
    assert found.gap < 1e-10


def distinct(patterns: Iterable[Labels]) -> Labels:
    return np.unique(np.array(list(patterns)), axis=0)


def all_stumps(x: Floats, n_labels: int) -> list[Labels]:
    sides = [x[:, j] < t for j in range(x.shape[1]) for t in (*np.unique(x[:, j]), np.inf)]
    return [np.where(left, a, b) for left in sides for a in range(n_labels) for b in range(n_labels)]


def all_trees(x: Floats, n_labels: int) -> Labels:
    stumps = distinct(all_stumps(x, n_labels))
    roots = [np.where(root == 0, below, above) for root in stumps for below in stumps for above in stumps]
    return distinct(roots)


def all_intervals(n: int, n_cuts: int, n_labels: int) -> Labels:
    every = np.array(list(product(range(n_labels), repeat=n)))
    return every[(every[:, 1:] != every[:, :-1]).sum(axis=1) <= n_cuts]


def stumps_and_all_patterns() -> Listed:
    x, y = np.random.default_rng(9).normal(size=(14, 3)), np.arange(14) % 3
    return StumpClass(3, 3), x, y, distinct(all_stumps(x, 3))


def trees_and_all_patterns() -> Listed:
    x, y = np.random.default_rng(9).normal(size=(7, 2)), np.arange(7) % 2
    return TreeClass(2, 2), x, y, all_trees(x, 2)


def intervals_and_all_patterns() -> Listed:
    return IntervalClass(2, 3), np.arange(8.0), np.array([0, 1, 2, 1, 0, 2, 2, 1]), all_intervals(8, 2, 3)


@pytest.mark.parametrize("n_columns", [1, 10])
@pytest.mark.parametrize("listed", [stumps_and_all_patterns, trees_and_all_patterns, intervals_and_all_patterns])
def test_an_exact_oracle_agrees_with_the_list_of_all_patterns(listed: Callable[[], Listed], n_columns: int) -> None:
    hypotheses, x, y, patterns = listed()
    barrier = random_barrier(np.random.default_rng(10), y.size)
    by_oracle = corrective_frank_wolfe(hypotheses.on_sample(x, y), barrier, TIGHT, n_columns=n_columns)
    table = PredictionTable(patterns, hypotheses.n_labels)
    by_list = corrective_frank_wolfe(table.on_sample(np.arange(y.size), y), barrier, TIGHT)
    assert by_oracle.converged
    assert by_oracle.certified
    least = value(barrier, mass(by_list, patterns.shape[0]) @ (patterns == y))
    assert value(barrier, by_oracle.mixture.W(hypotheses, x, y)) == pytest.approx(least, abs=2 * TIGHT)


def test_an_inexact_oracle_gives_no_certificate_and_here_a_false_gap() -> None:
    """A greedy learner of depth-2 trees claims to be done; the exact oracle of the same class knows better."""
    x, y = load_digits(return_X_y=True)
    x, y = x[:600], y[:600]
    barrier = Barrier.of_paper(y.size, 0.5, 10)
    greedy = EstimatorClass(DecisionTreeClassifier(max_depth=2, random_state=0), n_labels=10)
    claimed = corrective_frank_wolfe(greedy.on_sample(x, y), barrier, 1e-4)
    assert claimed.converged
    assert claimed.gap < 1e-4
    assert not claimed.certified

    trees = TreeClass(x.shape[1], n_labels=10)
    Q = 0.5 * claimed.mixture.W(greedy, x, y) + barrier.floor
    best = trees.predict(trees.erm(x, y, barrier.weight / Q), x) == y
    true_gap = float((barrier.weight / Q) @ (0.5 * best + barrier.floor)) - 1
    assert true_gap > 0.1


def test_the_inner_problem_alone() -> None:
    """Two hypotheses that are right on 3/4 and 1/4 of the weight and never together: mass in those proportions."""
    C = np.array([[1.0, 0.0], [0.0, 1.0]]) + 1e-9
    p = minimise_over_mixtures(C, np.array([0.75, 0.25]), np.array([1.0, 0.0]), 1e-10)
    assert p == pytest.approx([0.75, 0.25], abs=1e-6)


@pytest.mark.parametrize("seed", range(10))
def test_among_hypotheses_in_play_a_tenth_of_the_tolerance_is_left(seed: int) -> None:
    """All eight come with the first pass, so the gap is that of the inner problem alone."""
    rng = np.random.default_rng(seed)
    found = corrective_frank_wolfe(on_table(random_right(rng, 8, 40)), random_barrier(rng, 40), 0.05)
    assert found.converged
    assert found.gap <= 0.1 * 0.05


def test_bad_input() -> None:
    oracle = on_table(np.eye(3, dtype=bool))
    good = Barrier.of_paper(3, 0.5, 2)
    with pytest.raises(InvalidInputError, match="tolerance"):
        corrective_frank_wolfe(oracle, good, 0.0)
    with pytest.raises(InvalidInputError, match="max_passes"):
        corrective_frank_wolfe(oracle, good, 1e-4, max_passes=1)
    with pytest.raises(InvalidInputError, match="at least one"):
        corrective_frank_wolfe(oracle, good, 1e-4, n_columns=0)
    with pytest.raises(InvalidInputError, match="3 samples"):
        corrective_frank_wolfe(oracle, Barrier.of_paper(4, 0.5, 2), 1e-4)
    with pytest.raises(InvalidInputError, match="no sample"):
        solve_paper_potential(table_of(np.eye(3, dtype=bool)), np.arange(0), np.zeros(0, dtype=np.int64), 0.5, 1e-4)


@pytest.mark.parametrize(
    ("weight", "floor", "gamma", "message"),
    [
        ([], [], 0.5, "at least one sample"),
        ([1.0], [0.1, 0.1], 0.5, "one floor"),
        ([0.5, 0.6], [0.1, 0.1], 0.5, "add up to 1"),
        ([1.5, -0.5], [0.1, 0.1], 0.5, "positive"),
        ([np.nan, 1.0], [0.1, 0.1], 0.5, "positive"),
        ([0.5, 0.5], [0.1, 0.0], 0.5, "floor"),
        ([0.5, 0.5], [0.1, np.inf], 0.5, "floor"),
        ([0.5, 0.5], [0.1, 0.1], 1.5, "gamma"),
        ([0.5, 0.5], [0.1, 0.1], np.nan, "gamma"),
    ],
)
def test_a_bad_barrier(weight: list[float], floor: list[float], gamma: float, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        Barrier(np.array(weight), np.array(floor), gamma)
