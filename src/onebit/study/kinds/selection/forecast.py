"""How many answers a selection takes, before the first and on the way: the one forecast of commands, pages and Python.

A forecast, not a promise: nothing in a certificate depends on it. It takes rehearsals of the selection (``rehearsal``),
which are made once; and of the run itself, how many answers there were and which eps they certified. A rehearsal that
had certified as much after half as many answers is taken to go on so: what it needed from there on is doubled, if it
was far enough for that to say something. Where nothing is certified yet, rehearsals are taken as they are. What that is
worth is measured by ``benchmarks/forecast.py``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import median

from onebit.records import Closing
from onebit.study.constants import LEAST_LEFT, SPREAD_BEFORE, SPREAD_ON_THE_WAY
from onebit.study.kinds.selection.rehearsal import Course, Rehearsal
from onebit.study.needed import Needed


@dataclass(frozen=True, slots=True)
class Spread:
    """What the least, the median and the largest of the rehearsals are multiplied by, for the three figures."""

    low: float
    middle: float
    high: float


def forecast(
    rehearsal: Rehearsal,
    eps: float,
    so_far: Closing | None = None,
    n_answers: int = 0,
    spread: Spread | None = None,
) -> Needed:
    """How many more answers it takes until ``eps`` is certified, by what was rehearsed.

    ``so_far`` is what the last epoch that closed has shown; ``n_answers`` are all answers, those after it as well.

    >>> course = Course(answers=(100, 200, 400), certified=(0.2, 0.1, 0.05), n_answers=400)
    >>> before = forecast(Rehearsal((course,)), eps=0.05)
    >>> before.low < before.middle < before.high
    True
    """
    if so_far is not None and so_far.certified_eps <= eps:
        return Needed(0, 0, 0)
    if spread is None:
        spread = Spread(*(SPREAD_BEFORE if so_far is None else SPREAD_ON_THE_WAY))
    courses = rehearsal.courses
    left = sorted(_left(course, eps, so_far, n_answers) for course in courses)
    middle = spread.middle * median(left)
    low, high = min(spread.low * left[0], middle), max(spread.high * left[-1], middle)
    at_least = 2 * sum(course.is_cut_before(eps) for course in courses) > len(courses)
    most = None if rehearsal.most is None else max(rehearsal.most - n_answers, 0)
    return Needed(math.ceil(low), math.ceil(middle), math.ceil(high), at_least).at_most(most)


def _left(course: Course, eps: float, so_far: Closing | None, n_answers: int) -> float:
    """The answers that are still needed if it goes on as in the rehearsal."""
    whole = course.answers_until(eps)
    if so_far is None or so_far.n_answers == 0 or so_far.certified_eps >= 1:
        return max(whole - n_answers, LEAST_LEFT * whole)
    there = max(course.answers_until(so_far.certified_eps), 1)
    # Early on the pace is mostly luck: from the middle of the rehearsal on it counts in full.
    pace: float = (so_far.n_answers / there) ** min(2 * there / whole, 1)
    left = max(whole - there, LEAST_LEFT * whole) * pace
    return max(left - (n_answers - so_far.n_answers), LEAST_LEFT * left)
