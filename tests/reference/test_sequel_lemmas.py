"""The sequel's lemmas, as its proofs and ``docs/sequel.md`` use them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom

from onebit.explore.hedge import proportions
from onebit.learners.paper.sequel_sizes import FREEDMAN, harmonic

#: The chance that an inequality which fails with probability at most p is failed by a test of it.
FALSE_ALARM = 1e-6


@pytest.mark.parametrize("a", [1.0, 2.0, 5.0])
@pytest.mark.parametrize("mean", [0.01, 0.2])
def test_lemma_14_with_freedmans_own_constant(mean: float, a: float) -> None:
    """10,000 sums of 200 values that are 0 or B = 3; each side fails with probability at most p = 0.1."""
    B, T, p, runs = 3.0, 200, 0.1, 10_000
    total = B * np.random.default_rng(int(a)).binomial(T, mean, runs)
    expected, room = T * B * mean, a * B * math.log(1 / p)
    most = binom.ppf(1 - FALSE_ALARM, runs, p)
    assert (total > (1 + FREEDMAN / a) * expected + room).sum() <= most
    assert (total < (1 - FREEDMAN / a) * expected - room).sum() <= most
    # Without the room both sides fail: the inequality is not idle.
    slack = FREEDMAN / (20 * a)
    assert ((total > (1 + slack) * expected) | (total < (1 - slack) * expected)).sum() > most


@pytest.mark.parametrize("seed", range(20))
def test_lemma_15_harmonic_sum(seed: int) -> None:
    values = np.random.default_rng(seed).random(300) ** np.random.default_rng(seed + 1).uniform(0, 4)
    before = np.concatenate([[0.0], values.cumsum()[:-1]])
    assert (values / (1 + before)).sum() <= 2 * math.log(1 + values.sum())


@pytest.mark.parametrize("gamma", [0.5, 0.2])
def test_our_harmonic_sum_is_below_the_sequels(gamma: float) -> None:
    """With the floor kept: log(1 + K) in place of log T, from T = K / gamma on."""
    for K in (10, 1000):
        for T in (math.ceil(K / gamma), 100 * K, 10**8):
            assert harmonic(T, K, 1, gamma) <= 2 / (1 - gamma) * math.log(1 + T)


@pytest.mark.parametrize("rate_share", [1.0, 0.3])
@pytest.mark.parametrize("seed", range(5))
def test_lemma_16_hedge_with_rewards(seed: int, rate_share: float) -> None:
    """sum u . p* <= (1 + eta R) sum u . p_t + log N / eta, for the best single hypothesis and adversarial rewards."""
    rng = np.random.default_rng(seed)
    N, T, R = 20, 400, 7.0
    rate = rate_share / R
    total, earned = np.zeros(N), 0.0
    for t in range(T):
        p = proportions(rate * total)
        # What Hedge holds most is paid least, in half of the rounds.
        u = R * (rng.random(N) < 0.2) if t % 2 else R * (np.arange(N) == np.argmin(p))
        earned += float(u @ p)
        total += u
    assert total.max() <= (1 + rate * R) * earned + math.log(N) / rate


def test_the_factor_3_in_the_proof_of_theorem_5_is_4() -> None:
    """2 K / T + 2 eta K^2 / (gamma T) at eta = gamma / K is 4 K / T: docs/paper-map.md lists the slip."""
    K, T, gamma = 50, 1000, 0.5
    eta = gamma / K
    assert 2 * K / T + 2 * eta * K**2 / (gamma * T) == pytest.approx(4 * K / T)
