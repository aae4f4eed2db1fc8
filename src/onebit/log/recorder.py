"""A learner whose every step is noted for the log; and a log replayed into a learner.

Questions depend on the order of asks and answers, so that order, as the log has it, is the truth. Replaying asks the
same again, and checks that every question comes out as it was logged, to the last bit. How to explore in an epoch is
taken from the log, since it is found by a solver whose last bits differ from machine to machine; and where a model is
trained on the way, so is what an epoch asks. The replay checks that it may have been so.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Any

from onebit.errors import InvalidInputError, OnebitError
from onebit.learners.contract import Learner
from onebit.log.codec import to_json
from onebit.log.events import Answered, Asked, Closed, EpochBegan, Event, Finished, LogError, Planned, Undone, began
from onebit.records import Answer, Closing, EpochPlan, EpochRecord, Question, Status

NOT_THIS_RUN = "the log does not belong to this table or seed, or was written by another version of onebit"


class Recorder:
    """Drives a learner and notes what happens, in order, for whoever writes it: ``drain`` gives what is not written."""

    def __init__(self, learner: Learner[Any]) -> None:
        self.learner = learner
        self._waiting: list[Event] = []
        self._n_epochs = self._n_closings = 0
        self.questions: list[Question] = []
        #: Questions without an answer, by number.
        self.open: dict[int, Question] = {}
        #: Answers in force, by the question's number.
        self.answers: dict[int, Answer | int] = {}
        self.finished: Finished | None = None

    def ask(self, n: int, rater: str | None = None) -> tuple[Question, ...] | Status:
        """Up to ``n`` new questions, as the learner gives them."""
        asked = self.learner.ask(n)
        self.note_epochs()
        if isinstance(asked, tuple):
            self._waiting.extend(Asked(question, rater) for question in asked)
            self._add(asked)
        return asked

    def take(self, event: Answered | Undone | Finished) -> None:
        """Do to the learner what somebody did; an error changes nothing."""
        self._apply(event)
        self._waiting.append(event)

    def note_epochs(self) -> None:
        """Note the epochs that began and closed since, in that order."""
        epochs, closings = self.learner.epochs, self.learner.closings
        new: list[tuple[int, int, Event]] = [(each.number, 0, began(each)) for each in epochs[self._n_epochs :]]
        new += [(each.epoch, 1, Closed(each)) for each in closings[self._n_closings :]]
        self._n_epochs, self._n_closings = len(epochs), len(closings)
        self._waiting.extend(event for *_, event in sorted(new, key=lambda entry: entry[:2]))

    def drain(self) -> list[Event]:
        """What happened since the last call."""
        waiting, self._waiting = self._waiting, []
        return waiting

    def digest(self) -> str:
        """A hash of the state: the questions, the answers in force, the epochs and what they showed."""
        epochs, closings = self.learner.epochs, self.learner.closings
        events: list[Event] = [Asked(question) for question in self.questions]
        events += [Answered(number, self.answers[number]) for number in sorted(self.answers)]
        events += [*map(began, epochs), *map(Closed, closings)]
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
            case Undone(question_id=number):
                self.learner.untell(number)
                del self.answers[number]
                self.open[number] = self.questions[number]
            case Finished():
                self.finished = event


class _Replay:
    """A recorder being brought to the state that a log describes."""

    def __init__(self, learner: Learner[Any]) -> None:
        self.recorder = Recorder(learner)
        self._epochs: list[EpochRecord | EpochPlan] = []
        self._closings: list[Closing] = []
        self._asked: list[Question] = []

    def take(self, event: Event) -> None:
        match event:
            case Asked(question=question):
                # Asked for together further on: learners ask the same, one at a time or many.
                self._asked.append(question)
            case EpochBegan() | Planned():
                self._ask_again()
                self.recorder.learner.adopt(event.record)
                self._epochs.append(event.record)
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
        return recorder

    def _ask_again(self) -> None:
        logged, self._asked = self._asked, []
        try:
            self.recorder.learner.ask_again(logged)
        except InvalidInputError as error:
            raise LogError(f"{NOT_THIS_RUN}: {error}") from error
        self.recorder._add(logged)


def replay(events: Iterable[Event], learner: Learner[Any]) -> Recorder:
    """Bring a fresh learner to the state that a log describes, bit for bit, and go on from there.

    Raises LogError unless every question and every epoch comes out as it was logged: otherwise the table, the seed or
    the code is another, and what the answers show cannot be known.
    """
    state = _Replay(learner)
    for number, event in enumerate(events, start=1):
        try:
            state.take(event)
        except LogError:
            raise
        except OnebitError as error:
            raise LogError(f"event {number} of the log cannot have happened: {error}. {NOT_THIS_RUN}") from error
    return state.end()
