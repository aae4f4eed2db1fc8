"""Twins: implementations that break their contract on purpose. Each must fail its suite, where it breaks it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from onebit.errors import AlreadyAnsweredError
from onebit.hypotheses.base import Examples, Hypothesis, HypothesisClass, Labels, Weights
from onebit.hypotheses.finite import PredictionTable
from onebit.learners.contract import Learner, Result
from onebit.learners.items import ItemSource, Stream
from onebit.learners.paper.final import ErmResult
from onebit.learners.paper.uniform import UniformLearner
from onebit.log.chain import Head
from onebit.raters import Rater
from onebit.records import Answer, Question, Status
from onebit.store import schema
from onebit.store.locks import Lock
from onebit.store.store import Entry, Log, Store
from onebit.testing import ExactSuite, SteadyRaterSuite, StoreSuite, StreamLearnerSuite
from onebit.testing.problem import MODELS
from onebit.testing.stores import Open

FAILURES = (Exception, pytest.fail.Exception)


def failing(suite: object, *arguments: Callable[[], object]) -> set[str]:
    """The names of the tests of a suite that fail; each is given fresh ``arguments``."""
    failed = set()
    for name in sorted(name for name in dir(suite) if name.startswith("test_")):
        try:
            getattr(suite, name)(*(make() for make in arguments))
        except FAILURES:
            failed.add(name)
    return failed


class Honest(UniformLearner):
    """Keeps the contract."""


class TakesASecondAnswer(UniformLearner):
    def tell(self, question_id: int, answer: Answer | int) -> None:
        try:
            super().tell(question_id, answer)
        except AlreadyAnsweredError:
            self._ledger.answers[question_id] = answer


class BelievesTheLastAnswer(UniformLearner):
    """Chooses by what came in last, so that quick raters decide."""

    def tell(self, question_id: int, answer: Answer | int) -> None:
        super().tell(question_id, answer)
        self._last = question_id

    @property
    def result(self) -> ErmResult:
        found = super().result
        return replace(found, chosen=None if found.chosen is None else self._last % 2 + 1)


class NeverWaits(UniformLearner):
    def ask(self, n: int = 1) -> tuple[Question, ...] | Status:
        asked = super().ask(n)
        return Status.DONE if asked is Status.WAIT else asked


class DrawsByBatch(UniformLearner):
    """Asks about other labels when it is asked for many questions at once."""

    def _choose(self, x: Examples, uniform: NDArray[np.float64]) -> tuple[Labels, NDArray[np.float64]]:
        label, propensity = super()._choose(x, uniform)
        return (label + label.size - 1) % self._n_labels, propensity


class IsNeverAsked(UniformLearner):
    """Says that what it asked could not have been asked."""

    def _choose(self, x: Examples, uniform: NDArray[np.float64]) -> tuple[Labels, NDArray[np.float64]]:
        label, propensity = super()._choose(x, uniform)
        return label, np.where(label == 0, 0.0, propensity)


class DropsExamples(UniformLearner):
    """Draws two examples for each question, and forgets one."""

    def __init__(self, hypotheses: HypothesisClass, items: ItemSource, n_rounds: int, **options: Any) -> None:
        super().__init__(hypotheses, EverySecond(items) if isinstance(items, Stream) else items, n_rounds, **options)


class EverySecond:
    def __init__(self, items: ItemSource) -> None:
        self._items, self.size = items, items.size
        self.put_back, self.take = items.put_back, items.take

    def draw(self, uniform: NDArray[np.float64]) -> NDArray[np.int64]:
        return self._items.draw(np.repeat(uniform, 2))[::2]


@pytest.mark.parametrize(
    ("learner", "breaks"),
    [
        (Honest, None),
        (TakesASecondAnswer, "test_bad_answers_change_nothing"),
        (BelievesTheLastAnswer, "test_order_of_answers_does_not_matter"),
        (NeverWaits, "test_waits_for_an_open_question_and_then_is_done"),
        (DrawsByBatch, "test_batches_of_any_size_ask_the_same"),
        (IsNeverAsked, "test_questions_are_numbered_and_sound"),
        (DropsExamples, "test_a_stream_is_taken_in_order"),
    ],
)
def test_a_learner_that_breaks_the_contract_fails(learner: type[UniformLearner], breaks: str | None) -> None:
    class Suite(StreamLearnerSuite):
        def make_on(self, items: ItemSource, seed: int) -> Learner[Result]:
            return learner(MODELS, items, 200, seed=seed)

    failed = failing(Suite())
    assert (breaks in failed) if breaks else not failed


TABLE = np.random.default_rng(5).integers(0, 3, (7, 6))


class Greedy(PredictionTable):
    """Says that it is exact, and takes every weight for positive."""

    def _columns(self, x: Examples, y: Labels, weight: Weights, n_columns: int) -> tuple[Hypothesis, ...]:
        return super()._columns(x, y, abs(weight), n_columns)


class RepeatsColumns(PredictionTable):
    def _columns(self, x: Examples, y: Labels, weight: Weights, n_columns: int) -> tuple[Hypothesis, ...]:
        return super()._columns(x, y, weight, 1) * n_columns


class SaysFloats(PredictionTable):
    def predict(self, h: Hypothesis, x: Examples) -> Labels:
        return super().predict(h, x).astype(np.float64)


class ChecksNothing(PredictionTable):
    def _checked_sample(self, x: Examples, y: Any, weight: Any) -> tuple[Labels, Weights]:
        n = min(len(x), len(y), len(weight))
        return np.resize(np.zeros(n, dtype=np.int64), len(x)), np.ones(len(x))


@pytest.mark.parametrize(
    ("made", "breaks"),
    [
        (PredictionTable, None),
        (Greedy, "test_erm_is_brute_force"),
        (RepeatsColumns, "test_columns_are_few_and_begin_with_the_minimiser"),
        (SaysFloats, "test_it_predicts_one_label_or_an_abstention_for_each_example"),
        (ChecksNothing, "test_bad_samples_are_refused"),
    ],
)
def test_a_class_that_breaks_the_contract_fails(made: type[PredictionTable], breaks: str | None) -> None:
    class Suite(ExactSuite):
        def make(self) -> HypothesisClass:
            return made(TABLE, 3)

        def examples(self, rng: np.random.Generator, n: int) -> Any:
            return rng.integers(0, 6, n)

        def patterns(self, x: Any) -> Any:
            return TABLE[:, x]

    failed = failing(Suite())
    assert (breaks in failed) if breaks else not failed


def honest(question: Question) -> Answer | int:
    if question.label is None:
        return question.item % 3
    return Answer.YES if question.label == question.item % 3 else Answer.NO


def says_true(question: Question) -> Any:
    return honest(question) is Answer.YES


def obliges(question: Question) -> Answer | int:
    """Says yes to what is seldom asked."""
    return Answer.YES if question.propensity < 0.3 else honest(question)


def likes_two_labels(question: Question) -> Answer | int:
    return Answer.YES if question.label == 0 else honest(question)


def invents_labels(question: Question) -> Answer | int:
    return 3 if question.label is None else honest(question)


@pytest.mark.parametrize(
    ("rater", "breaks"),
    [
        (honest, None),
        (says_true, "test_it_says_yes_no_or_cant_tell"),
        (obliges, "test_a_verdict_does_not_depend_on_when_and_how_it_is_asked"),
        (likes_two_labels, "test_no_item_has_more_right_labels_than_declared"),
        (invents_labels, "test_asked_for_the_label_it_gives_one_or_refuses"),
    ],
)
def test_a_rater_that_breaks_the_contract_fails(rater: Rater, breaks: str | None) -> None:
    class Suite(SteadyRaterSuite):
        n_items, n_labels, most_yes, gives_labels = 9, 3, 1, True

        def make(self) -> Rater:
            return rater

    failed = failing(Suite())
    assert (breaks in failed) if breaks else not failed


class WritesOneByOne(Store):
    def append(self, study_id: int, first: int, texts: Sequence[str]) -> str:
        return [super(WritesOneByOne, self).append(study_id, first + i, [each]) for i, each in enumerate(texts)][-1]


class LetsTheSlowerWin(Store):
    """Writes over what another has written."""

    def append(self, study_id: int, first: int, texts: Sequence[str]) -> str:
        table = schema.events
        with self.writing() as connection:
            connection.execute(table.delete().where((table.c.study_id == study_id) & (table.c.seq >= first)))
        return super().append(study_id, first, texts)


class ForgetsTheLast(Store):
    def log(self, study_id: int) -> Log:
        log = super().log(study_id)
        return replace(log, events=log.events[:2])


class HasNoLocks(Store):
    def lock(self, entry: Entry) -> Lock:
        return Unlocked()


class Unlocked:
    begins = ""

    def note(self, head: Head) -> None:
        """Nothing is kept."""

    def is_held(self) -> bool:
        return True

    def release(self, forget: bool = False) -> None:
        """Nothing was held."""


class DeletesNothing(Store):
    """Gives a study another name instead."""

    def delete(self, name: str) -> None:
        with self.writing() as connection:
            connection.execute(schema.studies.update().values(name="gone").where(schema.studies.c.name == name))


@pytest.mark.parametrize(
    ("made", "breaks"),
    [
        (Store, None),
        (WritesOneByOne, "test_a_batch_is_written_whole_or_not_at_all"),
        (LetsTheSlowerWin, "test_of_two_writers_the_slower_is_told"),
        (ForgetsTheLast, "test_keeps_studies_apart_and_their_events_in_order"),
        (HasNoLocks, "test_one_writer_at_a_time"),
        (DeletesNothing, "test_delete_removes_one_study_with_everything"),
    ],
)
def test_a_store_that_breaks_the_contract_fails(made: type[Store], breaks: str | None, tmp_path: Path) -> None:
    opened: list[Store] = []

    def fresh() -> Open:
        """A function that opens one store, empty at first."""
        url = f"sqlite:///{tmp_path}/{len(opened)}.db"

        def open_one() -> Store:
            opened.append(made(url))
            return opened[-1]

        return open_one

    failed = failing(StoreSuite(), fresh)
    for store in opened:
        store.close()
    assert (breaks in failed) if breaks else not failed
