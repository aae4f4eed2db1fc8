"""A valid interval for a classifier's accuracy, whenever one looks, from "is this prediction right?".

Not in the paper. Against "the accuracy is m" a bettor stakes on every answer; with the bets mixed over all m' by the
Beta(1/2, 1/2) prior the wealth after s yes and f other answers is

    B(s + 1/2, f + 1/2) / B(1/2, 1/2) / (m^s (1 - m)^f),

a nonnegative martingale if m is the accuracy. By Ville's inequality it ever reaches 1/delta with probability at most
delta, so the m at which it has not is a confidence sequence (Robbins 1970; Waudby-Smith and Ramdas 2024).

"Can't tell" may hide a right prediction or a wrong one, so it counts against both ends: the low end takes it for wrong,
the high end for right. With n answers, s yes and c can't tell, a reading says for each can't tell which it is, and has
s + k yes, 0 <= k <= c. At fixed n both ends grow with the number of yes, so

    low(s) <= low(s + k) and high(s + k) <= high(s + c):

the interval of every reading is contained in this one. The reading that is true, or that takes all for wrong (then the
interval is for the rate of acceptance), holds with probability 1 - delta, so this one does too, at the same delta.

Where the number n of answers was fixed beforehand and all are there, the exact interval of Clopper and Pearson (1934)
is narrower: its ends are the m at which s yes or more, or s yes or fewer, have probability delta / 2. At fixed n its
ends grow with s too, so can't tell counts in the same way.

If raters say no to a right label with probability at most f_no, and yes to a wrong one with at most f_yes, whatever the
item, then with accuracy a the chance r of a yes has a (1 - f_no) <= r <= a + (1 - a) f_yes, so

    (r - f_yes) / (1 - f_yes) <= a <= r / (1 - f_no).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from scipy.special import betainccinv, betaincinv, betaln

from onebit.errors import InvalidInputError, check_count, check_fraction

#: How near to 0 and 1 the ends are looked for.
TINY = 1e-12


@dataclass(frozen=True)
class AccuracyInterval:
    """``low`` <= accuracy <= ``high`` with probability at least 1 - ``delta``: at whatever moment one looked, or, from
    ``exact_interval``, when the answers that were to come had come.

    ``estimate`` is the share of yes among the ``n_answers`` that are not can't tell; None before the first.
    """

    low: float
    high: float
    estimate: float | None
    n_answers: int
    delta: float


def accuracy_interval(n_yes: int, n_answers: int, delta: float, n_cant_tell: int = 0) -> AccuracyInterval:
    """The interval after ``n_answers`` answers about predictions on fresh examples, ``n_yes`` of them yes.

    The examples are independent draws on which the classifier was not trained; the classifier does not change. Of the
    answers ``n_cant_tell`` are can't tell; it holds whatever the right answers to these would have been.

    >>> interval = accuracy_interval(n_yes=90, n_answers=100, delta=0.05)
    >>> round(interval.low, 2), round(interval.high, 2)
    (0.77, 0.97)
    """
    _check(n_yes, n_answers, delta, n_cant_tell)
    low, high = _end(n_yes, n_answers, delta, 0.0), _end(n_yes + n_cant_tell, n_answers, delta, 1.0)
    return AccuracyInterval(low, high, _estimate(n_yes, n_answers - n_cant_tell), n_answers, delta)


def exact_interval(n_yes: int, n_answers: int, delta: float, n_cant_tell: int = 0) -> AccuracyInterval:
    """As ``accuracy_interval``, where ``n_answers`` was fixed before the first answer: Clopper and Pearson's.

    >>> interval = exact_interval(n_yes=90, n_answers=100, delta=0.05)
    >>> round(interval.low, 2), round(interval.high, 2)
    (0.82, 0.95)
    """
    _check(n_yes, n_answers, delta, n_cant_tell)
    accepted = n_yes + n_cant_tell
    low = float(betaincinv(n_yes, n_answers - n_yes + 1, delta / 2)) if n_yes else 0.0
    high = float(betainccinv(accepted + 1, n_answers - accepted, delta / 2)) if accepted < n_answers else 1.0
    return AccuracyInterval(low, high, _estimate(n_yes, n_answers - n_cant_tell), n_answers, delta)


def with_errors(interval: AccuracyInterval, f_no: float, f_yes: float) -> AccuracyInterval:
    """The accuracy, where ``interval`` is for how often raters say yes, who err at most so often."""
    low = max(0.0, (interval.low - f_yes) / (1 - f_yes))
    return replace(interval, low=low, high=min(1.0, interval.high / (1 - f_no)))


def _check(n_yes: int, n_answers: int, delta: float, n_cant_tell: int) -> None:
    check_count("the number of answers", n_answers, least=0)
    check_count("the number of yes", n_yes, least=0)
    check_fraction("delta", delta)
    check_count("the number of can't tell", n_cant_tell, least=0)
    if n_yes + n_cant_tell > n_answers:
        raise InvalidInputError(
            f"there are {n_yes} yes and {n_cant_tell} can't tell among {n_answers} answers; there cannot be more than "
            "answers"
        )


def _estimate(n_yes: int, n_told: int) -> float | None:
    return n_yes / n_told if n_told else None


def _end(n_yes: int, n_answers: int, delta: float, outer: float) -> float:
    """The end of the interval on the side of ``outer``, 0 or 1, if nobody said can't tell."""
    n_other = n_answers - n_yes
    if n_answers == 0 or (n_yes if outer == 0 else n_other) == 0:
        return outer
    mixed = betaln(n_yes + 0.5, n_other + 0.5) - betaln(0.5, 0.5)

    def beyond(m: float) -> float:
        """log of the wealth against m, less log(1 / delta)."""
        lost = (n_yes * math.log(m) if n_yes else 0.0) + (n_other * math.log1p(-m) if n_other else 0.0)
        return float(mixed - lost + math.log(delta))

    return _crossing(beyond, n_yes / n_answers, outer)


def _crossing(beyond: Callable[[float], float], estimate: float, end: float) -> float:
    """Where the wealth crosses 1 / delta between the estimate, where it is least, and an end of [0, 1]."""
    # Imported here: a server that starts should not wait for all of scipy.optimize.
    from scipy.optimize import brentq

    inner, outer = (min(max(m, TINY), 1 - TINY) for m in (estimate, end))
    return float(brentq(beyond, inner, outer)) if beyond(inner) < 0 < beyond(outer) else end
