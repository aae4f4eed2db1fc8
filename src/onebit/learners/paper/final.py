"""The last step of every learner here: importance-weighted ERM, and for a finite class what it achieved."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onebit.estimate.bernstein import AccuracyIntervals, empirical_bernstein
from onebit.estimate.delta import failure_per_hypothesis
from onebit.hypotheses.base import Examples, Hypothesis, Labels
from onebit.hypotheses.counting import CountingClass
from onebit.hypotheses.finite import FiniteClass
from onebit.learners.contract import BoundedResult


def after_the_fact(hypotheses: CountingClass, delta: float) -> str:
    """In words, what a learner that ends with :func:`conclude` promises without a theorem."""
    if not isinstance(hypotheses.uncounted, FiniteClass):
        return "none: the class is not given as a finite list, so there are no intervals for all of its hypotheses"
    return (
        f"the excess error is at most achieved_eps with probability at least {1 - delta:g}, by empirical Bernstein "
        f"intervals for all {hypotheses.n_hypotheses} hypotheses at once"
    )


@dataclass(frozen=True, eq=False)
class ErmResult(BoundedResult):
    """The result of a learner that ends with a weighted ERM; ``chosen`` is None until the run is complete.

    ``achieved_eps`` comes from ``intervals`` that hold for all hypotheses at once; both are None where the class is not
    finite or the run is not complete. ``oracle_calls`` counts the algorithm's own, not those that measure it.
    """

    intervals: AccuracyIntervals | None
    oracle_calls: int


@dataclass(frozen=True, eq=False)
class Conclusion:
    """The weighted ERM, and for a finite class the intervals and the excess error that they allow it."""

    chosen: Hypothesis
    intervals: AccuracyIntervals | None
    achieved_eps: float | None


def conclude(
    hypotheses: CountingClass, x: Examples, y: Labels, weight: NDArray[np.float64], largest: float, delta: float
) -> Conclusion:
    """The hypothesis of most weighted agreement over all rounds, one row for each round, and what it achieved.

    Paper: Algorithm 1, "Return". ``largest`` bounds the weights (K / gamma in phase 2), which the intervals need.
    """
    used = np.flatnonzero(weight)
    chosen = hypotheses.erm(x[used], y[used], weight[used])
    finite = hypotheses.uncounted
    if not isinstance(finite, FiniteClass):
        return Conclusion(chosen, None, None)
    total = finite.agreement(x[used], y[used], weight[used])
    squares = finite.agreement(x[used], y[used], weight[used] ** 2)
    failure = failure_per_hypothesis(finite.n_hypotheses, delta)
    intervals = empirical_bernstein(total, squares, weight.size, largest, failure)
    return Conclusion(chosen, intervals, intervals.excess_of(chosen))
