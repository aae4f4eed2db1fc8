"""The one fold from events to what is in force, which refuses whatever cannot have happened.

Which questions are asked and what an epoch shows depends on the table and the seed, and is for the replay and the
certificate. Here is what any log must keep to: answers come after their questions, once; an answer that several raters
give is that of their votes; epochs begin and close one after the other, and nothing of an epoch changes after it
closed; little follows the end.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

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
from onebit.records import Answer, Closing, EpochPlan, EpochRecord, PackedRecords, Question

#: What may follow the end: raters go on with what they hold, and it changes nothing.
AFTER_THE_END = (Disputed, Voted, Unvoted, Checked, CheckAnswered, CheckUndone)


class Course:
    """What is in force of a log, taken event by event.

    Questions and checks of raters have their numbers from one sequence. ``given`` has what each number is; ``offered``
    whom it was given to, in that order; ``votes`` the answers of raters in force; ``answered`` the event that gave a
    question its answer, or that answered a check. An answer that several raters give has their votes before it.
    """

    def __init__(self, created: Created) -> None:
        _require(created.overlap % 2 == 1, f"{created.overlap} raters a question have no majority")
        self.created = created
        self._overlap = created.overlap
        #: Whether epochs and their closings are in the log.
        self._has_epochs = created.learner in ("certified", "networks")
        self._has_closings = created.learner == "certified"
        self.epochs: PackedRecords[EpochRecord | EpochPlan] = PackedRecords()
        self.closings: PackedRecords[Closing] = PackedRecords()
        self.finished: Finished | None = None
        self.given: list[Question | Checked] = []
        self.offered: list[dict[str | None, None]] = []
        self.votes: list[dict[str | None, Given]] = []
        self.answered: dict[int, Answered | CheckAnswered] = {}
        #: The learner's questions, in the order asked; and those without an answer.
        self.questions: list[Question] = []
        self.open: dict[int, Question] = {}
        #: What each rater used each token for: two raters may have made the same one.
        self.tokens: dict[tuple[str | None, str], tuple[int, Given]] = {}
        #: The numbers that each rater answered, in that order (also what was taken back), and the rater's checks.
        self.answered_by: dict[str | None, list[int]] = defaultdict(list)
        self.checks_of: dict[str, list[Checked]] = defaultdict(list)
        #: Questions whose answer its rater wanted back when it had been used.
        self.disputed: set[tuple[int, str | None]] = set()

    @property
    def answers(self) -> list[Given | None]:
        """The answers to the learner's questions, in their order; None where one is open."""
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

    def take(self, event: Event) -> None:
        """Go on by one event; LogError, and nothing is changed, if it cannot have happened."""
        if self.finished is not None and not isinstance(event, AFTER_THE_END):
            raise LogError("the log had ended before it")
        match event:
            case EpochBegan() | Planned() | Closed() | Finished():
                self._take_epoch(event)
            case Asked() | Checked() | Offered():
                self._take_question(event)
            case Voted() | Unvoted():
                self._take_vote(event)
            case Answered() | Undone() | Disputed():
                self._take_answer(event)
            case CheckAnswered() | CheckUndone():
                self._take_check(event)
            case Created():
                raise LogError("a log begins once")

    def _take_epoch(self, event: EpochBegan | Planned | Closed | Finished) -> None:
        n_open = len(self.epochs) - len(self.closings)
        match event:
            case EpochBegan() | Planned():
                kind = EpochBegan if self._has_closings else Planned
                _require(self._has_epochs and isinstance(event, kind), "this learner has no epochs of this kind")
                _require(event.record.number == len(self.epochs), f"epoch {len(self.epochs)} is the next to begin")
                if isinstance(event, EpochBegan):
                    is_so = event.record.n_open == n_open
                    _require(is_so, f"it says that {event.record.n_open} epochs were open, and {n_open} were")
                else:
                    _require(not self.open, "the epoch before it is not over")
                self.epochs.append(event.record)
            case Closed(closing):
                _require(n_open > 0 and closing.epoch == len(self.closings), "no such epoch is the next to close")
                is_answered = all(question.epoch != closing.epoch for question in self.open.values())
                _require(is_answered, "a question of the epoch has no answer")
                self.closings.append(closing)
            case Finished():
                _require(self._may_end() or not self._has_epochs, "an epoch is open, or a question has no answer")
                self.finished = event

    def _may_end(self) -> bool:
        """Whether nothing is open but epochs that began before the last one closed: they are not needed any more."""
        if not self._has_closings:
            return not self.open
        return all(epoch.n_closed < len(self.closings) for epoch in self.records[len(self.closings) :])

    def _take_question(self, event: Asked | Checked | Offered) -> None:
        match event:
            case Asked(question, rater):
                self._require_next(question.id)
                self._require_open_epoch(question)
                self.questions.append(question)
                self.open[question.id] = question
                self._give(question, rater)
            case Checked(number, repeats=repeats):
                self._require_next(number)
                if repeats is not None:
                    self._require_asked(repeats)
                    before = self.votes[repeats].get(event.rater)
                    _require(before == event.expected, f"the rater's answer to question {repeats} was another")
                self.checks_of[event.rater].append(event)
                self._give(event, event.rater)
            case Offered(number, rater):
                self._require_asked(number)
                _require(number not in self.answered, f"question {number} had its answer already")
                _require(rater not in self.votes[number], f"this rater had answered question {number} already")
                self.offered[number].pop(rater, None)
                self.offered[number][rater] = None

    def _give(self, given: Question | Checked, rater: str | None) -> None:
        self.given.append(given)
        self.offered.append({rater: None})
        self.votes.append({})

    def _take_vote(self, event: Voted | Unvoted) -> None:
        number, rater = event.question_id, event.rater
        self._require_asked(number)
        _require(self._overlap > 1 and rater is not None, "votes are for several raters with names")
        votes = self.votes[number]
        if isinstance(event, Voted):
            _require(isinstance(event.answer, Answer), "votes are yes, no or can't tell")
            _require(rater in self.offered[number], f"question {number} was not given to this rater")
            _require(rater not in votes, f"this rater had voted on question {number} already")
            self._say(event)
            return
        _require(rater in votes, f"this rater has no vote on question {number}")
        others = [vote for who, vote in votes.items() if who != rater]
        answered = self.answered.get(number)
        is_borne = answered is None or majority(others, self._overlap) == answered.answer
        _require(is_borne, f"question {number} keeps an answer that the other votes do not give")
        del votes[rater]

    def _take_answer(self, event: Answered | Undone | Disputed) -> None:
        number, answered = event.question_id, self.answered
        question = self._require_asked(number)
        match event:
            case Answered():
                _require(number not in answered, f"question {number} has an answer already, and an answer counts once")
                self._require_open_epoch(question)
                self._require_borne(event)
                if self._overlap == 1:
                    self._say(event)
                answered[number] = event
                del self.open[number]
            case Undone(rater=rater):
                _require(number in answered, f"question {number} has no answer to take back")
                self._require_open_epoch(question)
                _require(rater == answered[number].rater, f"the answer to question {number} is another rater's")
                del answered[number]
                self.open[number] = question
                if self._overlap == 1:
                    self.votes[number].clear()
            case Disputed(rater=rater):
                _require(
                    number in answered and rater in self.votes[number],
                    f"question {number} has no answer of this rater's",
                )
                self.disputed.add((number, rater))

    def _require_borne(self, event: Answered) -> None:
        """An answer is that of a rater who was asked, or what the votes come to."""
        number, votes = event.question_id, self.votes[event.question_id]
        if self._overlap == 1:
            _require(event.rater in self.offered[number], f"question {number} was not given to this rater")
            return
        _require(event.rater is None and event.token is None, "an answer of several raters is of none of them alone")
        found = majority(votes.values(), self._overlap)
        _require(
            found is not None,
            f"the {len(votes)} votes on question {number} decide nothing yet, with {self._overlap} raters a question",
        )
        said = found.value if isinstance(found, Answer) else found
        _require(found == event.answer, f"the votes on question {number} come to {said!r}")

    def _take_check(self, event: CheckAnswered | CheckUndone) -> None:
        number = event.question_id
        check = self.given[number] if number < len(self.given) else None
        _require(isinstance(check, Checked), f"question {number} is no check that was given")
        _require(event.rater in self.offered[number], f"check {number} was given to another rater")
        if isinstance(event, CheckAnswered):
            _require(number not in self.answered, f"check {number} has an answer already")
            self._say(event)
            self.answered[number] = event
        else:
            _require(number in self.answered, f"check {number} has no answer to take back")
            del self.answered[number]
            self.votes[number].clear()

    def _say(self, event: Voted | Answered | CheckAnswered) -> None:
        """A rater's own answer, with a token that the rater did not use before."""
        if event.token is not None:
            used = event.rater, event.token
            _require(used not in self.tokens, f"the token {event.token!r} was used by this rater before")
            self.tokens[used] = event.question_id, event.answer
        self.votes[event.question_id][event.rater] = event.answer
        self.answered_by[event.rater].append(event.question_id)

    def _require_next(self, number: int) -> None:
        _require(number == len(self.given), f"question {len(self.given)} is the next")

    def _require_asked(self, number: int) -> Question:
        """The learner's question of that number."""
        question = self.given[number] if number < len(self.given) else None
        if not isinstance(question, Question):
            raise LogError(f"question {number} was not asked before it")
        return question

    def _require_open_epoch(self, question: Question) -> None:
        if self._has_epochs:
            first_open = len(self.closings) if self._has_closings else len(self.epochs) - 1
            is_now = first_open <= question.epoch < len(self.epochs)
            _require(is_now, f"epoch {question.epoch} of question {question.id} is not under way")


def fold(events: Iterable[Event]) -> Course:
    """What is in force at the end of a log; LogError at the first event that cannot have happened."""
    course: Course | None = None
    for number, event in enumerate(events):
        try:
            if course is None:
                if not isinstance(event, Created):
                    raise LogError("it is the first, and must be 'created'")
                course = Course(event)
            else:
                course.take(event)
        except LogError as error:
            raise LogError(f"event {number} ({type(event).__name__.lower()}) cannot have happened: {error}") from None
    if course is None:
        raise LogError("the log is empty; it was cut off before its first event")
    return course


def _require(holds: bool, what_else: str) -> None:
    if not holds:
        raise LogError(what_else)
