"""A gate: what is said of each candidate, when, and what is asked for it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.statistical.gate_populations import beside, many

from onebit.errors import InvalidInputError
from onebit.hypotheses.finite import PredictionTable
from onebit.learners.certified import CertifiedLearner, PanelLearner
from onebit.learners.certified.gate import GateStanding
from onebit.learners.certified.run import CertifiedRun
from onebit.learners.contract import run
from onebit.learners.items import Pool, Stream
from onebit.raters import SimulatedRater
from onebit.records import Answer, RunStatus

PROTOCOLS = ("one-shot", "follow-up", "panel", "labels")


def learner(said: Any, protocol: str = "panel", stream: bool = False, **given: Any) -> CertifiedRun:
    n = said.shape[1]
    items = Stream(list(range(n))) if stream else Pool(np.arange(n))
    given = {"eps": 0.1, "seed": 1, "baseline": 0, **given}
    if protocol == "panel":
        return PanelLearner(PredictionTable(said, 5), items, **given)
    return CertifiedLearner(PredictionTable(said, 5), items, protocol=protocol, **given)  # type: ignore[arg-type]


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    ("said_and_truth", "verdict"),
    [
        # What passes is told as soon as it is shown, by the strongest word that is.
        (beside(200, 10, 0, 90), ("better", "not worse")),
        (beside(10, 200, 0, 90), ("worse",)),
        (beside(60, 60, 0, 180), ("not worse",)),
    ],
)
def test_all_protocols_decide(protocol: str, said_and_truth: Any, verdict: tuple[str, ...]) -> None:
    said, truth = said_and_truth
    result = run(learner(said, protocol), SimulatedRater(truth))
    (told,) = result.gate
    assert told.verdict in verdict
    assert result.status is RunStatus.COMPLETE
    d = (said[1] == truth).mean() - (said[0] == truth).mean()
    assert -told.behind_at_most <= d <= told.ahead_at_most
    assert result.chosen == 0
    assert result.achieved_eps == told.behind_at_most
    assert result.n_answers < 2 * (said[0] != said[1]).sum()


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_nothing_is_asked_where_they_agree(protocol: str) -> None:
    said, truth = beside(20, 20, 5, 155)
    played, asked = learner(said, protocol), []
    while isinstance(questions := played.ask(5), tuple):
        for question in questions:
            asked.append(question.item)
            played.tell(question.id, SimulatedRater(truth)(question))
    assert asked
    assert (said[0, asked] != said[1, asked]).all()


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_models_that_differ_on_fewer_items_than_the_margin_need_no_answer(protocol: str) -> None:
    said, _ = beside(4, 5, 0, 91)
    played = learner(said, protocol)
    (told,) = played.result.gate
    assert (told.verdict, played.result.n_answers, played.result.status) == ("not worse", 0, RunStatus.COMPLETE)
    assert told.behind_at_most <= 0.1


def test_who_says_the_same_as_the_baseline_is_not_worse() -> None:
    said, truth = beside(30, 30, 0, 40)
    result = run(learner(np.stack([said[1], said[0], said[1]]), baseline=2), SimulatedRater(truth))
    assert (result.gate[0].candidate, result.gate[0].verdict) == (0, "not worse")
    assert result.gate[0].behind_at_most == result.gate[0].ahead_at_most == 0
    assert result.names == (2,)
    assert result.gate[1].candidate == 1


def test_a_tie_is_not_decided_until_the_margin_is_shown() -> None:
    said, truth = beside(100, 100, 0, 300)
    played, rater = learner(said, eps=0.05), SimulatedRater(truth)
    seen = []
    while isinstance(questions := played.ask(1000), tuple):
        seen.append(played.result.gate[0])
        for question in questions:
            played.tell(question.id, rater(question))
    assert len(seen) > 3
    assert {each.verdict for each in seen} == {"not yet"}
    assert all(each.behind_at_most >= 0.05 - 1e-6 for each in seen)
    (told,) = played.result.gate
    assert told.verdict == "not worse"
    assert told.behind_at_most <= 0.05


def test_worse_by_exactly_the_margin_does_not_pass() -> None:
    # 700 * .07 is not 49 in binary: without care, rounding lets it pass.
    said, truth = beside(1, 50, 0, 649)
    for seed in range(5):
        result = run(learner(said, eps=0.07, seed=seed, delta=1e-9), SimulatedRater(truth))
        assert result.gate[0].verdict == "worse"


def test_who_is_decided_is_asked_about_no_more_and_stays_as_it_was() -> None:
    far, truth = beside(10, 250, 0, 240)
    order = np.random.default_rng(0).permutation(500)
    said = np.stack([far[0], far[1], far[0]])
    said[2, order[:100]] = np.where(np.arange(100) % 2, 3, truth[order[:100]])
    played, rater = learner(said, eps=0.02), SimulatedRater(truth)
    decided = None
    while isinstance(questions := played.ask(1000), tuple):
        told = played.result.gate[0]
        if decided is not None:
            assert told == decided
            items = [question.item for question in questions]
            assert (said[0, items] != said[2, items]).all()
        elif told.verdict != "not yet":
            decided = told
        for question in questions:
            played.tell(question.id, rater(question))
    assert decided is not None
    assert decided.verdict == "worse"
    assert played.result.status is RunStatus.COMPLETE


def test_shares_of_delta_are_those_of_the_document() -> None:
    """Each candidate has an equal share; "better" and "worse" have half of it, all other statements the whole."""
    said, _ = many(4, 10, 60)
    standing = learner(said, delta=0.04)._standing_now()
    assert isinstance(standing, GateStanding)
    assert np.exp(-standing.threshold) == pytest.approx(np.full(5, 0.01))
    assert standing._more_at_zero == pytest.approx(np.log(2))


def test_a_budget_leaves_it_open() -> None:
    said, truth = beside(60, 60, 0, 180)
    result = run(learner(said, budget=10), SimulatedRater(truth))
    assert (result.status, result.gate[0].verdict, result.n_answers) == (RunStatus.BUDGET, "not yet", 10)


def test_a_stream_that_ends_leaves_it_open() -> None:
    said, truth = beside(20, 20, 0, 40)
    order = np.random.default_rng(1).permutation(80)
    result = run(learner(said[:, order], stream=True, eps=0.01), SimulatedRater(truth[order]))
    assert (result.status, result.gate[0].verdict) == (RunStatus.EXHAUSTED, "not yet")


def test_where_checks_contradict_nothing_is_said() -> None:
    said, _ = beside(200, 10, 0, 90)
    result = run(learner(said, "follow-up"), lambda _: Answer.YES)
    assert (result.status, result.gate[0].verdict) == (RunStatus.SUSPENDED, "not yet")
    assert result.gate[0].behind_at_most == result.gate[0].ahead_at_most == 1


@pytest.mark.parametrize(("baseline", "n_models"), [(2, 2), (-1, 2), (0, 1)])
def test_a_baseline_that_is_none_is_refused(baseline: int, n_models: int) -> None:
    said, _ = beside(5, 5, 0, 5)
    with pytest.raises(InvalidInputError, match="another to hold against it"):
        learner(said[:n_models], baseline=baseline)
