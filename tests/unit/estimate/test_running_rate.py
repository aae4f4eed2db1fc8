"""The interval for a rate that may change: its ends, and that it holds at any time where others do not."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

import numpy as np
import pytest

from onebit.errors import InvalidInputError
from onebit.estimate.accuracy import accuracy_interval
from onebit.estimate.running_rate import TILTS, running_rate

DELTA = 0.1


def mean_of_martingales(n_yes: float, n: int, p: float) -> float:
    return float(np.mean(np.exp(TILTS * n_yes - n * np.log(1 - p + p * np.exp(TILTS)))))


@pytest.mark.parametrize(("n_yes", "n"), [(70, 100), (1, 5)])
def test_ends_by_the_formula(n_yes: int, n: int) -> None:
    """At the low end the mean of the martingales is 2 / delta, and the high end is that of the complement."""
    low, high = running_rate(n_yes, n, DELTA)
    assert mean_of_martingales(n_yes, n, low) == pytest.approx(2 / DELTA)
    assert mean_of_martingales(n - n_yes, n, 1 - high) == pytest.approx(2 / DELTA)
    assert running_rate(n - n_yes, n, DELTA) == pytest.approx((1 - high, 1 - low))


def test_nothing_and_all() -> None:
    assert running_rate(0, 0, DELTA) == (0.0, 1.0)
    assert running_rate(0, 40, DELTA)[0] == 0.0
    assert running_rate(40, 40, DELTA)[1] == 1.0
    assert running_rate(2, 3, DELTA)[0] < 0.2


def test_more_answers_say_more_and_about_as_much_as_for_a_rate_that_does_not_change() -> None:
    widths = [high - low for low, high in (running_rate(n // 2, n, DELTA) for n in (10, 100, 1000, 100_000))]
    assert widths == sorted(widths, reverse=True)
    plain = accuracy_interval(500, 1000, DELTA)
    assert widths[2] < 1.1 * (plain.high - plain.low)


def runs_outside(interval: Callable[[int, int], tuple[float, float]], n_runs: int = 150) -> int:
    """In how many runs the mean of the probabilities is outside when one looks, after every tenth answer.

    A probability is low after many yes and high after few, or the other way round, so it is never the same for long.
    """
    n_outside = 0
    for seed in range(n_runs):
        rng = np.random.default_rng(seed)
        n_yes, total, wave = 0, 0.0, 1 if seed % 2 else -1
        is_outside = False
        for n in range(1, 301):
            p = 0.9 if wave * (n_yes - total) > 0 else 0.2
            n_yes, total = n_yes + int(rng.random() < p), total + p
            if n % 10 == 0:
                low, high = interval(n_yes, n)
                is_outside |= not low <= total / n <= high
        n_outside += is_outside
    return n_outside


def test_it_holds_at_every_moment_where_the_rate_follows_the_past() -> None:
    """150 runs: more than 37 would be outside with probability below 1e-6, if each were so with DELTA."""
    assert runs_outside(cache(partial(running_rate, delta=DELTA))) <= 37


def test_the_twin_for_one_moment_fails_when_one_looks_often() -> None:
    def for_one_moment(n_yes: int, n: int) -> tuple[float, float]:
        share = n_yes / n
        radius = 1.645 * np.sqrt(share * (1 - share) / n)
        return share - radius, share + radius

    assert runs_outside(for_one_moment) > 37


def test_what_cannot_be_counts_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="more than answers"):
        running_rate(3, 2, DELTA)
    with pytest.raises(InvalidInputError):
        running_rate(-1, 2, DELTA)
