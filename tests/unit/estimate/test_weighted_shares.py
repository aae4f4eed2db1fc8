"""Intervals from one label per drawn item: against the bettors of the document written out round by round."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from scipy.optimize import brentq

from onebit.estimate.betting import CAP
from onebit.estimate.independent_wealth import Rounds
from onebit.estimate.weighted_shares import SPARSE_BETS, WeightedEpoch, WeightedRounds

N, N_OUTPUTS, N_ROUNDS, FAILURE = 4, 3, 40, 0.1
#: Hypothesis 2 is out after the first epoch.
ROWS = ([0, 1, 2, 3], [0, 1, 3])
N_SKIPPED, N_AGREED = (3, 5), (7, 2)


def epoch(rng: np.random.Generator, i: int) -> WeightedEpoch:
    """Of three outputs one is asked, with propensities down to a hundredth; those of low numbers are often right."""
    q = rng.dirichlet([0.3] * N_OUTPUTS, N_ROUNDS).clip(min=0.01)
    q /= q.sum(axis=1, keepdims=True)
    asked = np.array([rng.choice(N_OUTPUTS, p=each) for each in q])
    guess = rng.random((N_ROUNDS, N_OUTPUTS))
    rounds = Rounds(
        rows=np.array(ROWS[i]),
        code=np.array([rng.choice(N_OUTPUTS, N_ROUNDS, p=[0.8 - 0.2 * h, 0.1, 0.1 + 0.2 * h]) for h in ROWS[i]]),
        first=np.arange(N_ROUNDS + 1) * N_OUTPUTS,
        q=q.ravel(),
        for_rival=guess.ravel(),
        for_leader=(guess / 2).ravel(),
        asked=asked,
        z=(rng.random(N_ROUNDS) < np.array([0.9, 0.5, 0.1])[asked]).astype(np.float64),
        n_nil=0,
    )
    return WeightedEpoch(rounds, N_SKIPPED[i], N_AGREED[i])


EPOCHS = [epoch(np.random.default_rng(3), i) for i in (0, 1)]


def X(rounds: Rounds, t: int, h: int, bet: float | None, is_rival: bool) -> float:
    """X of what h says in round t: bent so that no factor falls below 1 - CAP, or as it is without a bet."""
    output = int(rounds.code[rounds.place(h), t])
    at = int(rounds.first[t]) + output
    q, m = rounds.q[at], (rounds.for_rival if is_rival else rounds.for_leader)[at]
    if bet is not None and 1 / q > CAP / bet:
        B = CAP / bet
        m = max(m, (1 / q - B) / (1 / q - 1)) if is_rival else min(m, (B - 1) / (1 / q - 1))
    return float(m + (rounds.z[t] - m) / q if rounds.asked[t] == output else m)


@cache
def D(rounds: Rounds, t: int, ahead: int | None, behind: int | None, bet: float) -> float:
    """By how much ``ahead`` is ahead of ``behind``; nobody is worth 0."""
    if ahead is None or behind is None:
        return X(rounds, t, ahead, bet, True) if ahead is not None else -X(rounds, t, behind or 0, bet, False)
    same = rounds.code[rounds.place(ahead), t] == rounds.code[rounds.place(behind), t]
    return 0.0 if same else X(rounds, t, ahead, bet, True) - X(rounds, t, behind, bet, False)


def most_wealth(h: int, ahead: int | None, behind: int | None, c: float) -> float:
    """The most log-wealth at the end of an epoch of h against "``ahead`` is ahead of ``behind`` by at least c"."""
    wealth, most = np.ones(SPARSE_BETS.size), 0.0
    for each in EPOCHS:
        if h not in each.rounds.rows:
            break
        for k, bet in enumerate(SPARSE_BETS.tolist()):
            for t in range(N_ROUNDS):
                wealth[k] *= 1 - bet / 2 * (D(each.rounds, t, ahead, behind, bet) - c)
            if ahead is not None and behind is not None:
                wealth[k] *= (1 + bet / 2 * c) ** (each.n_skipped + each.n_agreed)
            else:
                # The common output may be right or not: whichever is worse for the bettor.
                wealth[k] *= (1 - bet / 2 * ((behind is None) - c)) ** each.n_skipped
        most = max(most, math.log(wealth.mean()))
    return most


def refuted(wealth: Callable[[float], float], least: float, most: float) -> float:
    """Where the wealth reaches 2 / FAILURE, rounded up to 1 / 2^9 of the range; ``most`` where it never does."""

    def beyond(c: float) -> float:
        return wealth(c) - math.log(2 / FAILURE)

    if beyond(most) < 0:
        return most
    step = (most - least) / 2**9
    return least + step * math.ceil((brentq(beyond, least, most) - least) / step)


def test_shares_are_what_neither_bettor_has_refuted() -> None:
    found = WeightedRounds(EPOCHS, N).shares(FAILURE)
    for h in range(N):
        high = refuted(lambda c, h=h: most_wealth(h, h, None, c), 0.0, 1.0)  # type: ignore[misc]
        low = -refuted(lambda c, h=h: most_wealth(h, None, h, c), -1.0, 0.0)  # type: ignore[misc]
        assert (found.low[h], found.high[h]) == pytest.approx((low, high))
        mine = [each.rounds for each in EPOCHS if h in each.rounds.rows]
        mean = np.mean([X(rounds, t, h, None, True) for rounds in mine for t in range(N_ROUNDS)])
        assert found.estimate[h] == pytest.approx(np.clip(mean, low, high))
    assert (found.low > 0).any()
    assert (found.high < 1).any()


@pytest.mark.parametrize("leader", [0, 3])
def test_differences_are_what_neither_bettor_has_refuted(leader: int) -> None:
    found = WeightedRounds(EPOCHS, N).differences(leader, FAILURE)
    for h in set(range(N)) - {leader}:
        high = refuted(lambda c, h=h: most_wealth(h, h, leader, c), -1.0, 1.0)  # type: ignore[misc]
        low = -refuted(lambda c, h=h: most_wealth(h, leader, h, c), -1.0, 1.0)  # type: ignore[misc]
        assert (found.low[h], found.high[h]) == pytest.approx((low, high))
        mine = [each for each in EPOCHS if h in each.rounds.rows]
        total = sum(
            X(each.rounds, t, h, None, True) - X(each.rounds, t, leader, None, True)
            for each in mine
            for t in range(N_ROUNDS)
        )
        n_rounds = sum(N_ROUNDS + each.n_skipped + each.n_agreed for each in mine)
        assert found.estimate[h] == pytest.approx(np.clip(total / n_rounds, low, high))
    assert found.at(leader) == (0.0, 0.0, 0.0)
    assert (found.high < 1).any()
