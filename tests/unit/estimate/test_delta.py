"""Every split of delta adds up to delta, or to less."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest

from onebit.estimate import delta as shares

DELTA, N = 0.05, 7


def used(n_events: int, log_share: float) -> float:
    """The probability that so many events have together."""
    return n_events * math.exp(-log_share)


def test_theorem_1_gives_half_to_each_phase() -> None:
    phase_1 = used(N * 30, shares.log_phase_1(30, N, DELTA))
    phase_2 = used(N, shares.log_phase_2(N, DELTA))
    assert phase_1 == pytest.approx(DELTA / 2)
    assert phase_1 + phase_2 == pytest.approx(DELTA)
    # As printed there is no union over steps; what there is fits into half of delta.
    assert used(N, shares.log_phase_1_as_printed(N, DELTA)) <= DELTA / 2


def test_one_phase_has_all_of_delta() -> None:
    assert used(2 * N, shares.log_one_phase(N, DELTA)) == pytest.approx(DELTA)
    assert N * shares.failure_per_hypothesis(N, DELTA) == pytest.approx(DELTA)


def test_the_cover_and_the_learner_after_it_share_delta() -> None:
    assert sum(shares.cover_and_rest(DELTA)) == DELTA


@pytest.mark.parametrize("agreement", [[5, 9, 9, 1], [3, 3], [8, 2, 6, 7, 1, 4]])
def test_leaders_but_one_share_delta(agreement: list[int]) -> None:
    """The best never errs as the leader; whichever it is, the others have at most delta, and all of it at the worst."""
    failure = shares.failure_per_leader(np.array(agreement), DELTA)
    others = [failure.sum() - each for each in failure]
    assert max(others) == pytest.approx(DELTA)
    assert np.argsort(-failure).tolist() == np.argsort(-np.array(agreement), kind="stable").tolist()
    even = shares.even_failure_per_leader(len(agreement), DELTA)
    assert even.sum() - even[0] == pytest.approx(DELTA)


@pytest.mark.parametrize("rank", [[3, 1, 2, 5, 4], None], ids=["ranked", "even"])
@pytest.mark.parametrize("top", [1, 2, 4])
def test_the_top_and_the_others_share_delta(rank: list[int] | None, top: int) -> None:
    """Whichever ``top`` of five are the best: each of them beside each of the others uses up the share of the other."""
    failure = shares.failure_of_top(None if rank is None else np.array(rank), 5, top, DELTA)
    used_up = [top * sum(failure[g] for g in range(5) if g not in best) for best in combinations(range(5), top)]
    assert max(used_up) == pytest.approx(DELTA)


def test_audits_share_delta() -> None:
    assert 4 * shares.failure_per_audit(4, DELTA) == DELTA


def test_rivals_that_look_after_every_round_stay_below_delta() -> None:
    rounds = range(1, 2000)
    assert sum(used(2 * N, shares.log_policy_elimination(t, N, DELTA)) for t in rounds) < DELTA
    assert sum(used(2 * N, shares.log_iltcb(t, math.log(N), DELTA)) for t in rounds) < DELTA


def test_a_class_may_be_larger_than_a_float() -> None:
    assert shares.log_share(10**400, 0.1) == pytest.approx(401 * math.log(10))
