"""The order of things: who answers what when does not matter, answers can be taken back, runs replay bit by bit."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from tests.unit.learners.certified.certified_kinds import (
    FOLLOW_UP_POOL,
    KINDS,
    N_LABELS,
    ONE_SHOT_POOL,
    Kind,
    Told,
    by_epoch,
    every_kind,
    everything,
    follow_up,
    run_telling,
    run_until,
)

from onebit.errors import AlreadyAnsweredError, InvalidInputError, UnknownQuestionError
from onebit.hypotheses.finite import PredictionTable
from onebit.learners.certified import CertifiedLearner
from onebit.learners.certified.constants import MOST_GROWTH, QUESTIONS_PER_RATER
from onebit.learners.items import Pool
from onebit.records import Answer, Question, RunStatus, Status

TABLE_LENGTH = 4


@every_kind
def test_same_seed_same_run(kind: Kind) -> None:
    a, b, other = kind.learner(), kind.learner(), kind.learner(seed=2)
    told = run_telling(kind, a)
    assert told == run_telling(kind, b)
    assert everything(a) == everything(b)
    # What a stream yields is not the learner's choice, and the label itself is all that is asked about it.
    assert (told != run_telling(kind, other)) == (kind.pool or kind.protocol != "labels")


@every_kind
def test_one_rater_is_asked_the_same_with_and_without_the_hint(kind: Kind) -> None:
    plain, hinted = kind.learner(eps=0.05), kind.learner(eps=0.05)
    hinted.expect(1)
    assert run_telling(kind, plain) == run_telling(kind, hinted)
    assert everything(plain) == everything(hinted)


@every_kind
def test_many_raters_have_other_epochs_that_replay_without_the_hint(kind: Kind) -> None:
    alone, many, replayed = (kind.learner(eps=0.02) for _ in range(3))
    many.expect(30)
    run_telling(kind, alone)
    told = run_telling(kind, many)
    # In one-shot epochs overlap instead.
    assert len(many.epochs) < len(alone.epochs) or any(record.n_open for record in many.epochs)
    # The first knows nothing yet, and is as it is with one rater.
    assert many.epochs[0] == alone.epochs[0]
    for record in many.epochs:
        replayed.adopt(record)
    assert run_telling(kind, replayed) == told
    assert everything(replayed) == everything(many)


def test_an_epoch_has_questions_for_all_raters_but_grows_no_faster_than_what_is_known() -> None:
    kind = KINDS["labels-stream"]
    learner = kind.learner(eps=1e-3)
    learner.expect(20)
    run_until(kind, learner, 8)
    n_answers = [0, *(closing.n_answers for closing in learner.closings)]
    n_asked = np.diff(n_answers)
    assert (n_asked[1:] <= 1.5 * MOST_GROWTH * np.array(n_answers[1:-1])).all()
    # As many as are wanted from the third epoch on, up to chance: items are passed over at random.
    assert (n_asked[3:] > 0.6 * QUESTIONS_PER_RATER * 20).all()
    assert (n_asked < 1.6 * QUESTIONS_PER_RATER * 20).all()


@every_kind
@pytest.mark.parametrize("at_a_time", [1, 3, 10_000])
def test_how_many_at_a_time_does_not_matter(kind: Kind, at_a_time: int) -> None:
    """The same questions in every epoch and the same closings, bit by bit; follow-ups may come in another order."""
    some, others = kind.learner(eps=0.05), kind.learner(eps=0.05)
    told = run_telling(kind, some, at_a_time)
    assert by_epoch(told) == by_epoch(run_telling(kind, others, 50))
    assert everything(some) == everything(others)


@every_kind
@pytest.mark.parametrize("order", ["reversed", "shuffled", "late"])
def test_order_of_answers_does_not_matter(kind: Kind, order: str) -> None:
    """Late: half of the answers come only when nothing else is left to ask, the last asked first."""
    learner, rng = kind.learner(eps=0.05), np.random.default_rng(5)
    held: list[Question] = []
    told: Told = []

    def tell(question: Question) -> None:
        answer = kind.answer(question)
        told.append((question, answer))
        learner.tell(question.id, answer)

    while (asked := learner.ask(40)) is not Status.DONE:
        if asked is Status.WAIT:
            tell(held.pop())
            continue
        assert isinstance(asked, tuple)
        now = list(asked)[::-1] if order == "reversed" else [asked[i] for i in rng.permutation(len(asked))]
        if order == "late":
            held += [q for q in asked if q.item % 2]
            now = [q for q in asked if q.item % 2 == 0]
        for question in now:
            tell(question)
    straight = kind.learner(eps=0.05)
    assert by_epoch(told) == by_epoch(run_telling(kind, straight))
    assert everything(learner) == everything(straight)
    # Not only what is told, but all that it rests on.
    for leader in range(TABLE_LENGTH):
        for c in (0.0, 0.03):
            a, b = (each._evidence.wealth.log_wealth(leader, c) for each in (learner, straight))
            assert a.tobytes() == b.tobytes()


@every_kind
def test_a_run_is_its_seed_and_its_answers(kind: Kind) -> None:
    """Told again, whatever the answers were: a rater who errs, and can't tell at times, replayed from what was said."""
    rng = np.random.default_rng(6)
    said: dict[tuple[int, int | None], Answer | int] = {}

    def unreliable(q: Question) -> Answer | int:
        if (q.item, q.label) not in said:
            answers = [kind.answer(q), kind.answer(q), kind.wrong_answer(q), Answer.CANT_TELL]
            said[q.item, q.label] = answers[int(rng.integers(4))]
        return said[q.item, q.label]

    first, again = kind.learner(budget=3000), kind.learner(budget=3000)
    told = run_telling(kind, first, rater=unreliable)
    replayed = run_telling(kind, again, at_a_time=7, rater=lambda q: said[q.item, q.label])
    assert by_epoch(told) == by_epoch(replayed)
    assert everything(first) == everything(again)
    assert first.result.n_cant_tell > 0


@every_kind
def test_reading_the_result_changes_nothing(kind: Kind) -> None:
    learner, read = kind.learner(), []
    while isinstance(questions := learner.ask(9), tuple):
        for question in questions:
            learner.tell(question.id, kind.answer(question))
            read.append(learner.result)
    straight = kind.learner()
    run_telling(kind, straight)
    assert everything(learner) == everything(straight)
    # What is known only grows: survivors go, rounds come, the leader is one of the survivors.
    for before, after in itertools.pairwise(read):
        assert set(after.survivors) <= set(before.survivors)
        assert after.n_rounds >= before.n_rounds
        assert after.chosen in after.survivors
    assert any(len(result.survivors) < TABLE_LENGTH for result in read)


@every_kind
def test_waits_for_open_questions_and_then_is_done(kind: Kind) -> None:
    learner = kind.learner()
    asked = learner.ask(10_000)
    assert isinstance(asked, tuple)
    assert learner.ask() is Status.WAIT
    for question in asked[:-1]:
        learner.tell(question.id, kind.answer(question))
    # All but one answer: the epoch is not closed, since wealth uses whole beginnings.
    waiting = learner.result
    assert waiting.status is RunStatus.RUNNING
    assert waiting.n_rounds == 0
    assert learner.closings == []
    learner.tell(asked[-1].id, kind.answer(asked[-1]))
    run_telling(kind, learner)
    done = learner.result
    assert done.status is RunStatus.COMPLETE
    assert learner.ask() is Status.DONE


@every_kind
def test_bad_answers_change_nothing(kind: Kind) -> None:
    learner, straight = kind.learner(), kind.learner()
    asked = learner.ask(4)
    assert isinstance(asked, tuple)
    assert straight.ask(4) == asked
    learner.tell(1, kind.answer(asked[1]))
    with pytest.raises(AlreadyAnsweredError, match="question 1 already has the answer"):
        learner.tell(1, kind.answer(asked[1]))
    with pytest.raises(UnknownQuestionError):
        learner.tell(4, kind.answer(asked[1]))
    wrong_kind = Answer.NO if kind.protocol == "labels" else 2
    for bad in (wrong_kind, N_LABELS, -1, 0.5, "yes", None):
        with pytest.raises(InvalidInputError):
            learner.tell(0, bad)  # type: ignore[arg-type]
    for each in (learner, straight):
        for question in asked:
            if each is straight or question.id != 1:
                each.tell(question.id, kind.answer(question))
        run_telling(kind, each)
    assert everything(learner) == everything(straight)


# Taking an answer back


@every_kind
@pytest.mark.parametrize("at_a_time", [1, 20])
def test_an_answer_taken_back_leaves_no_trace(kind: Kind, at_a_time: int) -> None:
    """Half of the answers are first wrong, or can't tell, and are corrected; some only after others were told."""
    learner, rng = kind.learner(), np.random.default_rng(8)
    told: Told = []
    while isinstance(asked := learner.ask(at_a_time), tuple):
        corrected = [q for q in asked if rng.random() < 0.5]
        for q in asked:
            first = [kind.wrong_answer(q), Answer.CANT_TELL][int(rng.integers(2))]
            learner.tell(q.id, first if q in corrected else kind.answer(q))
        for i in rng.permutation(len(corrected)):
            learner.untell(corrected[i].id)
        for q in corrected:
            learner.tell(q.id, kind.answer(q))
        told += [(q, kind.answer(q)) for q in asked]
    straight = kind.learner()
    assert by_epoch(told) == by_epoch(run_telling(kind, straight))
    assert everything(learner) == everything(straight)


@pytest.mark.parametrize("kind", [k for k in KINDS.values() if k.protocol != "follow-up"])
def test_a_question_whose_answer_was_taken_back_is_open(kind: Kind) -> None:
    learner = kind.learner()
    asked = learner.ask(10_000)
    assert isinstance(asked, tuple)
    for q in asked:
        learner.tell(q.id, Answer.CANT_TELL)
    # Nothing was asked for since, so the epoch has not closed yet.
    learner.untell(asked[0].id)
    assert learner.ask() is Status.WAIT
    result = learner.result
    assert (result.n_answers, result.n_cant_tell, result.n_rounds) == (len(asked) - 1, len(asked) - 1, 0)
    with pytest.raises(UnknownQuestionError):
        learner.untell(asked[0].id)
    learner.tell(asked[0].id, kind.answer(asked[0]))
    with pytest.raises(AlreadyAnsweredError):
        learner.tell(asked[0].id, kind.answer(asked[0]))


@follow_up
def test_an_answer_is_taken_back_before_the_next_label_is_asked(kind: Kind) -> None:
    """Also the yes after which a check would come, and the answer to the check."""
    learner = kind.learner()
    asked = learner.ask(10_000)
    assert isinstance(asked, tuple)
    for answer in (Answer.YES, Answer.CANT_TELL, Answer.NO):
        learner.tell(asked[0].id, answer)
        learner.untell(asked[0].id)
        assert learner.ask() is Status.WAIT
    learner.tell(asked[0].id, Answer.YES)
    check = learner.ask()
    assert isinstance(check, tuple)
    assert check[0].item == asked[0].item
    for answer in (Answer.YES, Answer.NO):
        learner.tell(check[0].id, answer)
        assert learner.ask() is Status.WAIT
        learner.untell(check[0].id)
    with pytest.raises(UnknownQuestionError, match="next label"):
        learner.untell(asked[0].id)


@every_kind
def test_an_answer_of_a_closed_epoch_stands(kind: Kind) -> None:
    learner, straight = kind.learner(eps=0.01), kind.learner(eps=0.01)
    while isinstance(asked := learner.ask(10_000), tuple) and asked[0].epoch == 0:
        for q in asked:
            learner.tell(q.id, kind.answer(q))
    assert isinstance(asked, tuple)
    for bad in (0, asked[0].id, 10**6, -1, None, "0", [0]):
        with pytest.raises(UnknownQuestionError):
            learner.untell(bad)  # type: ignore[arg-type]
    for q in asked:
        learner.tell(q.id, kind.answer(q))
    run_telling(kind, learner)
    with pytest.raises(UnknownQuestionError):
        learner.untell(learner._ledger.questions[-1].id)
    run_telling(kind, straight, 10_000)
    assert everything(learner) == everything(straight)


def test_rounds_that_share_a_question_are_all_open_again() -> None:
    """Two items, two labels, 64 rounds or more: each of the four questions settles many."""
    hypotheses = PredictionTable([[0, 0], [1, 1]], 2)
    learner = CertifiedLearner(hypotheses, Pool(np.arange(2)), eps=0.001, delta=0.001)
    asked = learner.ask(100)
    assert isinstance(asked, tuple)
    for q in asked:
        learner.tell(q.id, Answer.NO)
    assert learner._rounds[0][0].epoch.unsettled == 0
    learner.untell(asked[0].id)
    assert learner._rounds[0][0].epoch.unsettled > 1
    learner.tell(asked[0].id, Answer.YES)
    # The other right label is as it was told: wrong. So the model that says the first is ahead, and all is known.
    result = learner.result
    assert result.status is RunStatus.COMPLETE
    assert result.chosen == asked[0].label


@follow_up
@pytest.mark.parametrize("next_answer", [None, Answer.NO, Answer.YES, Answer.CANT_TELL])
def test_an_answer_on_which_the_next_label_was_asked_stands(kind: Kind, next_answer: Answer | None) -> None:
    """Also when that label has its answer: it would not have been asked, or the yes to it would be a second one."""
    learner = kind.learner(eps=0.01)
    asked = learner.ask(1)
    assert isinstance(asked, tuple)
    first = asked[0]
    learner.tell(first.id, Answer.NO)
    following = follow_up_of(learner, first)
    if next_answer is not None:
        learner.tell(following.id, next_answer)
    with pytest.raises(UnknownQuestionError, match="next label"):
        learner.untell(first.id)
    if next_answer is not None:
        # The last one can be taken back, and then still not the one before.
        learner.untell(following.id)
        with pytest.raises(UnknownQuestionError, match="next label"):
            learner.untell(first.id)


def follow_up_of(learner: CertifiedLearner, first: Question) -> Question:
    """The next question about the same item, all others of the epoch left open."""
    while isinstance(asked := learner.ask(1), tuple):
        if asked[0].item == first.item:
            return asked[0]
    raise AssertionError("the item has another label to ask")


@pytest.mark.parametrize("kind", [ONE_SHOT_POOL, FOLLOW_UP_POOL], ids=["one-shot", "follow-up"])
def test_the_last_answer_of_a_budget_can_be_taken_back_until_the_cut(kind: Kind) -> None:
    learner = kind.learner(eps=0.001, budget=5)
    asked = learner.ask(5)
    assert isinstance(asked, tuple)
    for q in asked:
        learner.tell(q.id, kind.answer(q))
    learner.untell(4)
    seen = [learner.result.status]
    learner.tell(4, kind.answer(asked[4]))
    seen.append(learner.result.status)
    assert seen == [RunStatus.RUNNING, RunStatus.BUDGET]
    with pytest.raises(UnknownQuestionError):
        learner.untell(4)
