"""The accuracy interval against what can be worked out by hand."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from scipy.special import betaln
from scipy.stats import binom

from onebit.errors import InvalidInputError
from onebit.estimate.accuracy import accuracy_interval, exact_interval, with_errors


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


def test_the_exact_interval_leaves_half_of_delta_on_each_side() -> None:
    interval = exact_interval(70, 100, delta=0.1)
    assert binom.sf(69, 100, interval.low) == pytest.approx(0.05)
    assert binom.cdf(70, 100, interval.high) == pytest.approx(0.05)
    assert (exact_interval(0, 20, 0.1).low, exact_interval(20, 20, 0.1).high) == (0.0, 1.0)
    anytime = accuracy_interval(70, 100, delta=0.1)
    assert anytime.low < interval.low < interval.high < anytime.high


@pytest.mark.parametrize("delta", [0.3, 0.05, 0.001])
def test_both_ends_of_the_exact_interval_grow_with_the_number_of_yes(delta: float) -> None:
    for n_answers in (1, 2, 10, 77, 200):
        ends = [exact_interval(n_yes, n_answers, delta) for n_yes in range(n_answers + 1)]
        assert all(a.low <= b.low and a.high <= b.high for a, b in pairwise(ends)), n_answers


def test_cant_tell_counts_against_both_ends_of_the_exact_interval() -> None:
    interval = exact_interval(60, 100, 0.05, n_cant_tell=20)
    assert interval.low == exact_interval(60, 100, 0.05).low
    assert interval.high == exact_interval(80, 100, 0.05).high
    assert (exact_interval(0, 30, 0.05, 30).low, exact_interval(0, 30, 0.05, 30).high) == (0.0, 1.0)


def test_raters_who_err_widen_it_by_what_their_errors_can_hide() -> None:
    said = exact_interval(80, 100, 0.05)
    of = with_errors(said, f_no=0.1, f_yes=0.2)
    # The least accuracy has no false no and every fifth wrong label accepted; the largest, only false noes.
    assert of.low + (1 - of.low) * 0.2 == pytest.approx(said.low)
    assert of.high * 0.9 == pytest.approx(said.high)
    assert with_errors(said, 0.0, 0.0) == said
    assert with_errors(exact_interval(1, 100, 0.05), 0.0, 0.5).low == 0.0
    assert with_errors(exact_interval(99, 100, 0.05), 0.5, 0.0).high == 1.0
