"""Epochs that begin while others are under way: what they may look at, what is asked, and how such a run ends."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.unit.learners.certified.certified_kinds import (
    EXAMPLES,
    N_LABELS,
    ONE_SHOT_POOL,
    ONE_SHOT_STREAM,
    TABLE,
    Kind,
    every_kind,
    everything,
    one_shot,
)

from onebit.learners.certified import CertifiedLearner
from onebit.learners.certified.ahead import most_under_way, rounds_ahead
from onebit.learners.certified.constants import QUESTIONS_PER_RATER
from onebit.randomness import generator
from onebit.records import Answer, Question, RunStatus, Setting, Status
from onebit.verify.certificate import verify

N_RATERS = 30


def crowd(kind: Kind, learner: CertifiedLearner, seed: int = 0, most_told: int | None = None) -> list[Question]:
    """Raters who hold one question each and answer in any order; the questions that are open in the end."""
    rng, held, n_told = random.Random(seed), list[Question](), 0
    while most_told is None or n_told < most_told:
        asked = learner.ask(1)
        if asked is Status.DONE:
            return held
        held += asked if isinstance(asked, tuple) else ()
        if asked is Status.WAIT or len(held) >= N_RATERS:
            question = held.pop(rng.randrange(len(held)))
            learner.tell(question.id, kind.answer(question))
            n_told += 1
    return held


def for_many(kind: Kind, **options: Any) -> CertifiedLearner:
    learner = kind.learner(**{"eps": 0.02, **options})
    learner.expect(N_RATERS)
    return learner


def log_of(learner: CertifiedLearner) -> dict[str, Any]:
    return {
        "epochs": list(learner.epochs),
        "questions": list(learner._ledger.questions),
        "answers": list(learner._ledger.answers),
        "closings": list(learner.closings),
    }


def table_of(kind: Kind) -> NDArray[np.int64]:
    """The table that a verifier is given: of a stream, in the order from which the seed draws that of the examples."""
    if kind.pool:
        return TABLE
    table = np.empty((len(TABLE), EXAMPLES.size), dtype=np.int64)
    table[:, generator(1, "stream order").permutation(EXAMPLES.size)] = TABLE[:, EXAMPLES]
    return table


@one_shot
@pytest.mark.parametrize("budget", [None, 150])
def test_epochs_overlap_and_the_second_implementation_comes_to_the_same(kind: Kind, budget: int | None) -> None:
    learner = for_many(kind, budget=budget)
    crowd(kind, learner)
    assert any(record.n_open for record in learner.epochs)
    found = verify(learner._setting, table_of(kind), N_LABELS, **log_of(learner))
    assert found.ok, found.problems
    result = learner.result
    assert (found.chosen, found.survivors, found.n_rounds) == (result.chosen, result.survivors, result.n_rounds)
    assert (found.n_answers, found.n_free_rounds) == (result.n_answers, result.n_free_rounds)


@one_shot
def test_a_plan_knows_nothing_of_epochs_under_way(kind: Kind) -> None:
    """Turn the answers of open epochs round: what they ask and what begins while they are open stays the same."""
    one, other = for_many(kind), for_many(kind)
    first = one.ask(1)
    assert first == other.ask(1)
    while isinstance(asked := one.ask(1), tuple):
        assert asked == other.ask(1)
        # The first question has no answer, so nothing closes.
        one.tell(asked[0].id, Answer.YES)
        other.tell(asked[0].id, Answer.NO)
    assert asked is other.ask(1) is Status.WAIT
    assert len(one.epochs) > 1
    assert one.epochs == other.epochs
    assert one.closings == other.closings == []


@every_kind
def test_one_rater_and_other_protocols_have_one_epoch_at_a_time(kind: Kind) -> None:
    learner = kind.learner(eps=0.05)
    if kind.protocol != "one-shot":
        learner.expect(N_RATERS)
    crowd(kind, learner)
    assert all(record.n_open == 0 for record in learner.epochs)


def test_nothing_is_asked_twice_while_epochs_overlap() -> None:
    learner = for_many(ONE_SHOT_POOL)
    crowd(ONE_SHOT_POOL, learner)
    asked = [(question.item, question.label) for question in learner._ledger.questions]
    assert len(set(asked)) == len(asked)


def test_an_answer_that_is_taken_back_opens_the_rounds_of_other_epochs_too() -> None:
    learner = for_many(ONE_SHOT_POOL)
    held = crowd(ONE_SHOT_POOL, learner, most_told=10)
    for _ in range(300):
        held += crowd(ONE_SHOT_POOL, learner, most_told=1)
        lent = {drawn for rounds, _ in learner._rounds for drawn in rounds._borrowed}
        question = next((q for q in held if (q.item, q.label) in lent and learner._ledger.answers[q.id] is None), None)
        if question is not None:
            break
    assert question is not None
    before = [rounds.n_unsettled for rounds, _ in learner._rounds]
    learner.tell(question.id, Answer.YES)
    told = [rounds.n_unsettled for rounds, _ in learner._rounds]
    assert sum(now < then for now, then in zip(told, before, strict=True)) > 1
    learner.untell(question.id)
    assert [rounds.n_unsettled for rounds, _ in learner._rounds] == before
    # And the last answer counts.
    learner.tell(question.id, Answer.NO)
    assert [rounds.n_unsettled for rounds, _ in learner._rounds] == told


def test_what_is_open_in_the_end_was_not_needed() -> None:
    kind = ONE_SHOT_STREAM
    learner = for_many(kind, eps=0.1)
    left = crowd(kind, learner)
    assert learner.result.status is RunStatus.COMPLETE
    assert left
    said = everything(learner)
    assert learner.ask(3) is Status.DONE
    for question in left:
        learner.tell(question.id, kind.answer(question))
    now = everything(learner)
    assert now["closings"] == said["closings"]
    assert now["result"] | {"n_answers": 0} == said["result"] | {"n_answers": 0}


def test_raters_go_on_until_so_many_questions_are_under_way() -> None:
    """Who never answers holds the others up in the end, and not before."""
    learner = for_many(ONE_SHOT_STREAM, eps=1e-3)
    first = learner.ask(1)
    assert isinstance(first, tuple)
    n_asked = 1
    while isinstance(asked := learner.ask(1), tuple):
        n_asked += 1
        learner.tell(asked[0].id, ONE_SHOT_STREAM.answer(asked[0]))
    assert asked is Status.WAIT
    assert learner.closings == []
    # Nothing is known before the first closing, so as many as at first; the last epoch may go beyond.
    assert most_under_way(N_RATERS, 0) <= n_asked < most_under_way(N_RATERS, 0) + 64
    learner.tell(first[0].id, ONE_SHOT_STREAM.answer(first[0]))
    assert isinstance(learner.ask(1), tuple)


def test_how_much_is_asked_ahead() -> None:
    assert most_under_way(100, 0) == 300
    assert most_under_way(100, 400) == 800
    assert most_under_way(100, 10**6) == 100 * QUESTIONS_PER_RATER
    assert rounds_ahead(100, 0.5, 0, float("inf")) == 200
    assert rounds_ahead(2, 1.0, 0, float("inf")) == 64
    assert rounds_ahead(100, 0.01, 1000, 2000.0) == 1000
    assert rounds_ahead(100, 0.01, 10**5, 0.0) == 3000


def problems(setting: Setting, log: dict[str, Any]) -> tuple[str, ...]:
    return verify(setting, TABLE, N_LABELS, **log).problems


def test_what_is_wrong_with_epochs_that_overlap_is_found() -> None:
    learner = for_many(ONE_SHOT_POOL)
    crowd(ONE_SHOT_POOL, learner)
    setting, log = learner._setting, log_of(learner)
    assert problems(setting, log) == ()
    place = next(j for j, record in enumerate(log["epochs"]) if record.n_open and j < len(log["closings"]))
    for n_open in (0, log["epochs"][place].n_open + 1, -1):
        epochs = [*log["epochs"]]
        epochs[place] = replace(epochs[place], n_open=n_open)
        assert problems(setting, log | {"epochs": epochs})
    # Planned with fewer survivors than were left when it began: with those that were left later.
    left, epochs = log["closings"][-1].survivors, [*log["epochs"]]
    late = next(j for j, record in enumerate(epochs) if record.n_open and record.survivors != left)
    epochs[late] = replace(epochs[late], survivors=left)
    assert problems(setting, log | {"epochs": epochs})
    # What an open epoch asked is asked again, by the one that borrows it.
    asked = log["questions"][0]
    again = replace(asked, id=log["questions"][-1].id + 1, epoch=place)
    more = {"questions": [*log["questions"], again], "answers": [*log["answers"], log["answers"][0]]}
    assert problems(setting, log | more)
    # Other protocols draw by what was answered before.
    assert problems(replace(setting, protocol="follow-up"), log)
