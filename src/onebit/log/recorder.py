"""A learner whose every step is in a log before it is acknowledged; and a log replayed into a learner.

Questions depend on the order of asks and answers, so that order, as the log has it, is the truth. Replaying asks the
same again, and checks that every question comes out as it was logged, to the last bit. How to explore in an epoch is
taken from the log, since it is found by a solver whose last bits differ from machine to machine; and where a model is
trained on the way, so is what an epoch asks. The replay checks that it may have been so.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Any, Protocol

from onebit.errors import InvalidInputError, OnebitError, check_count
from onebit.learners.contract import Learner
from onebit.log.codec import to_json
from onebit.log.events import Answered, Asked, Closed, EpochBegan, Event, Finished, LogError, Undone
from onebit.records import Answer, Closing, EpochPlan, EpochRecord, Question, RunStatus, Status

NOT_THIS_RUN = "the log does not belong to this table or seed, or was written by another version of onebit"


class Sink(Protocol):
    """Where events go: durable when ``append`` returns; if it raises, none of them was kept."""

    def append(self, events: Iterable[Event]) -> None: ...


class Recorder:
    """Drives a learner and writes down what happens, in order, before anybody is told.

    Events that could not be written (the disk is full) wait, and go before the next: the same call made again does what
    it would have done. Without a sink they wait for ``drain``.
    """

    def __init__(self, learner: Learner[Any], sink: Sink | None = None) -> None:
        self.learner = learner
        self._sink = sink
        self._waiting: list[Event] = []
        self._n_epochs = self._n_closings = 0
        self.questions: list[Question] = []
        #: Questions without an answer, by number.
        self.open: dict[int, Question] = {}
        #: Those of them that nobody was given since: open when a log was resumed, or when their answer was taken back.
        self._unheld: dict[int, Question] = {}
        #: Answers in force, by the question's number.
        self.answers: dict[int, Answer | int] = {}
        self.finished: Finished | None = None

    def ask(self, n: int = 1, rater: str | None = None) -> tuple[Question, ...] | Status:
        """Up to ``n`` questions: first those open ones that nobody holds, else new ones as the learner gives them."""
        check_count("the number of questions asked for", n)
        if not self._unheld:
            asked = self.ask_new(n, rater)
            if isinstance(asked, Status):
                self.flush()
                return asked
            self._unheld.update((question.id, question) for question in asked)
        self.flush()
        given = tuple(self._unheld.values())[:n]
        for question in given:
            del self._unheld[question.id]
        return given

    def ask_new(self, n: int, rater: str | None = None) -> tuple[Question, ...] | Status:
        """New questions, whoever holds the open ones; they wait to be written."""
        asked = self.learner.ask(n)
        self.note_epochs()
        if isinstance(asked, tuple):
            self._waiting.extend(Asked(question, rater) for question in asked)
            self._add(asked)
        return asked

    def tell(self, question_id: int, answer: Answer | int) -> None:
        """Record an answer, once; repeating it while it waits to be written is no second answer."""
        answered = Answered(question_id, answer)
        if answered not in self._waiting:
            self.take(answered)
        self.flush()

    def tell_all(self, answers: Iterable[tuple[int, Answer | int]]) -> None:
        """Record many answers and write them at once; those before one that is refused are recorded."""
        try:
            for question_id, answer in answers:
                self.take(Answered(question_id, answer))
        finally:
            self.flush()

    def undo(self, question_id: int) -> None:
        """Take an answer back while its epoch is open; the question is open again, and ``ask`` gives it."""
        undone = Undone(question_id)
        if undone not in self._waiting:
            self.take(undone)
        self.flush()

    def finish(self, status: RunStatus, summary: dict[str, Any]) -> None:
        """Write down the end, once."""
        if self.finished is None:
            self.take(Finished(status, summary))
        self.flush()

    @property
    def result(self) -> Any:
        """What the learner knows now. Reading it may close an epoch, and that is in the log before it is told."""
        result = self.learner.result
        self.note_epochs()
        self.flush()
        return result

    def take(self, event: Answered | Undone | Finished) -> None:
        """Do to the learner what somebody did, and let it wait to be written; an error changes nothing."""
        self._apply(event)
        self._waiting.append(event)

    def note_epochs(self) -> None:
        """Let the epochs that began and closed since wait to be written, in that order."""
        epochs, closings = self.learner.epochs, self.learner.closings
        new: list[tuple[int, int, Event]] = [(each.number, 0, EpochBegan(each)) for each in epochs[self._n_epochs :]]
        new += [(each.epoch, 1, Closed(each)) for each in closings[self._n_closings :]]
        self._n_epochs, self._n_closings = len(epochs), len(closings)
        self._waiting.extend(event for *_, event in sorted(new, key=lambda entry: entry[:2]))

    def flush(self) -> None:
        """Write what waits; NotWrittenError, and it goes on waiting, where that fails."""
        if self._sink is not None and self._waiting:
            self._sink.append(self._waiting)
            self._waiting = []

    def drain(self) -> list[Event]:
        """What waits to be written, for who writes it without a sink."""
        waiting, self._waiting = self._waiting, []
        return waiting

    def digest(self) -> str:
        """A hash of the state: the questions, the answers in force, the epochs and what they showed."""
        epochs, closings = self.learner.epochs, self.learner.closings
        events: list[Event] = [Asked(question) for question in self.questions]
        events += [Answered(number, self.answers[number]) for number in sorted(self.answers)]
        events += [*map(EpochBegan, epochs), *map(Closed, closings)]
        digest = hashlib.sha256()
        for event in events:
            digest.update(json.dumps(to_json(event), sort_keys=True).encode() + b"\n")
        return digest.hexdigest()

    def _add(self, questions: Iterable[Question]) -> None:
        for question in questions:
            self.questions.append(question)
            self.open[question.id] = question

    def _apply(self, event: Answered | Undone | Finished) -> None:
        match event:
            case Answered(question_id=number, answer=answer):
                self.learner.tell(number, answer)
                self.answers[number] = answer
                del self.open[number]
                self._unheld.pop(number, None)
            case Undone(question_id=number):
                self.learner.untell(number)
                del self.answers[number]
                self.open[number] = self._unheld[number] = self.questions[number]
            case Finished():
                self.finished = event


class _Replay:
    """A recorder being brought to the state that a log describes."""

    def __init__(self, learner: Learner[Any], sink: Sink | None) -> None:
        self.recorder = Recorder(learner, sink)
        self._epochs: list[EpochRecord | EpochPlan] = []
        self._closings: list[Closing] = []
        self._asked: list[Question] = []

    def take(self, event: Event) -> None:
        match event:
            case Asked(question=question):
                # Asked for together further on: learners ask the same, one at a time or many.
                self._asked.append(question)
            case EpochBegan(record=record):
                self._ask_again()
                self.recorder.learner.adopt(record)
                self._epochs.append(record)
            case Closed(closing=closing):
                self._closings.append(closing)
            case Answered() | Undone() | Finished():
                self._ask_again()
                if isinstance(event, Finished):
                    # Whoever wrote this had looked, and what was over is closed.
                    self.recorder.learner.read()
                self.recorder._apply(event)

    def end(self) -> Recorder:
        self._ask_again()
        recorder = self.recorder
        learner = recorder.learner
        if len(learner.epochs) < len(self._epochs) or len(learner.closings) < len(self._closings):
            # Epochs close when somebody looks, and somebody had looked.
            _ = learner.result
        epochs, closings = learner.epochs, learner.closings
        recorder._n_epochs, recorder._n_closings = len(self._epochs), len(self._closings)
        if list(epochs[: len(self._epochs)]) != self._epochs:
            raise LogError(f"{NOT_THIS_RUN}: an epoch comes out otherwise than it was logged")
        if list(closings[: len(self._closings)]) != self._closings:
            raise LogError(f"{NOT_THIS_RUN}: what an epoch showed comes out otherwise than it was logged")
        recorder._unheld = dict(recorder.open)
        return recorder

    def _ask_again(self) -> None:
        logged, self._asked = self._asked, []
        try:
            self.recorder.learner.ask_again(logged)
        except InvalidInputError as error:
            raise LogError(f"{NOT_THIS_RUN}: {error}") from error
        self.recorder._add(logged)


def replay(events: Iterable[Event], learner: Learner[Any], sink: Sink | None = None) -> Recorder:
    """Bring a fresh learner to the state that a log describes, bit for bit, and go on from there.

    Raises LogError unless every question and every epoch comes out as it was logged: otherwise the table, the seed or
    the code is another, and what the answers show cannot be known.
    """
    state = _Replay(learner, sink)
    for number, event in enumerate(events, start=1):
        try:
            state.take(event)
        except LogError:
            raise
        except OnebitError as error:
            raise LogError(f"event {number} of the log cannot have happened: {error}. {NOT_THIS_RUN}") from error
    return state.end()
