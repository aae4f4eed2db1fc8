"""The accuracy interval against what can be worked out by hand."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from scipy.special import betaln

from onebit.errors import InvalidInputError
from onebit.estimate.accuracy import accuracy_interval


def log_wealth(n_yes: int, n_answers: int, m: float) -> float:
    mixed = betaln(n_yes + 0.5, n_answers - n_yes + 0.5) - betaln(0.5, 0.5)
    return float(mixed - n_yes * math.log(m) - (n_answers - n_yes) * math.log1p(-m))


def test_the_wealth_is_one_over_delta_at_both_ends() -> None:
    interval = accuracy_interval(70, 100, delta=0.1)
    assert interval.low < 0.7 < interval.high
    for end in (interval.low, interval.high):
        assert log_wealth(70, 100, end) == pytest.approx(math.log(10), abs=1e-6)


def test_one_yes_by_hand() -> None:
    # B(3/2, 1/2) / B(1/2, 1/2) = 1/2, so the wealth against m is 1 / (2 m): above 20 below m = 1/40.
    interval = accuracy_interval(1, 1, delta=0.05)
    assert interval.low == pytest.approx(1 / 40)
    assert interval.high == 1.0


def test_nothing_asked_says_nothing() -> None:
    interval = accuracy_interval(0, 0, delta=0.05)
    assert (interval.low, interval.high, interval.estimate) == (0.0, 1.0, None)


def test_many_answers_narrow_it_and_a_smaller_delta_widens_it() -> None:
    few, many, sure = (accuracy_interval(*args) for args in ((90, 100, 0.05), (9000, 10_000, 0.05), (90, 100, 0.001)))
    assert sure.low < few.low < many.low < 0.9 < many.high < few.high < sure.high


@pytest.mark.parametrize("delta", [0.3, 0.05, 0.001])
def test_both_ends_grow_with_the_number_of_yes(delta: float) -> None:
    """So every reading of the can't tells has its interval within the one that takes them for wrong and for right."""
    for n_answers in range(1, 201):
        ends = [accuracy_interval(n_yes, n_answers, delta) for n_yes in range(n_answers + 1)]
        assert all(a.low <= b.low and a.high <= b.high for a, b in pairwise(ends)), n_answers


def test_cant_tell_counts_against_both_ends() -> None:
    interval = accuracy_interval(60, 100, 0.05, n_cant_tell=20)
    assert interval.low == accuracy_interval(60, 100, 0.05).low
    assert interval.high == accuracy_interval(80, 100, 0.05).high
    assert interval.estimate == 0.75
    nobody = accuracy_interval(0, 30, 0.05, n_cant_tell=30)
    assert (nobody.low, nobody.high, nobody.estimate) == (0.0, 1.0, None)
    with pytest.raises(InvalidInputError, match="60 yes and 41 can't tell among 100 answers"):
        accuracy_interval(60, 100, 0.05, n_cant_tell=41)


@pytest.mark.parametrize(("n_yes", "n_answers", "delta"), [(3, 2, 0.05), (-1, 2, 0.05), (1, 2, 0.0), (1, 2, 1.0)])
def test_what_cannot_be(n_yes: int, n_answers: int, delta: float) -> None:
    with pytest.raises(InvalidInputError):
        accuracy_interval(n_yes, n_answers, delta)
