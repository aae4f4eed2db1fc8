"""The learning curve and the forecast: what they give on curves that are known."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from onebit.estimate.learning_curve import (
    BEGINNINGS,
    BENDS,
    FARTHEST_START,
    FIRST_BLOCK,
    FLOORS,
    GUESSING,
    HEEDED,
    LIKELY_FLOORS,
    N_STARTS,
    POWERS,
    Tried,
    forecast,
    learning_curve,
)
from onebit.estimate.running_rate import running_rate


def tried(accuracy: float, n_epochs: int, n_items: int = 10) -> list[Tried]:
    """Epochs of 20 answers in which exactly that share was right."""
    right = round(accuracy * n_items)
    return [Tried(20 * (each + 1), n_items, right, right) for each in range(n_epochs)]


def test_blocks_double_and_each_has_its_share_of_delta() -> None:
    points = learning_curve(tried(0.8, 30), 0.1)
    assert [point.n_items for point in points] == [30, 50, 100, 120]
    assert [point.first for point in points] == [0, *(point.last for point in points[:-1])]
    for number, point in enumerate(points, start=1):
        assert point.estimate == pytest.approx(0.8)
        expected = running_rate(round(0.8 * point.n_items), point.n_items, 0.1 / (number * (number + 1)))
        assert (point.low, point.high) == pytest.approx(expected)
    assert FIRST_BLOCK == 25, "30 is the first number of items that has so many"


def test_cant_tell_and_errors_widen_it() -> None:
    sure, doubtful = tried(0.8, 10), [Tried(each.n_answers, 10, 8, 9) for each in tried(0.8, 10)]
    (first, *_), (wider, *_) = learning_curve(sure, 0.1), learning_curve(doubtful, 0.1)
    assert wider.low == first.low
    assert wider.high > first.high
    (erring, *_) = learning_curve(sure, 0.1, (0.1, 0.2))
    assert erring.low == pytest.approx((first.low - 0.2) / 0.8)
    assert erring.high == pytest.approx(min(1.0, first.high / 0.9))


def test_nothing_is_forecast_before_there_is_something_to_go_by() -> None:
    assert forecast([], 5, [100]) == ()
    assert forecast(tried(0.8, 2), 5, [100]) == ()
    assert forecast(tried(0.0, 20), 5, [100]) == ()


def test_a_forecast_goes_on_as_the_curve_went() -> None:
    """Curves of the forecast's own form, rounded alone: the middle is near, and what is further off is less sure."""
    for power in (0.3, 1.0):
        n_answers = [20 * (each + 1) for each in range(50)]
        accuracy = [1 - 0.8 * (1 + n / 100) ** -power for n in n_answers]
        seen = [Tried(n, 20, *2 * [round(20 * a)]) for n, a in zip(n_answers, accuracy, strict=True)]
        near, far = forecast(seen, 5, [2000, 100_000])
        assert near.low <= 1 - 0.8 * 21**-power <= near.high
        assert near.low <= near.middle <= near.high
        assert near.middle <= far.middle
        assert far.high - far.low >= near.high - near.low


def test_with_names_a_forecast_does_not_expect_much_of_what_began_well_and_has_not_moved() -> None:
    seen = [Tried(20 * n, 5, 2, 2) for n in range(1, 31)]
    (without,), (found,) = (forecast(seen, 77, [1000], has_names) for has_names in (False, True))
    assert found.low < 0.42 < found.high
    assert found.middle < 0.53 < without.middle


@pytest.mark.parametrize("has_names", [False, True])
def test_a_forecast_is_quantiles_of_all_curves_by_their_likelihood(has_names: bool) -> None:
    """Every curve of the grid written out: a tenth of the weight is below the low end, and a tenth above the high."""
    seen = [Tried(20, 15, 6, 6), Tried(50, 15, 9, 9), Tried(90, 20, 15, 15)]
    values, fits = [], []
    floors, beginnings = zip(FLOORS, LIKELY_FLOORS, strict=True), [(0.25, 1.0)]
    if has_names:
        beginnings = [(0.25, GUESSING), *((each, (1 - GUESSING) / len(BEGINNINGS)) for each in BEGINNINGS)]
    starts = np.geomspace(1, 300 * (FARTHEST_START if has_names else 1), N_STARTS)
    for (floor, likely), (first, as_likely), start, power, bend in product(floors, beginnings, starts, POWERS, BENDS):
        most = 1 - first
        falls = [(1 + (n / start) ** bend) ** (-power / bend) for n in (20, 50, 90, 300)]
        error = [min(floor, most) + max(most - floor, 0) * each for each in falls]
        fit = sum(
            each.n_accepted * math.log(1 - e) + (each.n_items - each.n_accepted) * math.log(e)
            for each, e in zip(seen, error[:3], strict=True)
        )
        values.append(1 - error[3])
        fits.append(likely * as_likely * math.exp(HEEDED * fit))
    share, accuracy = np.array(fits) / sum(fits), np.array(values)
    (found,) = forecast(seen, 4, [300], has_names)
    for end, part in ((found.low, 0.1), (found.middle, 0.5), (found.high, 0.9)):
        assert share[accuracy < end - 1e-9].sum() <= part <= share[accuracy <= end + 1e-9].sum()
