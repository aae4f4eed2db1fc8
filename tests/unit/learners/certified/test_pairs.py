"""The K best models, and all pairs: what is said, when, and what is asked for it."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest
from tests.statistical.tiers_populations import models

from onebit.errors import InvalidInputError
from onebit.estimate.delta import failure_of_top, failure_per_leader, failure_per_pair, ranks
from onebit.hypotheses.finite import PredictionTable
from onebit.learners.certified import CertifiedLearner, PanelLearner
from onebit.learners.certified.pairs import TiersStanding, TopStanding, closure, tiers_of
from onebit.learners.certified.run import CertifiedRun
from onebit.learners.contract import run
from onebit.learners.items import Pool, Stream
from onebit.raters import SimulatedRater
from onebit.records import Answer, RunStatus

PROTOCOLS = ("one-shot", "follow-up", "panel", "labels")


def learner(said: Any, protocol: str = "panel", stream: bool = False, **given: Any) -> CertifiedRun:
    n = said.shape[1]
    items = Stream(list(range(n))) if stream else Pool(np.arange(n))
    given = {"eps": 0.1, "seed": 1, **given}
    if protocol == "panel":
        return PanelLearner(PredictionTable(said, 5), items, **given)
    return CertifiedLearner(PredictionTable(said, 5), items, protocol=protocol, **given)  # type: ignore[arg-type]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_best_are_named(protocol: str) -> None:
    said, truth = models([95, 170, 180, 60, 175, 50], 200)
    result = run(learner(said, protocol, top=3), SimulatedRater(truth))
    assert result.status is RunStatus.COMPLETE
    assert sorted(result.names) == [1, 2, 4]
    assert result.achieved_eps is not None
    assert result.achieved_eps <= 0.1
    assert [each.tier for each in result.placings] == [2, 1, 1, 2, 1, 2]
    for each in result.placings:
        assert (each.best_rank, each.worst_rank) in {(1, 3), (4, 6), (1, 6)}
    assert result.n_answers < (said != said[0]).sum()


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_one_best_model_is_the_plain_selection(protocol: str) -> None:
    """The same events, the same shares of delta and, where nothing is weighted, the same questions."""
    said, truth = models([95, 170, 180, 60, 175, 50], 200)
    plain = run(learner(said, protocol), SimulatedRater(truth))
    top = run(learner(said, protocol, top=1), SimulatedRater(truth))
    assert top.names == plain.names
    if protocol != "one-shot":
        assert top.n_answers == plain.n_answers


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_all_pairs_are_settled(protocol: str) -> None:
    said, truth = models([180, 150, 150, 60], 200)
    played = learner(said, protocol, tiers=True)
    result = run(played, SimulatedRater(truth))
    assert result.status is RunStatus.COMPLETE
    assert result.survivors == ()
    for h, each in enumerate(result.placings):
        others = {g for g in range(4) if g != h}
        is_worse = {g for g in range(4) if h in result.placings[g].better_than}
        assert {*each.better_than, *each.tied_with} | is_worse == others
        assert (each.best_rank, each.worst_rank) == (1 + len(is_worse), 4 - len(each.better_than))
    assert result.placings[0].tier == 1
    assert result.placings[1].tier == result.placings[2].tier
    assert 2 in result.placings[1].tied_with
    assert result.placings[3].best_rank == 4
    assert result.names == (0,)


def test_what_was_said_of_a_pair_stays_said() -> None:
    said, truth = models([180, 150, 140, 60], 200)
    played, rater = learner(said, tiers=True, eps=0.02), SimulatedRater(truth)
    before: list[set[int]] = [set() for _ in said]
    n_closings = 0
    while isinstance(questions := played.ask(1000), tuple):
        now = [{*each.better_than} for each in played.result.placings]
        assert all(old <= new for old, new in zip(before, now, strict=True))
        before, n_closings = now, n_closings + 1
        for question in questions:
            played.tell(question.id, rater(question))
    assert n_closings > 3


def test_who_is_placed_is_asked_about_no_more() -> None:
    said, truth = models([190, 110, 105, 100], 200)
    played, rater = learner(said, "follow-up", tiers=True, eps=0.01), SimulatedRater(truth)
    was_placed = False
    while isinstance(questions := played.ask(1000), tuple):
        left = list(played.result.survivors)
        was_placed |= 0 not in left
        items = [question.item for question in questions]
        assert (said[left][:, items] != said[left[0], items]).any(axis=0).all()
        for question in questions:
            played.tell(question.id, rater(question))
    assert was_placed


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_models_that_differ_on_less_than_eps_are_tied_without_an_answer(protocol: str) -> None:
    said = np.zeros((3, 100), dtype=np.int64)
    said[1, :4] = said[2, 4:8] = 1
    result = learner(said, protocol, tiers=True).result
    assert (result.status, result.n_answers) == (RunStatus.COMPLETE, 0)
    assert [each.tied_with for each in result.placings] == [(1, 2), (0, 2), (0, 1)]
    assert {each.tier for each in result.placings} == {1}
    assert learner(said, protocol, top=2).result.status is RunStatus.COMPLETE


def test_equal_models_are_one() -> None:
    said, truth = models([180, 150, 60], 200)
    result = run(learner(said[[0, 1, 0, 2]], top=2), SimulatedRater(truth))
    assert [each.model for each in result.placings] == [0, 1, 3]
    assert sorted(result.names) == [0, 1, 2]
    both = run(learner(said[[0, 0, 0]], top=2), SimulatedRater(truth))
    assert (both.names, both.n_answers, both.achieved_eps) == ((0, 1, 2), 0, 0.0)


def test_ahead_by_exactly_eps_is_no_tie() -> None:
    # 700 * .07 is not 49 in binary: without care, rounding makes a tie of it.
    said, truth = models([400, 351], 700)
    result = run(learner(said, tiers=True, eps=0.07, delta=1e-9), SimulatedRater(truth))
    assert result.placings[0].better_than == (1,)
    assert result.placings[0].tied_with == ()


def test_shares_of_delta_are_those_of_the_document() -> None:
    """However the true order is, the shares of all pairs of a best model with another one are at most delta."""
    agreement = np.array([5, 9, 7, 7, 1])
    assert failure_of_top(ranks(agreement), 5, 1, 0.1) == pytest.approx(failure_per_leader(agreement, 0.1))
    for top in (1, 2, 3, 4):
        for rank in (ranks(agreement), None):
            failure = failure_of_top(rank, 5, top, 0.1)
            spent = [sum(top * failure[list(order[top:])]) for order in permutations(range(5))]
            assert max(spent) == pytest.approx(0.1)
    assert 10 * failure_per_pair(5, 0.1) == pytest.approx(0.1)
    said, _ = models([30, 30, 30, 30], 60)
    tiers = learner(said, delta=0.06, tiers=True)._standing_now()
    assert isinstance(tiers, TiersStanding)
    assert np.exp(-tiers.threshold) == pytest.approx(np.full(4, 0.01))
    assert tiers._more_at_zero == pytest.approx(np.log(2))
    top_two = learner(said, delta=0.06, top=2)._standing_now()
    assert isinstance(top_two, TopStanding)
    assert np.exp(-top_two.threshold) == pytest.approx(np.full(4, 0.015))


def test_what_follows_from_two_pairs_is_shown() -> None:
    behind = np.zeros((4, 4), dtype=np.bool_)
    behind[3, 2] = behind[2, 1] = behind[1, 0] = True
    assert closure(behind).sum() == 6
    assert tiers_of(closure(behind)).tolist() == [1, 2, 3, 4]


def test_a_tier_ends_where_all_are_better_than_all_that_follow() -> None:
    # 0 and 1 are ahead of 3, 0 alone is ahead of 2; all are ahead of 4.
    behind = np.zeros((5, 5), dtype=np.bool_)
    behind[3, :2] = behind[2, 0] = behind[4, :4] = True
    assert tiers_of(behind).tolist() == [1, 1, 1, 1, 2]


def test_a_budget_leaves_it_open() -> None:
    said, truth = models([100, 100, 100], 200)
    result = run(learner(said, budget=20, tiers=True), SimulatedRater(truth))
    assert (result.status, result.n_answers) == (RunStatus.BUDGET, 20)
    assert all((each.best_rank, each.worst_rank, each.tied_with) == (1, 3, ()) for each in result.placings)


@pytest.mark.parametrize("aim", [{"top": 2}, {"tiers": True}])
def test_where_checks_contradict_nothing_is_said(aim: dict[str, Any]) -> None:
    said, _ = models([190, 150, 20], 200)
    result = run(learner(said, "follow-up", **aim), lambda _: Answer.YES)
    assert (result.status, result.achieved_eps) == (RunStatus.SUSPENDED, 1)
    assert all((each.best_rank, each.worst_rank) == (1, 3) for each in result.placings)
    assert len({each.tier for each in result.placings}) == 1


@pytest.mark.parametrize(
    ("aim", "what"),
    [
        ({"top": 0}, "at least 1"),
        ({"top": 3}, "one model at least must be left"),
        ({"top": 1, "tiers": True}, "one aim"),
        ({"baseline": 0, "tiers": True}, "one aim"),
    ],
)
def test_what_cannot_be_looked_for_is_refused(aim: dict[str, Any], what: str) -> None:
    said, _ = models([10, 10, 10], 20)
    with pytest.raises(InvalidInputError, match=what):
        learner(said, **aim)
