"""The learning curve and the forecast: what they give on curves that are known."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from onebit.errors import InvalidInputError
from onebit.estimate.learning_curve import (
    BENDS,
    FIRST_BLOCK,
    FLOORS,
    HEEDED,
    LIKELY_FLOORS,
    N_STARTS,
    POWERS,
    Tried,
    forecast,
    learning_curve,
)
from onebit.estimate.running_rate import running_mean, running_rate


def tried(accuracy: float, n_epochs: int, n_items: int = 10) -> list[Tried]:
    """Epochs of 20 answers in which exactly that share was right."""
    right = accuracy * n_items
    return [Tried(20 * (each + 1), n_items, right, right, right) for each in range(n_epochs)]


def test_a_mean_of_numbers_has_the_interval_of_its_share_of_the_range() -> None:
    low, high = running_mean(45.0, 100, 2.0, 0.05)
    wide = running_mean(90.0, 400, 4.0, 0.05)
    assert low < 0.45 < high
    # 22.5 of 100, and 22.5 of 400 in units of the range.
    assert (low / 2, high / 2) == pytest.approx(
        (running_mean(22.5, 100, 1.0, 0.05)[0], running_mean(22.5, 100, 1.0, 0.05)[1])
    )
    assert wide[0] < 0.225 < wide[1]
    assert running_mean(0.0, 0, 1.0, 0.05) == running_rate(0, 0, 0.05) == (0.0, 1.0)
    with pytest.raises(InvalidInputError, match="from 0 to 2"):
        running_mean(201.0, 100, 2.0, 0.05)


def test_blocks_double_and_each_has_its_share_of_delta() -> None:
    points = learning_curve(tried(0.8, 30), 1.0, 0.1)
    assert [point.n_items for point in points] == [30, 50, 100, 120]
    assert [point.first for point in points] == [0, *(point.last for point in points[:-1])]
    for number, point in enumerate(points, start=1):
        assert point.estimate == pytest.approx(0.8)
        expected = running_mean(0.8 * point.n_items, point.n_items, 1.0, 0.1 / (number * (number + 1)))
        assert (point.low, point.high) == pytest.approx(expected)
    assert FIRST_BLOCK == 25, "30 is the first number of items that has so many"


def test_cant_tell_and_errors_widen_it() -> None:
    sure, doubtful = tried(0.8, 10), [Tried(each.n_answers, 10, 8, 8, 9) for each in tried(0.8, 10)]
    (first, *_), (wider, *_) = learning_curve(sure, 1.0, 0.1), learning_curve(doubtful, 1.0, 0.1)
    assert wider.low == first.low
    assert wider.high > first.high
    (erring, *_) = learning_curve(sure, 1.0, 0.1, (0.1, 0.2))
    assert erring.low == pytest.approx((first.low - 0.2) / 0.8)
    assert erring.high == pytest.approx(min(1.0, first.high / 0.9))


def test_nothing_is_forecast_before_there_is_something_to_go_by() -> None:
    assert forecast([], 5, [100]) == ()
    assert forecast(tried(0.8, 2), 5, [100]) == ()
    assert forecast(tried(0.0, 20), 5, [100]) == ()


def test_a_forecast_goes_on_as_the_curve_went() -> None:
    """Curves of the forecast's own form, without noise: the middle is near, and what is further off is less sure."""
    for power in (0.3, 1.0):
        n_answers = [20 * (each + 1) for each in range(50)]
        accuracy = [1 - 0.8 * (1 + n / 100) ** -power for n in n_answers]
        seen = [Tried(n, 20, 20 * a, 20 * a, 20 * a) for n, a in zip(n_answers, accuracy, strict=True)]
        near, far = forecast(seen, 5, [2000, 100_000])
        assert near.low <= 1 - 0.8 * 21**-power <= near.high
        assert near.low <= near.middle <= near.high
        assert near.middle <= far.middle
        assert far.high - far.low >= near.high - near.low


def test_a_forecast_is_quantiles_of_all_curves_by_their_likelihood() -> None:
    """Every curve of the grid written out: a tenth of the weight is below the low end, and a tenth above the high."""
    seen = [Tried(20, 15, 6, 9, 6), Tried(50, 15, 9, 12, 9), Tried(90, 20, 15, 18, 15)]
    # 30 of 50 with a sum of squares of 39: the variance of one is 39 / 50 - .6^2, and of a yes or no .6 - .6^2.
    spread = (0.78 - 0.36) / (0.6 - 0.36)
    values, fits = [], []
    floors = zip(FLOORS, LIKELY_FLOORS, strict=True)
    for (floor, likely), start, power, bend in product(floors, np.geomspace(1, 300, N_STARTS), POWERS, BENDS):
        error = [floor + (0.75 - floor) * (1 + (n / start) ** bend) ** (-power / bend) for n in (20, 50, 90, 300)]
        fit = sum(
            each.total * math.log(1 - e) + (each.n_items - each.total) * math.log(e)
            for each, e in zip(seen, error[:3], strict=True)
        )
        values.append(1 - error[3])
        fits.append(likely * math.exp(HEEDED * fit / spread))
    share, accuracy = np.array(fits) / sum(fits), np.array(values)
    (found,) = forecast(seen, 4, [300])
    for end, part in ((found.low, 0.1), (found.middle, 0.5), (found.high, 0.9)):
        assert share[accuracy < end - 1e-9].sum() <= part <= share[accuracy <= end + 1e-9].sum()


def test_items_that_count_several_times_count_for_less() -> None:
    rng = np.random.default_rng(0)
    accepted = rng.random(400) < 0.7
    plain = [Tried(10 * (n + 1), 10, s, s, s) for n, s in enumerate(accepted.reshape(40, 10).sum(axis=1).tolist())]
    heavy = [Tried(each.n_answers, 10, each.total, 8 * each.total, each.total) for each in plain]
    (sure,), (unsure,) = forecast(plain, 5, [800]), forecast(heavy, 5, [800])
    assert unsure.high - unsure.low > sure.high - sure.low
