"""The empirical Bernstein bound: its formula, its coverage, its edges."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom

from onebit.errors import InvalidInputError
from onebit.estimate.bernstein import AccuracyIntervals, empirical_bernstein


def test_formula_by_hand() -> None:
    values = np.tile([0.0, 2.0, 0.0, 0.0], 100)
    found = empirical_bernstein(np.array([values.sum()]), np.array([(values**2).sum()]), 400, 2.0, 4 / math.e**2)
    width = math.sqrt(2 * values.var(ddof=1) * 2 / 400) + 7 * 2 * 2 / (3 * 399)
    assert width < 0.2
    assert found.estimate[0] == 0.5
    assert found.upper[0] == pytest.approx(0.5 + width)
    assert found.lower[0] == pytest.approx(0.5 - width)


def test_intervals_end_where_accuracies_do() -> None:
    found = empirical_bernstein(np.array([0.0, 3.0]), np.array([0.0, 3.0]), 3, 1.0, 0.1)
    assert (found.lower.min(), found.upper.max()) == (0, 1)


def test_coverage_of_rare_large_values() -> None:
    """Values 0 or 10 with mean 0.3: at f = 0.2 the interval misses at most as often as a coin of that bias may."""
    rng, runs, n, failure = np.random.default_rng(0), 4000, 400, 0.2
    totals = 10 * rng.binomial(n, 0.03, runs).astype(np.float64)
    found = empirical_bernstein(totals, 10 * totals, n, 10.0, failure)
    missed = ((found.lower > 0.3) | (found.upper < 0.3)).sum()
    assert missed <= binom.ppf(1 - 1e-6, runs, failure)
    # The twin without the range term misses far more often than it says.
    width = (found.upper - found.estimate) - 7 * 10 * math.log(4 / failure) / (3 * (n - 1))
    assert (abs(found.estimate - 0.3) > width).sum() > missed


def test_excess() -> None:
    intervals = AccuracyIntervals(np.array([0.5, 0.7]), np.array([0.4, 0.6]), np.array([0.55, 0.8]))
    assert intervals.excess_of(1) == 0
    assert intervals.excess_of(0) == pytest.approx(0.4)
    alone = AccuracyIntervals(np.array([0.5]), np.array([0.4]), np.array([0.6]))
    assert alone.excess_of(0) == 0


def test_one_round_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="at least 2"):
        empirical_bernstein(np.ones(1), np.ones(1), 1, 1.0, 0.1)
