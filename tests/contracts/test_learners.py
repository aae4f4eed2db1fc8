"""The shipped suites over every learner, and what the learners of the paper keep beyond them."""

from __future__ import annotations

from typing import Any, ClassVar, get_args

import numpy as np
import pytest

import onebit
from onebit.errors import AlreadyAnsweredError, InvalidInputError, UnknownQuestionError
from onebit.estimate.bernstein import AccuracyIntervals
from onebit.hypotheses.finite import FiniteClass
from onebit.hypotheses.intervals import IntervalClass
from onebit.hypotheses.lists import ListTable
from onebit.learners.certified import CertifiedLearner, PanelLearner
from onebit.learners.certified.constants import LOOKED_AT_EACH
from onebit.learners.contract import BoundedResult, Learner, Result, run
from onebit.learners.items import ItemSource, Pool, Stream
from onebit.learners.paper.algorithm1 import PaperLearner
from onebit.learners.paper.cover import NatarajanLearner, NatarajanResult
from onebit.learners.paper.final import ErmResult
from onebit.learners.paper.full_information import FullInformationLearner
from onebit.learners.paper.hedge import HedgeLearner
from onebit.learners.paper.lists import ListLearner
from onebit.learners.paper.schedule import CoverPlan, Plan
from onebit.learners.paper.sequel_sizes import HedgePlan
from onebit.learners.paper.uniform import UniformLearner
from onebit.learners.training.learner import TrainingLearner
from onebit.learners.training.model import Floats, Known
from onebit.learners.training.result import TrainingResult
from onebit.raters import CallableRater, SimulatedRater
from onebit.records import Answer, AskingProtocol, Question, RunStatus, TrainingProtocol
from onebit.research.rivals import (
    BanditronLearner,
    Exp4Learner,
    ExploreFirstLearner,
    IltcbLearner,
    PolicyEliminationLearner,
    RandomizedUcbLearner,
    SparseRegretLearner,
)
from onebit.testing import LearnerSuite, StreamLearnerSuite
from onebit.testing.problem import BEST, MODELS, N_ITEMS, N_LABELS, PREDICTIONS, TRUTH

N_MODELS = len(PREDICTIONS)
N_ROUNDS = 200
rater = SimulatedRater(TRUTH)


def pool() -> Pool:
    return Pool(np.arange(N_ITEMS))


def intervals_of(result: Result) -> AccuracyIntervals:
    """The intervals of a learner of the paper; through a cover they are about its members."""
    finite = result.finite if isinstance(result, NatarajanResult) else result
    assert isinstance(finite, ErmResult)
    assert finite.intervals is not None
    return finite.intervals


class PaperSuite(StreamLearnerSuite):
    """What the learners of the paper keep beyond the contract: intervals, and rounds of a number that is given."""

    has_two_phases: ClassVar[bool] = True

    def test_what_is_achieved_is_known_from_intervals(self) -> None:
        result = self.run_to_end(self.make(1))
        assert isinstance(result, BoundedResult)
        assert result.achieved_eps is not None
        assert result.n_rounds >= N_ROUNDS
        assert intervals_of(result).estimate.shape == (N_MODELS,)

    def test_cant_tell_makes_nobody_right(self) -> None:
        def unsure(question: Question) -> Answer | int:
            # The first phase is answered in full, so that there is a second.
            return rater(question) if question.epoch == 0 and self.has_two_phases else Answer.CANT_TELL

        result = self.run_to_end(self.make(10), unsure)
        assert result.status is RunStatus.COMPLETE
        assert intervals_of(result).estimate.tolist() == [0, 0, 0]

    def test_a_refused_example_is_not_lost(self) -> None:
        """An item that the class cannot take stops the run with an error, again and again, and skips nothing."""
        learner = self.make_on(Stream([*range(12), *range(40), 99, *range(40), *range(40)]), 12)
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
        # Item 99 is the 53rd of the stream: everything before its batch was asked about, in order, and nothing after.
        assert told == list(range(told[0], told[0] + len(told)))
        assert 52 - 8 < told[-1] < 52


def rater_by_stream(question: Question) -> Answer | int:
    """The truth of the stream above: item numbers count draws."""
    truth = int(TRUTH[(question.item - 12) % 40])
    return truth if question.label is None else Answer.YES if question.label == truth else Answer.NO


class TestPaper(PaperSuite):
    def make_on(self, items: ItemSource, seed: int) -> Learner[Result]:
        return PaperLearner(MODELS, items, Plan(20, N_ROUNDS), seed=seed)


class TestPaperSpider(PaperSuite):
    def make_on(self, items: ItemSource, seed: int) -> Learner[Result]:
        return PaperLearner(MODELS, items, Plan(20, N_ROUNDS, n_steps=30), solver="spider", seed=seed)


class TestNatarajan(PaperSuite):
    n_unlabelled = 10

    def make_on(self, items: ItemSource, seed: int) -> Learner[Result]:
        def learn(finite: FiniteClass, rest: ItemSource) -> PaperLearner:
            return PaperLearner(finite, rest, Plan(20, N_ROUNDS), seed=seed)

        cover = CoverPlan(self.n_unlabelled, radius=0.2, failure=0.05)
        return NatarajanLearner(MODELS, items, cover, learn, seed=seed)


class TestHedge(PaperSuite):
    def make_on(self, items: ItemSource, seed: int) -> Learner[Result]:
        return HedgeLearner(MODELS, items, HedgePlan(100, N_ROUNDS), seed=seed)


class TestLists(LearnerSuite):
    """Lists of two: what each model says, and the next label. Both are asked about each item that is drawn."""

    def make(self, seed: int) -> Learner[Result]:
        pairs = ListTable(np.stack([PREDICTIONS, (PREDICTIONS + 1) % N_LABELS], axis=2), N_LABELS)
        return ListLearner(pairs, pool(), HedgePlan(100, N_ROUNDS, list_size=2), seed=seed)


class TestUniform(PaperSuite):
    has_two_phases = False

    def make_on(self, items: ItemSource, seed: int) -> Learner[Result]:
        return UniformLearner(MODELS, items, N_ROUNDS, seed=seed)


class TestFullInformation(PaperSuite):
    has_two_phases = False

    def make_on(self, items: ItemSource, seed: int) -> Learner[Result]:
        return FullInformationLearner(MODELS, items, N_ROUNDS, seed=seed)


class CertifiedSuite(StreamLearnerSuite):
    """The leader is known at any time; examples are looked at for the vote, and those skipped on which models agree."""

    protocol: ClassVar[AskingProtocol]
    leads_always = True
    n_unlabelled = LOOKED_AT_EACH * N_MODELS

    def make_on(self, items: ItemSource, seed: int) -> Learner[Result]:
        return CertifiedLearner(MODELS, items, eps=0.05, delta=1e-3, protocol=self.protocol, seed=seed)

    def is_asked_about(self, item: int) -> bool:
        return len(set(PREDICTIONS[:, item].tolist())) > 1

    def test_what_is_certified_is_known(self) -> None:
        result = self.run_to_end(self.make(1))
        assert isinstance(result, BoundedResult)
        assert result.achieved_eps is not None
        assert result.achieved_eps <= 0.05


class TestCertifiedOneShot(CertifiedSuite):
    protocol = "one-shot"


class TestCertifiedFollowUp(CertifiedSuite):
    protocol = "follow-up"


class TestCertifiedPanel(CertifiedSuite):
    """Nobody votes, so no example is only looked at; delta is so small that all contend to the end of a stream."""

    protocol = "panel"
    n_unlabelled = 0

    def make_on(self, items: ItemSource, seed: int) -> Learner[Result]:
        return PanelLearner(MODELS, items, eps=0.05, delta=1e-6, seed=seed)


class TestCertifiedLabels(CertifiedSuite):
    protocol = "labels"


def test_every_protocol_has_its_suite() -> None:
    assert {suite.protocol for suite in CertifiedSuite.__subclasses__()} == set(get_args(AskingProtocol))


class RivalSuite(StreamLearnerSuite):
    """They were made for regret: their rounds are not independent, and what they promise is their own theorem."""

    def test_nothing_is_bounded_but_by_its_theorem(self) -> None:
        result = self.run_to_end(self.make(1))
        assert not isinstance(result, BoundedResult)
        assert result.n_rounds == N_ROUNDS


class TestExp4(RivalSuite):
    def make_on(self, items: ItemSource, seed: int) -> Learner[Result]:
        return Exp4Learner(MODELS, items, N_ROUNDS, conversion="heaviest", block=4, seed=seed)


class TestSparseRegret(RivalSuite):
    def make_on(self, items: ItemSource, seed: int) -> Learner[Result]:
        return SparseRegretLearner(MODELS, items, N_ROUNDS, rate=0.2, barrier=1.0, block=4, seed=seed)


class TestPolicyElimination(RivalSuite):
    def make_on(self, items: ItemSource, seed: int) -> Learner[Result]:
        return PolicyEliminationLearner(MODELS, items, N_ROUNDS, seed=seed)


class TestExploreFirst(RivalSuite):
    def make_on(self, items: ItemSource, seed: int) -> Learner[Result]:
        return ExploreFirstLearner(MODELS, items, N_ROUNDS, n_exploring=N_ROUNDS - 20, seed=seed)


class TestRandomizedUcb(RivalSuite):
    def make_on(self, items: ItemSource, seed: int) -> Learner[Result]:
        return RandomizedUcbLearner(MODELS, items, N_ROUNDS, seed=seed)


class TestIltcb(RivalSuite):
    def make_on(self, items: ItemSource, seed: int) -> Learner[Result]:
        return IltcbLearner(MODELS, items, N_ROUNDS, seed=seed)


class TestBanditron(RivalSuite):
    """A linear classifier of the models' votes."""

    def make_on(self, items: ItemSource, seed: int) -> Learner[Result]:
        n_features = N_MODELS * N_LABELS
        return BanditronLearner(n_features, N_LABELS, items, N_ROUNDS, gamma=0.3, features=votes, seed=seed)

    def is_good(self, chosen: Any) -> bool:
        # It may be better than any of the models.
        said = votes(np.arange(N_ITEMS)) @ np.array(chosen.rows).T
        return bool((said.argmax(axis=1) == TRUTH).mean() > 0.5)


def votes(x: Any) -> np.ndarray:
    """What each model says, as features: one for each model and label."""
    said = MODELS.predictions(x)
    return np.eye(N_LABELS)[said.T].reshape(said.shape[1], -1) / N_MODELS


class Memory:
    """A model that guesses as the best model does until it was told what is right."""

    gamma = 0.2
    weights = np.array([0.75, 0.25])

    def __init__(self) -> None:
        self._says = np.eye(N_LABELS)[PREDICTIONS[[BEST, 1]]]

    def beliefs(self, x: np.ndarray) -> Floats:
        return 0.5 * self._says[:, x] + 0.5 / N_LABELS

    def learn(self, known: Known, rng: np.random.Generator) -> None:
        sure = known.possible.sum(axis=1) == 1
        self._says[:, known.x[sure]] = known.possible[sure]


class TrainingSuite(LearnerSuite):
    protocol: ClassVar[TrainingProtocol]
    #: The model is there from the beginning.
    leads_always = True

    def make(self, seed: int) -> Learner[Result]:
        x = np.arange(N_ITEMS)
        return TrainingLearner(Memory(), x, N_LABELS, budget=60, audit=8, protocol=self.protocol, seed=seed)

    def is_good(self, chosen: Any) -> bool:
        return bool((self.shown(chosen).argmax(axis=1) == TRUTH).mean() > 0.8)

    def shown(self, chosen: Any) -> Any:
        return chosen.beliefs(np.arange(N_ITEMS)).mean(axis=0)


class TestTrainingOneShot(TrainingSuite):
    protocol = "one-shot"


class TestTrainingFollowUp(TrainingSuite):
    protocol = "follow-up"
    numbered = ("verified",)

    def test_the_same_labels_are_verified_in_any_order_of_answers(self) -> None:
        first, second = self.run_told(4), self.run_told(4, backwards=True)
        assert isinstance(first, TrainingResult)
        assert isinstance(second, TrainingResult)
        assert {(each.item, each.label) for each in first.verified} == {(e.item, e.label) for e in second.verified}


def test_every_public_learner_has_its_suite() -> None:
    suites = [each for each in globals().values() if isinstance(each, type) and each.__name__.startswith("Test")]
    made = {type(suite().make(0)).__name__ for suite in suites if issubclass(suite, LearnerSuite)}
    assert made >= {name for name in onebit.__all__ if name.endswith("Learner")}


def test_errors_say_what_was_asked_and_answered() -> None:
    learner = UniformLearner(MODELS, pool(), N_ROUNDS, seed=9)
    questions = learner.ask(3)
    assert isinstance(questions, tuple)
    learner.tell(0, rater(questions[0]))
    with pytest.raises(AlreadyAnsweredError, match="question 0 already has the answer"):
        learner.tell(0, rater(questions[0]))
    with pytest.raises(UnknownQuestionError, match=r"^question 99 was never asked; 3 questions"):
        learner.tell(99, Answer.YES)
    with pytest.raises(InvalidInputError, match="at least 1"):
        learner.ask(0)


def test_a_callable_can_rate() -> None:
    asked = CallableRater(lambda item, label: None if item == 0 else bool(TRUTH[item] == label))
    assert run(UniformLearner(MODELS, pool(), 500), asked).chosen == BEST


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
        UniformLearner(MODELS, pool(), **{"n_rounds": 10, **bad})


def test_without_a_finite_class_nothing_is_promised() -> None:
    line = IntervalClass(1, 2)
    learner = UniformLearner(line, Pool(np.linspace(0, 1, 9)), 20)
    result = run(learner, CallableRater(lambda item, label: label == (item > 4)))
    assert result.promise.startswith("none")
    assert result.achieved_eps is None
