"""What PaperLearner states holds as often as it says; a twin that forgets the propensities does not pass."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom
from tests.problems import models_of_accuracy

from onebit.explore.potential import W_gamma
from onebit.hypotheses.base import Examples, Labels
from onebit.hypotheses.finite import PredictionTable
from onebit.learners.contract import run
from onebit.learners.items import Pool
from onebit.learners.paper.algorithm1 import PaperLearner
from onebit.learners.paper.schedule import Plan
from onebit.raters import SimulatedRater

N_LABELS, DELTA, RUNS = 3, 0.1, 400
#: The chance that intervals which fail with probability DELTA are failed by this test.
FALSE_ALARM = 1e-6
MOST_FAILURES = int(binom.ppf(1 - FALSE_ALARM, RUNS, DELTA))
TABLE, TRUTH = models_of_accuracy(np.random.default_rng(7), np.linspace(0.2, 0.8, 8), 60, N_LABELS)
ACCURACY = (TABLE == TRUTH).mean(axis=1)
PLAN = Plan(n_confirmed=40, n_final=2500, delta=DELTA)


class ForgetsPropensities(PaperLearner):
    """The twin: it asks as the mixture says but records propensity 1 / K, as if it had asked uniformly."""

    def _choose(self, x: Examples, uniform: NDArray[np.float64]) -> tuple[Labels, NDArray[np.float64]]:
        label, _ = super()._choose(x, uniform)
        return label, np.full(label.size, 1 / self._n_labels)


def uncovered_and_wrong(kind: type[PaperLearner]) -> tuple[int, int, float]:
    """Runs in which some interval misses its accuracy; runs whose achieved eps is wrong; the widest half-width."""
    missed = wrong = 0
    widest = 0.0
    rater = SimulatedRater(TRUTH)
    for seed in range(RUNS):
        learner = kind(PredictionTable(TABLE, N_LABELS), Pool(np.arange(TRUTH.size)), PLAN, seed=seed)
        result = run(learner, rater, at_a_time=2500)
        assert result.intervals is not None
        assert isinstance(result.chosen, int)
        missed += not ((result.intervals.lower <= ACCURACY) & (result.intervals.upper >= ACCURACY)).all()
        assert result.achieved_eps is not None
        wrong += ACCURACY.max() - ACCURACY[result.chosen] > result.achieved_eps
        widest = max(widest, float((result.intervals.upper - result.intervals.lower).max() / 2))
    return missed, wrong, widest


def test_intervals_cover_all_accuracies_at_once() -> None:
    missed, wrong, widest = uncovered_and_wrong(PaperLearner)
    assert widest <= 0.15
    assert missed <= MOST_FAILURES
    assert wrong <= MOST_FAILURES


def test_a_twin_that_forgets_the_propensities_fails() -> None:
    missed, _, _ = uncovered_and_wrong(ForgetsPropensities)
    assert missed > MOST_FAILURES


@pytest.mark.parametrize("seed", range(3))
def test_phase_1_finds_low_variance_exploration(seed: int, measured: Callable[[str], None]) -> None:
    """K = 10, N = 500, gamma = 1/2: 200 confirmed samples give a variance bound of at most 3 on the population."""
    n_labels, n_items = 10, 20_000
    accuracy = np.linspace(0.3, 0.9, 500)
    table, truth = models_of_accuracy(np.random.default_rng(seed), accuracy, n_items, n_labels)
    items = np.arange(n_items)
    hypotheses = PredictionTable(table, n_labels)
    result = run(PaperLearner(hypotheses, Pool(items), Plan(200, 2), seed=seed), SimulatedRater(truth), at_a_time=20)
    assert result.exploration is not None
    mixture = result.exploration.mixture
    right = table == truth
    found = (right / W_gamma(mixture.W(hypotheses, items, truth), 0.5, n_labels)).mean(axis=1).max()
    uniform = n_labels * right.mean(axis=1).max()
    measured(
        f"K = 10, N = 500, seed {seed}: max_h E[[h(x)=y] / W_gamma] = {found:.2f} after phase 1, "
        f"{uniform:.2f} for uniform guesses"
    )
    assert found <= 3
    assert uniform >= 7
