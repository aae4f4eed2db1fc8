"""The sizes that the rivals' theorems ask for."""

from __future__ import annotations

import math

import pytest

from onebit.errors import InvalidInputError
from onebit.learners.paper.rates import (
    ILTCB_C0,
    exp4_rounds,
    iltcb_rounds,
    least_rounds,
    natarajan_optimal_order,
    natarajan_order,
    policy_elimination_rounds,
    rival_rounds,
)


def test_exp4_by_hand() -> None:
    # Regret 2 sqrt((e - 1) T K ln N) divided by T is eps at this T.
    T = exp4_rounds(10, 100, 0.1)
    assert 2 * math.sqrt((math.e - 1) * 10 * math.log(100) / T) == pytest.approx(0.1, rel=1e-4)


def test_sizes_are_the_least() -> None:
    T = policy_elimination_rounds(10, 100, 0.1, 0.05)

    def two_b(t: int) -> float:
        return 2 * 2 * math.sqrt(2 * 10 * math.log(4 * 100 * t**2 / 0.05) / t)

    assert two_b(T) <= 0.1 < two_b(T - 1)
    assert least_rounds(lambda t: 1 / t, 0.25) == 4


def test_iltcb_is_a_power_of_two_and_its_constant_is_the_publications() -> None:
    assert round(ILTCB_C0) == 538
    T = iltcb_rounds(10, 100, 0.1, 0.05)
    assert T & (T - 1) == 0

    def bound(t: int) -> float:
        return ILTCB_C0 * math.sqrt(10 * math.log(16 * t**2 * 100 / 0.05) / t)

    assert bound(T) <= 0.1 < bound(T // 2)
    # Exactly a power of two is enough as it is; one more is not.
    assert iltcb_rounds(10, 100, bound(2**30), 0.05) == 2**30
    assert iltcb_rounds(10, 100, bound(2**30 + 1), 0.05) == 2**31


def test_all_rows_are_there_and_grow_with_K() -> None:
    few, many = rival_rounds(2, 1000, 0.05, 0.05), rival_rounds(200, 1000, 0.05, 0.05)
    assert [row.learner for row in few] == [row.learner for row in many]
    assert all(a.rounds <= b.rounds for a, b in zip(few, many, strict=True))
    assert all(row.source and row.formula and row.guarantee for row in few)
    assert natarajan_order(10, 3, 0.1, 0.05) == pytest.approx(10 * (3 + math.log(20)) / 0.01)
    assert natarajan_optimal_order(10, 3, 0.1, 0.05) == pytest.approx((100 + 100) * (3 + math.log(20)))
    assert natarajan_optimal_order(10, 3, 0.1, 0.05, 4) == pytest.approx((400 + 100) * (3 + math.log(20)))
    # Where eps is above 1 - 1 / K, uniform guesses have the lower order.
    assert natarajan_optimal_order(2, 3, 0.8, 0.05) == natarajan_order(2, 3, 0.8, 0.05)
    with pytest.raises(InvalidInputError):
        rival_rounds(1, 10, 0.1, 0.1)
