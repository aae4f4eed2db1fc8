"""Shares of yes in a random order: against all numbers of yes, all readings of what is unknown, and other code."""

from __future__ import annotations

from fractions import Fraction
from math import lgamma, log

import numpy as np
import pytest
from scipy.special import betaln

from onebit.estimate.accuracy import accuracy_interval
from onebit.estimate.shares import Counts, Intervals, count, differences_of, places, share_intervals, shares_of

FAILURE = 0.2


def interval(n_yes: int, n_unknown: int, n: int, n_items: int | None) -> tuple[float, float]:
    counts = Counts(*(np.array([[each]]) for each in (n_yes, n_unknown, n)))
    found = share_intervals(counts, None if n_items is None else np.array([n_items]), FAILURE)
    return float(found.low[0]), float(found.high[0])


def by_all_numbers(n_yes: int, n: int, n_items: int) -> tuple[float, float]:
    """The numbers of yes that are not excluded, each looked at."""
    n_no = n - n_yes
    mixed = betaln(n_yes + 0.5, n_no + 0.5) - betaln(0.5, 0.5)
    left = []
    for M in range(n_yes, n_items - n_no + 1):
        of_yes = lgamma(M + 1) - lgamma(M - n_yes + 1)
        of_no = lgamma(n_items - M + 1) - lgamma(n_items - M - n_no + 1)
        if mixed - (of_yes + of_no - lgamma(n_items + 1) + lgamma(n_items - n + 1)) < -log(FAILURE):
            left.append(M)
    assert left == list(range(left[0], left[-1] + 1))
    return left[0] / n_items, left[-1] / n_items


@pytest.mark.parametrize("n_items", [1, 2, 7, 20])
def test_the_ends_are_those_of_all_numbers(n_items: int) -> None:
    for n in range(n_items + 1):
        for n_yes in range(n + 1):
            assert interval(n_yes, 0, n, n_items) == pytest.approx(by_all_numbers(n_yes, n, n_items))


@pytest.mark.parametrize("n_items", [9, 20, None])
def test_every_reading_of_what_is_unknown_is_within(n_items: int | None) -> None:
    n = 9
    for n_yes in range(n + 1):
        for n_unknown in range(n - n_yes + 1):
            low, high = interval(n_yes, n_unknown, n, n_items)
            readings = [interval(n_yes + k, 0, n, n_items) for k in range(n_unknown + 1)]
            assert low <= min(each[0] for each in readings) + 1e-9
            assert high >= max(each[1] for each in readings) - 1e-9


def test_the_wealth_is_a_martingale() -> None:
    """Exactly: from every state, the mean over the next item is the wealth now, at the true number of yes."""

    def wealth(M: int, n_yes: int, n_no: int, n_items: int) -> Fraction:
        mixed, likelihood = Fraction(1), Fraction(1)
        for i in range(n_yes):
            mixed *= Fraction(2 * i + 1, 2)
            likelihood *= M - i
        for i in range(n_no):
            mixed *= Fraction(2 * i + 1, 2)
            likelihood *= n_items - M - i
        for i in range(n_yes + n_no):
            mixed /= i + 1
            likelihood /= n_items - i
        return mixed / likelihood

    n_items, M = 6, 2
    for n_yes in range(M + 1):
        for n_no in range(n_items - M + 1):
            left = n_items - n_yes - n_no
            if left == 0 or n_yes == M or n_no == n_items - M:
                # What cannot come any more has no wealth to be compared with; its share is lost, so the mean is below.
                continue
            p = Fraction(M - n_yes, left)
            mean = p * wealth(M, n_yes + 1, n_no, n_items) + (1 - p) * wealth(M, n_yes, n_no + 1, n_items)
            assert mean == wealth(M, n_yes, n_no, n_items)


def test_independent_draws_have_the_interval_of_accuracies() -> None:
    for n_yes, n in ((0, 0), (0, 5), (90, 100), (7, 7)):
        known = accuracy_interval(n_yes, n, FAILURE)
        assert interval(n_yes, 0, n, None) == pytest.approx((known.low, known.high), abs=1e-6)
        assert interval(n_yes, 0, n, 10**7) == pytest.approx((known.low, known.high), abs=1e-4)


def test_places_end_at_the_end_and_stay_where_they_were() -> None:
    assert places(0).tolist() == [0]
    assert places(1).tolist() == [1]
    assert places(100)[-1] == 100
    assert set(places(100)[:-1]) <= set(places(1000))


def test_counts_add_up_what_came_before_each_place() -> None:
    rng = np.random.default_rng(2)
    yes, unknown, counted = rng.random((3, 4, 40)) < 0.5
    skipped = rng.integers(0, 3, 40)
    found = count(yes, unknown, counted, skipped)
    for g, t in enumerate(places(40)):
        assert (found.n_yes[:, g] == (yes & counted)[:, :t].sum(axis=1)).all()
        assert (found.n_unknown[:, g] == (unknown & counted)[:, :t].sum(axis=1) + skipped[:t].sum()).all()
        assert (found.n[:, g] == counted[:, :t].sum(axis=1) + skipped[:t].sum()).all()


def test_all_verdicts_known_leave_no_interval() -> None:
    rng = np.random.default_rng(3)
    said = rng.integers(0, 3, (4, 50))
    verdict = (said == 0).astype(np.int8)
    differ = (said != said[0]).any(axis=0)
    found = shares_of(said, verdict, differ, int(differ.sum()), 0.01)
    truth = verdict[:, differ].mean(axis=1)
    np.testing.assert_allclose(found.low, truth)
    np.testing.assert_allclose(found.high, truth)
    gap = differences_of(said, verdict, 1, (said != said[1]).sum(axis=1), 50, 0.01)
    np.testing.assert_allclose(gap.low, verdict.mean(axis=1) - verdict[1].mean())
    np.testing.assert_allclose(gap.high, gap.low)


def test_before_anything_is_known_everything_is_possible() -> None:
    nothing = np.empty((2, 0), dtype=np.int8)
    found = shares_of(nothing, nothing, np.empty(0, dtype=np.bool_), 10, 0.05)
    assert (found.low.tolist(), found.high.tolist()) == ([0, 0], [1, 1])
    assert np.isnan(found.estimate).all()


def test_the_estimate_is_of_known_verdicts_where_most_are_known() -> None:
    """By hand: of the two places the one with the most known less unknown, and there the share of yes among known."""
    n_yes, n_unknown, n = np.array([[6, 8], [6, 30]]), np.array([[2, 30], [2, 4]]), np.array([[10, 40], [10, 40]])
    found = share_intervals(Counts(n_yes, n_unknown, n), np.array([100, 100]), FAILURE)
    assert found.estimate.tolist() == [6 / 8, 30 / 36]
    assert (found.low < found.estimate).all()
    assert (found.estimate < found.high).all()


def test_a_bound_cuts_what_is_above_it() -> None:
    found = Intervals(*(np.array(each) for each in ([0.3, 0.0], [0.1, -0.1], [0.5, 0.1]))).at_most(0.2)
    assert found.estimate.tolist() == [0.2, 0.0]
    assert found.low.tolist() == [0.1, -0.1]
    assert found.high.tolist() == [0.2, 0.1]
