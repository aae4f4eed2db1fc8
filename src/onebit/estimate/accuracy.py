"""A valid interval for a classifier's accuracy, whenever one looks, from "is this prediction right?".

Not in the paper. Against "the accuracy is m" a bettor stakes on every answer; with the bets mixed over all m' by the
Beta(1/2, 1/2) prior the wealth after s yes and f other answers is

    B(s + 1/2, f + 1/2) / B(1/2, 1/2) / (m^s (1 - m)^f),

a nonnegative martingale if m is the accuracy. By Ville's inequality it ever reaches 1/delta with probability at most
delta, so the m at which it has not is a confidence sequence (Robbins 1970; Waudby-Smith and Ramdas 2024).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from scipy.optimize import brentq
from scipy.special import betaln

from onebit.errors import InvalidInputError, check_count, check_fraction

#: How near to 0 and 1 the ends are looked for.
TINY = 1e-12


@dataclass(frozen=True)
class AccuracyInterval:
    """``low`` <= accuracy <= ``high`` with probability at least 1 - ``delta``, at whatever moment one looked.

    ``estimate`` is the share of yes among the ``n_answers``; None before the first.
    """

    low: float
    high: float
    estimate: float | None
    n_answers: int
    delta: float


def accuracy_interval(n_yes: int, n_answers: int, delta: float) -> AccuracyInterval:
    """The interval after ``n_answers`` answers about predictions on fresh examples, ``n_yes`` of them yes.

    The examples are independent draws on which the classifier was not trained; the classifier does not change.
    "Can't tell" counts as an answer that is not yes.

    >>> interval = accuracy_interval(n_yes=90, n_answers=100, delta=0.05)
    >>> round(interval.low, 2), round(interval.high, 2)
    (0.77, 0.97)
    """
    check_count("the number of answers", n_answers, least=0)
    check_count("the number of yes", n_yes, least=0)
    check_fraction("delta", delta)
    if n_yes > n_answers:
        raise InvalidInputError(f"there are {n_yes} yes among {n_answers} answers; there cannot be more than answers")
    if n_answers == 0:
        return AccuracyInterval(0.0, 1.0, None, 0, delta)
    n_other, estimate = n_answers - n_yes, n_yes / n_answers
    mixed = betaln(n_yes + 0.5, n_other + 0.5) - betaln(0.5, 0.5)

    def beyond(m: float) -> float:
        """log of the wealth against m, less log(1 / delta)."""
        lost = (n_yes * math.log(m) if n_yes else 0.0) + (n_other * math.log1p(-m) if n_other else 0.0)
        return float(mixed - lost + math.log(delta))

    low = 0.0 if n_yes == 0 else _crossing(beyond, estimate, 0.0)
    high = 1.0 if n_other == 0 else _crossing(beyond, estimate, 1.0)
    return AccuracyInterval(low, high, estimate, n_answers, delta)


def _crossing(beyond: Callable[[float], float], estimate: float, end: float) -> float:
    """Where the wealth crosses 1 / delta between the estimate, where it is least, and an end of [0, 1]."""
    inner, outer = (min(max(m, TINY), 1 - TINY) for m in (estimate, end))
    return float(brentq(beyond, inner, outer)) if beyond(inner) < 0 < beyond(outer) else end
