"""A learner whose every step is noted for the log; and a log replayed into a learner.

Questions depend on the order of asks and answers, so that order, as the log has it, is the truth. Replaying asks the
same again, and checks that every question comes out as it was logged, to the last bit. How to explore in an epoch is
taken from the log, since it is found by a solver whose last bits differ from machine to machine; and where a model is
trained on the way, so is what an epoch asks. The replay checks that it may have been so.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from onebit.errors import InvalidInputError, OnebitError, UnknownQuestionError
from onebit.learners.contract import Learner
from onebit.log.codec import to_json
from onebit.log.events import (
    Answered,
    Asked,
    Closed,
    Created,
    EpochBegan,
    Event,
    Finished,
    LogError,
    Planned,
    Undone,
    began,
)
from onebit.log.fold import Course
from onebit.records import EpochPlan, EpochRecord, Question, Status

NOT_THIS_RUN = "the log does not belong to this table or seed, or was written by another version of onebit"


class Recorder:
    """Drives a learner and notes what happens, in order, for whoever writes it: ``drain`` gives what is not written.

    A question's number is the one that it has in the log. The learner counts its own questions alone; where raters are
    checked in between, its count lags behind, and nobody but this class sees it.
    """

    def __init__(self, learner: Learner[Any], created: Created) -> None:
        self.learner, self.course = learner, Course(created)
        self._new: list[Event] = []
        self._n_epochs = self._n_closings = 0
        #: The learner's own count of each question, by number.
        self._place: dict[int, int] = {}

    def ask(self, n: int, rater: str | None = None) -> tuple[Question, ...] | Status:
        """Up to ``n`` new questions of the learner."""
        asked = self.learner.ask(n)
        self.note_epochs()
        if isinstance(asked, Status):
            return asked
        first = len(self.course.given)
        questions = tuple(replace(question, id=first + i) for i, question in enumerate(asked))
        for place, question in zip(asked, questions, strict=True):
            self._place[question.id] = place.id
            self._note(Asked(question, rater))
        return questions

    def take(self, event: Event) -> None:
        """What somebody did: done to the learner, if it concerns the learner, and noted; an error changes nothing."""
        self._tell(event)
        self._note(event)

    def note_epochs(self) -> None:
        """Note the epochs that began and closed since, in the order in which they did."""
        epochs, closings = self.learner.epochs, self.learner.closings
        new: list[tuple[int, int, Event]] = [(_n_closed(each), 1, began(each)) for each in epochs[self._n_epochs :]]
        new += [(each.epoch + 1, 0, Closed(each)) for each in closings[self._n_closings :]]
        self._n_epochs, self._n_closings = len(epochs), len(closings)
        for *_, event in sorted(new, key=lambda entry: entry[:2]):
            self._note(event)

    def drain(self) -> list[Event]:
        """What happened since the last call."""
        new, self._new = self._new, []
        return new

    def digest(self) -> str:
        """A hash of the state: the questions, the answers in force, the epochs and what they showed."""
        course, epochs, closings = self.course, self.learner.epochs, self.learner.closings
        events: list[Event] = [Asked(question) for question in course.questions]
        given = zip(course.questions, course.answers, strict=True)
        events += [Answered(question.id, answer) for question, answer in given if answer is not None]
        events += [*map(began, epochs), *map(Closed, closings)]
        digest = hashlib.sha256()
        for event in events:
            digest.update(json.dumps(to_json(event), sort_keys=True).encode() + b"\n")
        return digest.hexdigest()

    def _note(self, event: Event) -> None:
        self.course.take(event)
        self._new.append(event)

    def _tell(self, event: Event) -> None:
        match event:
            case Answered(number, answer):
                self.learner.tell(self._place_of(number), answer)
            case Undone(number):
                self.learner.untell(self._place_of(number))

    def _place_of(self, number: int) -> int:
        if number not in self._place:
            raise UnknownQuestionError(f"question {number} was never asked")
        return self._place[number]


def _n_closed(epoch: EpochRecord | EpochPlan) -> int:
    """How many epochs had closed when this one began."""
    return epoch.n_closed if isinstance(epoch, EpochRecord) else epoch.number


class _Replay:
    """A recorder being brought to the state that a log describes."""

    def __init__(self, learner: Learner[Any], created: Created) -> None:
        self.recorder = Recorder(learner, created)
        self._asked: list[Question] = []

    def take(self, event: Event) -> None:
        recorder = self.recorder
        recorder.course.take(event)
        match event:
            case Asked(question):
                # Asked for together further on: learners ask the same, one at a time or many.
                place = len(recorder._place)
                recorder._place[question.id] = place
                self._asked.append(replace(question, id=place))
            case EpochBegan() | Planned():
                self._ask_again()
                recorder.learner.adopt(event.record)
            case Answered() | Undone() | Finished():
                self._ask_again()
                if isinstance(event, Finished):
                    # Whoever wrote this had looked, and what was over is closed.
                    recorder.learner.read()
                recorder._tell(event)

    def end(self) -> Recorder:
        self._ask_again()
        recorder = self.recorder
        learner, course = recorder.learner, recorder.course
        if len(learner.epochs) < len(course.epochs) or len(learner.closings) < len(course.closings):
            # Epochs close when somebody looks, and somebody had looked.
            _ = learner.result
        recorder._n_epochs, recorder._n_closings = len(course.epochs), len(course.closings)
        if list(learner.epochs[: len(course.epochs)]) != course.epochs:
            raise LogError(f"{NOT_THIS_RUN}: an epoch comes out otherwise than it was logged")
        if list(learner.closings[: len(course.closings)]) != course.closings:
            raise LogError(f"{NOT_THIS_RUN}: what an epoch showed comes out otherwise than it was logged")
        return recorder

    def _ask_again(self) -> None:
        logged, self._asked = self._asked, []
        try:
            self.recorder.learner.ask_again(logged)
        except InvalidInputError as error:
            raise LogError(f"{NOT_THIS_RUN}: {error}") from error


def replay(events: Sequence[Event], learner: Learner[Any]) -> Recorder:
    """Bring a fresh learner to the state that a log describes, bit for bit, and go on from there.

    Raises LogError unless every event can have happened and every question and every epoch comes out as it was logged:
    otherwise the table, the seed or the code is another, and what the answers show cannot be known.
    """
    created = events[0] if events else None
    if not isinstance(created, Created):
        raise LogError("the log does not begin with the creation of the study; restore a backup")
    state = _Replay(learner, created)
    for number, event in enumerate(events[1:], start=1):
        try:
            state.take(event)
        except OnebitError as error:
            if str(error).startswith(NOT_THIS_RUN):
                raise
            raise LogError(
                f"event {number} ({type(event).__name__.lower()}) cannot have happened: {error}. {NOT_THIS_RUN}"
            ) from error
    return state.end()
