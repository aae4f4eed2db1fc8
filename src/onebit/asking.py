"""A training by ask and tell, in the rows and labels of whoever runs the loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from numpy.typing import NDArray

from onebit.errors import UnknownQuestionError
from onebit.learners.training.earlier import EarlierAnswer, Remembered
from onebit.learners.training.history import History, Sample
from onebit.learners.training.learner import TrainingLearner
from onebit.learners.training.pool import PoolRows
from onebit.learners.training.result import TrainingResult
from onebit.raters import CallableRater
from onebit.records import Answer, Question, RunStatus, Status


class Classifier(Protocol):
    """What a learner is made by: a ``YesNoClassifier``."""

    classes_: NDArray[Any]
    f_no: float
    f_yes: float

    def taken_from(self, learner: RowTraining) -> Any: ...


@dataclass(frozen=True, slots=True)
class RowQuestion:
    """ "Is ``label`` right for row ``row``?" """

    id: int
    row: int
    label: Any


@dataclass(frozen=True, eq=False)
class Before:
    """What a training goes on from: the answers, by row, and the rows that they left a random sample."""

    answers: list[EarlierAnswer]
    sample: Sample


class RowTraining:
    """Asks about rows and is told the answers, in any order; made by ``YesNoClassifier.learner``.

    Ask for as many questions at a time as there are people to answer them: the model learns when all answers to what
    was asked are there. ``classifier`` is the one that it was made by, as it is by now.
    """

    def __init__(
        self,
        classifier: Classifier,
        learner: TrainingLearner,
        pool: PoolRows,
        before: Before,
        budget: int,
        fitted: dict[str, Any],
    ) -> None:
        self._classifier, self._learner, self._pool, self._before = classifier, learner, pool, before
        self.budget = budget
        #: What the classifier has of this training, and not of another that it began since.
        self.fitted = fitted
        self._given = list(before.answers)
        earlier = [replace(each, item=pool.item(each.item)) for each in before.answers]
        self._remembered = Remembered(earlier, one_is_right=classifier.f_no + classifier.f_yes == 0)
        self._open: dict[int, Question] = {}
        self._labels: list[Any] = classifier.classes_.tolist()
        self._is_over = False

    def ask(self, n: int = 1) -> tuple[RowQuestion, ...]:
        """Up to ``n`` questions; none while answers to open ones are needed first, and when it is over."""
        return tuple(map(self._in_labels, self.questions(n)))

    def questions(self, n: int) -> tuple[Question, ...]:
        """As ``ask``, in the words of learners; items are rows, and labels their numbers."""
        while isinstance(asked := self._learner.ask(n), tuple):
            said = [(each, self._remembered.of(each)) for each in asked]
            for question, answer in said:
                if answer is not None:
                    self._learner.tell(question.id, answer)
            new = [replace(each, item=self._pool.row(each.item)) for each, answer in said if answer is None]
            self._open.update({each.id: each for each in new})
            if new:
                return tuple(new)
        self._is_over = asked is Status.DONE
        return ()

    def tell(self, question: RowQuestion | int, answer: bool | Answer | None) -> None:
        """The answer to a question, or to one of that number, once: True, False, None for can't tell, or an Answer."""
        number = question.id if isinstance(question, RowQuestion) else question
        if number not in self._open:
            raise UnknownQuestionError(f"question {number!r} is not open; each is answered once, by what ask gave")
        asked = self._in_labels(self._open[number])
        if question not in (asked, number):
            raise UnknownQuestionError(
                f"{question} is of another learner, and here question {number} is about row {asked.row} and the label "
                f"{asked.label!r}. An answer that comes when its learner is gone is for answers of the next: add (row, "
                "label, answer) to history"
            )
        self.hear(self._open[number], CallableRater(lambda row, label: answer)(self._open[number]))

    def _in_labels(self, question: Question) -> RowQuestion:
        return RowQuestion(question.id, question.item, self._labels[question.label or 0])

    def hear(self, question: Question, answer: Answer) -> None:
        """As ``tell``, in the words of learners."""
        self._learner.tell(question.id, answer)
        del self._open[question.id]
        audited = self._learner.epochs[question.epoch].audits
        self._given.append(EarlierAnswer(question.item, question.label or 0, answer, audited))

    @property
    def is_over(self) -> bool:
        """Whether nothing more will be asked."""
        if not self._is_over and not self._open:
            self._is_over = self._learner.result.status is not RunStatus.RUNNING
        return self._is_over

    @property
    def answers(self) -> Sequence[EarlierAnswer]:
        """Every answer, by row: those from before, and none that was only recalled."""
        return self._given

    @property
    def history(self) -> History:
        """Every answer, to go on from."""
        sample = self._pool.sample_of(self._learner.sample, self._before.sample)
        all_labels, none_of = tuple(self._labels), dict[int, tuple[Any, ...]]()
        for each in self._given:
            if each.answer is Answer.NONE:
                none_of[each.item] = all_labels if each.among is None else tuple(self._labels[at] for at in each.among)
        answers = ((each.item, self._labels[each.label], each.answer.value, each.audited) for each in self._given)
        return History(answers, sample, none_of)

    @property
    def pool(self) -> PoolRows:
        return self._pool

    @property
    def result(self) -> TrainingResult:
        """What is known now."""
        return self._learner.result

    @property
    def classifier(self) -> Any:
        """The ``YesNoClassifier`` that it was made by, as it is by now; it has an interval once its audit has begun."""
        return self._classifier.taken_from(self)
