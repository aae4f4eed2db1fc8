"""A study: a learner that many raters answer, over weeks, through crashes, with nothing lost.

Everything that happens is an event. It is done to the learner and to the desk under one lock, which puts all events in
order, and acknowledged when it is durable; those who wait meanwhile share one write.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onebit.errors import InvalidInputError, OnebitError, check_count
from onebit.log.chain import Head
from onebit.log.events import (
    Answered,
    CheckAnswered,
    Checked,
    CheckUndone,
    Created,
    Disputed,
    Event,
    Finished,
    Offered,
    Undone,
    Unvoted,
    Voted,
)
from onebit.log.recorder import replay
from onebit.log.votes import Given, majority
from onebit.records import Answer, Question, Status
from onebit.store.commit import GroupCommit
from onebit.store.locks import Lock
from onebit.store.store import Entry, Log, Store
from onebit.study.about import About
from onebit.study.cards import Card, Desk, NotYoursError, check_rater
from onebit.study.checks import Checks
from onebit.study.items import Item, Items
from onebit.study.learners import Selection
from onebit.study.quality import Quality
from onebit.study.status import LearningStatus, StudyStatus, status_of, summary_of
from onebit.study.tasks import Task
from onebit.study.training import Snapshots


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
        about: About,
        task: Task,
        lock: Lock | None,
        snapshots: Snapshots | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        created = log.events[0]
        if not isinstance(created, Created):
            raise InvalidInputError(f"the log of {entry.name!r} does not begin with its creation; restore a backup")
        self.name, self.created, self.about = entry.name, created, about
        self.items: Items = Items(store, entry.id, about)
        self.task = task
        self._store, self._entry, self._clock, self._snapshots = store, entry, clock, snapshots
        self._lock, self._writer_lock = threading.RLock(), lock
        self._recorder = replay(log.events, task.learner)
        self._desk = Desk(created.overlap, about.lease_seconds)
        self._desk.resume(log.events, clock())
        self._quality = Quality()
        for event in log.events:
            self._quality.take(event)
        self._checks = Checks(about, task, created.setting.seed)
        self._batch: list[Event] = []
        self._commit = GroupCommit(lambda first, texts: store.append(entry.id, first, texts), log.head)
        self._tells_raters_apart = created.overlap > 1 or about.has_checks

    def ask(self, rater: str | None = None) -> Offer | Status:
        """A question for a rater: the same again until it is answered, an open one that nobody holds, or a new one.

        WAIT: others must answer first. DONE: nothing is left to ask. Without a name, every call gives another question.
        """
        check_rater(rater, self._tells_raters_apart)
        with self._step():
            cards = self._deal(rater, 1)
        return cards if isinstance(cards, Status) else self._offer(cards[0], rater)

    def ask_several(self, rater: str, n: int) -> tuple[Offer, ...] | Status:
        """Up to ``n`` questions for a rater to have at hand: those held already, in the same order, then others."""
        check_rater(rater, self._tells_raters_apart)
        check_count("the number of questions asked for", n)
        with self._step():
            cards = self._deal(rater, n)
        return cards if isinstance(cards, Status) else tuple(self._offer(card, rater) for card in cards)

    def tell(
        self, offer: Offer | int, answer: Answer | bool | int, *, rater: str | None = None, token: str | None = None
    ) -> Receipt:
        """Take a rater's answer, once; it is durable when this returns.

        ``answer`` is an Answer, True for yes, False for no, or a label where that was asked for. The same ``token``
        again is the same answer again. Raises UnknownQuestionError, AlreadyAnsweredError, NotYoursError,
        InvalidInputError, or NotWrittenError where the store cannot be written: then send it again.
        """
        card_id, rater = (offer.id, offer.rater) if isinstance(offer, Offer) else (offer, rater)
        said: Given = (Answer.YES if answer else Answer.NO) if isinstance(answer, bool) else answer
        check_rater(rater, self._tells_raters_apart)
        with self._step():
            card = self._desk.card(card_id)
            if self._is_repeated(card, said, rater, token):
                return Receipt(repeated=True)
            self._desk.check_may_answer(card, rater)
            late = self._desk.is_late(card, rater, self._clock())
            self._take_answer(card, said, rater, token, late)
            self._desk.drop_lease(card, rater)
        return Receipt(late=late)

    def undo(self, offer: Offer | int, *, rater: str | None = None) -> Undo:
        """Take back one's own answer while its epoch is open; the question is then the rater's again.

        Later the answer has been used, and stands; that it is disputed goes into the log.
        """
        card_id, rater = (offer.id, offer.rater) if isinstance(offer, Offer) else (offer, rater)
        with self._step():
            card = self._desk.card(card_id)
            if rater not in card.votes:
                raise NotYoursError(f"question {card.id} has no answer of yours; take back your own answers")
            if isinstance(card.ask, Question) and not self._take_back(card, card.ask, rater):
                self._note(Disputed(card.ask.id, rater))
                return Undo.DISPUTED
            if isinstance(card.ask, Checked):
                self._note(CheckUndone(card.ask.check_id, card.ask.rater))
            if rater is not None:
                self._desk.lease(card, rater, self._clock())
            else:
                self._desk.drop_lease(card, rater)
        return Undo.UNDONE

    @property
    def result(self) -> Any:
        """What is known now, as the learner states it."""
        return self._read()()

    def status(self) -> StudyStatus | LearningStatus:
        """What is known now, in the names of models and raters."""
        result = self.result
        with self._lock:
            n_open = len(self._recorder.open)
            return status_of(self.name, self.created, self.about, result, n_open, self._quality, self.head)

    @property
    def head(self) -> Head:
        """Where the log ends that is durable; who only reads knows where it ended when it was read."""
        return self._commit.head

    @property
    def predictions(self) -> NDArray[np.integer]:
        """The predictions (N, n) of the models of a selection; a learning study has no models."""
        if not isinstance(self.task, Selection):
            raise InvalidInputError(f"the study {self.name!r} learns a classifier and has no models to select from")
        return self.task.predictions

    def offer(self, question: int) -> Offer:
        """The question of that number, as it was given out; UnknownQuestionError if it never was."""
        with self._lock:
            return self._offer(self._desk.card(question), None)

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
                batch, self._batch = self._batch, []
                writes = self._writer_lock is not None
                ticket = self._commit.put(batch) if writes else 0
                snapshot = self._snapshots.due() if writes and self._snapshots is not None else None
        self._commit.wait(ticket)
        if snapshot is not None and self._snapshots is not None:
            self._snapshots.keep(snapshot)

    def _note(self, *events: Event) -> None:
        for event in events:
            self._desk.take(event)
            self._quality.take(event)
            self._batch.append(event)

    def _deal(self, rater: str | None, n: int) -> list[Card] | Status:
        """Up to n cards, leased to the rater; or why there is none."""
        now = self._clock()
        cards = [] if rater is None else self._desk.hand(rater)[:n]
        while len(cards) < n:
            card = self._another(rater, now)
            if isinstance(card, Status):
                if not cards:
                    return card
                break
            # At once, or it would be dealt again.
            self._desk.lease(card, rater, now)
            cards.append(card)
        # In this order the first stays the first of the hand.
        for card in reversed(cards):
            self._desk.lease(card, rater, now)
        return cards

    def _another(self, rater: str | None, now: float) -> Card | Status:
        """A card that the rater does not hold: a free one, one that checks the rater, or a new question."""
        card = self._desk.next_free(rater, now)
        if card is not None:
            if isinstance(card.ask, Question):
                self._note(Offered(card.ask.id, rater))
            return card
        check = self._checks.next(rater, self._desk) if rater is not None else None
        if check is not None:
            self._note(check)
        else:
            asked = self._recorder.ask_new(1, rater)
            self._note(*self._recorder.drain())
            if isinstance(asked, Status):
                self._finish_if_done(asked)
                return asked
        return self._desk.cards[-1]

    def _offer(self, card: Card, rater: str | None) -> Offer:
        item = card.ask.item if isinstance(card.ask, Checked) else self.task.row(card.ask.item)
        return Offer(card.id, item, card.ask.label, rater)

    def _is_repeated(self, card: Card, said: Given, rater: str | None, token: str | None) -> bool:
        used = None if token is None else self._desk.tokens.get(token)
        if used is not None and used != (card.id, said):
            raise InvalidInputError(
                f"the token {token!r} was used for another answer; make a new one for every answer of a rater"
            )
        return used is not None or (rater is not None and card.votes.get(rater) == said)

    def _take_answer(self, card: Card, said: Given, rater: str | None, token: str | None, late: bool) -> None:
        if isinstance(card.ask, Checked):
            self._note(CheckAnswered(card.ask.check_id, _yes_or_no(said), card.ask.rater, token))
            return
        number = card.ask.id
        if self.created.overlap > 1:
            self._note(Voted(number, _yes_or_no(said), rater, token, late))
            self._settle_by_votes(card, number)
            return
        self._recorder.take(Answered(number, said, rater, token, late))
        self._note(*self._recorder.drain())

    def _take_back(self, card: Card, question: Question, rater: str | None) -> bool:
        """Take a vote back, and the answer that it helped to; whether that was possible."""
        overlap = self.created.overlap
        others = [vote for who, vote in card.votes.items() if who != rater]
        if card.done and majority(others, overlap) != self._recorder.answers[question.id]:
            try:
                self._recorder.take(Undone(question.id, rater if overlap == 1 else None))
            except OnebitError:
                return False
            self._note(*self._recorder.drain())
        if overlap > 1:
            self._note(Unvoted(question.id, rater))
            self._settle_by_votes(card, question.id)
        return True

    def _settle_by_votes(self, card: Card, number: int) -> None:
        """Give a question that several raters answer its answer, once their votes have one."""
        resolved = majority(card.votes.values(), self.created.overlap)
        if resolved is not None and not card.done:
            self._recorder.take(Answered(number, resolved))
            self._note(*self._recorder.drain())

    def _read(self) -> Callable[[], Any]:
        """What works the result out: that takes a while, and needs no lock, so that raters do not wait for it."""
        with self._step(reads_only=True):
            # Who only reads may not see an epoch closed whose answers the writer can still have taken back.
            read = self.task.learner.read(closes=self._writer_lock is not None)
            self._recorder.note_epochs()
            self._note(*self._recorder.drain())
        return read

    def _finish_if_done(self, status: Status) -> None:
        if status is Status.DONE and self._recorder.finished is None:
            result = self.task.learner.result
            self._recorder.note_epochs()
            self._recorder.take(Finished(result.status, summary_of(self.about, result)))
            self._note(*self._recorder.drain())


def _yes_or_no(said: Given) -> Answer:
    if not isinstance(said, Answer):
        raise InvalidInputError(f"the answer was {said!r}; it must be yes, no or can't tell")
    return said
