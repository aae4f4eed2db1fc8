"""The accuracy interval holds at every moment at once in at least 1 - delta of runs.

500 seeded runs, each looked at after every answer. If the interval failed with probability delta = .1 exactly, more
than MOST_FAILURES would come with probability below 1e-3 (binomial); the twin, an interval that is valid at one fixed
moment only, must exceed that.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom, norm

from onebit.estimate.accuracy import accuracy_interval

N_RUNS, N_ANSWERS, DELTA = 500, 300, 0.1
MOST_FAILURES = int(binom.isf(1e-3, N_RUNS, DELTA))


def failures(accuracy: float, fixed_moment: bool) -> int:
    """How many runs there are in which the interval misses the accuracy at some moment."""
    yes = np.random.default_rng(7).random((N_RUNS, N_ANSWERS)) < accuracy
    n_yes, n = yes.cumsum(axis=1), np.arange(1, N_ANSWERS + 1)
    if fixed_moment:
        estimate = n_yes / n
        width = norm.isf(DELTA / 2) * np.sqrt(accuracy * (1 - accuracy) / n)
        return int((np.abs(estimate - accuracy) > width)[:, 20:].any(axis=1).sum())
    missed = np.zeros(N_RUNS, dtype=np.bool_)
    for moment in range(N_ANSWERS):
        ends = {s: accuracy_interval(s, moment + 1, DELTA) for s in np.unique(n_yes[:, moment]).tolist()}
        outside = {s: not end.low <= accuracy <= end.high for s, end in ends.items()}
        missed |= [outside[s] for s in n_yes[:, moment].tolist()]
    return int(missed.sum())


@pytest.mark.parametrize("accuracy", [0.6, 0.95])
def test_it_covers(accuracy: float) -> None:
    assert failures(accuracy, fixed_moment=False) <= MOST_FAILURES


def test_an_interval_for_one_moment_does_not() -> None:
    assert failures(0.6, fixed_moment=True) > MOST_FAILURES
