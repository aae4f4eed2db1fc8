"""How good a classifier was as it learned, with intervals; and about how good it will be.

Not in the paper. Now and then the classifier, as it is then, is tried on a fresh item: its guess is asked about. Given
all before, that is accepted with the accuracy at that moment as its probability. The items are counted in blocks, each
twice as long as the one before; of block j the mean accuracy is between the ends of ``running_rate`` with probability
at least 1 - delta / (j (j + 1)), wherever it ends, so all blocks together with 1 - delta.

The forecast is no more than that: it takes the error after n answers to be

    floor + (1 - a - floor) (1 + (n / n0)^c)^(-b / c),

flat at first, then falling by a power, with a bend between the two that is the sharper the larger c is. Before the
first answer the accuracy is a: 1 / K, that of guessing, or more, where names tell what labels mean. Each curve of a
grid of floor, a, n0, b and c has the weight of the root of its likelihood: no curve of this form is quite right, so
what was seen counts for less than it would if one were.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from onebit.estimate.running_rate import running_rate

Floats = NDArray[np.floating]

#: Items of the first block. Origin: the fewest from which an interval says anything.
FIRST_BLOCK = 25
#: What the forecast allows for: floors, and how likely each is beforehand; powers b; bends c; and the number of n0.
#: Origin: floors, powers and n0 are round numbers, wide enough for any curve. Chosen before anything was measured, with
#: c = 1, all floors alike and the whole likelihood; ranges then had 33 of 60, and what came was mostly above. The rest,
#: and HEEDED, are from these 60 (letter, digits and clinc150); ``make bench-curves`` has others.
FLOORS = np.array([0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3])
LIKELY_FLOORS = np.array([4.0, 4.0, 4.0, 4.0, 4.0, 1.0, 1.0])
POWERS, BENDS, N_STARTS = np.linspace(0.25, 3.0, 12), np.array([1.0, 2.0, 4.0]), 20
#: With names: the accuracy before the first answer, if it is not that of guessing; how likely it is beforehand that it
#: is; and the largest n0, as a multiple of the answers forecast for, since what begins well may not have risen yet.
#: Origin: round numbers; of the last 3 and 10 were tried on a fifth of the training rows of BANKING77 (seed 0).
BEGINNINGS, GUESSING, FARTHEST_START = np.linspace(0.15, 0.75, 5), 0.5, 3.0
#: The power of the likelihood that counts.
HEEDED = 0.5
#: Epochs are joined to so many points at most before the grid is held against them. Origin: a round number, for time.
MOST_POINTS = 50
#: Part of the forecasts that is outside of its range, on each side.
OUTSIDE = 0.1


@dataclass(frozen=True)
class Tried:
    """``n_items`` fresh items tried in an epoch that ended after ``n_answers`` answers.

    At ``n_accepted`` of them the guess was accepted, and at ``n_with_doubts`` where can't tell counts as accepted.
    """

    n_answers: int
    n_items: int
    n_accepted: int
    n_with_doubts: int


@dataclass(frozen=True)
class CurvePoint:
    """The mean accuracy while ``n_items`` fresh items were tried, from ``first`` to ``last`` answers."""

    first: int
    last: int
    n_items: int
    estimate: float
    low: float
    high: float


@dataclass(frozen=True)
class ForecastPoint:
    """After ``n_answers`` answers the accuracy will be about ``middle``, probably between ``low`` and ``high``."""

    n_answers: int
    low: float
    middle: float
    high: float


def learning_curve(
    tried: Sequence[Tried],
    delta: float,
    error_rates: tuple[float, float] = (0.0, 0.0),
    first: int = 0,
) -> tuple[CurvePoint, ...]:
    """The blocks, the last of which may be under way; raters err at most at the rates.

    ``first``: there were so many answers before.
    """
    points: list[CurvePoint] = []
    block: list[Tried] = []
    f_no, f_yes = error_rates
    for number, each in enumerate(tried):
        block.append(each)
        n_items = sum(one.n_items for one in block)
        if n_items < FIRST_BLOCK * 2 ** len(points) and number + 1 < len(tried):
            continue
        j = len(points) + 1
        n_accepted, n_doubtful = (sum(getattr(one, of) for one in block) for of in ("n_accepted", "n_with_doubts"))
        # Each end at delta / 2, from the number that is worst for it.
        low, _ = running_rate(n_accepted, n_items, delta / (j * (j + 1)))
        _, high = running_rate(n_doubtful, n_items, delta / (j * (j + 1)))
        low, high = max(0.0, (low - f_yes) / (1 - f_yes)), min(1.0, high / (1 - f_no))
        points.append(CurvePoint(first, each.n_answers, n_items, n_accepted / n_items, low, high))
        first, block = each.n_answers, []
    return tuple(points)


def forecast(
    tried: Sequence[Tried], n_labels: int, at: Sequence[int], has_names: bool = False
) -> tuple[ForecastPoint, ...]:
    """About how good the classifier will be after so many answers; none before there is a first block to go by.

    ``has_names``: names of labels are heeded, so the accuracy may begin above that of guessing.
    """
    columns = np.array([(each.n_items, each.n_accepted, each.n_items * each.n_answers) for each in tried]).reshape(
        -1, 3
    )
    starts = np.unique(np.linspace(0, len(tried), MOST_POINTS, endpoint=False).astype(np.int64))
    if columns[:, 0].sum() < FIRST_BLOCK or columns[:, 1].sum() == 0:
        return ()
    n_items, n_accepted, weighted = np.add.reduceat(columns, starts, axis=0).T
    n_answers = weighted / n_items
    beginnings, likely = np.array([1 / n_labels]), np.ones(1)
    if has_names:
        beginnings = np.append(beginnings, BEGINNINGS)
        likely = np.append(GUESSING, np.full(BEGINNINGS.size, (1 - GUESSING) / BEGINNINGS.size))
    farthest = (FARTHEST_START if has_names else 1.0) * max(float(n_answers.max()), *at, 2.0)
    curves = _curves(np.concatenate([n_answers, at]), beginnings, np.geomspace(1.0, farthest, N_STARTS))
    seen, ahead = curves[..., : n_answers.size], curves[..., n_answers.size :]
    fit = np.log(seen) @ n_accepted + np.log1p(-seen) @ (n_items - n_accepted)
    beforehand = np.log(LIKELY_FLOORS)[:, None, None] + np.log(likely)[:, None]
    weight, ahead = softmax(HEEDED * fit + beforehand).ravel(), ahead.reshape(-1, len(at))
    return tuple(
        ForecastPoint(n, *(_quantile(values, weight, part) for part in (OUTSIDE, 0.5, 1 - OUTSIDE)))
        for n, values in zip(at, ahead.T, strict=True)
    )


def _curves(n: Floats, beginnings: Floats, starts: Floats) -> Floats:
    """The accuracies after ``n`` (m,) answers under every curve; shape (floors, beginnings, n0 and b and c, m)."""
    start, power, bend = (each.reshape(-1, 1) for each in np.meshgrid(starts, POWERS, BENDS))
    falls = (1 + (n / start) ** bend) ** (-power / bend)
    first_error = 1 - beginnings[:, None, None]
    floor = np.minimum(FLOORS[:, None, None, None], first_error)
    found: Floats = np.clip(1 - floor - (first_error - floor) * falls, 1e-6, 1 - 1e-6)
    return found


def _quantile(values: Floats, weight: Floats, part: float) -> float:
    order = np.argsort(values)
    at = int(np.searchsorted(weight[order].cumsum(), part * weight.sum()))
    return float(values[order[min(at, values.size - 1)]])
