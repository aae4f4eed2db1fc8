"""Intervals for means of bounded variables whose variance is small: the empirical Bernstein bound."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onebit.errors import InvalidInputError

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class AccuracyIntervals:
    """``lower`` <= accuracy <= ``upper`` for all hypotheses at once; ``estimate`` is the unbiased one. Shape (N,)."""

    estimate: Array
    lower: Array
    upper: Array

    def excess_of(self, h: int) -> float:
        """The most by which another hypothesis can be better than ``h`` while all intervals hold; at least 0."""
        return max(0.0, float(np.delete(self.upper, h).max(initial=0.0) - self.lower[h]))


def empirical_bernstein(
    total: Array, total_of_squares: Array, n: int, largest: float, failure: float
) -> AccuracyIntervals:
    """Two-sided intervals for N means, each from ``n`` independent values in [0, ``largest``].

    Not in the paper, which knows the variance from phase 1; Maurer and Pontil 2009, Theorem 4, twice per mean:

        |mean - estimate| <= sqrt(2 V log(4 / f) / n) + 7 * largest * log(4 / f) / (3 (n - 1))

    with V the sample variance and f the failure probability of one mean. ``failure`` is f; all N intervals hold at once
    with probability at least 1 - N f. Intervals are cut to [0, 1], where an accuracy must lie.

    ``total`` and ``total_of_squares`` are the sums of the values and of their squares; shape (N,).
    """
    if n < 2:
        raise InvalidInputError(f"there are {n} rounds; an interval needs at least 2")
    estimate = total / n
    variance = np.maximum(total_of_squares - n * estimate**2, 0.0) / (n - 1)
    log_term = math.log(4 / failure)
    width = np.sqrt(2 * variance * log_term / n) + 7 * largest * log_term / (3 * (n - 1))
    return AccuracyIntervals(estimate, np.maximum(estimate - width, 0.0), np.minimum(estimate + width, 1.0))
