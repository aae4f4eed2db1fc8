"""Theorem 2's route: the cover is a cover as often as Lemma 5 says, and learning through one reaches its eps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from onebit.hypotheses.base import Examples, HypothesisClass, Labels, Weights
from onebit.hypotheses.counting import CountingClass
from onebit.hypotheses.cover import CoverClass, build_cover
from onebit.hypotheses.intervals import IntervalClass
from onebit.hypotheses.stumps import StumpClass
from onebit.learners.contract import run
from onebit.learners.items import Pool
from onebit.learners.paper.algorithm1 import PaperLearner
from onebit.learners.paper.cover import NatarajanLearner
from onebit.learners.paper.schedule import CoverPlan, Plan, theorem_cover
from onebit.raters import SimulatedRater

RUNS, EPS, DELTA = 200, 0.8, 0.1
#: The chance that something which fails with the stated probability is failed by a test here.
FALSE_ALARM = 1e-6


class Thresholds(HypothesisClass):
    """[x >= t] for x between 0 and 1: two labels, Natarajan (VC) dimension 1."""

    n_labels = 2
    exact = True

    def predict(self, h: Any, x: Examples) -> Labels:
        return (np.asarray(x) >= h).astype(np.int64)

    def _columns(self, x: Examples, y: Labels, weight: Weights, n_columns: int) -> tuple[Any, ...]:
        order = np.argsort(x)
        # score[i]: agreement with t above i of the points, up to a constant; equal points do not occur here.
        score = np.concatenate([[0.0], np.cumsum(np.where(y == 0, weight, -weight)[order])])
        best = int(np.argmax(score))
        ends = np.concatenate([[-1.0], x[order], [2.0]])
        return (float(ends[best] + ends[best + 1]) / 2,)


def farthest(n_points: int, seed: int) -> float:
    """The largest distance, on 4000 fresh examples, of a threshold on a grid of 500 to its nearest representative."""
    rng = np.random.default_rng(seed)
    class_ = CountingClass(Thresholds())
    cover = build_cover(class_, rng.uniform(size=n_points))
    assert class_.n_calls <= 2 * n_points * len(cover.representatives)
    assert len(cover.representatives) == n_points + 1
    sample = np.sort(rng.uniform(size=4000))
    # A threshold is known by how many examples lie below it; two differ on the examples between them.
    below = np.searchsorted(sample, np.array(cover.representatives, dtype=float))
    grid = np.searchsorted(sample, np.linspace(0, 1, 500))
    return float(abs(grid[:, None] - below).min(axis=1).max() / sample.size)


MOST_BAD_COVERS = int(binom.ppf(1 - FALSE_ALARM, RUNS, DELTA / 2))


def test_the_cover_is_a_cover() -> None:
    plan = theorem_cover(n_labels=2, dimension=1, eps=EPS, delta=DELTA)
    assert plan.radius == EPS / 2
    assert sum(farthest(plan.n_points, seed) > EPS / 2 for seed in range(RUNS)) <= MOST_BAD_COVERS


def test_a_cover_from_far_too_few_points_is_not() -> None:
    assert sum(farthest(2, seed) > EPS / 2 for seed in range(RUNS)) > MOST_BAD_COVERS


def one_cut(rng: np.random.Generator) -> tuple[HypothesisClass, Any, Any]:
    x = rng.uniform(size=400)
    return IntervalClass(n_cuts=1, n_labels=5), x, np.where(x < rng.uniform(0.2, 0.8), 3, 1)


def stump(rng: np.random.Generator) -> tuple[HypothesisClass, Any, Any]:
    x = rng.uniform(size=(400, 2))
    return StumpClass(n_features=2, n_labels=5), x, np.where(x[:, rng.integers(2)] < rng.uniform(0.2, 0.8), 4, 2)


@pytest.mark.parametrize(("problem", "n_points"), [(one_cut, 8), (stump, 5)], ids=["intervals", "stumps"])
def test_learning_through_a_cover_reaches_eps(problem: Any, n_points: int, measured: Callable[[str], None]) -> None:
    """K = 5, a fifth of the labels random. Sizes: s = 8 or 5 points, M1 = 40, M2 = 1500; eps = 0.3, delta = 0.1.

    These s are far below Lemma 5's (hundreds), so nothing is promised before the run; what is tested is the outcome.
    """
    eps, delta, failures = 0.3, 0.1, 0
    for seed in range(RUNS):
        rng = np.random.default_rng(seed)
        class_, x, truth = problem(rng)
        truth = np.where(rng.random(400) < 0.2, rng.integers(0, 5, 400), truth)
        learner = NatarajanLearner(
            class_,
            Pool(x),
            CoverPlan(n_points),
            lambda finite, items, seed=seed: PaperLearner(finite, items, Plan(40, 1500), seed=seed),  # type: ignore[misc]
            seed=seed,
        )
        result = run(learner, SimulatedRater(truth), at_a_time=500)
        assert result.n_unlabelled == n_points
        assert result.n_rounds == result.finite.n_rounds
        error, least = (
            (class_.predict(h, x) != truth).mean() for h in (result.chosen, class_.erm(x, truth, np.ones(400)))
        )
        failures += error - least > eps
    assert failures <= binom.ppf(1 - FALSE_ALARM, RUNS, delta)
    measured(f"{problem.__name__}, K = 5, s = {n_points}: excess error above {eps} in {failures} of {RUNS} runs")


def test_a_cover_class_is_the_representatives() -> None:
    class_ = IntervalClass(n_cuts=1, n_labels=3)
    cover = build_cover(class_, np.array([0.1, 0.5, 0.9]))
    x = np.linspace(0, 1, 50)
    finite = CoverClass(class_, cover)
    for h, representative in enumerate(cover.representatives):
        assert (finite.predictions(x)[h] == class_.predict(representative, x)).all()
