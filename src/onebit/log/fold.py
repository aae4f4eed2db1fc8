"""The one fold from events to what is in force, which refuses whatever cannot have happened.

Which questions are asked and what an epoch shows depends on the table and the seed, and is for the replay and the
certificate. Here is what any log must keep to: answers come after their questions, once; an answer that several raters
give is that of their votes; epochs come one after the other, and nothing of an epoch changes after it; little follows
the end.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from onebit.log.events import (
    Answered,
    Asked,
    CheckAnswered,
    Checked,
    CheckUndone,
    Closed,
    Created,
    Disputed,
    EpochBegan,
    Event,
    Finished,
    LogError,
    Offered,
    Planned,
    Undone,
    Unvoted,
    Voted,
)
from onebit.log.votes import Given, majority
from onebit.records import Answer, Closing, EpochPlan, EpochRecord, Question

#: What may follow the end: raters go on with what they hold, and it changes nothing.
AFTER_THE_END = (Disputed, Voted, Unvoted, Checked, CheckAnswered, CheckUndone)


@dataclass(frozen=True, eq=False)
class Course:
    """What a log says, in force at its end. ``answered`` has the event that gave each question its answer."""

    created: Created
    epochs: list[EpochRecord | EpochPlan] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    answered: dict[int, Answered] = field(default_factory=dict)
    closings: list[Closing] = field(default_factory=list)
    ends: list[Finished] = field(default_factory=list)

    @property
    def answers(self) -> list[Given | None]:
        """The answers to the questions, None where one is open."""
        found = (self.answered.get(question.id) for question in self.questions)
        return [None if event is None else event.answer for event in found]

    @property
    def records(self) -> list[EpochRecord]:
        """The epochs of a certified selection."""
        return [epoch for epoch in self.epochs if isinstance(epoch, EpochRecord)]

    @property
    def plans(self) -> list[EpochPlan]:
        """The epochs of a training."""
        return [epoch for epoch in self.epochs if isinstance(epoch, EpochPlan)]

    @property
    def finished(self) -> Finished | None:
        return self.ends[0] if self.ends else None


def fold(events: Iterable[Event]) -> Course:
    """What is in force at the end of a log; LogError at the first event that cannot have happened."""
    state: _Fold | None = None
    for number, event in enumerate(events):
        try:
            if state is None:
                _require(isinstance(event, Created), "it is the first, and must be 'created'")
                state = _Fold(event)  # type: ignore[arg-type]
            else:
                state.take(event)
        except LogError as error:
            raise LogError(f"event {number} ({type(event).__name__.lower()}) cannot have happened: {error}") from None
    if state is None:
        raise LogError("the log is empty; it was cut off before its first event")
    return state.course


def _require(holds: bool, what_else: str) -> None:
    if not holds:
        raise LogError(what_else)


class _Fold:
    """A log that is gone through, event by event."""

    def __init__(self, created: Created) -> None:
        _require(created.overlap % 2 == 1, f"{created.overlap} raters a question have no majority")
        self.course = Course(created)
        self._overlap = created.overlap
        #: Whether epochs and their closings are in the log.
        self._has_epochs = created.learner in ("certified", "networks")
        self._has_closings = created.learner == "certified"
        #: Whom each question was given, and the votes in force on it.
        self._offered: list[set[str | None]] = []
        self._votes: list[dict[str | None, Given]] = []
        self._tokens: set[str] = set()
        self._checks: list[Checked] = []
        self._check_answers: dict[int, CheckAnswered] = {}

    def take(self, event: Event) -> None:
        if self.course.ends and not isinstance(event, AFTER_THE_END):
            raise LogError("the log had ended before it")
        match event:
            case EpochBegan() | Planned() | Closed() | Finished():
                self._take_epoch(event)
            case Asked() | Offered():
                self._take_question(event)
            case Voted() | Unvoted():
                self._take_vote(event)
            case Answered() | Undone() | Disputed():
                self._take_answer(event)
            case Checked() | CheckAnswered() | CheckUndone():
                self._take_check(event)
            case Created():
                raise LogError("a log begins once")

    def _take_epoch(self, event: EpochBegan | Planned | Closed | Finished) -> None:
        course = self.course
        is_answered = len(course.answered) == len(course.questions)
        match event:
            case EpochBegan() | Planned():
                record, kind = event.record, EpochBegan if self._has_closings else Planned
                _require(self._has_epochs and isinstance(event, kind), "this learner has no epochs of this kind")
                _require(record.number == len(course.epochs), f"epoch {len(course.epochs)} is the next to begin")
                is_free = len(course.closings) == len(course.epochs) if self._has_closings else is_answered
                _require(is_free, "the epoch before it is not over")
                course.epochs.append(record)
            case Closed(closing):
                is_open = len(course.closings) < len(course.epochs)
                _require(is_open and closing.epoch == len(course.epochs) - 1, "no such epoch is open")
                _require(is_answered, "a question of the epoch has no answer")
                course.closings.append(closing)
            case Finished():
                if self._has_epochs:
                    is_open = self._has_closings and len(course.closings) < len(course.epochs)
                    _require(is_answered and not is_open, "an epoch is open, or a question has no answer")
                course.ends.append(event)

    def _take_question(self, event: Asked | Offered) -> None:
        match event:
            case Asked(question, rater):
                course = self.course
                _require(question.id == len(course.questions), f"question {len(course.questions)} is the next")
                self._require_open_epoch(question)
                course.questions.append(question)
                self._offered.append({rater})
                self._votes.append({})
            case Offered(number, rater):
                self._require_asked(number)
                _require(number not in self.course.answered, f"question {number} had its answer already")
                _require(rater not in self._votes[number], f"this rater had answered question {number} already")
                self._offered[number].add(rater)

    def _take_vote(self, event: Voted | Unvoted) -> None:
        number, rater = event.question_id, event.rater
        self._require_asked(number)
        _require(self._overlap > 1 and rater is not None, "votes are for several raters with names")
        votes = self._votes[number]
        if isinstance(event, Voted):
            _require(isinstance(event.answer, Answer), "votes are yes, no or can't tell")
            _require(rater in self._offered[number], f"question {number} was not given to this rater")
            _require(rater not in votes, f"this rater had voted on question {number} already")
            self._use_token(event.token)
            votes[rater] = event.answer
            return
        _require(rater in votes, f"this rater has no vote on question {number}")
        del votes[rater]
        answered = self.course.answered.get(number)
        is_borne = answered is None or majority(votes.values(), self._overlap) == answered.answer
        _require(is_borne, f"question {number} keeps an answer that the other votes do not give")

    def _take_answer(self, event: Answered | Undone | Disputed) -> None:
        number, answered = event.question_id, self.course.answered
        self._require_asked(number)
        match event:
            case Answered():
                _require(number not in answered, f"question {number} has an answer already, and an answer counts once")
                self._require_open_epoch(self.course.questions[number])
                self._require_borne(event)
                answered[number] = event
            case Undone(rater=rater):
                _require(number in answered, f"question {number} has no answer to take back")
                self._require_open_epoch(self.course.questions[number])
                _require(rater == answered[number].rater, f"the answer to question {number} is another rater's")
                del answered[number]
                if self._overlap == 1:
                    self._votes[number].clear()
            case Disputed(rater=rater):
                _require(
                    number in answered and rater in self._votes[number],
                    f"question {number} has no answer of this rater's",
                )

    def _require_borne(self, event: Answered) -> None:
        """An answer is that of a rater who was asked, or what the votes come to."""
        number, votes = event.question_id, self._votes[event.question_id]
        if self._overlap == 1:
            _require(event.rater in self._offered[number], f"question {number} was not given to this rater")
            self._use_token(event.token)
            votes[event.rater] = event.answer
            return
        _require(event.rater is None and event.token is None, "an answer of several raters is of none of them alone")
        found = majority(votes.values(), self._overlap)
        _require(
            found is not None,
            f"the {len(votes)} votes on question {number} decide nothing yet, with {self._overlap} raters a question",
        )
        said = found.value if isinstance(found, Answer) else found
        _require(found == event.answer, f"the votes on question {number} come to {said!r}")

    def _take_check(self, event: Checked | CheckAnswered | CheckUndone) -> None:
        number = event.check_id
        if isinstance(event, Checked):
            _require(number == len(self._checks), f"check {len(self._checks)} is the next")
            if event.repeats is not None:
                self._require_asked(event.repeats)
                before = self._votes[event.repeats].get(event.rater)
                _require(before == event.expected, f"the rater's answer to question {event.repeats} was another")
            self._checks.append(event)
            return
        _require(number < len(self._checks), f"check {number} was never given")
        _require(event.rater == self._checks[number].rater, f"check {number} was given to another rater")
        if isinstance(event, CheckAnswered):
            _require(number not in self._check_answers, f"check {number} has an answer already")
            self._use_token(event.token)
            self._check_answers[number] = event
        else:
            _require(number in self._check_answers, f"check {number} has no answer to take back")
            del self._check_answers[number]

    def _require_asked(self, number: int) -> None:
        _require(number < len(self.course.questions), f"question {number} was not asked before it")

    def _require_open_epoch(self, question: Question) -> None:
        if self._has_epochs:
            is_open = len(self.course.closings) < len(self.course.epochs) or not self._has_closings
            is_now = is_open and question.epoch == len(self.course.epochs) - 1
            _require(is_now, f"epoch {question.epoch} of question {question.id} is not under way")

    def _use_token(self, token: str | None) -> None:
        if token is not None:
            _require(token not in self._tokens, f"the token {token!r} was used before")
            self._tokens.add(token)
