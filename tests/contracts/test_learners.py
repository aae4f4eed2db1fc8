"""One suite for every learner: ask, tell in any order, result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest
from tests.problems import models_of_accuracy

from onebit.errors import AlreadyAnsweredError, InvalidInputError, UnknownQuestionError
from onebit.hypotheses.finite import PredictionTable
from onebit.hypotheses.intervals import IntervalClass
from onebit.learners.base import Learner, Result, run
from onebit.learners.certified import CertifiedLearner
from onebit.learners.certified.constants import LOOKED_AT_EACH
from onebit.learners.certified.statement import CertifiedResult
from onebit.learners.items import ItemSource, Pool, Stream
from onebit.learners.paper import PaperLearner
from onebit.learners.paper.cover import NatarajanLearner
from onebit.learners.paper.full_information import FullInformationLearner
from onebit.learners.paper.schedule import CoverPlan, Plan
from onebit.learners.paper.uniform import UniformLearner
from onebit.raters import CallableRater, SimulatedRater
from onebit.records import Answer, Question, RunStatus, Status
from onebit.research.rivals.banditron import BanditronLearner, Linear
from onebit.research.rivals.exp4 import Exp4Learner
from onebit.research.rivals.iltcb import IltcbLearner
from onebit.research.rivals.online import RivalResult
from onebit.research.rivals.policy_elimination import PolicyEliminationLearner
from onebit.research.rivals.sparse_regret import SparseRegretLearner

N_LABELS = 4
TABLE, TRUTH = models_of_accuracy(np.random.default_rng(0), np.array([0.3, 0.5, 0.9]), 40, N_LABELS)
CLASS = PredictionTable(TABLE, N_LABELS)
#: Features that the models' votes make.
VOTES = TABLE.shape[0] * N_LABELS
Make = Callable[[ItemSource, int], Learner[Result]]

PHASED: dict[str, Make] = {
    "paper": lambda items, seed: PaperLearner(CLASS, items, Plan(20, 200), seed=seed),
    "paper-spider": lambda items, seed: PaperLearner(
        CLASS, items, Plan(20, 200, n_steps=30), solver="spider", seed=seed
    ),
    "natarajan": lambda items, seed: NatarajanLearner(
        CLASS,
        items,
        CoverPlan(N_UNLABELLED, radius=0.2, failure=0.05),
        lambda finite, rest: PaperLearner(finite, rest, Plan(20, 200), seed=seed),
        seed=seed,
    ),
    "uniform": lambda items, seed: UniformLearner(CLASS, items, 200, seed=seed),
    "full-information": lambda items, seed: FullInformationLearner(CLASS, items, 200, seed=seed),
}
#: They know their leader at any time, skip examples on which models agree, and draw examples an epoch ahead.
CERTIFIED: dict[str, Make] = {
    "certified-one-shot": lambda items, seed: CertifiedLearner(CLASS, items, eps=0.05, delta=1e-3, seed=seed),
    "certified-follow-up": lambda items, seed: CertifiedLearner(
        CLASS, items, eps=0.05, delta=1e-3, protocol="follow-up", seed=seed
    ),
    "certified-labels": lambda items, seed: CertifiedLearner(
        CLASS, items, eps=0.05, delta=1e-3, protocol="labels", seed=seed
    ),
}
#: Made for regret: they learn after every round, or when the rounds have doubled, and wait for those answers.
RIVALS: dict[str, Make] = {
    "exp4": lambda items, seed: Exp4Learner(CLASS, items, 200, conversion="heaviest", block=4, seed=seed),
    "sparse-regret": lambda items, seed: SparseRegretLearner(
        CLASS, items, 200, rate=0.2, barrier=1.0, block=4, seed=seed
    ),
    "policy-elimination": lambda items, seed: PolicyEliminationLearner(CLASS, items, 200, seed=seed),
    "iltcb": lambda items, seed: IltcbLearner(CLASS, items, 200, seed=seed),
    "banditron": lambda items, seed: BanditronLearner(
        VOTES, N_LABELS, items, 200, gamma=0.3, features=votes, seed=seed
    ),
}
LEARNERS = PHASED | CERTIFIED | RIVALS
#: Those that have three questions to ask at once from the start.
BATCHED = PHASED | CERTIFIED | {name: RIVALS[name] for name in ("exp4", "sparse-regret")}
#: Examples that a learner draws before it asks.
N_UNLABELLED = 10
unlabelled_of = {"natarajan": N_UNLABELLED} | dict.fromkeys(CERTIFIED, LOOKED_AT_EACH * TABLE.shape[0])
every_learner = pytest.mark.parametrize("make", LEARNERS.values(), ids=LEARNERS.keys())
every_batched_learner = pytest.mark.parametrize("make", BATCHED.values(), ids=BATCHED.keys())
every_phased_learner = pytest.mark.parametrize("make", PHASED.values(), ids=PHASED.keys())
rater = SimulatedRater(TRUTH)


def votes(x: Any) -> np.ndarray:
    """What each model says, as features: one for each model and label."""
    said = CLASS.predictions(x)
    return np.eye(N_LABELS)[said.T].reshape(said.shape[1], -1) / len(TABLE)


def pool() -> Pool:
    return Pool(np.arange(TRUTH.size))


def comparable(result: Result) -> dict[str, Any]:
    """A result as plain values."""

    def plain(value: Any) -> Any:
        return {k: plain(v) for k, v in value.items()} if isinstance(value, dict) else np.asarray(value).tolist()

    return {k: plain(v) for k, v in asdict(result).items() if k != "status"}


@every_learner
def test_runs_to_its_end_and_finds_the_best(make: Make) -> None:
    result = run(make(pool(), 1), rater)
    assert result.status is RunStatus.COMPLETE
    assert result.promise
    if isinstance(result, RivalResult):
        # Their rounds are not independent; what they promise is their own theorem.
        assert result.intervals is None
        assert result.achieved_eps is None
        assert result.n_rounds == 200
        # A linear classifier of the votes may be better than any of the models.
        said = votes(np.arange(40)) @ np.array(result.chosen.rows).T if isinstance(result.chosen, Linear) else None
        assert result.chosen == 2 if said is None else (said.argmax(axis=1) == TRUTH).mean() > 0.5
        return
    assert result.chosen == 2
    assert result.achieved_eps is not None
    if not isinstance(result, CertifiedResult):
        # Its rounds are as many as needed, and its promise is about differences, not about each accuracy.
        assert result.intervals is not None
        assert result.n_rounds >= 200


@every_learner
def test_questions_are_numbered_and_sound(make: Make) -> None:
    learner = make(pool(), 2)
    seen: list[Question] = []

    def seeing(question: Question) -> Answer | int:
        seen.append(question)
        return rater(question)

    run(learner, seeing, at_a_time=7)
    assert [q.id for q in seen] == list(range(len(seen)))
    assert all(0 < q.propensity <= 1 for q in seen)
    assert all(0 <= q.item < TRUTH.size for q in seen)
    assert all(q.label is None or 0 <= q.label < N_LABELS for q in seen)
    assert [q.epoch for q in seen] == sorted(q.epoch for q in seen)


@every_learner
def test_same_seed_same_run(make: Make) -> None:
    a, b = run(make(pool(), 3), rater), run(make(pool(), 3), rater)
    assert comparable(a) == comparable(b)


@every_learner
def test_order_of_answers_does_not_matter(make: Make) -> None:
    def told(reverse: bool) -> Result:
        learner = make(pool(), 4)
        while isinstance(questions := learner.ask(50), tuple):
            for question in reversed(questions) if reverse else questions:
                learner.tell(question.id, rater(question))
        return learner.result

    assert comparable(told(False)) == comparable(told(True))


@every_learner
def test_waits_for_open_questions_and_then_is_done(make: Make) -> None:
    learner = make(pool(), 5)
    held: Question | None = None
    while (questions := learner.ask(40)) not in (Status.WAIT, Status.DONE):
        assert isinstance(questions, tuple)
        for question in questions:
            if held is None:
                held = question
            else:
                learner.tell(question.id, rater(question))
    assert questions is Status.WAIT
    assert held is not None
    assert learner.result.status is RunStatus.RUNNING
    # A certified leader holds at any time, with the eps that is certified by then.
    assert learner.result.chosen is None or isinstance(learner.result, CertifiedResult)
    learner.tell(held.id, rater(held))
    assert run(learner, rater).status is RunStatus.COMPLETE
    assert learner.ask() is Status.DONE


@every_learner
def test_batches_of_any_size_draw_the_same_examples(make: Make) -> None:
    one, many = make(pool(), 6), make(pool(), 6)
    singly = [question for _ in range(12) if isinstance(questions := one.ask(), tuple) for question in questions]
    assert tuple(singly) == many.ask(12)


@pytest.mark.parametrize("name", LEARNERS)
def test_a_stream_that_ends_is_not_success(name: str) -> None:
    learner = LEARNERS[name](Stream(iter(range(15))), 7)
    result = run(learner, rater)
    assert result.status is RunStatus.EXHAUSTED
    assert result.chosen is None or isinstance(result, CertifiedResult)
    assert result.n_rounds == 15 - unlabelled_of.get(name, 0)
    assert learner.ask() is Status.DONE


@pytest.mark.parametrize("name", LEARNERS)
def test_a_stream_is_taken_in_order(name: str) -> None:
    learner = LEARNERS[name](Stream(iter(range(30))), 8)
    questions: list[Question] = []
    while isinstance(more := learner.ask(30 - len(questions) or 1), tuple):
        questions += more
        if name in RIVALS:
            for question in more:
                learner.tell(question.id, rater(question))
    asked = range(30)[unlabelled_of.get(name, 0) :]
    if name in CERTIFIED:
        assert [q.item for q in questions] == [item for item in asked if len(set(TABLE[:, item].tolist())) > 1]
    else:
        assert [q.item for q in questions] == list(asked)


@every_batched_learner
def test_bad_answers_change_nothing(make: Make) -> None:
    learner, twin = make(pool(), 9), make(pool(), 9)
    questions = learner.ask(3)
    assert isinstance(questions, tuple)
    assert twin.ask(3) == questions
    first = questions[0]
    for each in (learner, twin):
        each.tell(first.id, rater(first))
    with pytest.raises(AlreadyAnsweredError, match="question 0 already has the answer"):
        learner.tell(first.id, rater(first))
    with pytest.raises(UnknownQuestionError, match=r"^question 99 was never asked; 3 questions"):
        learner.tell(99, Answer.YES)
    with pytest.raises(UnknownQuestionError):
        learner.tell(-1, Answer.YES)
    with pytest.raises(InvalidInputError):
        learner.tell(1, 2 if first.label is not None else Answer.YES)
    for bad in (N_LABELS, -1, 1.5, True, "yes", None, [1]):
        with pytest.raises(InvalidInputError):
            learner.tell(1, bad)  # type: ignore[arg-type]
    for unknown in ("0", 1.0, None):
        with pytest.raises(UnknownQuestionError):
            learner.tell(unknown, Answer.YES)  # type: ignore[arg-type]
    for n in (0, -1, 2.5, "3", True):
        with pytest.raises(InvalidInputError, match="at least 1"):
            learner.ask(n)  # type: ignore[arg-type]
    for each in (learner, twin):
        for question in questions[1:]:
            each.tell(question.id, rater(question))
    assert comparable(run(learner, rater)) == comparable(run(twin, rater))


@every_phased_learner
def test_cant_tell_makes_nobody_right(make: Make) -> None:
    def unsure(question: Question) -> Answer | int:
        # The first epoch of learners that have two is answered in full, so that they get to the second.
        only = question.epoch == 0 and make not in (LEARNERS["uniform"], LEARNERS["full-information"])
        return rater(question) if only else Answer.CANT_TELL

    result = run(make(pool(), 10), unsure)
    assert result.status is RunStatus.COMPLETE
    assert result.intervals is not None
    assert result.intervals.estimate.tolist() == [0, 0, 0]


@every_learner
def test_a_stream_that_ends_with_open_questions_is_still_running(make: Make) -> None:
    learner = make(Stream(range(15)), 11)
    questions = learner.ask(50)
    assert isinstance(questions, tuple)
    assert learner.ask() is Status.WAIT
    seen = [learner.result.status]
    for question in questions:
        learner.tell(question.id, rater(question))
    # Follow-ups about the same examples may remain.
    seen.append(run(learner, rater).status)
    assert seen == [RunStatus.RUNNING, RunStatus.EXHAUSTED]


@every_phased_learner
def test_a_refused_example_is_not_lost(make: Make) -> None:
    """An item that the class cannot take stops the run with an error, again and again, and skips nothing."""
    learner = make(Stream([*range(12), *range(40), 99, *range(40), *range(40)]), 12)
    told: list[int] = []

    def until_refused() -> None:
        while isinstance(questions := learner.ask(8), tuple):
            for question in questions:
                learner.tell(question.id, rater_by_stream(question))
                told.append(question.item)

    for _ in range(2):
        with pytest.raises(InvalidInputError):
            until_refused()
        assert learner.result.n_rounds == len(told)
    # Item 99 is the 53rd of the stream: everything before its batch was asked about, in order, and nothing after it.
    assert told == list(range(told[0], told[0] + len(told)))
    assert 52 - 8 < told[-1] < 52


def rater_by_stream(question: Question) -> Answer | int:
    """The truth of the stream above: item numbers count draws."""
    truth = int(TRUTH[(question.item - 12) % 40])
    return truth if question.label is None else Answer.YES if question.label == truth else Answer.NO


def test_a_callable_can_rate() -> None:
    asked = CallableRater(lambda item, label: None if item == 0 else bool(TRUTH[item] == label))
    assert run(UniformLearner(CLASS, pool(), 500), asked).chosen == 2


@pytest.mark.parametrize("said", ["no", 0, 1, float("nan")])
def test_a_callable_that_says_neither_true_nor_false_is_refused(said: object) -> None:
    question = Question(0, 0, 0, 1.0, 0)
    with pytest.raises(InvalidInputError, match="True, False, None or an Answer"):
        CallableRater(lambda item, label: said)(question)  # type: ignore[arg-type,return-value]
    assert CallableRater(lambda item, label: Answer.NO)(question) is Answer.NO


def test_what_is_no_pool_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="the pool is empty"):
        Pool(np.arange(0))
    with pytest.raises(InvalidInputError, match="give an array"):
        Pool(5)
    assert Pool([1, 2]).take(np.array([1])).tolist() == [2]


@pytest.mark.parametrize(
    "bad", [{"n_rounds": 1}, {"n_rounds": float("nan")}, {"delta": 2}, {"seed": -1}, {"seed": 1.5}]
)
def test_bad_options_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError):
        UniformLearner(CLASS, pool(), **{"n_rounds": 10, **bad})


def test_without_a_finite_class_nothing_is_promised() -> None:
    line = IntervalClass(1, 2)
    learner = UniformLearner(line, Pool(np.linspace(0, 1, 9)), 20)
    result = run(learner, CallableRater(lambda item, label: label == (item > 4)))
    assert result.promise.startswith("none")
    assert result.achieved_eps is None
