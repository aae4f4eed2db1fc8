"""How many answers are still needed. A forecast, not a promise: nothing in a certificate depends on it.

With D of mean d and second moment V, a bet wins at best about (c - d)^2 / 2V a round against "h is ahead by c". Both
are known from the rounds so far, d only roughly. A rival that seems to be ahead of the leader either is, and then will
lead, or is not: so none is taken to be ahead, and c - d to be at least c.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from onebit.learners.certified import constants
from onebit.learners.certified.outputs import Floats
from onebit.learners.certified.standing import Standing
from onebit.records import Closing


@dataclass(frozen=True, slots=True)
class Forecast:
    """Answers still needed: likely between ``low`` and ``high``, about ``middle``."""

    low: int
    middle: int
    high: int


def forecast(standing: Standing, closings: Sequence[Closing], c: float, n_items: int | None) -> Forecast | None:
    """What is still needed until the gap c is excluded; None while too little is known.

    ``n_items`` is the size of the pool where its items are drawn without replacement.
    """
    if standing.is_suspended:
        return None
    if standing.is_over:
        return Forecast(0, 0, 0)
    if len(closings) < constants.ENOUGH_EPOCHS or closings[-1].n_rounds == 0:
        return None
    rivals = standing.survivors[standing.survivors != standing.leader]
    n_rounds = closings[-1].n_rounds
    total, squares = (sums[rivals] for sums in standing.moments())
    d, V = total / n_rounds, np.maximum(squares, 1) / n_rounds
    error = np.sqrt(V / n_rounds)
    missing = np.maximum(standing.threshold[standing.leader] - standing.log_wealth(c)[rivals], 0)
    # In later rounds survivors agree more often: the last third of the run says how many answers a round takes.
    earlier = closings[2 * len(closings) // 3 - 1]
    price = (closings[-1].n_answers - earlier.n_answers) / max(n_rounds - earlier.n_rounds, 1)
    needed = []
    for n_errors in constants.TOO_HIGH:
        ahead = np.maximum(n_errors * error - d, 0)
        if n_items is None:
            rounds = float((missing * 2 * V / (c + ahead) ** 2).max())
        else:
            rounds = _rounds_on_pool(missing, total, ahead, V, c * n_items, standing.n_left() or 0)
        needed.append(int(np.ceil(rounds * price)))
    return Forecast(*needed)


def _rounds_on_pool(missing: Floats, total: Floats, ahead: Floats, V: Floats, least: float, n_left: int) -> float:
    """Rounds without replacement, over which the mean gap that has to be excluded grows as items run out."""
    won = np.zeros_like(missing)
    step = n_left / constants.N_STEPS
    for k in range(constants.N_STEPS):
        mean = (least - total + ahead * k * step) / (n_left - k * step)
        won += step * (np.maximum(mean, 0) + ahead) ** 2 / (2 * V)
        if (won >= missing).all():
            return (k + 1) * step
    return float(n_left)
