"""The sequel's theorems with their constants: the variance after phase I, and the guarantee end to end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom

from onebit.explore import hedge
from onebit.hypotheses.finite import PredictionTable
from onebit.hypotheses.lists import ListTable
from onebit.kernels.bits import PackedTable
from onebit.learners.contract import run
from onebit.learners.items import Pool
from onebit.learners.paper.hedge import HedgeLearner
from onebit.learners.paper.lists import ListLearner
from onebit.learners.paper.sequel_sizes import HedgePlan, hedge_plan, hedge_rate, printed_variance, variance_after
from onebit.raters import CallableRater

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: The chance that a bound which fails with probability delta is failed by one of these tests.
FALSE_ALARM = 1e-6
GAMMA, DELTA = 0.5, 0.05


class Crowded:
    """s right labels at A (60% of the examples) that all but one hypothesis share out; one at B that one alone gives.

    Whoever goes by accuracy alone covers A, and the lone hypothesis has the variance of uniform guesses.
    """

    def __init__(self, sparsity: int, n_labels: int = 40_000, n_copies: int = 10**6) -> None:
        self.s, self.K = sparsity, n_labels
        self.T = 500 * n_labels
        #: Row g < s stands for those who give the g-th right label at A, row s for the one who is right at B.
        self.copies = np.array([n_copies] * sparsity + [1])
        self.N = int(self.copies.sum())
        self.chance = np.array([0.6] * sparsity + [0.4])

    def variance(self, drawn: Ints) -> float:
        """max over h of E[sum over right labels j: [h(x) = j] / (gamma / K + (1 - gamma) Q_j)]: exact."""
        return float((self.chance / (GAMMA / self.K + (1 - GAMMA) * drawn / self.T)).max())

    def phase_1(self, seed: int) -> Ints:
        """Phase I in law: a yes that anybody gives comes at random, and the draws between two are multinomial."""
        rng = np.random.default_rng(seed)
        rate = self.chance.sum() / self.K
        gaps = rng.geometric(rate, int(self.T * rate + 20 * np.sqrt(self.T * rate)) + 20)
        rounds = gaps.cumsum() - 1
        rounds = rounds[rounds < self.T]
        which = rng.choice(self.s + 1, rounds.size, p=self.chance / self.chance.sum())
        table = PackedTable(self.s + 1)
        table.append(np.eye(self.s + 1, dtype=np.int8), which, np.ones(which.size, np.int64))
        return hedge.hedge_draws(
            table,
            rounds,
            self.T,
            floor=GAMMA / self.K,
            gamma=GAMMA,
            rate=hedge_rate(self.K, GAMMA),
            draw=lambda start, stop, probability: rng.multinomial(stop - start, probability),
            copies=self.copies,
        )


def without_running_denominator(
    table: PackedTable, samples: list[int], share: Floats, floor: float, gamma: float
) -> Floats:
    """The twin: a yes is worth the same however well its label is covered."""
    return sum((table.column(sample) / floor for sample in samples), np.zeros(share.size))


POPULATIONS = [Crowded(1), Crowded(2), Crowded(5)]
each_population = pytest.mark.parametrize("population", POPULATIONS, ids=lambda p: f"s={p.s}")


@each_population
def test_theorem_5_bounds_the_variance(population: Crowded, measured: Callable[[str], None]) -> None:
    """400 runs: the bound as the proof ends, and ours, which is sharper, each with delta = 0.05."""
    p = population
    found = np.array([p.variance(p.phase_1(seed)) for seed in range(400)])
    printed = printed_variance(p.T, p.K, p.N, DELTA, p.s)
    ours = variance_after(p.T, p.K, p.N, DELTA, p.s)
    measured(
        f"sequel, s = {p.s}, K = {p.K:,}, T = {p.T:,}, N = {p.N:,}: largest variance of 400 runs {found.max():.1f}, "
        f"bound as printed {printed:.0f}, with its constants worked out {ours:.0f}, uniform guesses {0.6 * p.K:,.0f}"
    )
    most = int(binom.ppf(1 - FALSE_ALARM, 400, DELTA))
    assert (found > printed).sum() <= most
    assert (found > ours).sum() <= most


@each_population
def test_a_twin_without_the_running_denominator_fails(population: Crowded) -> None:
    p, runs = population, 40
    with patch.object(hedge, "_gain", without_running_denominator):
        found = np.array([p.variance(p.phase_1(seed)) for seed in range(runs)])
    most = int(binom.ppf(1 - FALSE_ALARM, runs, DELTA))
    assert (found > printed_variance(p.T, p.K, p.N, DELTA, p.s)).sum() > most
    assert (found > variance_after(p.T, p.K, p.N, DELTA, p.s)).sum() > most


class Problem:
    """Items with s right labels each; hypotheses that give m of K labels, of which the best has clearly most right."""

    def __init__(self, sparsity: int, list_size: int, n_labels: int = 12, n_items: int = 200) -> None:
        rng = np.random.default_rng([sparsity, list_size])
        self.s, self.m, self.K = sparsity, list_size, n_labels
        order = np.argsort(rng.random((n_items, n_labels)), axis=1)
        self.right = np.zeros((n_items, n_labels), dtype=np.bool_)
        np.put_along_axis(self.right, order[:, :sparsity], True, axis=1)
        self.table = np.stack([self._lists(rng, order, quality) for quality in (*[0.3] * 7, 0.95)])
        self.reward = np.take_along_axis(self.right[np.newaxis], self.table, axis=2).sum(axis=2).mean(axis=1)

    def _lists(self, rng: np.random.Generator, order: Ints, quality: float) -> Ints:
        """m labels for each item: those that count for most are the right ones, as often as ``quality`` says."""
        score = rng.random(order.shape)
        np.put_along_axis(score, order[:, : self.s], rng.random((order.shape[0], self.s)) + 2 * quality - 0.6, axis=1)
        return np.argsort(-score, axis=1)[:, : self.m]

    def excess(self, plan: HedgePlan, seed: int) -> float:
        """How far the chosen one is behind the best, in right labels."""
        pool = Pool(np.arange(self.right.shape[0]))
        rater = CallableRater(lambda item, label: bool(self.right[item, label]))
        if self.m == 1:
            models = PredictionTable(self.table[:, :, 0], self.K)
            chosen = run(HedgeLearner(models, pool, plan, seed=seed), rater, at_a_time=4096).chosen
        else:
            lists = ListTable(self.table, self.K)
            chosen = run(ListLearner(lists, pool, plan, seed=seed), rater, at_a_time=4096).chosen
        return float(self.reward.max() - self.reward[chosen])


PROBLEMS = [Problem(1, 1), Problem(3, 1), Problem(3, 2), Problem(3, 5)]
each_problem = pytest.mark.parametrize("problem", PROBLEMS, ids=lambda p: f"s={p.s},m={p.m}")


def theorem_sizes(problem: Problem) -> tuple[HedgePlan, float]:
    """Those of Theorems 3 and 6 for an eps by which every other hypothesis is behind."""
    eps = min(0.9, 0.9 * float(np.diff(np.sort(problem.reward))[-1]))
    plan = hedge_plan(problem.K, 8, eps, 0.2, sparsity=problem.s, list_size=problem.m)
    return plan, eps


@each_problem
def test_the_guarantee_end_to_end(problem: Problem, measured: Callable[[str], None]) -> None:
    """200 runs with the theorem's sizes: at most delta = 0.2 of them choose one that is not within eps."""
    plan, eps = theorem_sizes(problem)
    wrong = sum(problem.excess(plan, seed) > eps for seed in range(200))
    measured(
        f"sequel, s = {problem.s}, m = {problem.m}, K = {problem.K}, eps = {eps:.2f}, delta = 0.2: {wrong} of 200 runs "
        f"wrong with T = {plan.n_hedge:,}, n = {plan.n_final:,}"
    )
    assert wrong <= int(binom.ppf(1 - FALSE_ALARM, 200, 0.2))


@each_problem
def test_a_twin_with_far_too_few_rounds_fails(problem: Problem) -> None:
    plan, eps = theorem_sizes(problem)
    tiny = replace(plan, n_hedge=2, n_final=2)
    wrong = sum(problem.excess(tiny, seed) > eps for seed in range(200))
    assert wrong > int(binom.ppf(1 - FALSE_ALARM, 200, 0.2))
