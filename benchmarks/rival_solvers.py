"""Other ways to minimise the potential, to compare with: Frank-Wolfe's family, EM, SPIDER and a general solver.

All stop at the gap max_h D_h - 1 of ``explore/corrective.py`` or when their time is over, and count passes over the
class. In their letters: Q = P C, C[h, i] = (1 - gamma) [h right on i] + floor_i, D_h = sum_i w_i C[h, i] / Q_i.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from onebit.explore.corrective import Barrier
from onebit.explore.spider import PotentialOnSamples, SpiderStep, spider_frank_wolfe
from onebit.hypotheses.base import Examples, Hypothesis, HypothesisClass, Labels
from onebit.hypotheses.on_sample import OnSample
from onebit.learners.paper.schedule import reset_ratio

Array = NDArray[np.float64]

#: SPIDER's gap is looked at, at no charge, whenever its steps have grown by this factor.
LOOK = 1.02


@dataclass(frozen=True)
class Run:
    """What a solver reached: its gap and objective, the passes it took, and the seconds where it keeps its own time."""

    gap: float
    objective: float
    n_calls: int
    seconds: float | None = None


@dataclass(frozen=True)
class Problem:
    """A class on its sample with the barrier; how far and how long to go."""

    oracle: OnSample
    barrier: Barrier
    tolerance: float
    max_seconds: float

    def column(self, h: Hypothesis) -> Array:
        return self.barrier.columns(self.oracle.right(h))

    def steepest(self, Q: Array) -> tuple[Hypothesis, Array, float]:
        """One oracle call: the hypothesis of highest D, its column, and the gap."""
        slope = self.barrier.weight / Q
        h = self.oracle.best((1 - self.barrier.gamma) * slope, 1)[0]
        column = self.column(h)
        return h, column, float(slope @ column - 1)

    def objective(self, Q: Array) -> float:
        return float(-(self.barrier.weight @ np.log(Q)))

    def timer(self) -> Callable[[], bool]:
        """A function that says whether the time, counted from now, is over."""
        end = time.perf_counter() + self.max_seconds
        return lambda: time.perf_counter() > end


def line_search(weight: Array, Q: Array, direction: Array, longest: float) -> float:
    """The step of at most ``longest`` along which sum_i -weight_i log Q_i falls most."""

    def rise(step: float) -> float:
        return float(weight @ (direction / (Q + step * direction)))

    return longest if rise(longest) >= 0 else float(brentq(rise, 0.0, longest, xtol=1e-14))


def frank_wolfe(problem: Problem, searching: bool) -> Run:
    """Steps towards the steepest hypothesis, of length 2 / (t + 2) or found by line search."""
    over, weight = problem.timer(), problem.barrier.weight
    Q = problem.column(problem.oracle.best(weight, 1)[0])
    t = 1
    while True:
        _, column, gap = problem.steepest(Q)
        if gap <= problem.tolerance or over():
            return Run(gap, problem.objective(Q), t + 1)
        step = line_search(weight, Q, column - Q, 1.0) if searching else 2 / (t + 2)
        Q = (1 - step) * Q + step * column
        t += 1


def pairwise_frank_wolfe(problem: Problem) -> Run:
    """Mass moves from the flattest hypothesis in play to the steepest of the class, as much as a line search says."""
    over, weight = problem.timer(), problem.barrier.weight
    first = problem.oracle.best(weight, 1)[0]
    columns: dict[Hypothesis, Array] = {first: problem.column(first)}
    mass: dict[Hypothesis, float] = {first: 1.0}
    Q = columns[first]
    n_calls = 1
    while True:
        toward, column, gap = problem.steepest(Q)
        n_calls += 1
        if gap <= problem.tolerance or over():
            return Run(gap, problem.objective(Q), n_calls)
        slope = weight / Q
        away = min(mass, key=lambda h: float(slope @ columns[h]))
        step = line_search(weight, Q, column - columns[away], mass[away])
        Q = Q + step * (column - columns[away])
        columns[toward] = column
        mass[toward] = mass.get(toward, 0.0) + step
        mass[away] -= step
        if mass[away] <= 0:
            del mass[away], columns[away]


def em(problem: Problem, right: NDArray[np.bool_]) -> Run:
    """P_h <- P_h D_h for the whole class at once, from uniform. Each step reads the class twice."""
    over, weight = problem.timer(), problem.barrier.weight
    C = problem.barrier.columns(right)
    P = np.full(C.shape[0], 1 / C.shape[0])
    n_calls = 0
    while True:
        Q = P @ C
        D = C @ (weight / Q)
        n_calls += 2
        gap = float(D.max() - 1)
        if gap <= problem.tolerance or over():
            return Run(gap, problem.objective(Q), n_calls)
        P = P * D


def clarabel(problem: Problem, right: NDArray[np.bool_]) -> Run:
    """cvxpy with Clarabel at its own tolerances, timed by itself: without cvxpy's own work."""
    # Not a plain import, so that types are checked alike with and without the extra.
    cvxpy: Any = import_module("cvxpy")
    C = problem.barrier.columns(right)
    P = cvxpy.Variable(C.shape[0], nonneg=True)
    objective = cvxpy.Maximize(problem.barrier.weight @ cvxpy.log(C.T @ P))
    posed = cvxpy.Problem(objective, [cvxpy.sum(P) == 1])
    posed.solve(solver=cvxpy.CLARABEL)
    found = np.maximum(P.value, 0)
    Q = found / found.sum() @ C
    _, _, gap = problem.steepest(Q)
    return Run(gap, problem.objective(Q), posed.solver_stats.num_iters, posed.solver_stats.solve_time)


def spider(problem: Problem, hypotheses: HypothesisClass, x: Examples, y: Labels) -> Run:
    """Algorithm 2 as the paper specifies it."""
    over, barrier = problem.timer(), problem.barrier
    potential = PotentialOnSamples(hypotheses, x, y, barrier.gamma, np.random.default_rng(0))
    reached: list[Run] = []
    next_look = 1.0

    def look(seen: SpiderStep) -> None:
        nonlocal next_look
        if seen.t >= next_look:
            next_look = seen.t * LOOK
            Q = (1 - barrier.gamma) * seen.point.W + barrier.floor
            reached.append(Run(problem.steepest(Q)[2], problem.objective(Q), seen.t))
            if reached[-1].gap <= problem.tolerance or over():
                raise StopIteration

    # The run has no end of its own: ``look`` ends it.
    with suppress(StopIteration):
        spider_frank_wolfe(potential, potential.start(), 10**9, reset_ratio(hypotheses.n_labels, barrier.gamma), look)
    return reached[-1]
