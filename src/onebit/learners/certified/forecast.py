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
from onebit.learners.certified.gate import GateStanding
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
    price = _price(closings)
    needed = []
    for n_errors in constants.TOO_HIGH:
        ahead = np.maximum(n_errors * error - d, 0)
        if n_items is None:
            rounds = float((missing * 2 * V / (c + ahead) ** 2).max())
        else:
            rounds = _rounds_on_pool(missing, total, ahead, V, c * n_items, standing.n_left() or 0)
        needed.append(int(np.ceil(rounds * price)))
    return Forecast(*needed)


def forecast_of_gate(
    standing: GateStanding, closings: Sequence[Closing], margin: float, n_left: int | None
) -> Forecast | None:
    """What is still needed until every candidate of a gate is decided; None while too little is known.

    ``margin`` is what the margin is in the mean of D over rounds, and ``n_left`` how many rounds there can be at most.
    """
    if standing.is_suspended:
        return None
    if standing.is_over:
        return Forecast(0, 0, 0)
    if len(closings) < constants.ENOUGH_EPOCHS or closings[-1].n_rounds == 0:
        return None
    candidates, n_rounds = standing.not_shown(0.0), closings[-1].n_rounds
    total, squares = (sums[candidates] for sums in standing.moments())
    d, V = total / n_rounds, np.maximum(squares, 1) / n_rounds
    error = np.sqrt(V / n_rounds)
    needed = []
    for n_errors in constants.TOO_HIGH:
        # How far it is from what must be shown wrong: being equal, or being worse by the margin, whichever is farther.
        ahead = d + n_errors * error
        far = np.maximum(np.abs(ahead), np.maximum(ahead + margin, 0))
        rounds = float((standing.threshold[standing.leader] * 2 * V / np.maximum(far, 1e-9) ** 2).max()) - n_rounds
        needed.append(max(rounds, 1.0) if n_left is None else min(max(rounds, 1.0), n_left))
    low, middle, high = sorted(int(np.ceil(rounds * _price(closings))) for rounds in needed)
    return Forecast(low, middle, high)


def _price(closings: Sequence[Closing]) -> float:
    """Answers per round. In later rounds survivors agree more often, so the last third of the run says it."""
    earlier, last = closings[2 * len(closings) // 3 - 1], closings[-1]
    return (last.n_answers - earlier.n_answers) / max(last.n_rounds - earlier.n_rounds, 1)


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
