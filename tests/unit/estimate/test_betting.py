"""Wealth against the formula written out round by round, and what every bettor must keep: nothing below zero."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from onebit.estimate.betting import BETS, CAP, IndependentWealth, PoolWealth, Wealth, bets_within

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
seeds = st.integers(0, 10**6)
thresholds = st.sampled_from([0.0, 0.01, 0.3, 1.0])


@dataclass(frozen=True)
class Epoch:
    """Rounds of one epoch: X(h) = value[i] * right[h, i] in round i; value 0 where nobody was found right.

    Then come conceded rounds, in which the models say ``conceded`` (N, l): whoever differs from g has D = 1.
    """

    bets: Floats
    right: Bools
    value: Floats
    conceded: NDArray[np.int64]


def independent_epochs(rng: np.random.Generator, n_hypotheses: int) -> list[Epoch]:
    """Up to four epochs with ranges of their own, the last possibly empty; values reach the range."""
    epochs = []
    for n_rounds in (*rng.integers(1, 12, rng.integers(1, 4)), rng.integers(0, 2)):
        largest = rng.choice([1.0, 2.5, 40.0])
        value = np.where(rng.random(n_rounds) < 0.3, 0.0, rng.choice([1.0, largest, (1 + largest) / 2], n_rounds))
        right = (rng.random((n_hypotheses, n_rounds)) < 0.4) & (value > 0)
        conceded = rng.integers(-1, 3, (n_hypotheses, rng.integers(0, 3)))
        epochs.append(Epoch(bets_within(largest, rng.choice([0.01, 0.2])), right, value, conceded))
    return epochs


def add(wealth: IndependentWealth, epoch: Epoch) -> None:
    found = epoch.value > 0
    n_rounds = epoch.value.size + epoch.conceded.shape[1]
    wealth.add(epoch.bets, n_rounds, epoch.right[:, found], epoch.value[found], epoch.conceded)


def filled(epochs: list[Epoch], n_hypotheses: int) -> IndependentWealth:
    wealth = IndependentWealth(n_hypotheses)
    for epoch in epochs:
        add(wealth, epoch)
    return wealth


def plain_wealth(epochs: list[Epoch], h: int, g: int, c: float) -> float:
    """The mean over bets of the product over rounds of 1 - bet (D - c)."""
    total = 0.0
    for k in range(BETS.size):
        product = 1.0
        for epoch in epochs:
            differences = [
                value * (int(a) - int(b)) for value, a, b in zip(epoch.value, *epoch.right[[h, g]], strict=True)
            ]
            differences += [float(a != b) for a, b in zip(*epoch.conceded[[h, g]], strict=True)]
            for D in differences:
                factor = 1 - epoch.bets[k] * (D - c)
                assert factor > 0
                product *= factor
        total += product
    return total / BETS.size


def plain_pool_wealth(epochs: list[tuple[Bools, int]], n_items: int, h: int, g: int, c: float) -> float:
    """The same without replacement: factors 1 - bet (D - c_t), c_t = (n c - S) / U, the bet by c_t at c = 0."""
    total = 0.0
    for k in range(BETS.size):
        product, S = 1.0, 0
        for right, n_left in epochs:
            for t in range(right.shape[1]):
                c_t, c_t_at_0 = (n_items * c - S) / (n_left - t), -S / (n_left - t)
                bet = CAP * BETS[k] / (1 - c_t_at_0) if c_t_at_0 < 1 else BETS[k]
                D = int(right[h, t]) - int(right[g, t])
                if c_t > 1:
                    product = math.inf
                else:
                    factor = 1 - bet * (D - c_t)
                    assert factor > 0
                    product *= factor
                S += D
        total += product
    return total / BETS.size


def pool_epochs(rng: np.random.Generator, n_hypotheses: int) -> tuple[list[tuple[Bools, int]], int]:
    """Epochs that draw from ever fewer items, some left out between epochs, as survivors shrink; and the pool's size.

    Hypotheses differ much in accuracy, so that some pairs come to c_t >= 1.
    """
    n_items = int(rng.integers(4, 30))
    accuracy = rng.uniform(0, 1, (n_hypotheses, 1))
    epochs: list[tuple[Bools, int]] = []
    left = n_items
    while left > 0 and len(epochs) < 4:
        n_rounds = int(rng.integers(1, left + 1))
        epochs.append((rng.random((n_hypotheses, n_rounds)) < accuracy, left))
        left -= n_rounds + int(rng.integers(0, 3))
    return epochs, n_items


def filled_pool(epochs: list[tuple[Bools, int]], n_hypotheses: int, n_items: int) -> PoolWealth:
    wealth = PoolWealth(n_hypotheses, n_items)
    for right, n_left in epochs:
        wealth.add(right, n_left)
    return wealth


@given(seeds, thresholds)
def test_independent_wealth_is_the_product_written_out(seed: int, c: float) -> None:
    rng = np.random.default_rng(seed)
    epochs = independent_epochs(rng, 4)
    wealth = filled(epochs, 4)
    for leader in range(4):
        expected = [plain_wealth(epochs, h, leader, c) for h in range(4)]
        assert np.exp(wealth.log_wealth(leader, c)) == pytest.approx(expected, rel=1e-10)


@given(seeds, thresholds)
def test_pool_wealth_is_the_product_written_out(seed: int, c: float) -> None:
    rng = np.random.default_rng(seed)
    epochs, n_items = pool_epochs(rng, 4)
    wealth = filled_pool(epochs, 4, n_items)
    for leader in range(4):
        expected = [plain_pool_wealth(epochs, n_items, h, leader, c) for h in range(4)]
        assert np.exp(wealth.log_wealth(leader, c)) == pytest.approx(expected, rel=1e-10)


def test_the_random_pools_meet_every_case() -> None:
    """c_t above 1, and room for no bet at c = 0, occur among the pools above; else the test would not see them."""
    above = no_room = 0
    for seed in range(60):
        epochs, n_items = pool_epochs(np.random.default_rng(seed), 4)
        above += bool(np.isinf(filled_pool(epochs, 4, n_items).log_wealth(0, 0.3)).any())
        S = 0
        for right, n_left in epochs:
            for t, D in enumerate((right[1].astype(int) - right[0].astype(int)).tolist()):
                no_room += n_left - t <= -S
                S += D
    assert above > 10
    assert no_room > 10


@given(seeds, st.booleans())
def test_kept_thresholds_go_on_where_they_were(seed: int, pool: bool) -> None:
    """However log_wealth was asked before, with leaders coming and going, the values are those of a new start."""
    rng = np.random.default_rng(seed)
    wealth: Wealth
    if pool:
        pooled, n_items = pool_epochs(rng, 3)
        wealth, n_epochs = PoolWealth(3, n_items), len(pooled)
    else:
        epochs = independent_epochs(rng, 3)
        wealth, n_epochs = IndependentWealth(3), len(epochs)
    for n in range(1, n_epochs + 1):
        if isinstance(wealth, PoolWealth):
            wealth.add(*pooled[n - 1])
            new: Wealth = filled_pool(pooled[:n], 3, n_items)
        else:
            assert isinstance(wealth, IndependentWealth)
            add(wealth, epochs[n - 1])
            new = filled(epochs[:n], 3)
        for leader in rng.integers(0, 3, 3).tolist():
            c = float(rng.choice([0.0, 0.1, 0.5]))
            keep = bool(rng.random() < 0.5)
            expected = new.log_wealth(leader, c, keep=False)
            # Twice: what is kept must not be changed by what is read.
            for _ in range(2):
                assert wealth.log_wealth(leader, c, keep=keep) == pytest.approx(expected, rel=1e-12, abs=1e-12)


@given(seeds, st.booleans())
def test_wealth_grows_with_the_threshold(seed: int, pool: bool) -> None:
    rng = np.random.default_rng(seed)
    wealth: Wealth
    if pool:
        pooled, n_items = pool_epochs(rng, 4)
        wealth = filled_pool(pooled, 4, n_items)
    else:
        wealth = filled(independent_epochs(rng, 4), 4)
    levels = np.stack([wealth.log_wealth(0, c, keep=False) for c in np.linspace(0, 1, 21)])
    assert (levels[1:] >= levels[:-1] - 1e-12).all()


@given(seeds, st.booleans())
def test_a_round_never_takes_more_than_the_cap(seed: int, pool: bool) -> None:
    """Every factor is at least 1 - CAP, whatever is drawn, so wealth is never lost altogether, let alone negative."""
    rng = np.random.default_rng(seed)
    c = float(rng.choice([0.0, 0.05, 0.4]))
    before = np.zeros(3)
    if pool:
        pooled, n_items = pool_epochs(rng, 3)
        steps = [(right[:, [t]], n_left - t) for right, n_left in pooled for t in range(right.shape[1])]
        wealth = PoolWealth(3, n_items)
        for right, n_left in steps:
            wealth.add(right, n_left)
            after = wealth.log_wealth(0, c)
            assert not np.isnan(after).any()
            assert (after >= before + math.log(1 - CAP) - 1e-12).all()
            before = after
    else:
        independent = IndependentWealth(3)
        for epoch in independent_epochs(rng, 3):
            for i in range(epoch.value.size):
                add(independent, Epoch(epoch.bets, epoch.right[:, [i]], epoch.value[[i]], epoch.conceded[:, :0]))
                after = independent.log_wealth(0, c)
                assert (after >= before + math.log(1 - CAP) - 1e-12).all()
                before = after


@pytest.mark.parametrize("largest", [0.0, 1.0, 5.0, 1000.0])
@pytest.mark.parametrize("eps", [0.001, 0.2])
def test_no_bet_stakes_more_than_the_cap_on_the_largest_difference(largest: float, eps: float) -> None:
    bets = bets_within(largest, eps)
    assert bets.shape == BETS.shape
    assert (bets > 0).all()
    assert (bets * largest <= CAP + 1e-15).all()


def test_rounds_without_a_difference_add_the_threshold() -> None:
    """A free round multiplies by 1 + bet c; at c = 0 it changes nothing."""
    wealth, bets = IndependentWealth(2), bets_within(3.0, 0.1)
    wealth.add(bets, 7, np.zeros((2, 0), dtype=np.bool_), np.zeros(0))
    assert wealth.log_wealth(0, 0.0) == pytest.approx(0, abs=1e-14)
    assert np.exp(wealth.log_wealth(0, 0.2)) == pytest.approx(np.mean((1 + bets * 0.2) ** 7))


def test_before_the_first_round_all_wealth_is_one() -> None:
    for wealth in (IndependentWealth(3), PoolWealth(3, 10)):
        assert wealth.log_wealth(1, 0.3) == pytest.approx(0, abs=1e-14)


def test_a_gap_that_the_pool_has_no_room_for_is_impossible() -> None:
    """Ten items, five drawn, all tied: "ahead by 0.6" would need six of the five left."""
    wealth = PoolWealth(2, 10)
    wealth.add(np.ones((2, 5), dtype=np.bool_), 10)
    wealth.add(np.ones((2, 1), dtype=np.bool_), 5)
    assert wealth.log_wealth(0, 0.6)[1] == np.inf
    assert wealth.log_wealth(0, 0.5)[1] < np.inf
