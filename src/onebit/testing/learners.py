"""The suites for learners: ask, tell in any order, result."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from onebit.errors import AlreadyAnsweredError, InvalidInputError, UnknownQuestionError
from onebit.hypotheses.finite import FiniteClass
from onebit.learners.contract import Learner, Result
from onebit.learners.items import ItemSource, Pool, Stream
from onebit.raters import SimulatedRater
from onebit.records import Answer, Question, RunStatus, Status
from onebit.testing.problem import BEST, MODELS, N_ITEMS, N_LABELS, TRUTH

Says = Callable[[Question], Answer | int]
#: A learner that asks more about forty items is taken to have no end.
MOST_QUESTIONS = 20_000


class LearnerSuite:
    """What every learner keeps, on a pool of 40 items with 4 labels and 3 models, of which the last is the best.

    Override ``make``; and ``is_good`` where what is chosen is not the number of a model, ``shown`` where two equal
    choices are not ``==``, ``leads_always`` where something is chosen before the run is complete.

    >>> class TestMine(LearnerSuite):
    ...     def make(self, seed):
    ...         return MyLearner(self.hypotheses, Pool(np.arange(self.n_items)), seed=seed)
    """

    hypotheses: FiniteClass = MODELS
    n_items: int = N_ITEMS
    n_labels: int = N_LABELS
    #: Whether ``chosen`` may be told while the run goes on, or when it ended early.
    leads_always: bool = False
    #: Fields of the result that hold numbers of questions: those of follow-ups go by the order of the answers.
    numbered: tuple[str, ...] = ()

    def make(self, seed: int) -> Learner[Result]:
        """A fresh learner about items 0 to ``n_items`` - 1, that ends by itself and hangs on the seed alone."""
        raise NotImplementedError("a suite of a learner needs make(self, seed), which returns a fresh learner")

    def is_good(self, chosen: Any) -> bool:
        """Whether a complete run may have chosen this."""
        return bool(chosen == BEST)

    def shown(self, chosen: Any) -> Any:
        """What two equal choices have in common: numbers, texts, arrays, records."""
        return chosen

    def rater(self, question: Question) -> Answer | int:
        """What is right; asked for the label itself, the label."""
        return SimulatedRater(TRUTH)(question)

    def test_a_run_ends_with_a_good_choice_and_a_promise(self) -> None:
        result = self.run_to_end(self.make(1))
        assert result.status is RunStatus.COMPLETE
        assert result.promise
        assert result.n_rounds > 0
        assert self.is_good(result.chosen)

    def test_questions_are_numbered_and_sound(self) -> None:
        seen: list[Question] = []

        def seeing(question: Question) -> Answer | int:
            seen.append(question)
            return self.rater(question)

        self.run_to_end(self.make(2), seeing, at_a_time=7)
        assert [q.id for q in seen] == list(range(len(seen)))
        assert all(0 < q.propensity <= 1 for q in seen)
        assert all(0 <= q.item < self.n_items for q in seen)
        assert all(q.label is None or 0 <= q.label < self.n_labels for q in seen)
        assert [q.epoch for q in seen] == sorted(q.epoch for q in seen)

    def test_no_more_is_asked_than_was_asked_for(self) -> None:
        learner = self.make(14)
        for n in (1, 2, 5):
            questions = learner.ask(n)
            assert isinstance(questions, tuple)
            assert 1 <= len(questions) <= n
            for question in questions:
                learner.tell(question.id, self.rater(question))

    def test_same_seed_same_run(self) -> None:
        first, second = (self.run_to_end(self.make(3)) for _ in range(2))
        self.check_same(first, second)

    def test_order_of_answers_does_not_matter(self) -> None:
        self.check_same(self.run_told(4), self.run_told(4, backwards=True), but=self.numbered)

    def test_batches_of_any_size_ask_the_same(self) -> None:
        one, many = self.make(6), self.make(6)
        singly = [question for _ in range(12) if isinstance(asked := one.ask(), tuple) for question in asked]
        assert tuple(singly) == many.ask(12)

    def test_waits_for_an_open_question_and_then_is_done(self) -> None:
        learner = self.make(5)
        held: Question | None = None
        while isinstance(questions := learner.ask(40), tuple):
            for question in questions:
                if held is None:
                    held = question
                else:
                    learner.tell(question.id, self.rater(question))
        assert questions is Status.WAIT
        assert held is not None
        assert learner.result.status is RunStatus.RUNNING
        assert learner.result.chosen is None or self.leads_always
        learner.tell(held.id, self.rater(held))
        assert self.run_to_end(learner).status is RunStatus.COMPLETE
        assert learner.ask() is Status.DONE

    def test_bad_answers_change_nothing(self) -> None:
        learner, twin = self.make(9), self.make(9)
        questions = learner.ask(3)
        assert isinstance(questions, tuple)
        assert twin.ask(3) == questions
        first = questions[0]
        for wrong_kind in (2 if first.label is not None else Answer.YES, self.n_labels, -1, 1.5, True, "yes", None):
            with pytest.raises(InvalidInputError):
                learner.tell(first.id, wrong_kind)  # type: ignore[arg-type]
        for unknown in (99, -1, "0", 1.0, None):
            with pytest.raises(UnknownQuestionError):
                learner.tell(unknown, Answer.YES)  # type: ignore[arg-type]
        for n in (0, -1, 2.5, "3", True):
            with pytest.raises(InvalidInputError):
                learner.ask(n)  # type: ignore[arg-type]
        for question in questions:
            learner.tell(question.id, self.rater(question))
            twin.tell(question.id, self.rater(question))
            with pytest.raises(AlreadyAnsweredError):
                learner.tell(question.id, self.rater(question))
        self.check_same(self.run_to_end(learner), self.run_to_end(twin))

    def test_an_answer_taken_back_and_given_again_counts_once(self) -> None:
        """Learners that use answers at once refuse to take one back, and then nothing has changed either."""
        learner, twin = self.make(10), self.make(10)
        questions = learner.ask(3)
        assert isinstance(questions, tuple)
        assert twin.ask(3) == questions
        first = questions[0]
        for each in (learner, twin):
            each.tell(first.id, self.rater(first))
        try:
            learner.untell(first.id)
        except (InvalidInputError, UnknownQuestionError):
            pass
        else:
            learner.tell(first.id, Answer.CANT_TELL)
            learner.untell(first.id)
            learner.tell(first.id, self.rater(first))
        with pytest.raises((InvalidInputError, UnknownQuestionError)):
            learner.untell(99)
        for question in questions[1:]:
            for each in (learner, twin):
                each.tell(question.id, self.rater(question))
        self.check_same(self.run_to_end(learner), self.run_to_end(twin))

    def test_cant_tell_is_an_answer(self) -> None:
        def unsure(question: Question) -> Answer | int:
            return Answer.CANT_TELL if question.item % 3 == 0 else self.rater(question)

        assert self.run_to_end(self.make(11), unsure).status is not RunStatus.RUNNING

    def test_looking_changes_nothing(self) -> None:
        looked_at = self.make(12)
        while isinstance(questions := looked_at.ask(7), tuple):
            looked_at.read(closes=False)()
            for question in questions:
                looked_at.tell(question.id, self.rater(question))
            assert looked_at.read()().n_rounds == looked_at.result.n_rounds
        self.check_same(looked_at.result, self.run_to_end(self.make(12), at_a_time=7))

    def test_a_run_is_its_records_replayed(self) -> None:
        live, again = self.make(13), self.make(13)
        n_epochs = 0
        while isinstance(questions := live.ask(9), tuple):
            for record in live.epochs[n_epochs:]:
                again.adopt(record)
            n_epochs = len(live.epochs)
            again.ask_again(questions)
            for question in questions:
                for each in (live, again):
                    each.tell(question.id, self.rater(question))
        self.check_same(live.result, again.result)

    def test_what_was_not_asked_is_not_asked_again(self) -> None:
        live, again = self.make(15), self.make(15)
        asked = live.ask()
        assert isinstance(asked, tuple)
        for record in live.epochs:
            again.adopt(record)
        with pytest.raises(InvalidInputError):
            again.ask_again([replace(asked[0], propensity=asked[0].propensity / 2)])

    def run_to_end(self, learner: Learner[Result], rater: Says | None = None, at_a_time: int = 256) -> Result:
        """Answer until there is no question; a learner that does not come to an end fails."""
        n_asked = 0
        while isinstance(questions := learner.ask(at_a_time), tuple):
            n_asked += len(questions)
            assert n_asked <= MOST_QUESTIONS, f"the learner asked {n_asked} questions about {self.n_items} items"
            for question in questions:
                learner.tell(question.id, (rater or self.rater)(question))
        return learner.result

    def run_told(self, seed: int, backwards: bool = False) -> Result:
        """A run in which each batch is answered in the order of its questions, or ``backwards``."""
        learner = self.make(seed)
        while isinstance(questions := learner.ask(50), tuple):
            for question in reversed(questions) if backwards else questions:
                learner.tell(question.id, self.rater(question))
        return learner.result

    def check_same(self, one: Result, other: Result, but: tuple[str, ...] = ()) -> None:
        """Two results say the same, field by field, ``but`` for some."""
        for name in (field.name for field in fields(one) if field.name not in but):
            values = [getattr(each, name) for each in (one, other)]
            first, second = (plain(self.shown(value) if name == "chosen" else value) for value in values)
            assert first == second, f"{name} differs"


class StreamLearnerSuite(LearnerSuite):
    """What a learner keeps that takes any source of items, a pool or a stream.

    Override ``make_on`` instead of ``make``; and ``n_unlabelled`` where examples are drawn and not asked about.

    >>> class TestMine(StreamLearnerSuite):
    ...     def make_on(self, items, seed):
    ...         return MyLearner(self.hypotheses, items, seed=seed)
    """

    #: Examples that are drawn before the first question, and not asked about.
    n_unlabelled: int = 0

    def make_on(self, items: ItemSource, seed: int) -> Learner[Result]:
        """A fresh learner that draws its examples from ``items``."""
        raise NotImplementedError("a suite of a learner needs make_on(self, items, seed), which returns a fresh one")

    def make(self, seed: int) -> Learner[Result]:
        return self.make_on(Pool(np.arange(self.n_items)), seed)

    def is_asked_about(self, item: int) -> bool:
        """Whether there is a question about the item; not so where models agree and the learner need not ask."""
        return True

    def test_a_stream_that_ends_is_not_success(self) -> None:
        learner = self.make_on(Stream(iter(range(15))), 7)
        result = self.run_to_end(learner)
        assert result.status is RunStatus.EXHAUSTED
        assert result.chosen is None or self.leads_always
        assert result.n_rounds == 15 - self.n_unlabelled
        assert learner.ask() is Status.DONE

    def test_a_stream_that_ends_with_open_questions_is_still_running(self) -> None:
        learner = self.make_on(Stream(range(15)), 11)
        questions = learner.ask(50)
        assert isinstance(questions, tuple)
        assert learner.ask() is Status.WAIT
        seen = [learner.result.status]
        for question in questions:
            learner.tell(question.id, self.rater(question))
        seen.append(self.run_to_end(learner).status)
        assert seen == [RunStatus.RUNNING, RunStatus.EXHAUSTED]

    def test_a_stream_is_taken_in_order(self) -> None:
        learner = self.make_on(Stream(iter(range(30))), 8)
        questions: list[Question] = []
        untold: list[Question] = []
        # Answers are given when the learner waits for them, since what it asks next may hang on them.
        while (more := learner.ask(30)) is not Status.DONE:
            if isinstance(more, tuple):
                questions += more
                untold += more
            else:
                for question in untold:
                    learner.tell(question.id, self.rater(question))
                untold = []
        drawn = range(30)[self.n_unlabelled :]
        first_asked = list(dict.fromkeys(question.item for question in questions))
        assert first_asked == [item for item in drawn if self.is_asked_about(item)]


def plain(value: Any) -> Any:
    """Records and arrays as dictionaries and lists, which can be compared; what is worked out on demand, worked out."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, partial):
        return plain(value())
    if isinstance(value, float) and math.isnan(value):
        # It does not equal itself.
        return "not a number"
    return [plain(each) for each in value] if isinstance(value, list | tuple) else value
