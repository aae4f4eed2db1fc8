"""What verdicts may hide: the luck of errors, and a second right label."""

from __future__ import annotations

import math

import numpy as np
import pytest

from onebit.estimate.rater_errors import FALSE_ALARM, TOLERATED, one_label_is_refuted, slack, worst_variance
from onebit.verify.recount import luck_of_errors, refutes_one_label


@pytest.mark.parametrize("rate", [0.0, 0.1, 0.5, 0.9])
def test_the_worst_variance_is_that_of_the_worst_rate(rate: float) -> None:
    rates = np.linspace(0, rate, 1001)
    assert worst_variance(rate) == pytest.approx((rates * (1 - rates)).max())


def test_slack_grows_with_what_it_must_cover() -> None:
    n_differ = np.array([0, 1, 10, 100, 10_000])
    few, many = slack(n_differ, 3.0, 0.1, 0.05), slack(n_differ, 6.0, 0.1, 0.05)
    assert few[0] == 0
    assert (np.diff(few) > 0).all()
    assert (many[1:] > few[1:]).all()
    assert (slack(n_differ, 3.0, 0.3, 0.05) >= few).all()
    # Hoeffding's, where errors are anything.
    assert slack(np.array(100), 3.0, 0.5, 0.5) == pytest.approx(math.sqrt(300))


def test_both_implementations_agree() -> None:
    n_differ = np.arange(200)
    for log_odds, f_no, f_yes in ((0.7, 0.1, 0.2), (5.0, 0.6, 0.0), (12.0, 0.01, 0.02)):
        np.testing.assert_allclose(
            slack(n_differ, log_odds, f_no, f_yes), luck_of_errors(n_differ, log_odds, f_no, f_yes)
        )
    for n in range(120):
        assert [one_label_is_refuted(n, k) for k in range(n + 1)] == [refutes_one_label(n, k) for k in range(n + 1)]


@pytest.mark.parametrize(("n_contradicted", "most"), [(2, 12), (3, 33), (4, 61)])
def test_how_many_contradictions_suffice(n_contradicted: int, most: int) -> None:
    """As docs/certificate.md says; one alone is never enough."""
    assert [n for n in range(n_contradicted, 500) if one_label_is_refuted(n, n_contradicted)][-1] == most
    assert not any(one_label_is_refuted(n, 1) for n in range(1, 50))


def power(rate: float, n_checks: int) -> float:
    """The probability of an alarm within so many checks, exactly, by the law of the count."""
    alarm, law = 0.0, np.array([1.0])
    for n in range(1, n_checks + 1):
        law = np.convolve(law, [1 - rate, rate])
        stopped = np.array([one_label_is_refuted(n, k) for k in range(law.size)])
        alarm += law[stopped].sum()
        law[stopped] = 0
    return alarm


def test_a_sound_run_is_seldom_suspended() -> None:
    assert power(TOLERATED, 300) <= FALSE_ALARM


@pytest.mark.parametrize(
    ("rate", "told"), [(0.01, 0.01), (0.05, 0.23), (0.1, 0.62), (0.2, 0.96), (0.3, 0.998), (0.4, 1.0)]
)
def test_how_often_the_first_checks_speak(rate: float, told: float) -> None:
    """The table of docs/certificate.md, step 10."""
    assert power(rate, 30) == pytest.approx(told, abs=0.005)
