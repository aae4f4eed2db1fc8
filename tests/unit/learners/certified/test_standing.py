"""Where the learner stands, from evidence that is made up: wealth as a known function of the threshold."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from numpy.typing import NDArray

from onebit.estimate.delta import failure_per_leader
from onebit.estimate.independent_wealth import IndependentWealth
from onebit.learners.certified.constants import EPS_STEP, FINE_STEPS
from onebit.learners.certified.evidence import IndependentEvidence
from onebit.learners.certified.standing import Known, Standing

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
EPS, DELTA = 0.01, 0.05
#: The vote is 0, 1, 1, 2: models 1 and 3 agree with it three times, 0 and 2 twice.
LOOKED_AT = np.array([[0, 1, 0, 1], [0, 1, 1, 0], [2, 2, 1, 2], [1, 1, 1, 2]])


class LinearWealth(IndependentWealth):
    """The log-wealth of h against g is ``at_0[h, g] + slope[h, g] * c``."""

    def __init__(self, at_0: Floats, slope: Floats) -> None:
        super().__init__(at_0.shape[0])
        self.at_0, self.slope = at_0, slope
        self.kept: set[float] = set()

    def log_wealth(self, leader: int, c: float, keep: bool = False) -> Floats:
        if keep:
            self.kept.add(c)
        linear: Floats = self.at_0[:, leader] + self.slope[:, leader] * c
        return linear

    def forget(self, c: float) -> None:
        self.kept.discard(c)


class MadeUp(IndependentEvidence):
    """Evidence that a test writes down."""

    def __init__(self, at_0: list[list[float]], slope: float, score: list[float]) -> None:
        self.linear = LinearWealth(np.array(at_0, dtype=np.float64), np.full(np.shape(at_0), slope))
        self.wealth = self.linear
        self.score = np.array(score, dtype=np.float64)
        self.exhausted = False

    def look(self) -> Ints:
        return LOOKED_AT[: self.linear.n_hypotheses]

    def n_left(self, survivors: Ints) -> int | None:
        return 0 if self.exhausted else None


def made_up(at_0: list[float], slope: float = 100.0) -> MadeUp:
    """The same wealth against every leader; the first scores highest."""
    return MadeUp([[each] * len(at_0) for each in at_0], slope, [4, 3, 2, 1])


def standing(evidence: MadeUp, transfer: float = 1.0) -> Standing:
    return Standing(evidence, eps=EPS, delta=DELTA, transfer=transfer)


def test_the_thresholds_are_the_shares_of_delta() -> None:
    """Ranks by agreement, equal ones by number: 1, 3, 0, 2; shares 1/rank over 1 + 1/2 + 1/3."""
    found = standing(made_up([0, 0, 0, 0]))
    share = np.array([1 / 3, 1, 1 / 4, 1 / 2]) / (1 + 1 / 2 + 1 / 3)
    assert found.threshold == pytest.approx(-np.log(share * DELTA))
    assert (found.leader, found.certified_eps, found.is_over) == (1, 1.0, False)
    assert found.survivors.tolist() == [0, 1, 2, 3]


def test_one_model_is_the_best_at_once() -> None:
    found = standing(made_up([0]))
    assert found.is_over
    assert (found.leader, found.certified_eps) == (0, 0.0)
    assert found.ahead_at_most().tolist() == [0.0]


def test_the_leader_has_the_highest_score_of_survivors() -> None:
    """Model 2 is eliminated under the first leader and does not come back, however it scores."""
    evidence = made_up([0, 0, 50, 0], slope=0.0)
    found = standing(evidence)
    found.update(None)
    assert found.leader == 0
    assert found.survivors.tolist() == [0, 1, 3]
    evidence.linear.at_0[:] = 0
    evidence.score = np.array([1.0, 2.0, 9.0, 2.0])
    found.update(None)
    assert found.leader == 1
    assert found.survivors.tolist() == [0, 1, 3]


def test_of_equal_scores_the_vote_decides_who_leads() -> None:
    """Models 1 and 3 agree with the vote more often than 0 and 2; of the two, the first."""
    evidence = made_up([0, 0, 0, 0], slope=0.0)
    found = standing(evidence)
    for score, leader in (([5, 5, 5, 5], 1), ([5, 4, 5, 5], 3), ([5, 4, 5, 4], 0), ([5, 4, 6, 4], 2)):
        evidence.score = np.array(score, dtype=np.float64)
        found.update(None)
        assert found.leader == leader


def test_nobody_goes_below_the_threshold_and_the_leader_never() -> None:
    evidence = made_up([0, 0, 0, 0], slope=0.0)
    found = standing(evidence)
    evidence.linear.at_0[:, 0] = [99, found.threshold[0], found.threshold[0] - 1e-9, 0]
    found.update(None)
    assert found.survivors.tolist() == [0, 2, 3]


def test_the_certified_eps_is_the_least_step_that_is_shown() -> None:
    """It comes from eps, eps * EPS_STEP, ...; shown at its value for all rivals, and a step below not for all."""
    evidence = made_up([0, 1, -3, 2])
    found = standing(evidence)
    found.update(None)
    least = (found.threshold[0] + 3) / 100
    assert least <= found.certified_eps < least * EPS_STEP
    assert math.log(found.certified_eps / EPS) / math.log(EPS_STEP) == pytest.approx(
        round(math.log(found.certified_eps / EPS) / math.log(EPS_STEP))
    )


@pytest.mark.parametrize("at_0", [[0.0, 1.0, -3.0, 2.0], [0.0, -9.0, -9.0, -9.0], [0.0, 5.0, 5.0, 0.1]])
@pytest.mark.parametrize("transfer", [1.0, 0.7])
def test_ahead_by_at_most_is_the_least_that_is_shown(at_0: list[float], transfer: float) -> None:
    found = standing(made_up(at_0), transfer)
    found.update(None)
    bounds = found.ahead_at_most()
    step = found.certified_eps / FINE_STEPS
    assert bounds.max() <= found.certified_eps
    for h, bound in zip(found.survivors.tolist(), bounds.tolist(), strict=True):
        if h == found.leader:
            assert bound == 0
            continue
        least = (found.threshold[found.leader] - at_0[h]) / (100 * transfer)
        assert least <= bound + 1e-12
        assert bound - step < least + 1e-12


def test_another_leader_may_have_less_to_show() -> None:
    """The certified eps goes up again, as far as it must."""
    evidence = made_up([9, 9, 3, 3], slope=1000.0)
    evidence.linear.at_0[:, 0] = [0, -1, -1, -1]
    found = standing(evidence)
    found.update(None)
    before = found.certified_eps
    evidence.score = np.array([1.0, 2.0, 0.0, 0.0])
    evidence.linear.at_0[:, 1] = [-90, 0, -50, -20]
    found.update(None)
    assert found.leader == 1
    least = (found.threshold[1] + 90) / 1000
    assert before < least <= found.certified_eps < least * EPS_STEP


def test_of_thresholds_only_those_in_use_are_kept() -> None:
    """0, and the next step to be shown: what was certified before is not gone through again."""
    evidence = made_up([0, 0, 0, 0], slope=0.0)
    found = standing(evidence)
    for slope in (10.0, 20.0, 50.0, 100.0, 200.0):
        evidence.linear.slope[:] = slope
        found.update(None)
        assert len(evidence.linear.kept) <= 3
    assert 0.0 in evidence.linear.kept


def test_the_run_is_over_at_eps() -> None:
    evidence = made_up([0, 0, 0, 0], slope=10_000.0)
    found = standing(evidence)
    found.update(None)
    assert found.certified_eps == EPS
    assert found.is_over
    assert not found.is_exact


def test_when_all_is_known_nobody_is_ahead() -> None:
    """By the score that is exact, not by the estimate; or when no item is left that tells survivors apart."""
    evidence = made_up([0, 0, 0, 0], slope=0.0)
    found = standing(evidence)
    score = np.array([5.0, 6.0, 7.0, 6.0])
    found.update(Known(score, lambda leader: (score - score[leader]) / 10))
    assert (found.leader, found.certified_eps, found.is_over) == (2, 0.0, True)
    assert (found.ahead_at_most() == 0).all()
    evidence.exhausted = True
    other = standing(evidence)
    other.update(None)
    assert (other.leader, other.certified_eps, other.is_over) == (0, 0.0, True)


def test_what_errors_may_hide_stays_when_all_is_known() -> None:
    found = standing(made_up([0, 0, 0, 0], slope=0.0))
    score = np.array([5.0, 6.0, 7.0, 7.0])
    found.update(Known(score, lambda leader: (score - score[leader]) / 10 + 0.25))
    assert (found.leader, found.is_over, found.is_shown) == (3, True, False)
    assert found.ahead_at_most() == pytest.approx([0.05, 0.15, 0.25, 0.0])
    assert found.certified_eps == pytest.approx(0.25)


def test_suspended_nothing_is_shown_and_anybody_may_be_the_best() -> None:
    found = standing(made_up([0, 1, -3, 2]))
    found.update(None)
    assert found.certified_eps < 1
    found.suspend()
    assert found.survivors.tolist() == [0, 1, 2, 3]
    assert (found.certified_eps, found.is_over, found.is_shown) == (1.0, True, False)
    assert sorted(found.ahead_at_most().tolist()) == [0.0, 1.0, 1.0, 1.0]


def test_with_raters_who_err_more_must_be_shown() -> None:
    """A gap c in accuracy is one of transfer * c in yes-rates."""
    sure, erring = standing(made_up([0, 1, -3, 2])), standing(made_up([0, 1, -3, 2]), transfer=0.5)
    for each in (sure, erring):
        each.update(None)
    assert erring.certified_eps == pytest.approx(2 * sure.certified_eps, rel=EPS_STEP - 1)
    assert erring.certified_eps > sure.certified_eps


@pytest.mark.parametrize("n", [1, 2, 3, 10, 67])
def test_any_of_the_shares_but_one_add_up_to_delta_at_most(n: int) -> None:
    """Whoever the best is, the others' shares suffice; and nothing of delta is wasted if it is the last."""
    rng = np.random.default_rng(n)
    agreement = rng.integers(0, 5, n)
    share = failure_per_leader(agreement, DELTA)
    assert (share > 0).all()
    assert (share <= DELTA).all()
    if n > 1:
        assert max(share.sum() - each for each in share) == pytest.approx(DELTA)
    order = sorted(range(n), key=lambda h: (-agreement[h], h))
    assert all(share[a] > share[b] for a, b in itertools.pairwise(order))
    assert share[order] == pytest.approx(share[order[0]] / np.arange(1, n + 1))


def test_shares_of_one_and_of_two() -> None:
    assert failure_per_leader(np.array([3]), DELTA).tolist() == [DELTA]
    assert failure_per_leader(np.array([3, 4]), DELTA).tolist() == [DELTA / 2, DELTA]
    assert failure_per_leader(np.array([4, 4]), DELTA).tolist() == [DELTA, DELTA / 2]


def test_wealth_is_kept_of_the_leader_and_the_one_before_alone() -> None:
    """With many models a state for everybody who ever led would take more memory than the table."""
    evidence = made_up([0.0, 0.0, 0.0, 0.0])
    told: list[tuple[int, ...]] = []
    evidence.linear.forget_leaders = lambda but: told.append(tuple(but))  # type: ignore[method-assign]
    standing = Standing(evidence, eps=EPS, delta=DELTA)
    for score in ([3.0, 1.0, 0.0, 0.0], [1.0, 3.0, 0.0, 0.0], [1.0, 4.0, 0.0, 0.0], [1.0, 1.0, 3.0, 0.0]):
        evidence.score = np.array(score)
        standing.update(None)
    assert told[-2:] == [(1, 0), (2, 1)]
