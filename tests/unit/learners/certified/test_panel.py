"""The panel: what it asks, of whom, and that nothing hangs on the order of answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from tests.panels import Ints, Judge, Panel, Verdicts, random_panel, wealth_on_pool, wealth_on_stream

from onebit.errors import InvalidInputError, UnknownQuestionError
from onebit.estimate.shares import UNKNOWN
from onebit.learners.certified import CertifiedLearner, PanelLearner
from onebit.learners.certified.panel_evidence import PanelEvidence
from onebit.learners.contract import run
from onebit.randomness import generator
from onebit.records import Answer, EpochRecord, Question, RunStatus, Status

Told = list[tuple[Question, Answer]]
N_ITEMS = 60
DRAWS = np.random.default_rng(1).integers(0, N_ITEMS, 400)
pool_or_stream = pytest.mark.parametrize("draws", [None, DRAWS], ids=["pool", "stream"])
OPTIONS: dict[str, Any] = {"eps": 0.05, "delta": 0.1, "seed": 5}


def told_in(learner: PanelLearner, judge: Judge, at_a_time: int = 256) -> Told:
    """Run to the end; the questions and answers in the order told."""
    told: Told = []

    def telling(question: Question) -> Answer:
        told.append((question, judge(question)))
        return told[-1][1]

    run(learner, telling, at_a_time)
    return told


def everything(learner: PanelLearner) -> dict[str, Any]:
    """All that a run says, to be compared bit by bit."""
    return {
        "result": asdict(replace(learner.result, measure=None, approach=None)),
        "epochs": list(learner.epochs),
        "closings": list(learner.closings),
    }


def order_of(panel: Panel, draws: Ints | None, seed: int) -> Ints:
    """The items of the table in the order in which they count."""
    return generator(seed, "panel order").permutation(panel.n_items) if draws is None else draws


def contenders_of(record: EpochRecord) -> list[int]:
    return [record.leader, *(rival for rival, _ in record.mixture)]


def missing(said: Ints, contenders: Sequence[int], n_drawn: int, known: set[tuple[int, int]]) -> set[tuple[int, int]]:
    """The (place, output) that tell contenders apart on the first items and have no verdict yet."""
    wanted = set()
    for place in range(n_drawn):
        outputs = {int(said[h, place]) for h in contenders}
        if len(outputs) > 1:
            wanted |= {(place, output) for output in outputs if output >= 0}
    return wanted - known


@pytest.mark.parametrize("seed", range(6))
@pool_or_stream
def test_the_missing_verdicts_of_contenders_are_asked_and_nothing_else(draws: Ints | None, seed: int) -> None:
    """Nothing is asked twice, equal outputs once, and abstentions never."""
    panel = random_panel(seed, n_models=5, n_items=N_ITEMS)
    learner = panel.learner(draws=draws, **OPTIONS | {"seed": seed})
    told = told_in(learner, panel.judge(draws))
    order = order_of(panel, draws, seed)
    said = panel.said[:, order]
    place_of = {int(item): place for place, item in enumerate(order)} if draws is None else range(draws.size)
    known: set[tuple[int, int]] = set()
    for record in learner.epochs:
        asked = [(place_of[q.item], q.label) for q, _ in told if q.epoch == record.number]
        wanted = missing(said, contenders_of(record), record.first_round + record.n_rounds, known)
        assert Counter(asked) == Counter(wanted)
        # The outputs of one item come together, and items in their order.
        assert [place for place, _ in asked] == sorted(place for place, _ in asked)
        known |= wanted
    assert len(learner.epochs) > 2
    assert all(q.propensity == 1 for q, _ in told)


@pytest.mark.parametrize("seed", range(6))
@pool_or_stream
def test_contenders_are_who_is_not_shown_to_be_within_eps(draws: Ints | None, seed: int) -> None:
    """By the wealth of the document; as are survivors and the certified eps of every closing."""
    panel = random_panel(seed, n_models=5, n_items=N_ITEMS)
    learner = panel.learner(draws=draws, **OPTIONS | {"seed": seed})
    told = told_in(learner, panel.judge(draws))
    order = order_of(panel, draws, seed)
    said, wealth = panel.said[:, order], partial(wealth_on_pool if draws is None else wealth_on_stream, eps=0.05)
    place_of = {int(item): place for place, item in enumerate(order)} if draws is None else range(draws.size)
    verdict: Verdicts = np.where(said < 0, 0, UNKNOWN).astype(np.int8)
    threshold = -np.log(0.1 / 4)
    survivors = list(range(5))
    for record, closing in zip(learner.epochs, learner.closings, strict=True):
        n = record.first_round
        shown = [wealth(said, verdict, h, record.leader, n, 0.05) >= threshold for h in survivors]
        rivals = {h for h, is_shown in zip(survivors, shown, strict=True) if not is_shown} - {record.leader}
        assert rivals == {rival for rival, _ in record.mixture}
        for question, answer in told:
            if question.epoch == record.number:
                place = place_of[question.item]
                verdict[said[:, place] == question.label, place] = answer is Answer.YES
        n, leader = closing.n_rounds, closing.leader
        gone = {h for h in survivors if wealth(said, verdict, h, leader, n, 0.0) >= threshold} - {leader}
        survivors = [h for h in survivors if h not in gone]
        assert closing.survivors == tuple(survivors)
        if closing.certified_eps > 0:
            at_eps = [wealth(said, verdict, h, leader, n, closing.certified_eps) for h in survivors if h != leader]
            assert closing.certified_eps == 1 or min(at_eps) >= threshold


def changing_leaders() -> tuple[Panel, Ints, int]:
    """Models 0 and 2 differ on the first 8 of 100 items alone: with eps .1 no answer is needed to compare these two.

    Model 1 is accepted everywhere and they on half of the items, so it leads after the first epoch, and model 2 must
    then be judged on the items that it missed.
    """
    seed, n = 3, 100
    order = generator(seed, "panel order").permutation(n)
    said: Ints = np.empty((3, n), dtype=np.int64)
    said[0, order], said[1, order] = 0, 1
    said[2] = said[0]
    said[2, order[:8]] = 2
    yes = np.zeros((n, 3), dtype=np.bool_)
    yes[:, 1] = True
    yes[order[::2], 0] = True
    yes[order[:8], 2] = True
    return Panel(said, yes), order, seed


def test_a_dormant_rival_is_judged_on_what_it_missed_when_the_leader_changes() -> None:
    panel, order, seed = changing_leaders()
    learner = panel.learner(eps=0.1, delta=0.05, seed=seed)
    told = told_in(learner, panel.judge())
    first, second = learner.epochs[:2]
    assert (first.leader, first.mixture) == (0, ((1, 1.0),))
    assert all(q.label != 2 for q, _ in told if q.epoch == 0)
    assert second.leader == 1
    assert {rival for rival, _ in second.mixture} == {0, 2}
    caught_up = [q.item for q, _ in told if q.label == 2]
    assert sorted(caught_up) == sorted(order[:8].tolist())
    assert {q.epoch for q, _ in told if q.label == 2} == {1}
    assert learner.result.status is RunStatus.COMPLETE
    assert learner.result.chosen == 1


def test_what_was_missed_counts_from_its_own_place() -> None:
    """After the catch-up the wealth is the same as if all had been judged from the start."""
    panel, order, seed = changing_leaders()
    learner = panel.learner(eps=0.1, delta=1e-9, seed=seed)
    while len(learner.epochs) < 3 and isinstance(asked := learner.ask(500), tuple):
        for question in asked:
            learner.tell(question.id, panel.judge()(question))
    said, verdict = panel.said[:, order], panel.accepted[:, order].astype(np.int8)
    n = learner.closings[1].n_rounds
    assert n > 8
    found = learner._evidence.wealth.log_wealth(1, 0.1)
    for h in (0, 2):
        assert found[h] == pytest.approx(wealth_on_pool(said, verdict, h, 1, n, 0.1, eps=0.1), abs=1e-9)


@pool_or_stream
def test_order_and_batches_of_answers_do_not_matter(draws: Ints | None) -> None:
    panel = random_panel(2, n_models=5, n_items=N_ITEMS)
    expected = panel.learner(draws=draws, **OPTIONS)
    told_in(expected, panel.judge(draws), at_a_time=1)
    rng = np.random.default_rng(0)
    for at_a_time in (3, 1000):
        learner = panel.learner(draws=draws, **OPTIONS)
        held: list[Question] = []
        while (asked := learner.ask(at_a_time)) is not Status.DONE:
            held += asked if isinstance(asked, tuple) else ()
            # Answers come late, and in no order; all of them once nothing can be asked without.
            for place in sorted(rng.permutation(len(held))[: len(held) if asked is Status.WAIT else 1].tolist())[::-1]:
                question = held.pop(place)
                learner.tell(question.id, panel.judge(draws)(question))
        assert everything(learner) == everything(expected)


@pool_or_stream
def test_an_answer_can_be_taken_back_while_its_epoch_is_open(draws: Ints | None) -> None:
    panel = random_panel(2, n_models=5, n_items=N_ITEMS)
    judge = panel.judge(draws)
    expected, learner = panel.learner(draws=draws, **OPTIONS), panel.learner(draws=draws, **OPTIONS)
    told_in(expected, judge)
    asked = learner.ask(4)
    assert isinstance(asked, tuple)
    for question in asked:
        learner.tell(question.id, Answer.NO if judge(question) is Answer.YES else Answer.YES)
    for question in asked[::-1]:
        learner.untell(question.id)
    with pytest.raises(UnknownQuestionError):
        learner.untell(asked[0].id)
    for question in asked:
        learner.tell(question.id, judge(question))
    told_in(learner, judge)
    assert everything(learner) == everything(expected)
    with pytest.raises(UnknownQuestionError):
        learner.untell(0)


@pool_or_stream
def test_a_run_is_its_records_replayed(draws: Ints | None) -> None:
    panel = random_panel(4, n_models=5, n_items=N_ITEMS)
    live, again = panel.learner(draws=draws, **OPTIONS), panel.learner(draws=draws, **OPTIONS)
    told = told_in(live, panel.judge(draws), at_a_time=7)
    for record in live.epochs:
        again.adopt(record)
    for question, answer in told:
        again.ask_again([question])
        again.tell(question.id, answer)
    assert everything(again) == everything(live)


def test_a_log_may_have_other_contenders_and_lengths_than_the_learner_would_choose() -> None:
    """How an epoch was planned is no matter of the proof, so a log stays good where plans improve."""
    panel = random_panel(4, n_models=3, n_items=N_ITEMS)
    learner = panel.learner(**OPTIONS)
    learner.adopt(EpochRecord(0, 0, 20, leader=0, survivors=(0, 1, 2), mixture=((2, 1.0),), gamma=1.0))
    asked = learner.ask(1000)
    assert isinstance(asked, tuple)
    order = order_of(panel, None, 5)
    wanted = missing(panel.said[:, order], [0, 2], 20, set())
    assert {(q.item, q.label) for q in asked} == {(int(order[place]), output) for place, output in wanted}
    assert learner.epochs[0].n_rounds == 20


def test_contenders_that_are_no_models_are_refused() -> None:
    panel = random_panel(4, n_models=3, n_items=N_ITEMS)
    learner = panel.learner(**OPTIONS)
    learner.adopt(EpochRecord(0, 0, 20, leader=0, survivors=(0, 1, 2), mixture=((7, 1.0),), gamma=1.0))
    with pytest.raises(InvalidInputError, match="not among the distinct models"):
        learner.ask()


@pytest.mark.parametrize("budget", [1, 5, 30, 77])
@pool_or_stream
def test_a_budget_that_runs_out_leaves_what_is_known(draws: Ints | None, budget: int) -> None:
    panel = random_panel(2, n_models=5, n_items=N_ITEMS)
    learner = panel.learner(draws=draws, budget=budget, **OPTIONS)
    told = told_in(learner, panel.judge(draws))
    result = learner.result
    assert len(told) == result.n_answers == budget
    assert result.status is RunStatus.BUDGET
    assert learner.ask() is Status.DONE
    order = order_of(panel, draws, 5)
    said, wealth = panel.said[:, order], wealth_on_pool if draws is None else wealth_on_stream
    place_of = {int(item): place for place, item in enumerate(order)} if draws is None else range(draws.size)
    verdict: Verdicts = np.where(said < 0, 0, UNKNOWN).astype(np.int8)
    for question, answer in told:
        place = place_of[question.item]
        verdict[said[:, place] == question.label, place] = answer is Answer.YES
    found = learner._evidence.wealth.log_wealth(0, 0.2)
    expected = [wealth(said, verdict, h, 0, result.n_rounds, 0.2, OPTIONS["eps"]) for h in range(5)]
    assert found.tolist() == pytest.approx(expected, abs=1e-9)


def test_items_without_all_verdicts_do_not_count_for_who_leads() -> None:
    """Model 1 is ahead on the first item, and nothing is known of the third; model 2 was not judged on the first."""
    evidence = PanelEvidence(np.array([[0, 0, 0], [1, 0, 1], [2, 0, 0]]), is_pool=True)
    for label, accepted in ((0, False), (1, True)):
        evidence.judge(0, label, accepted)
    evidence.update(3, leader=0)
    assert evidence.score.tolist() == [0, -np.inf, -np.inf]
    evidence.update(3, leader=0, unsettled={2})
    assert evidence.score.tolist() == [0, 1, -np.inf]


@pytest.mark.parametrize("seed", range(8))
def test_a_pool_to_its_end_is_exact(seed: int) -> None:
    panel = random_panel(seed, n_models=5, n_items=20)
    learner = panel.learner(eps=1e-6, delta=1e-9, seed=seed)
    told_in(learner, panel.judge())
    result = learner.result
    assert result.status is RunStatus.COMPLETE
    # Above 0 where a survivor need not be judged to the end, since it can be as good as the leader at best.
    assert result.achieved_eps is not None
    assert result.achieved_eps <= 1e-6
    assert panel.acceptance[result.chosen] == panel.acceptance.max()


def test_a_stream_that_ends_is_not_success() -> None:
    panel = random_panel(2, n_models=5, n_items=N_ITEMS)
    learner = panel.learner(draws=DRAWS[:30], eps=0.01, delta=0.05, seed=5)
    told_in(learner, panel.judge(DRAWS))
    assert learner.result.status is RunStatus.EXHAUSTED
    assert learner.result.n_rounds == 30
    assert learner.result.achieved_eps is not None
    assert learner.result.achieved_eps > 0.01


def test_who_catches_up_is_judged_although_the_stream_has_ended() -> None:
    """Model 2, which model 0 is hardly told apart from, has to be compared with model 1, which leads in the end."""
    said = np.zeros((3, 8), dtype=np.int64)
    said[1] = 1
    said[2, 3] = 2
    yes = np.zeros((8, 3), dtype=np.bool_)
    yes[:, 1] = True
    panel = Panel(said, yes)
    learner = panel.learner(draws=np.arange(8), eps=0.05, delta=0.5, seed=0)
    learner.adopt(EpochRecord(0, 0, 8, leader=0, survivors=(0, 1, 2), mixture=((1, 1.0),), gamma=1.0))
    told = told_in(learner, panel.judge(np.arange(8)))
    assert learner.epochs[1].n_rounds == 0
    assert [(q.epoch, q.item) for q, _ in told if q.label == 2] == [(1, 3)]
    assert learner.result.chosen == 1
    assert learner.result.status is RunStatus.COMPLETE


def test_cant_tell_is_not_a_yes_and_nothing_more() -> None:
    panel = random_panel(2, n_models=5, n_items=N_ITEMS)
    unsure, denied = panel.learner(**OPTIONS), panel.learner(**OPTIONS)

    def says(no: Answer) -> Callable[[Question], Answer]:
        return lambda q: no if q.item % 3 == 0 else panel.judge()(q)

    asked = [[q for q, _ in told_in(each, says(no))] for each, no in ((unsure, Answer.CANT_TELL), (denied, Answer.NO))]
    assert asked[0] == asked[1]
    assert unsure.closings == denied.closings
    assert unsure.result.n_cant_tell > 0 == denied.result.n_cant_tell


def test_equal_models_of_a_pool_are_one_and_share_delta_as_one() -> None:
    panel = random_panel(2, n_models=3, n_items=N_ITEMS)
    twice = Panel(panel.said[[0, 1, 0, 2, 1]], panel.yes)
    one, other = panel.learner(**OPTIONS), twice.learner(**OPTIONS)
    asked = [[(q, a) for q, a in told_in(each, panel.judge())] for each in (one, other)]
    assert asked[0] == asked[1]
    assert one.result.achieved_eps == other.result.achieved_eps
    assert other.result.names == tuple(h for h in range(5) if (twice.said[h] == twice.said[other.result.chosen]).all())
    # On a stream they may differ on what is to come.
    assert len(twice.learner(draws=DRAWS, **OPTIONS).result.survivors) == 5


def test_one_model_needs_no_answer() -> None:
    panel = Panel(np.zeros((2, 5), dtype=np.int64), np.ones((5, 2), dtype=np.bool_))
    learner = panel.learner(**OPTIONS)
    assert learner.ask() is Status.DONE
    assert learner.result.status is RunStatus.COMPLETE
    assert learner.result.achieved_eps == 0


def test_an_example_that_cannot_be_taken_is_not_lost() -> None:
    panel = random_panel(2, n_models=3, n_items=N_ITEMS)
    draws = np.concatenate([DRAWS[:3], [N_ITEMS + 1], DRAWS[3:]])
    learner = panel.learner(draws=draws, **OPTIONS)
    for _ in range(2):
        with pytest.raises(InvalidInputError):
            learner.ask()
    assert learner._evidence.n_seen == 0


def test_the_certified_learner_sends_panels_here() -> None:
    panel = random_panel(2, n_models=3, n_items=N_ITEMS)
    with pytest.raises(InvalidInputError, match="PanelLearner"):
        CertifiedLearner(
            panel.learner(**OPTIONS)._hypotheses, panel.learner(**OPTIONS)._source, eps=0.1, protocol="panel"
        )
