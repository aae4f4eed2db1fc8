"""The training learner's contract: what is asked, what is never asked, when it stops, and what it says."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
import pytest

from onebit.errors import AlreadyAnsweredError, InvalidInputError
from onebit.learners.base import run
from onebit.learners.training.epoch import draw_guesses
from onebit.learners.training.learner import TrainingLearner, TrainingProtocol
from onebit.learners.training.model import Floats, Known
from onebit.raters import SimulatedRater
from onebit.records import Answer, Question, RunStatus, Status


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


def test_follow_up_asks_the_same_item_until_a_yes() -> None:
    trained = learner("follow-up", audit=0)
    for _ in range(60):
        questions = trained.ask(1)
        assert isinstance(questions, tuple)
        trained.tell(questions[0].id, SimulatedRater(TRUTH)(questions[0]))
    known = {each.item for each in trained.result.verified}
    assert len(known) > 10


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
    label, q = draw_guesses(model, beliefs, possible, np.random.default_rng(3).random(n))
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
