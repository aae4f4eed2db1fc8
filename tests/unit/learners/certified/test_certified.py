"""The certified learner's questions: what it asks and never asks, what it knows already, what it freezes."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.unit.learners.certified.certified_kinds import (
    CLASS,
    EXAMPLES,
    KINDS,
    N_ITEMS,
    N_LOOKED_AT,
    ONE_SHOT_POOL,
    TABLE,
    TRUTH,
    Kind,
    Rater,
    Told,
    every_kind,
    follow_up,
    guesses_of,
    law_of,
    one_shot,
    run_telling,
    run_until,
    said_by,
    streams,
)

from onebit.errors import InvalidInputError
from onebit.estimate.delta import failure_per_leader
from onebit.estimate.rater_errors import slack
from onebit.hypotheses.finite import PredictionTable
from onebit.learners.certified import CertifiedLearner, constants
from onebit.learners.certified.evidence import IndependentEvidence
from onebit.learners.certified.outputs import agreement
from onebit.learners.contract import run
from onebit.learners.items import Pool, Stream
from onebit.randomness import RoundStream
from onebit.raters import SimulatedRater
from onebit.records import Answer, EpochRecord, RunStatus, Status

#: Answers as recorded: for each item, the labels that were asked about.
Known = dict[int, dict[int, Answer]]


def known_before(told: Told, learner: CertifiedLearner) -> dict[int, Known]:
    """For each epoch, what was answered about the items of a pool in earlier ones."""
    before: dict[int, Known] = {}
    for epoch in range(len(learner.epochs)):
        known: Known = defaultdict(dict)
        for q, answer in told:
            if q.epoch < epoch:
                assert isinstance(answer, Answer)
                assert q.label is not None
                known[q.item][q.label] = answer
        before[epoch] = known
    return before


@every_kind
def test_questions_are_numbered_and_sound(kind: Kind) -> None:
    """Never a label that no survivor gives, never a question where survivors agree; propensities by the formula."""
    learner = kind.learner()
    told = run_telling(kind, learner, at_a_time=7)
    assert [q.id for q, _ in told] == list(range(len(told)))
    assert [q.epoch for q, _ in told] == sorted(q.epoch for q, _ in told)
    assert len(told) > 20
    known = known_before(told, learner) if kind is ONE_SHOT_POOL else defaultdict(dict)
    for q, _ in told:
        record = learner.epochs[q.epoch]
        said = said_by(record, kind.example(q))
        assert len(set(said)) > 1 or kind.passive
        if kind.protocol == "labels":
            assert (q.label, q.propensity) == (None, 1.0)
            continue
        assert q.label is not None
        verdicts = known[q.epoch].get(q.item, {})
        A = sorted({label for label in said if label >= 0} - set(verdicts))
        assert q.label in A
        propensity = 1.0
        if kind.protocol == "one-shot":
            law, p = law_of(record, kind.example(q), A, verdicts)
            propensity = law[A.index(q.label)] * p
        assert q.propensity == pytest.approx(propensity, rel=1e-9)


@one_shot
@pytest.mark.parametrize("rates", [{}, {"f_no": 0.1}], ids=["sure", "erring"])
def test_one_shot_is_drawn_as_the_document_says(
    kind: Kind, rates: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every question of a run, drawn again from the seed, the records of the epochs and the answers."""
    monkeypatch.setattr(constants, "LEAST_SCORED", 1)
    learner = kind.learner(eps=0.05, **rates)
    told = run_telling(kind, learner)
    uniforms = RoundStream(1, "rounds")
    known = known_before(told, learner) if kind.pool else defaultdict(dict)
    n_passed_over = 0
    for record in learner.epochs:
        u = uniforms.uniforms(record.first_round, record.n_rounds)
        expected: list[tuple[int, int]] = []
        for i, (u0, u1, u2, _) in enumerate(u.tolist()):
            item = int(u0 * N_ITEMS) if kind.pool else N_LOOKED_AT + record.first_round + i
            example = item if kind.pool else int(EXAMPLES[item])
            said, verdicts = said_by(record, example), known[record.number].get(item, {})
            A = sorted({label for label in said if label >= 0} - set(verdicts))
            if len(set(said)) == 1 or not A:
                continue
            law, p = law_of(record, example, A, verdicts)
            n_passed_over += u2 >= p
            if u2 < p:
                expected.append((item, A[int(np.argmax(np.cumsum(law) > u1 * sum(law)))]))
        # Each once, when it is first drawn, whether raters err or not.
        asked = [(q.item, q.label) for q, _ in told if q.epoch == record.number]
        assert asked == list(dict.fromkeys(expected))
    assert n_passed_over > 0


# What is known already


@pytest.mark.parametrize("eps", [0.05, 1e-9])
def test_nothing_is_asked_twice_on_a_pool(eps: float) -> None:
    """One-shot draws items again and again; nothing is asked twice, and every round counts."""
    learner = ONE_SHOT_POOL.learner(eps=eps)
    told = run_telling(ONE_SHOT_POOL, learner)
    result = learner.result
    assert result.n_rounds - result.n_free_rounds > result.n_answers
    assert Counter((q.item, q.label) for q, _ in told).most_common(1)[0][1] == 1
    assert result.n_answers == len(told) <= sum(len({*TABLE[:, item]} - {-1}) for item in range(N_ITEMS))


def test_every_round_of_a_pool_uses_the_answer_that_was_recorded() -> None:
    """In the rounds of the wealth, a label is known just if it was answered in an earlier epoch, and as it was."""
    learner = ONE_SHOT_POOL.learner(eps=0.02)
    told = run_telling(ONE_SHOT_POOL, learner)
    assert isinstance(learner._evidence, IndependentEvidence)
    recorded: Known = defaultdict(dict)
    for q, answer in told:
        recorded[q.item][q.label] = answer  # type: ignore[index, assignment]
    known, seen = known_before(told, learner), Counter[str]()
    for record, rounds in zip(learner.epochs, learner._evidence._wealth.epochs, strict=True):
        items = (RoundStream(1, "rounds").uniforms(record.first_round, record.n_rounds)[:, 0] * N_ITEMS).astype(int)
        contested = [item for item in items.tolist() if len(set(said_by(record, item))) > 1]
        assert len(contested) == rounds.code.shape[1]
        for i, item in enumerate(contested):
            for k, label in enumerate(sorted(set(said_by(record, item)))):
                output = rounds.first[i] + k
                if label in known[record.number].get(item, {}):
                    seen["known"] += 1
                    assert rounds.asked[i] != k
                    assert rounds.q[output] == 1
                    assert rounds.for_rival[output] == rounds.for_leader[output]
                    assert rounds.for_leader[output] == (recorded[item][label] is Answer.YES)
                elif rounds.asked[i] == k:
                    seen["asked"] += 1
                    assert rounds.z[i] == (recorded[item][label] is Answer.YES)
    assert min(seen["known"], seen["asked"]) > 50


def test_rounds_of_the_same_epoch_share_an_answer() -> None:
    """However the answer comes, early or late, alone or not: all rounds of a (item, label) are settled by it."""
    hypotheses = PredictionTable([[0, 0], [1, 1]], 2)
    learner = CertifiedLearner(hypotheses, Pool(np.arange(2)), eps=0.001, delta=0.001)
    questions = learner.ask(1000)
    assert isinstance(questions, tuple)
    # 64 rounds or more, and four questions to be asked about two items and two labels.
    assert len(questions) == 4
    assert learner.ask() is Status.WAIT
    for q in questions[::-1]:
        learner.tell(q.id, Answer.YES if q.label == q.item else Answer.NO)
    # All is known then: the two are equally good, and nothing is left to ask.
    assert learner.ask() is Status.DONE
    result = learner.result
    assert result.n_rounds >= 64
    assert (result.status, result.achieved_eps, result.survivors) == (RunStatus.COMPLETE, 0.0, (0, 1))


def test_one_shot_on_a_pool_ends_when_there_is_nothing_left_to_ask() -> None:
    """With every label of every contested item answered, accuracies differ by what was said: exactly known."""
    learner = ONE_SHOT_POOL.learner(eps=1e-9, delta=1e-9)
    told = run_telling(ONE_SHOT_POOL, learner)
    result = learner.result
    assert result.status is RunStatus.COMPLETE
    assert result.achieved_eps == 0
    assert result.chosen == int(np.argmax((TABLE == TRUTH).mean(axis=1)))
    survivors = TABLE[list(result.survivors)]
    contested = np.flatnonzero((survivors != survivors[0]).any(axis=0))
    pairs = {(item, label) for item in contested.tolist() for label in survivors[:, item].tolist() if label >= 0}
    assert pairs <= {(q.item, q.label) for q, _ in told}


@pytest.mark.parametrize("kind", [KINDS["one-shot-pool"]])
def test_cant_tell_says_nothing_about_other_labels_of_the_item(kind: Kind) -> None:
    """The same run as with a no in its place."""
    unsure, sure = kind.learner(eps=0.05), kind.learner(eps=0.05)
    told = run_telling(kind, unsure, rater=lambda q: _instead_of_no(kind.answer(q)))
    assert [q for q, _ in told] == [q for q, _ in run_telling(kind, sure)]
    assert unsure.closings == sure.closings
    assert unsure.result.n_cant_tell > 10


def _instead_of_no(answer: Answer | int) -> Answer | int:
    return Answer.CANT_TELL if answer is Answer.NO else answer


# Raters who err


@one_shot
def test_raters_who_err_are_asked_nothing_twice(kind: Kind) -> None:
    """So it does not matter whether they would repeat an error."""
    learner = kind.learner(eps=0.1, f_no=0.05, f_yes=0.05)
    told = run_telling(kind, learner)
    assert learner.result.status is RunStatus.COMPLETE
    assert len({(q.item, q.label) for q, _ in told}) == len(told)


def test_where_errors_may_hide_the_best_everything_is_asked_and_no_more_is_claimed() -> None:
    """All verdicts of the pool are known; by how much another may be ahead is what their luck may hide."""
    kind = KINDS["one-shot-pool"]
    learner = kind.learner(eps=0.001, delta=0.05, f_no=0.05, f_yes=0.05)
    told = run_telling(kind, learner)
    result = learner.result
    accepted = {(q.item, q.label) for q, answer in told if answer is Answer.YES}
    differ = [item for item in range(N_ITEMS) if len(set(TABLE[list(result.survivors), item].tolist())) > 1]
    n_accepted = [sum((item, int(row[item])) in accepted for item in differ) for row in TABLE]
    log_odds = -math.log(failure_per_leader(agreement(TABLE), 0.05 / 2)[result.chosen])
    for h, bound in zip(result.survivors, result.ahead_at_most, strict=True):
        n_differ = int((TABLE[h] != TABLE[result.chosen]).sum())
        n_silent = int(((TABLE[h] < 0) & (TABLE[result.chosen] >= 0)).sum())
        lead = n_accepted[h] - n_accepted[result.chosen] + 0.05 * n_silent
        luck = float(slack(np.array(n_differ), log_odds, 0.05, 0.05))
        assert bound == pytest.approx(0 if h == result.chosen else max(0, (lead + luck) / N_ITEMS / 0.9))
    assert result.status is RunStatus.EXHAUSTED
    assert result.achieved_eps == max(result.ahead_at_most) > 0.001


def test_bounds_on_errors_cost_answers() -> None:
    """The same questions and answers on a stream show less: the certified eps is larger."""
    kind = KINDS["one-shot-stream"]
    sure, erring = (kind.learner(eps=0.001, delta=1e-3, budget=60, f_no=f_no) for f_no in (0.0, 0.3))
    assert run_telling(kind, sure) == run_telling(kind, erring)
    assert sure.result.achieved_eps is not None
    assert erring.result.achieved_eps is not None
    assert 0 < sure.result.achieved_eps < erring.result.achieved_eps < 1
    assert "no to a right label at most 30.0% of the time" in erring.result.promise
    assert "of the time" not in sure.result.promise


# The other protocols


@follow_up
def test_follow_up_asks_until_yes(kind: Kind) -> None:
    """Labels of one example come one after the other, each given by a survivor, until a yes or until none is left.

    In the first rounds with two labels, and in some later ones, one more is asked after the yes.
    """
    learner = kind.learner()
    told = run_telling(kind, learner, at_a_time=5)
    rounds = defaultdict(list)
    for q, answer in told:
        rounds[q.item].append((q, answer))
    n_open_ended = n_checked = 0
    for asked in rounds.values():
        record = learner.epochs[asked[0][0].epoch]
        assert {q.epoch for q, _ in asked} == {record.number}
        labels, answers = [q.label for q, _ in asked], [answer for _, answer in asked]
        order = in_order(record, kind.example(asked[0][0]))
        n_until = answers.index(Answer.YES) + 1 if Answer.YES in answers else len(order)
        assert labels[:n_until] == order[:n_until]
        n_open_ended += Answer.YES not in answers
        if len(labels) > n_until:
            (extra,) = labels[n_until:]
            assert extra in order[n_until:]
            n_checked += 1
    assert 0 < n_open_ended < len(rounds)
    assert learner.result.n_checks == n_checked > 5
    assert learner.result.n_contradicted == 0


def in_order(record: EpochRecord, example: int) -> list[int]:
    """By the guess, then by the number of survivors, both falling, then by number."""
    said = said_by(record, example)
    guess = guesses_of(record, example, sorted({a for a in said if a >= 0}), set())
    return sorted(guess, key=lambda a: (-guess[a], -said.count(a), a))


@pytest.mark.parametrize("kind", [k for k in KINDS.values() if k.pool and k.protocol != "one-shot"])
def test_without_replacement_an_item_is_drawn_once(kind: Kind) -> None:
    learner = kind.learner(eps=1e-6)
    told = run_telling(kind, learner)
    items = [q.item for q, answer in told if answer is not Answer.NO or kind.protocol == "labels"]
    assert len(items) == len(set(items))
    assert learner.result.n_rounds <= N_ITEMS


@follow_up
def test_follow_up_asks_the_next_label_where_it_cant_be_told(kind: Kind) -> None:
    """Can't tell is not a yes, so the run is that with a no in its place."""
    unsure, sure = kind.learner(eps=0.2), kind.learner(eps=0.2)
    told = run_telling(kind, unsure, rater=lambda q: _instead_of_no(kind.answer(q)))
    assert [q for q, _ in told] == [q for q, _ in run_telling(kind, sure)]
    assert unsure.closings == sure.closings


# What is frozen


@every_kind
def test_rounds_have_random_numbers_of_their_own(kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    """Epochs follow each other in the numbers of rounds; none is used twice."""
    asked: list[tuple[int, int]] = []
    uniforms = RoundStream.uniforms

    def spying(self: RoundStream, first_round: int, n_rounds: int) -> NDArray[np.float64]:
        asked.append((first_round, n_rounds))
        return uniforms(self, first_round, n_rounds)

    monkeypatch.setattr(RoundStream, "uniforms", spying)
    learner = kind.learner(eps=0.04)
    run_telling(kind, learner)
    assert [first for first, _ in asked[: len(learner.epochs)]] == [record.first_round for record in learner.epochs]
    # A pool may have fewer items left than numbers were drawn for.
    assert all(
        a + record.n_rounds == b for (a, _), record, (b, _) in zip(asked, learner.epochs, asked[1:], strict=False)
    )


@every_kind
def test_records_of_epochs_and_closings(kind: Kind) -> None:
    """A record is there when the first question of its epoch is, and fits the closing before it."""
    learner = kind.learner(eps=0.03)
    seen: list[EpochRecord] = []
    while isinstance(questions := learner.ask(3), tuple):
        while len(seen) < len(learner.epochs):
            seen.append(learner.epochs[len(seen)])
            assert learner.epochs[-1].survivors == learner.result.survivors
        for question in questions:
            learner.tell(question.id, kind.answer(question))
    assert len(seen) > 2
    assert learner.epochs[: len(seen)] == seen
    assert [closing.epoch for closing in learner.closings] == list(range(len(learner.epochs)))
    for closing, record in zip(learner.closings, learner.epochs[1:], strict=False):
        assert record.first_round == closing.n_rounds
        assert (record.leader, record.survivors) == (closing.leader, closing.survivors)
        rivals = [row for row, _ in record.mixture]
        assert rivals == ([h for h in record.survivors if h != record.leader] if kind.protocol == "one-shot" else [])
        assert all(0 < need <= 1 for _, need in record.mixture)
    last, result = learner.closings[-1], learner.result
    assert (last.n_rounds, last.n_answers) == (result.n_rounds, result.n_answers)
    assert (last.leader, last.survivors) == (result.chosen, result.survivors)


@streams
@pytest.mark.parametrize("epoch", [0, 1, 2])
def test_an_epoch_is_fixed_before_its_examples_are_drawn(kind: Kind, epoch: int) -> None:
    """With other examples from the beginning of an epoch on, its record is the same; only later ones differ."""
    learner = kind.learner(eps=0.001, delta=0.001)
    run_until(kind, learner, epoch + 2)
    changed = EXAMPLES.copy()
    first = N_LOOKED_AT + learner.epochs[epoch].first_round
    changed[first:] = (changed[first:] + 1) % N_ITEMS
    other = kind.learner(eps=0.001, delta=0.001, examples=changed)
    run_until(kind, other, epoch + 2, changed)
    assert learner.epochs[: epoch + 1] == other.epochs[: epoch + 1]
    assert learner._ledger.answers != other._ledger.answers


@streams
def test_examples_of_the_vote_are_used_for_nothing_else(kind: Kind) -> None:
    learner = kind.learner()
    told = run_telling(kind, learner)
    assert min(q.item for q, _ in told) >= N_LOOKED_AT


@every_kind
def test_an_epoch_does_not_look_at_its_own_answers(kind: Kind) -> None:
    """With other answers in an epoch, its record and all of its first questions are the same."""
    answers: tuple[Rater, ...] = (
        kind.answer,
        lambda q: Answer.CANT_TELL if q.epoch == 1 else kind.answer(q),
    )
    records, questions = [], []
    for answer in answers:
        learner = kind.learner(eps=0.001, delta=0.001)
        while isinstance(asked := learner.ask(1), tuple) and asked[0].epoch == 0:
            learner.tell(asked[0].id, answer(asked[0]))
        of_next = [asked[0]] if isinstance(asked, tuple) else []
        for _ in range(6):
            learner.tell(of_next[-1].id, answer(of_next[-1]))
            asked = learner.ask(1)
            assert isinstance(asked, tuple)
            of_next += asked
        questions.append(of_next)
        records.append(list(learner.epochs))
    assert records[0] == records[1]
    assert len(records[0]) == 2
    assert questions[0] == questions[1]


def test_an_example_that_the_class_refuses_is_not_lost() -> None:
    """Neither among those of the vote nor among those of a round; the run can go on where it was."""
    for bad in (3, N_LOOKED_AT + 70):
        examples = [*EXAMPLES[:bad].tolist(), 999, *EXAMPLES[bad:200].tolist()]
        learner = CertifiedLearner(CLASS, Stream(examples), eps=0.001, delta=0.001)
        for _ in range(2):
            with pytest.raises(InvalidInputError):
                run(learner, SimulatedRater(TRUTH[EXAMPLES[:bad]]))
        assert learner._n_rounds == (0 if bad == 3 else 64)
