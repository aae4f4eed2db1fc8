"""The training learner's contract: what is asked, what is never asked, when it stops, and what it says."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace

import numpy as np
import pytest

from onebit.errors import AlreadyAnsweredError, InvalidInputError, UnknownQuestionError
from onebit.learners.contract import run
from onebit.learners.training import audit as auditing
from onebit.learners.training.audit import audit_for_target, audited_interval, fewest_that_show
from onebit.learners.training.constants import AUDIT_QUESTIONS, EPOCH_SHARE, FEW_KNOWN, MIN_QUESTIONS, MOST_EACH
from onebit.learners.training.epoch import draw_guesses
from onebit.learners.training.learner import TrainingLearner
from onebit.learners.training.model import Floats, Known
from onebit.learners.training.result import how_it_ended
from onebit.raters import SimulatedRater
from onebit.records import DELTA, Answer, Question, RunStatus, Status, TrainingProtocol


class Memory:
    """A model that knows what it was told of each example, an integer, and guesses by two fixed members otherwise."""

    gamma = 0.2
    weights = np.array([0.75, 0.25])

    def __init__(self, n_labels: int, knows: np.ndarray | None = None) -> None:
        self.n_labels, self.knows, self.taught = n_labels, knows, [0]

    def beliefs(self, x: np.ndarray) -> Floats:
        first = x % self.n_labels if self.knows is None else self.knows[x]
        members = np.stack([first, (first + 1) % self.n_labels])
        return 0.5 * np.eye(self.n_labels)[members] + 0.5 / self.n_labels

    def learn(self, known: Known, rng: np.random.Generator) -> None:
        self.taught.append(known.n_answers)
        self.seen = set(known.x.tolist())


TRUTH = np.random.default_rng(0).integers(0, 5, 200)


def learner(protocol: TrainingProtocol, model: Memory | None = None, **options: object) -> TrainingLearner:
    settings: dict = {"budget": 300, "audit": 20, "seed": 1} | options
    return TrainingLearner(model or Memory(5), np.arange(200), 5, protocol=protocol, **settings)


@pytest.mark.parametrize("protocol", ["one-shot", "follow-up"])
def test_a_run_spends_the_budget_and_audits_on_items_it_never_trained_on(protocol: TrainingProtocol) -> None:
    model = Memory(5)
    trained = learner(protocol, model)
    asked: list[Question] = []

    def rater(question: Question) -> Answer | int:
        asked.append(question)
        return SimulatedRater(TRUTH)(question)

    result = run(trained, rater, at_a_time=7)
    assert result.status is RunStatus.COMPLETE
    assert result.n_answers == len(asked) == 300
    audit = asked[-20:]
    assert len({question.item for question in audit} - model.seen) == 20
    assert not {question.item for question in audit} & {question.item for question in asked[:-20]}
    assert result.accuracy is not None
    yes = sum(TRUTH[question.item] == question.label for question in audit)
    assert result.accuracy.estimate == yes / 20
    assert result.accuracy.low < result.accuracy.high


@pytest.mark.parametrize("protocol", ["one-shot", "follow-up"])
def test_nothing_is_asked_twice_and_nothing_after_a_yes(protocol: TrainingProtocol) -> None:
    labels_of: defaultdict[int, list[int | None]] = defaultdict(list)

    def rater(question: Question) -> Answer | int:
        assert TRUTH[question.item] not in labels_of[question.item]
        assert question.label not in labels_of[question.item]
        labels_of[question.item].append(question.label)
        return SimulatedRater(TRUTH)(question)

    result = run(learner(protocol, budget=5000, audit=0), rater)
    # All labels become known, each confirmed or the only one left, long before the budget ends.
    assert result.n_answers < 1000
    assert all(TRUTH[each.item] == each.label for each in result.verified)
    assert len(result.verified) + sum(len(asked) == 4 for asked in labels_of.values()) >= 200


def test_an_item_is_new_once() -> None:
    """Whoever is heeded is weighed by new items; those that come again are what guesses failed at."""

    class Watching(Memory):
        def __init__(self) -> None:
            super().__init__(5)
            self.new = Counter[int]()

        def learn(self, known: Known, rng: np.random.Generator) -> None:
            super().learn(known, rng)
            if known.is_new is not None:
                self.new.update(known.x[known.is_new].tolist())

    model = Watching()
    times = Counter[int]()

    def rater(question: Question) -> Answer | int:
        times[question.item] += 1
        return SimulatedRater(TRUTH)(question)

    run(learner("one-shot", model, budget=5000, audit=0), rater)
    assert max(times.values()) > 1
    assert set(model.new) == set(times)
    assert set(model.new.values()) == {1}


def test_follow_up_asks_the_same_item_until_a_yes() -> None:
    trained = learner("follow-up", audit=0)
    for _ in range(60):
        questions = trained.ask(1)
        assert isinstance(questions, tuple)
        trained.tell(questions[0].id, SimulatedRater(TRUTH)(questions[0]))
    known = {each.item for each in trained.result.verified}
    assert len(known) > 10


def test_follow_up_learns_before_hard_items_use_up_everything() -> None:
    """With many labels and bad guesses an epoch ends all the same, and its items come back; nothing is asked twice."""
    n_labels = 20
    truth = np.random.default_rng(2).integers(0, n_labels, 300)
    # The right label is the last that the model would ask about.
    trained = TrainingLearner(
        Memory(n_labels, knows=(truth + 1) % n_labels),
        np.arange(300),
        n_labels,
        budget=3000,
        protocol="follow-up",
        audit=0,
    )
    asked: list[Question] = []

    def rater(question: Question) -> Answer | int:
        asked.append(question)
        return SimulatedRater(truth)(question)

    run(trained, rater, at_a_time=7)
    times = Counter((question.epoch, question.item) for question in asked)
    most, known, noes = {True: 0, False: 0}, set[int](), Counter[int]()
    for epoch in range(len(trained.epochs)):
        few = len(known) < FEW_KNOWN * n_labels
        of = [question for question in asked if question.epoch == epoch]
        most[few] = max(most[few], *(times[epoch, each.item] for each in of))
        n_before = next(i for i, each in enumerate(asked) if each.epoch == epoch)
        assert few or len(of) <= MOST_EACH * max(MIN_QUESTIONS, int(EPOCH_SHARE * n_before))
        noes.update(each.item for each in of if truth[each.item] != each.label)
        known |= {each.item for each in of if truth[each.item] == each.label or noes[each.item] == n_labels - 1}
    # At first items are asked about to their end.
    assert most[True] > n_labels // 2
    assert most[False] == MOST_EACH
    assert max(Counter(item for _, item in times).values()) > 1
    assert len({(question.item, question.label) for question in asked}) == len(asked)


@pytest.mark.parametrize("protocol", ["one-shot", "follow-up"])
def test_the_order_and_number_of_answers_at_a_time_do_not_matter(protocol: TrainingProtocol) -> None:
    """All but the last epoch of training, which the budget may cut short wherever it is."""

    def asked(at_a_time: int, backwards: bool) -> Counter[tuple[int, int, int | None]]:
        trained, questions_of = learner(protocol), defaultdict(list)
        while isinstance(questions := trained.ask(at_a_time), tuple):
            for question in reversed(questions) if backwards else questions:
                questions_of[question.epoch].append(question)
                trained.tell(question.id, SimulatedRater(TRUTH)(question))
        # The audit of 20 items is one epoch, the last.
        del questions_of[max(questions_of) - 1]
        return Counter((q.epoch, q.item, q.label) for of in questions_of.values() for q in of)

    assert asked(1, backwards=False) == asked(64, backwards=True)


def test_propensities_are_those_of_the_draw() -> None:
    model, n = Memory(4), 20_000
    possible = np.array([[True, False, True, True]] * n)
    beliefs = model.beliefs(np.zeros(n, dtype=np.int64))
    label, q = draw_guesses(beliefs, model.weights, model.gamma, possible, np.random.default_rng(3).random(n))
    # The second member's guess, 1, is denied: its best of the rest is the first of those equal.
    expected = np.array([0.8 + 0.2 / 3, 0.0, 0.2 / 3, 0.2 / 3])
    np.testing.assert_allclose(np.bincount(label, minlength=4) / n, expected, atol=0.012)
    np.testing.assert_allclose(q, expected[label])


def test_a_target_stops_the_run_once_an_audit_shows_it() -> None:
    truth = np.tile(TRUTH, 20)
    trained = TrainingLearner(
        Memory(5, knows=truth), np.arange(truth.size), 5, budget=4000, target=0.8, audit=400, protocol="one-shot"
    )
    result = run(trained, SimulatedRater(truth))
    assert result.status is RunStatus.COMPLETE
    assert result.accuracy is not None
    assert result.accuracy.low >= 0.8
    assert result.n_answers < 1500
    wrong = run(learner("one-shot", Memory(5, knows=(TRUTH + 2) % 5), target=0.8, audit=40), SimulatedRater(TRUTH))
    assert wrong.status is RunStatus.BUDGET
    assert wrong.accuracy is not None
    assert wrong.accuracy.high < 0.8


@pytest.mark.parametrize("protocol", ["one-shot", "follow-up"])
def test_an_answer_that_was_taken_back_never_counted(protocol: TrainingProtocol) -> None:
    plain, wavering = learner(protocol), learner(protocol)
    while isinstance(questions := plain.ask(3), tuple):
        assert wavering.ask(3) == questions
        for question in questions:
            said = SimulatedRater(TRUTH)(question)
            plain.tell(question.id, said)
            for wrong in (Answer.NO, Answer.YES, Answer.CANT_TELL):
                wavering.tell(question.id, wrong)
                wavering.untell(question.id)
            wavering.tell(question.id, said)
    assert wavering.epochs == plain.epochs
    assert wavering.result.verified == plain.result.verified
    assert wavering.result.accuracy == plain.result.accuracy
    assert wavering.result.n_cant_tell == 0


def test_an_answer_that_was_built_on_stands() -> None:
    trained = learner("follow-up", audit=0)
    (first,) = asked(trained, 1)
    with pytest.raises(UnknownQuestionError, match="no answer"):
        trained.untell(first.id)
    trained.tell(first.id, Answer.NO)
    again = next(question for question in asked(trained, 50) if question.item == first.item)
    with pytest.raises(UnknownQuestionError, match="next label was already asked"):
        trained.untell(first.id)
    trained.tell(again.id, Answer.NO)
    # The last answer about the item can go, the one before cannot.
    with pytest.raises(UnknownQuestionError, match="next label was already asked"):
        trained.untell(first.id)
    trained.untell(again.id)
    one_shot = learner("one-shot", audit=0)
    questions = asked(one_shot, 50)
    for question in questions:
        one_shot.tell(question.id, Answer.YES)
    assert asked(one_shot, 1)[0].epoch == 1
    with pytest.raises(UnknownQuestionError, match="same epoch"):
        one_shot.untell(questions[0].id)


def asked(trained: TrainingLearner, n: int) -> tuple[Question, ...]:
    questions = trained.ask(n)
    assert isinstance(questions, tuple)
    return questions


@pytest.mark.parametrize("protocol", ["one-shot", "follow-up"])
@pytest.mark.parametrize("small_audits", [False, True])
def test_a_run_is_gone_through_again_without_its_model(
    protocol: TrainingProtocol, small_audits: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the plans of its epochs, its questions and the answers; also one of an earlier version, with small audits."""
    truth = np.tile(TRUTH, 20)
    options: dict = {"budget": 5000, "target": 0.95, "audit": 200 if small_audits else 400, "protocol": protocol}
    with monkeypatch.context() as patch:
        if small_audits:
            patch.setattr(auditing, "fewest_that_show", lambda *_: 1)
        first = TrainingLearner(Memory(5, knows=truth), np.arange(truth.size), 5, **options)
        result = run(first, SimulatedRater(truth), at_a_time=7)
    ignorant = Memory(5)
    again = TrainingLearner(ignorant, np.arange(truth.size), 5, **options)
    again.restore(len(first.epochs))
    for plan in first.epochs:
        again.adopt(plan)
        for question in (each for each in first._ledger.questions if each.epoch == plan.number):
            again.ask_again([question])
            again.tell(question.id, SimulatedRater(truth)(question))
    assert ignorant.taught == [0]
    assert any(plan.audits for plan in (first.epochs[:-5] if small_audits else first.epochs))
    for name in ("status", "n_answers", "accuracy", "recent_accuracy", "verified", "progress"):
        assert getattr(again.result, name) == getattr(result, name)


def test_a_run_gone_through_again_asks_about_new_items_and_next_labels_at_once() -> None:
    """The epoch is the log's, so what is believed of its items is found out when the first next label is asked."""
    first, again = learner("follow-up"), learner("follow-up")
    questions = asked(first, 2)
    again.adopt(first.epochs[0])
    again.ask_again(questions)
    for question in questions:
        for each in (first, again):
            each.tell(question.id, Answer.NO)
    # The other items of the epoch come first, then those whose guess was denied, with another label.
    coming = asked(again, MIN_QUESTIONS)
    assert coming == asked(first, MIN_QUESTIONS)
    assert {each.item for each in questions} < {each.item for each in coming}


def test_a_course_that_cannot_have_been_is_refused() -> None:
    first = learner("one-shot")
    questions = asked(first, 3)
    plan = first.epochs[0]
    for other in (
        replace(plan, items=(*plan.items[1:], plan.items[0])),
        replace(plan, number=1),
        replace(plan, audits=True),
        replace(plan, fresh=(not plan.fresh[0], *plan.fresh[1:])),
    ):
        with pytest.raises(InvalidInputError, match=r"asks about (other items|items that could not come then)"):
            learner("one-shot").adopt(other)
    again = learner("one-shot")
    with pytest.raises(InvalidInputError, match="not asked now"):
        again.ask_again(questions)
    again.adopt(plan)
    with pytest.raises(InvalidInputError, match="before the one before it is over"):
        again.adopt(replace(plan, number=1))
    with pytest.raises(InvalidInputError, match="which is not next"):
        again.ask_again([replace(questions[0], label=(questions[0].label or 0) + 1)])
    with pytest.raises(InvalidInputError, match="by its plan"):
        again.ask_again([replace(questions[0], propensity=0.5)])


def test_cant_tell_takes_an_item_out_of_training() -> None:
    model = Memory(5)
    trained = learner("follow-up", model, budget=100, audit=0)
    result = run(trained, lambda question: Answer.CANT_TELL if question.item % 2 else Answer.YES)
    assert result.n_cant_tell > 20
    assert all(item % 2 == 0 for item in model.seen)


def test_open_questions_are_waited_for_and_answers_count_once() -> None:
    trained = learner("one-shot")
    questions = trained.ask(1000)
    assert isinstance(questions, tuple)
    assert trained.ask(1) is Status.WAIT
    trained.tell(questions[0].id, Answer.NO)
    with pytest.raises(AlreadyAnsweredError):
        trained.tell(questions[0].id, Answer.YES)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"budget": 0}, "budget is 0"),
        ({"audit": 300}, "audit is 300"),
        ({"audit": 0, "target": 0.9}, "without an audit"),
        ({"target": 1.5}, "target is 1.5"),
        ({"delta": 0.0}, "delta is 0.0"),
    ],
)
def test_what_cannot_be_is_refused(options: dict, says: str) -> None:
    with pytest.raises(InvalidInputError, match=says):
        learner("one-shot", **options)


@pytest.mark.parametrize("target", [0.5, 0.9, 0.95, 0.99])
@pytest.mark.parametrize("error_rates", [(0.0, 0.0), (0.05, 0.1)])
def test_the_fewest_answers_that_show_a_target(target: float, error_rates: tuple[float, float]) -> None:
    least = fewest_that_show(target, 0.05, error_rates)
    lows = [audited_interval((n, 0, n), None, 0.05, error_rates).low for n in (least - 1, least)]
    assert lows[0] < target <= lows[1]


def test_without_an_audit_a_target_has_one_that_can_show_it() -> None:
    least = fewest_that_show(0.95, 0.05)
    assert audit_for_target(0.95, None, 10_000, 10_000, (0, 10_000), 0.05) == 4 * least
    assert audit_for_target(0.95, None, 400, 10_000, (0, 10_000), 0.05) == 200, "half of the budget"
    assert audit_for_target(0.95, None, 10_000, 1000, (0, 1000), 0.05) == 200, "a fifth of the items"
    assert audit_for_target(0.95, None, 10_000, 1000, (250, 300), 0.05) == 250, "what was set aside before"
    assert audit_for_target(0.95, least, 10_000, 1000, (0, 1000), 0.05) == least
    for audit, budget, sample in ((None, 200, (0, 1000)), (None, 5000, (0, 100)), (least - 1, 5000, (0, 1000))):
        with pytest.raises(InvalidInputError, match=f"takes an audit of {least} answers to be shown"):
            audit_for_target(0.95, audit, budget, 1000, sample, 0.05)


def test_an_audit_on_the_way_is_large_enough_to_show_the_target() -> None:
    truth = np.random.default_rng(0).integers(0, 5, 2000)
    least = fewest_that_show(0.95, DELTA)
    trained = TrainingLearner(
        Memory(5, knows=truth), np.arange(2000), 5, budget=4000, target=0.95, audit=2 * least, protocol="one-shot"
    )
    result = run(trained, SimulatedRater(truth))
    assert result.status is RunStatus.COMPLETE
    assert result.accuracy is not None
    assert least <= result.accuracy.n_answers < least + AUDIT_QUESTIONS
    assert result.n_answers < 1500


@pytest.mark.parametrize("protocol", ["one-shot", "follow-up"])
def test_an_audit_that_missed_its_target_teaches_nothing(protocol: TrainingProtocol) -> None:
    """Training goes on after it: whoever goes on from the history audits the same items again."""
    truth = np.random.default_rng(0).integers(0, 5, 2000)
    knows = np.where(np.random.default_rng(1).random(2000) < 0.85, truth, (truth + 2) % 5)
    model = Memory(5, knows)
    trained = TrainingLearner(model, np.arange(2000), 5, budget=3000, target=0.85, audit=400, protocol=protocol, seed=1)
    run(trained, SimulatedRater(truth))
    kinds = [plan.audits for plan in trained.epochs]
    assert False in kinds[kinds.index(True) :], "training goes on after an audit"
    assert model.seen
    assert not model.seen & set(trained.sample.aside)


def test_the_status_says_why_a_target_was_not_shown() -> None:
    assert how_it_ended(RunStatus.COMPLETE, 5, 9) == "complete"
    assert how_it_ended(RunStatus.BUDGET, 9, 9) == "the target was not shown: the budget was used"
    assert how_it_ended(RunStatus.BUDGET, 5, 9).startswith("the target was not shown: there was nothing left to ask")
