"""The sequel's sizes: each is the least that its inequality allows, and they have the theorem's order."""

from __future__ import annotations

import math

import numpy as np
import pytest

from onebit.errors import InvalidInputError
from onebit.learners.paper.schedule import theorem_plan, uniform_rounds
from onebit.learners.paper.sequel_sizes import (
    bernstein_rounds,
    harmonic,
    hedge_break_even_eps,
    hedge_plan,
    hedge_rate,
    largest_weight,
    printed_variance,
    shortest_phase_1,
    uniform_list_rounds,
    variance_after,
)

F = math.e - 2


@pytest.mark.parametrize(("variance", "largest"), [(3.0, 20.0), (100.0, 2.0), (0.1, 5000.0)])
def test_phase_2_is_the_least_that_bernstein_allows(variance: float, largest: float) -> None:
    n = bernstein_rounds(variance, largest, 50, 0.1, 0.02)
    log_n = math.log(50 / 0.02)

    def width(n: int) -> float:
        return math.sqrt(2 * variance * log_n / n) + largest * log_n / (3 * n)

    assert width(n) <= 0.05 < width(n - 1)


@pytest.mark.parametrize("gamma", [0.5, 0.1])
@pytest.mark.parametrize(("n_hedge", "n_labels", "m"), [(40, 10, 1), (5000, 100, 1), (300, 60, 5)])
def test_the_harmonic_sum_is_bounded_and_not_by_much(n_hedge: int, n_labels: int, m: int, gamma: float) -> None:
    floor = gamma * m / n_labels
    exact = sum(1 / n_hedge / (floor + (1 - gamma) * i / n_hedge) for i in range(n_hedge))
    bound = harmonic(n_hedge, n_labels, m, gamma)
    assert exact <= bound <= exact + 1 / (n_hedge * floor)


def test_the_variance_bound_by_hand() -> None:
    """With a = b = b' = 2 the formula of the docstring is an upper bound on the least of all."""
    K, N, T, s, failure = 20, 30, 4000, 2, 0.03
    R, H, each = K * 40 / T, harmonic(T, K), math.log(100)
    by_hand = (
        2 / (1 - F / 2) * ((1 + F / 2) * s * H + R * 4 * each) + R * (math.log(N) + 2 * (math.log(N) + each))
    ) / (1 - F / 2)
    assert variance_after(T, K, N, failure, s) <= by_hand
    # In the limit only the covered labels count, up to the coarseness of a and b.
    limit = 2 * s * math.log(1 + K) / 0.5
    assert limit < variance_after(10**12, K, N, failure, s) < 1.01 * limit


@pytest.mark.parametrize(
    ("T", "K", "N", "s", "m"), [(40, 20, 30, 1, 1), (4000, 20, 30, 2, 1), (500, 10, 100, 3, 1), (700, 60, 50, 3, 5)]
)
def test_the_variance_bound_is_the_least_that_free_parameters_give(T: int, K: int, N: int, s: int, m: int) -> None:
    """Within half a percent of the least on a grid of a, b and b' that is finer by far."""
    B = min(s, m) * K / (0.5 * m)
    R, each = K * B / (m * T), math.log(3 / 0.05)
    fine = np.geomspace(1, 4096, 1200)
    a, b_prime = fine[:, None], fine[None, :]
    hedge_total = 2 / (1 - F / b_prime) * ((1 + F / a) * s * harmonic(T, K, m) + R * (a + b_prime) * each)
    of_one = (hedge_total.min() + R * (math.log(N) + fine * math.log(3 * N / 0.05))) / (1 - F / fine)
    assert of_one.min() <= variance_after(T, K, N, 0.05, s, m) <= 1.005 * of_one.min()


@pytest.mark.parametrize("m", [1, 3, 7])
@pytest.mark.parametrize("s", [1, 2, 5])
@pytest.mark.parametrize("K", [10, 100, 10_000])
def test_it_is_far_below_what_the_proof_prints(K: int, s: int, m: int) -> None:
    for T in (2 * K, 50 * K, K**2 + 2 * K):
        assert variance_after(T, K, 1000, 0.05, s, m) < printed_variance(T, K, 1000, 0.05 / 3, s, m)


def test_lists_of_one_are_no_lists() -> None:
    assert hedge_rate(10, 0.5) == 0.05
    assert hedge_rate(10, 0.5, 3, 1) == hedge_rate(10, 0.5)
    assert largest_weight(10, 0.5, 3, 5) == 10 * 3 / (0.5 * 5)
    assert shortest_phase_1(10, 0.5) == 20
    assert shortest_phase_1(10, 0.5, 4) == 5


def test_no_shorter_or_longer_phase_1_is_better() -> None:
    plan = hedge_plan(50, 100, 0.05, 0.1)

    def total(n_hedge: int) -> int:
        variance = variance_after(n_hedge, 50, 100, 0.05)
        return n_hedge + bernstein_rounds(variance, 100.0, 100, 0.05, 0.05)

    assert plan.n_rounds == total(plan.n_hedge)
    for factor in (0.1, 0.5, 0.8, 0.95, 1.05, 1.25, 2, 10):
        assert total(int(plan.n_hedge * factor)) >= 0.9999 * plan.n_rounds


def test_the_order_is_the_theorems() -> None:
    """s / eps^2 where eps is small, K / eps where K is large: both up to logarithms."""
    tiny = 1e-6
    assert hedge_plan(20, 100, tiny / 2, 0.1).n_rounds == pytest.approx(
        4 * hedge_plan(20, 100, tiny, 0.1).n_rounds, rel=0.01
    )
    assert hedge_plan(20, 100, tiny, 0.1, sparsity=3).n_rounds == pytest.approx(
        3 * hedge_plan(20, 100, tiny, 0.1).n_rounds, rel=0.01
    )
    many = hedge_plan(10**8, 100, 0.1, 0.1).n_rounds
    assert hedge_plan(2 * 10**8, 100, 0.1, 0.1).n_rounds == pytest.approx(2 * many, rel=0.01)
    assert hedge_plan(10**8, 100, 0.05, 0.1).n_rounds == pytest.approx(2 * many, rel=0.05)
    # A list of five has five times the labels in a round, and with s = 1 the variance of one.
    assert hedge_plan(10**8, 100, 0.1, 0.1, list_size=5).n_rounds == pytest.approx(many / 5, rel=0.01)


def test_where_it_beats_uniform_guesses() -> None:
    """With one right label from 11 labels on, and at eps = 0.05 from 30 on, for 1,000 hypotheses."""
    assert hedge_break_even_eps(10, 1000, 0.05) is None
    below = hedge_break_even_eps(11, 1000, 0.05)
    assert below is not None
    assert 1e-4 < below < 1e-3
    at_30 = hedge_break_even_eps(30, 1000, 0.05)
    assert at_30 is not None
    assert at_30 >= 0.05
    for factor, wins in ((0.8, True), (1.3, False)):
        eps = at_30 * factor
        assert (hedge_plan(30, 1000, eps, 0.05).n_rounds < uniform_list_rounds(30, 1000, eps, 0.05)) is wins


def test_beside_the_seeds_sizes() -> None:
    assert uniform_list_rounds(10, 1000, 0.05, 0.05) < uniform_rounds(10, 1000, 0.05, 0.05)
    seed = theorem_plan(10, 1000, 0.05, 0.05)
    assert hedge_plan(10, 1000, 0.05, 0.05).n_rounds < seed.n_confirmed / 10**6


@pytest.mark.parametrize("bad", [{"sparsity": 0}, {"sparsity": 11}, {"list_size": 11}, {"gamma": 0.6}])
def test_what_cannot_be_is_refused(bad: dict[str, float]) -> None:
    with pytest.raises(InvalidInputError):
        hedge_plan(10, 100, 0.1, 0.1, **bad)  # type: ignore[arg-type]
