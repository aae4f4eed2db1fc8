"""A study: a learner that many raters answer, over weeks, through crashes, with nothing lost.

Everything that happens is an event. It is done to the learner and to the desk under one lock, which puts all events in
order, and acknowledged when it is durable; those who wait meanwhile share one write.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from types import TracebackType
from typing import Any

from onebit.errors import InvalidInputError, check_count
from onebit.log.chain import Head
from onebit.log.events import (
    Answered,
    CheckAnswered,
    Checked,
    CheckUndone,
    Disputed,
    Event,
    Voted,
)
from onebit.log.recorder import replay
from onebit.log.votes import Given
from onebit.model_file import SavedModel, check_new, save_model
from onebit.raters import Rater
from onebit.records import Answer, Status
from onebit.report.record import Report
from onebit.store.blocks import SNAPSHOT
from onebit.store.commit import GroupCommit
from onebit.store.database import NotWrittenError
from onebit.store.locks import Lock
from onebit.store.store import Entry, Log, Store
from onebit.study.constants import AT_A_TIME, PATIENCE
from onebit.study.dealing import Dealer
from onebit.study.desk import Desk, NotYoursError, check_rater
from onebit.study.items import Item, Items
from onebit.study.kinds import Kind
from onebit.study.kinds.kind import Standing, StudyStatus
from onebit.study.quality import Quality
from onebit.study.view import View
from onebit.study.votes import settle_by_votes, standing_answers, take_back


@dataclass(frozen=True, slots=True)
class Offer:
    """A question given to a rater: "is ``label`` right for ``item``?"

    ``item`` is a row of the table, ``label`` the number of a label, or None where the label itself is asked for.
    """

    id: int
    item: int
    label: int | None
    rater: str | None


@dataclass(frozen=True, slots=True)
class Receipt:
    """An answer is durable. ``late``: it came after its lease, and counts. ``repeated``: it had come before."""

    late: bool = False
    repeated: bool = False


class Undo(Enum):
    """What became of the wish to take an answer back."""

    UNDONE = "the answer was taken back"
    DISPUTED = "the answer has been used already and stands; the wish is noted"


class Study:
    """A study that is open: made by ``create_study`` or ``load_study``.

    Safe to use from several threads. The clock decides about leases alone, and is not the wall's.
    """

    def __init__(
        self,
        store: Store,
        entry: Entry,
        log: Log,
        kind: Kind,
        lock: Lock | None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name, self.created, self.about, self.kind = entry.name, kind.created, kind.about, kind
        self.items: Items = Items(store, entry.id, self.about)
        #: What is durable, for whoever watches.
        self.view = View(entry.created_at, kind.needs_verdicts)
        self.view.take(log.events, log.head, log.written_at)
        self._store, self._entry, self._clock = store, entry, clock
        self._lock, self._writer_lock = threading.RLock(), lock
        self._recorder = replay(log.events, kind.learner)
        self._course = self._recorder.course
        self._desk = Desk(self._course, self.about.lease_seconds, clock())
        self._quality = Quality(self._course)
        for event in log.events:
            self._quality.take(event)
        self._dealer = Dealer(kind, self._recorder, self._desk)
        self._commit = GroupCommit(
            lambda first, texts: store.append(entry.id, first, texts), log.head, publish=self.view.take
        )
        self._tells_raters_apart = self.created.overlap > 1 or self.about.has_checks

    def ask(self, rater: str | None = None) -> Offer | Status:
        """A question for a rater: the same again until it is answered, an open one that nobody holds, or a new one.

        WAIT: others must answer first. DONE: nothing is left to ask. Without a name, every call gives another question.
        """
        dealt = self._ask(rater, 1)
        return dealt if isinstance(dealt, Status) else dealt[0]

    def ask_several(self, rater: str, n: int) -> tuple[Offer, ...] | Status:
        """Up to ``n`` questions for a rater to have at hand: those held already, in the same order, then others."""
        check_count("the number of questions asked for", n)
        return self._ask(rater, n)

    def _ask(self, rater: str | None, n: int) -> tuple[Offer, ...] | Status:
        check_rater(rater, self._tells_raters_apart)
        with self._step():
            dealt = self._dealer.deal(rater, n, self._clock())
        return dealt if isinstance(dealt, Status) else tuple(self._offer(number, rater) for number in dealt[:n])

    def tell(
        self, offer: Offer | int, answer: Answer | bool | int, *, rater: str | None = None, token: str | None = None
    ) -> Receipt:
        """Take a rater's answer, once; it is durable when this returns.

        ``answer`` is an Answer, True for yes, False for no, or a label where that was asked for. The same ``token`` of
        the same rater again is the same answer again. Raises UnknownQuestionError, AlreadyAnsweredError, NotYoursError,
        InvalidInputError, or NotWrittenError where the store cannot be written: then send it again.
        """
        number, rater = (offer.id, offer.rater) if isinstance(offer, Offer) else (offer, rater)
        said: Given = (Answer.YES if answer else Answer.NO) if isinstance(answer, bool) else answer
        check_rater(rater, self._tells_raters_apart)
        with self._step():
            self._desk.check_given(number)
            if self._is_repeated(number, said, rater, token):
                return Receipt(repeated=True)
            self._desk.check_may_answer(number, rater)
            late = self._desk.is_late(number, rater, self._clock())
            self._take_answer(number, said, rater, token, late)
            self._desk.drop_lease(number, rater)
        return Receipt(late=late)

    def undo(self, offer: Offer | int, *, rater: str | None = None) -> Undo:
        """Take back one's own answer while its epoch is open; the question is then the rater's again.

        Later the answer has been used, and stands; that it is disputed goes into the log.
        """
        number, rater = (offer.id, offer.rater) if isinstance(offer, Offer) else (offer, rater)
        with self._step():
            self._desk.check_given(number)
            if rater not in self._course.votes[number]:
                if rater is not None and number in self._course.answered_by[rater]:
                    # It was taken back before, and whoever asked for it did not hear so.
                    return Undo.UNDONE
                raise NotYoursError(f"question {number} has no answer of yours; take back your own answers")
            given = self._course.given[number]
            if isinstance(given, Checked):
                self._note(CheckUndone(number, given.rater))
            elif not take_back(self._recorder, number, rater):
                # Once: whoever did not hear of it asks again, and a rater could fill the log with it.
                if (number, rater) not in self._course.disputed:
                    self._note(Disputed(number, rater))
                return Undo.DISPUTED
            if rater is not None:
                self._desk.give_back(number, rater, self._clock())
            else:
                self._desk.drop_lease(number, rater)
        return Undo.UNDONE

    def simulate(self, observe: Callable[[], None] | None = None) -> None:
        """Let a simulated rater answer until nothing is left to ask; ``observe`` is called after every few answers.

        InvalidInputError unless the study was created for that: answers of people and of a simulation never mix.
        """
        self.answer_by(self.kind.simulated_rater(), AT_A_TIME, observe)

    def answer_by(self, rater: Rater, at_a_time: int, observe: Callable[[], None] | None = None) -> None:
        """Let a function answer until nothing is left to ask; so many answers at a time become durable together."""
        while True:
            with self._step():
                dealt = self._dealer.deal(None, at_a_time, self._clock())
                if isinstance(dealt, Status):
                    return
                for number in dealt:
                    question = self._course.open[number]
                    said = rater(replace(question, item=self.kind.row(question.item)))
                    self._take_answer(number, said, None, None, late=False)
                    self._desk.drop_lease(number, None)
            if observe is not None:
                observe()

    @property
    def result(self) -> Any:
        """What is known now, as the learner states it."""
        return self._read()()

    def status(self, result: Any = None) -> StudyStatus:
        """What is known now, in the names of models and raters; from ``result``, if that was read already."""
        if result is None:
            result = self.result
        with self._lock:
            raters, seen = self._quality.raters(), self.view.seen()
            n_open = 0 if self._course.finished is not None else len(self._course.open)
            standing = Standing(self.name, n_open, raters, seen.head, seen.verdicts)
        return self.kind.status(standing, result)

    def report(self) -> Report:
        """The report of a selection, as it is now; InvalidInputError if the study is none."""
        return self.kind.report(self.result, self.view, self.items)

    def write_model(self, path: str | Path) -> None:
        """Write the classifier, as it is now, to a new file; InvalidInputError if the study trains none."""
        file = Path(path)
        check_new("the file", file)
        classifier = self.kind.classifier(self.result)
        save_model(file, SavedModel(classifier, self.about.columns, self.about.is_text))

    def look_ahead(self, seconds: float = PATIENCE, is_stopped: Callable[[], bool] | None = None) -> None:
        """Make ready to tell how many answers are still needed; it takes so many seconds at most."""
        if self.kind.can_foresee and not self.is_over:
            self.kind.foresee(self.kind.look_ahead(seconds, is_stopped))

    @property
    def is_over(self) -> bool:
        """Whether the log says that nothing is left to ask."""
        return self.view.finished is not None

    @property
    def head(self) -> Head:
        """Where the log ends that is durable; who only reads knows where it ended when it was read."""
        return self.view.head

    @property
    def is_lost(self) -> bool:
        """Whether another process has written to it since: this one no longer knows its state. Load it again."""
        return self._commit.is_lost

    def keep_lock(self) -> None:
        """Stay its writer, also where the database was started anew; InUseError if somebody else is it by now."""
        if self._writer_lock is not None:
            self._store.keep_lock(self._entry.id)

    def n_answers_of(self, rater: str) -> int:
        """How many answers of a rater stand, those to checks among them: nobody can tell them apart."""
        with self._lock:
            return len(standing_answers(self._course, rater))

    def last_answered(self, rater: str) -> Offer | None:
        """The question that the rater answered last and has not taken back; None if there is none."""
        with self._lock:
            numbers = standing_answers(self._course, rater)
            return self._offer(numbers[-1], rater) if numbers else None

    def offer(self, question: int) -> Offer:
        """The question of that number, as it was given out; UnknownQuestionError if it never was."""
        with self._lock:
            self._desk.check_given(question)
            return self._offer(question, None)

    def was_given(self, row: int, rater: str) -> bool:
        """Whether a rater holds, or has answered, a question about a row of the table."""
        with self._lock:
            numbers = (*self._desk.hand(rater), *reversed(self._course.answered_by[rater]))
            return any(self._offer(number, rater).item == row for number in numbers)

    def item(self, row: int) -> Item:
        """What raters are shown of a row of the table."""
        return self.items[row]

    def digest(self) -> str:
        """A hash of the learner's state: equal for the same log replayed."""
        with self._lock:
            return self._recorder.digest()

    def close(self) -> None:
        """Let go of the study, so that another process may open it."""
        with self._lock:
            if self._writer_lock is not None:
                self._writer_lock.release()
                self._writer_lock = None
            self._store.close()

    def __enter__(self) -> Study:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @contextmanager
    def _step(self, reads_only: bool = False) -> Iterator[None]:
        """One thing that happens: in order, and durable before anybody hears of it."""
        with self._lock:
            if self._writer_lock is None and not reads_only:
                raise InvalidInputError(f"the study {self.name!r} is closed, or open for reading only; load it")
            try:
                yield
            finally:
                new, writes = self._recorder.drain(), self._writer_lock is not None
                for event in new:
                    self._quality.take(event)
                ticket = self._commit.put(new) if writes else 0
                snapshot = self.kind.due_snapshot() if writes else None
        self._commit.wait(ticket)
        if snapshot is not None:
            # It only saves time: on a full disk the study goes on without.
            with suppress(NotWrittenError):
                self._store.replace_block(self._entry.id, (SNAPSHOT, 0, snapshot))

    def _note(self, event: Event) -> None:
        self._recorder.take(event)

    def _offer(self, number: int, rater: str | None) -> Offer:
        given = self._course.given[number]
        item = given.item if isinstance(given, Checked) else self.kind.row(given.item)
        return Offer(number, item, given.label, rater)

    def _is_repeated(self, number: int, said: Given, rater: str | None, token: str | None) -> bool:
        used = None if token is None else self._course.tokens.get((rater, token))
        if used is not None and used != (number, said):
            raise InvalidInputError(
                f"the token {token!r} was used for another answer; make a new one for every answer of a rater"
            )
        return used is not None or (rater is not None and self._course.votes[number].get(rater) == said)

    def _check_takes(self, said: Given) -> None:
        if said is Answer.NONE and not self.kind.takes_none:
            raise InvalidInputError(
                f'the answer was "{said.value}", which this study does not allow; say no to the label that is asked'
            )

    def _take_answer(self, number: int, said: Given, rater: str | None, token: str | None, late: bool) -> None:
        self._check_takes(said)
        given = self._course.given[number]
        if isinstance(given, Checked):
            self._note(CheckAnswered(number, _yes_or_no(said), given.rater, token))
        elif self.created.overlap > 1:
            self._note(Voted(number, _yes_or_no(said), rater, token, late))
            settle_by_votes(self._recorder, number)
        else:
            self._note(Answered(number, said, rater, token, late))

    def _read(self) -> Callable[[], Any]:
        """What works the result out: that takes a while, and needs no lock, so that raters do not wait for it."""
        with self._step(reads_only=True):
            # Who only reads may not see an epoch closed whose answers the writer can still have taken back.
            read = self.kind.learner.read(closes=self._writer_lock is not None)
            self._recorder.note_epochs()
        return read


def _yes_or_no(said: Given) -> Answer:
    if not isinstance(said, Answer):
        raise InvalidInputError(f"the answer was {said!r}; it must be yes, no or can't tell")
    return said
