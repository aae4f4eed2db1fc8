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

from onebit.errors import InvalidInputError, OnebitError, check_count
from onebit.log.chain import Head
from onebit.log.events import (
    Answered,
    CheckAnswered,
    Checked,
    CheckUndone,
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
from onebit.model_file import SavedModel, check_new, save_model
from onebit.records import Answer, Question, Status
from onebit.report.record import Report
from onebit.store.commit import GroupCommit
from onebit.store.database import NotWrittenError
from onebit.store.locks import Lock
from onebit.store.store import SNAPSHOT, Entry, Log, Store
from onebit.study.cards import Card, Desk, NotYoursError, check_rater
from onebit.study.checks import Checks
from onebit.study.items import Item, Items
from onebit.study.kinds import Kind
from onebit.study.kinds.kind import Standing, StudyStatus
from onebit.study.quality import Quality
from onebit.study.view import View

#: Simulated raters answer so many questions at a time, and write them together.
AT_A_TIME = 256


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
        self.view = View(entry.created_at)
        self.view.take(log.events, log.head, log.last_at)
        self._store, self._entry, self._clock = store, entry, clock
        self._lock, self._writer_lock = threading.RLock(), lock
        self._recorder = replay(log.events, kind.learner)
        self._desk = Desk(self.created.overlap, self.about.lease_seconds)
        self._desk.resume(log.events, clock())
        self._quality = Quality()
        for event in log.events:
            self._quality.take(event)
        self._checks = Checks(kind)
        self._batch: list[Event] = []
        self._commit = GroupCommit(
            lambda first, texts: store.append(entry.id, first, texts), log.head, publish=self.view.take
        )
        self._tells_raters_apart = self.created.overlap > 1 or self.about.has_checks

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

    def simulate(self, observe: Callable[[], None] | None = None) -> None:
        """Let a simulated rater answer until nothing is left to ask; ``observe`` is called after every few answers.

        InvalidInputError unless the study was created for that: answers of people and of a simulation never mix.
        """
        rater = self.kind.simulated_rater()
        while True:
            with self._step():
                cards = self._deal(None, AT_A_TIME)
                if isinstance(cards, Status):
                    return
                for card in cards:
                    if isinstance(card.ask, Question):
                        shown = replace(card.ask, item=self.kind.row(card.ask.item))
                        self._take_answer(card, rater(shown), None, None, late=False)
                        self._desk.drop_lease(card, None)
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
            standing = Standing(self.name, len(self._recorder.open), self._quality.raters(), self.head)
        return self.kind.status(standing, result)

    def report(self) -> Report:
        """The report of a selection, as it is now; InvalidInputError if the study is none."""
        return self.kind.report(self.result, self.view.seen())

    def write_model(self, path: str | Path) -> None:
        """Write the classifier, as it is now, to a new file; InvalidInputError if the study trains none."""
        file = Path(path)
        check_new("the file", file)
        classifier = self.kind.classifier(self.result)
        save_model(file, SavedModel(classifier, self.about.columns, self.about.is_text))

    @property
    def is_over(self) -> bool:
        """Whether the log says that nothing is left to ask."""
        return self.view.finished is not None

    @property
    def head(self) -> Head:
        """Where the log ends that is durable; who only reads knows where it ended when it was read."""
        return self.view.head

    def last_answered(self, rater: str) -> Offer | None:
        """The question that the rater answered last and has not taken back; None if there is none."""
        with self._lock:
            cards = (card for card in reversed(self._desk.answered_by[rater]) if rater in card.votes)
            card = next(cards, None)
            return None if card is None else self._offer(card, rater)

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
                snapshot = self.kind.due_snapshot() if writes else None
        self._commit.wait(ticket)
        if snapshot is not None:
            # It only saves time: on a full disk the study goes on without.
            with suppress(NotWrittenError):
                self._store.replace_block(self._entry.id, (SNAPSHOT, 0, snapshot))

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
            more = self._more(rater, now, n - len(cards))
            if isinstance(more, Status):
                if not cards:
                    return more
                break
            # At once, or they would be dealt again.
            for card in more:
                self._desk.lease(card, rater, now)
            cards += more
        # In this order the first stays the first of the hand.
        for card in reversed(cards):
            self._desk.lease(card, rater, now)
        return cards

    def _more(self, rater: str | None, now: float, n: int) -> list[Card] | Status:
        """Cards that the rater does not hold: a free one, one that checks the rater, or up to n new questions."""
        card = self._desk.next_free(rater, now)
        if card is not None:
            if isinstance(card.ask, Question):
                self._note(Offered(card.ask.id, rater))
            return [card]
        check = self._checks.next(rater, self._desk) if rater is not None else None
        if check is not None:
            self._note(check)
            return self._desk.cards[-1:]
        # Before each question it is drawn anew whether a check comes first.
        asked = self._recorder.ask(1 if self.about.has_checks else n, rater)
        self._note(*self._recorder.drain())
        if isinstance(asked, Status):
            self._finish_if_done(asked)
            return asked
        return self._desk.cards[-len(asked) :]

    def _offer(self, card: Card, rater: str | None) -> Offer:
        item = card.ask.item if isinstance(card.ask, Checked) else self.kind.row(card.ask.item)
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
            read = self.kind.learner.read(closes=self._writer_lock is not None)
            self._recorder.note_epochs()
            self._note(*self._recorder.drain())
        return read

    def _finish_if_done(self, status: Status) -> None:
        if status is Status.DONE and self._recorder.finished is None:
            result = self.kind.learner.result
            self._recorder.note_epochs()
            self._recorder.take(Finished(result.status, self.kind.summary(result)))
            self._note(*self._recorder.drain())


def _yes_or_no(said: Given) -> Answer:
    if not isinstance(said, Answer):
        raise InvalidInputError(f"the answer was {said!r}; it must be yes, no or can't tell")
    return said
