"""The learner contract: ask for questions, tell the answers in any order, read the result.

A learner goes through *epochs*. Within an epoch the law of the questions is fixed before its first example is drawn; an
epoch closes when it has asked enough and none of its questions is open. So it does not matter in which order, or how
many at a time, answers arrive. Learners do no I/O and read no clock; their randomness is keyed by round number.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from onebit.errors import InvalidInputError, check_count
from onebit.hypotheses.base import Examples, Hypothesis, HypothesisClass, Labels
from onebit.hypotheses.counting import CountingClass
from onebit.learners.items import ItemSource, Pool
from onebit.learners.ledger import Ledger
from onebit.randomness import RoundStream, fresh_seed
from onebit.records import Answer, Closing, EpochPlan, EpochRecord, Question, RunStatus, Status


@dataclass(frozen=True, eq=False)
class Result:
    """What every learner says: how far the run is, what was chosen, and in words what is promised of it.

    ``n_rounds`` counts the examples that were drawn and settled. ``chosen`` is None until something is.
    """

    status: RunStatus
    promise: str
    n_rounds: int
    chosen: Hypothesis


@dataclass(frozen=True, eq=False)
class BoundedResult(Result):
    """The result of a learner that bounds the excess error of what it chose.

    It is at most ``achieved_eps``, as ``promise`` says; None while nothing is known, or where nothing can be.
    """

    achieved_eps: float | None


#: The kind of result that a learner gives.
R = TypeVar("R", bound=Result, covariant=True)


class Learner(ABC, Generic[R]):
    """What can be asked for questions and told answers, one at a time or many, in any order.

    ``epochs`` are the records of the epochs that began so far, and ``closings`` what those that are over have shown;
    a learner that keeps none leaves both empty. With the records and the answers of a log a fresh learner can be
    brought to the same state: ``adopt`` each record, ``ask_again`` what was asked, and ``tell`` the answers.
    """

    epochs: Sequence[EpochRecord | EpochPlan] = ()
    closings: Sequence[Closing] = ()

    @property
    def n_ready(self) -> int | None:
        """How many questions can be asked before an answer must come; None if the learner does not say."""
        return None

    @property
    def continues_item(self) -> bool:
        """Whether the next question is about the item of the last one, and best answered by the same rater."""
        return False

    @property
    @abstractmethod
    def result(self) -> R:
        """What is known now. Its status says whether the run is complete.

        Reading it may close an epoch whose last answer has come, and so take as long as that takes.
        """

    def read(self, closes: bool = True) -> Callable[[], R]:
        """As ``result``, in two parts: closing what is over now, then working out what it shows, by the call returned.

        That call changes nothing, and may be made in another thread while the learner is asked and told. Unless it
        ``closes``, an epoch whose answers can still be taken back stays open: it shows what was shown before.
        """
        result = self.result
        return lambda: result

    @abstractmethod
    def ask(self, n: int = 1) -> tuple[Question, ...] | Status:
        """Up to ``n`` new questions; or WAIT while the answers to open ones are needed first; or DONE."""

    @abstractmethod
    def tell(self, question_id: int, answer: Answer | int) -> None:
        """Record the answer to a question, once.

        Raises UnknownQuestionError, AlreadyAnsweredError, or InvalidInputError for an answer of the wrong kind; nothing
        is changed then.
        """

    def expect(self, n_raters: int) -> None:
        """A hint: so many raters answer at the same time, and should seldom have to wait for each other.

        It may change how much is asked before answers are looked at, never what they show.
        """

    def untell(self, question_id: int) -> None:
        """Take an answer back, as long as nothing was built on it; otherwise UnknownQuestionError.

        InvalidInputError for learners that use every answer at once.
        """
        raise InvalidInputError("the answers of this learner are used at once and cannot be taken back")

    def adopt(self, record: EpochRecord | EpochPlan) -> None:
        """Begin an epoch as a log has it, when its turn comes; InvalidInputError if it cannot be the next."""
        raise InvalidInputError(f"the log has an epoch {record.number}, and this learner keeps none")

    def ask_again(self, questions: Sequence[Question]) -> None:
        """Ask what a log has; InvalidInputError where that is not what is asked now."""
        left = list(questions)
        while left:
            asked = self.ask(len(left))
            if isinstance(asked, Status):
                raise InvalidInputError(f"question {left[0].id} is logged and is not asked now")
            for was, now in zip(left, asked, strict=False):
                if was != now:
                    raise InvalidInputError(f"the log has {was}, and now it is {now}")
            left = left[len(asked) :]


class EpochLearner(Learner[R]):
    """The bookkeeping that learners share: rounds, epochs, open questions, answers."""

    def __init__(self, hypotheses: HypothesisClass, items: ItemSource, seed: int | None) -> None:
        if isinstance(items, Pool):
            hypotheses.check_examples(items.x)
        self._hypotheses = CountingClass(hypotheses)
        self._items = items
        self._n_labels = hypotheses.n_labels
        #: From the operating system, unless given for replay or simulation: nobody who made the pool may know it.
        self.seed = fresh_seed() if seed is None else seed
        self._uniforms = RoundStream(self.seed, "rounds")
        self._ledger = Ledger(self._n_labels)
        #: The number of the first question of each epoch so far.
        self._first_of_epoch = [0]
        self._stream_ended = False

    @abstractmethod
    def _n_wanted(self) -> int:
        """How many more questions the current epoch may ask now."""

    @abstractmethod
    def _choose(self, x: Examples, uniform: NDArray[np.float64]) -> tuple[Labels | None, NDArray[np.float64]]:
        """The labels to ask at the examples ``x``, and their propensities; ``uniform`` has shape (n, 3)."""

    @abstractmethod
    def _close_epoch(self) -> bool:
        """Close the current epoch if it has all it needs; no question is open. Says whether a next one began."""

    def ask(self, n: int = 1) -> tuple[Question, ...] | Status:
        check_count("the number of questions asked for", n)
        self._settle()
        n = min(n, 0 if self._stream_ended else self._n_wanted())
        first = len(self._ledger.questions)
        uniform = self._uniforms.uniforms(first, n)
        items = self._items.draw(uniform[:, 0])
        self._stream_ended |= items.size < n
        if items.size == 0:
            return Status.WAIT if self._ledger.n_open else Status.DONE
        try:
            x = self._items.take(items)
            self._hypotheses.check_examples(x)
            labels, propensity = self._choose(x, uniform[: items.size, 1:])
        except Exception:
            # An example that was drawn and not asked about would be missing from the population.
            self._items.put_back(items)
            raise
        asked = labels.tolist() if labels is not None else [None] * items.size
        rows = zip(items.tolist(), asked, propensity.tolist(), strict=True)
        new = tuple(Question(first + i, item, label, q, self._epoch) for i, (item, label, q) in enumerate(rows))
        self._ledger.add(new)
        return new

    def tell(self, question_id: int, answer: Answer | int) -> None:
        self._ledger.record(question_id, answer)

    def _settle(self) -> None:
        while self._ledger.n_open == 0 and self._close_epoch():
            self._first_of_epoch.append(len(self._ledger.questions))

    @property
    def _epoch(self) -> int:
        return len(self._first_of_epoch) - 1

    def _ids(self, epoch: int) -> range:
        """The numbers of the questions of an epoch; none if it has not begun."""
        first = self._first_of_epoch[epoch] if epoch <= self._epoch else len(self._ledger.questions)
        return range(first, self._first_of_epoch[epoch + 1] if epoch < self._epoch else len(self._ledger.questions))

    def _n_asked(self, epoch: int) -> int:
        return len(self._ids(epoch))

    def _n_answered_in(self, epoch: int) -> int:
        return sum(answer is not None for answer in self._rounds(epoch)[1])

    def _rounds(self, epoch: int) -> tuple[list[Question], list[Answer | int | None]]:
        """The questions of an epoch, in the order asked, and their answers."""
        ids = self._ids(epoch)
        return self._ledger.questions[ids.start : ids.stop], self._ledger.answers[ids.start : ids.stop]

    def _status(self, complete: bool) -> RunStatus:
        if complete:
            return RunStatus.COMPLETE
        if self._ledger.n_open == 0 and self._stream_ended:
            return RunStatus.EXHAUSTED
        return RunStatus.BUDGET if self._ledger.n_open == 0 and self._n_wanted() == 0 else RunStatus.RUNNING

    def _examples(self, questions: list[Question]) -> Examples:
        return self._items.take(np.array([q.item for q in questions], dtype=np.int64))


def run(
    learner: Learner[R],
    rater: Callable[[Question], Answer | int],
    at_a_time: int = 256,
    observe: Callable[[int], None] | None = None,
) -> R:
    """Ask ``rater`` until there is no question to ask; ``observe`` is told the number of answers after each batch."""
    n_answers = 0
    while isinstance(questions := learner.ask(at_a_time), tuple):
        for question in questions:
            learner.tell(question.id, rater(question))
        n_answers += len(questions)
        if observe is not None:
            observe(n_answers)
    return learner.result
