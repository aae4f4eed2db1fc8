"""What a study looks like from outside: its durable events, counted as the study publishes them."""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import repeat, takewhile

from onebit.log.chain import Head
from onebit.log.events import Answered, Asked, Closed, EpochBegan, Event, Finished, Planned, Undone, Unvoted, Voted
from onebit.log.votes import Given
from onebit.records import Answer, Closing
from onebit.study.answer_book import AnswerBook


@dataclass(frozen=True, slots=True)
class Agreement:
    """Of ``n`` answers of a rater to questions that others answered too, ``n_same`` were the one that counts."""

    n_same: int
    n: int


@dataclass(frozen=True, slots=True)
class Verdicts:
    """What raters said of outputs: of ``labels`` at ``items``, the learner's numbers, and whether it was a yes.

    In the order asked, up to the first question that is open: who is quick to answer decides nothing. ``guess`` are the
    coefficients of the last epoch of a selection.
    """

    items: tuple[int, ...] = ()
    labels: tuple[int, ...] = ()
    accepted: tuple[bool, ...] = ()
    guess: tuple[float, ...] = ()


#: Where nobody asked for them.
NO_VERDICTS = Verdicts()


@dataclass(frozen=True, slots=True)
class Seen:
    """A study at one moment: answers in force, can't-tells among them, closed epochs, seconds, where its log ends."""

    n_answers: int
    n_cant_tell: int
    closings: tuple[Closing, ...]
    seconds: float
    head: Head
    verdicts: Verdicts = NO_VERDICTS


class View:
    """Takes the events of a study once they are durable; ``head`` moves with everything that happens.

    ``tells_verdicts``: what was seen has them, which takes as long as there are answers.
    """

    def __init__(self, created_at: str, tells_verdicts: bool = False) -> None:
        self._lock = threading.Lock()
        self._created_at = self._last_at = created_at
        self._tells_verdicts = tells_verdicts
        #: The questions in the order asked: item and label of each.
        self._asked: dict[int, tuple[int, int | None]] = {}
        self._guess: tuple[float, ...] = ()
        self._votes: dict[int, dict[str | None, Given]] = defaultdict(dict)
        #: Answers in force, by question; and how often each came for each label that was asked about.
        self.answers: dict[int, Given] = {}
        self._counts: dict[int, Counter[Given]] = defaultdict(Counter)
        self._n_cant_tell = 0
        self.closings: list[Closing] = []
        self.n_epochs = 0
        self.finished: Finished | None = None
        self._head = Head()
        #: All answers, to look at.
        self.book = AnswerBook()

    @property
    def head(self) -> Head:
        """Where the durable log ends."""
        return self._head

    def take(self, events: Iterable[Event], head: Head, written_at: str | Sequence[str]) -> None:
        """Count events that are durable: the log ends at ``head`` with them, and they were written then, or each so."""
        with self._lock:
            times = repeat(written_at) if isinstance(written_at, str) else written_at
            for event, at in zip(events, times, strict=False):
                self._take(event)
                self.book.take(event, at)
                self._last_at = at
            self._head = head

    def seen(self) -> Seen:
        """The study now."""
        with self._lock:
            return Seen(
                len(self.answers),
                self._n_cant_tell,
                tuple(self.closings),
                seconds_between(self._created_at, self._last_at),
                self._head,
                self._verdicts() if self._tells_verdicts else NO_VERDICTS,
            )

    def _verdicts(self) -> Verdicts:
        told = [
            (item, label, self.answers[number] is Answer.YES)
            for number, (item, label) in takewhile(lambda asked: asked[0] in self.answers, self._asked.items())
            if label is not None
        ]
        items, labels, accepted = zip(*told, strict=True) if told else ((), (), ())
        return Verdicts(items, labels, accepted, self._guess)

    def said(self) -> list[tuple[int, int | None, Given]]:
        """Answers in force in the order asked: the number of the learner's item, the label asked about, the answer."""
        with self._lock:
            asked = self._asked.items()
            return [(item, label, self.answers[number]) for number, (item, label) in asked if number in self.answers]

    def labels(self) -> dict[int, Counter[Given]]:
        """For each label that was asked about, how often each answer came."""
        with self._lock:
            return {label: +counts for label, counts in self._counts.items() if counts.total()}

    def agreement(self) -> dict[str, Agreement]:
        """How often each rater gave the answer that the raters of a question came to; where several are asked."""
        same: Counter[str] = Counter()
        n: Counter[str] = Counter()
        with self._lock:
            for number, votes in self._votes.items():
                if number in self.answers and len(votes) > 1:
                    for rater, said in votes.items():
                        n[str(rater)] += 1
                        same[str(rater)] += said == self.answers[number]
        return {rater: Agreement(same[rater], n[rater]) for rater in n}

    def _take(self, event: Event) -> None:
        match event:
            case Asked():
                self._asked[event.question.id] = event.question.item, event.question.label
            case Voted():
                self._votes[event.question_id][event.rater] = event.answer
            case Unvoted():
                self._votes[event.question_id].pop(event.rater, None)
            case Answered():
                self.answers[event.question_id] = event.answer
                self._count(event.question_id, event.answer, 1)
            case Undone():
                self._count(event.question_id, self.answers.pop(event.question_id), -1)
            case EpochBegan() | Planned():
                self.n_epochs += 1
                self._guess = event.record.guess if isinstance(event, EpochBegan) else ()
            case Closed():
                self.closings.append(event.closing)
            case Finished():
                self.finished = event

    def _count(self, question_id: int, answer: Given, n: int) -> None:
        self._n_cant_tell += n * (answer is Answer.CANT_TELL)
        label = self._asked[question_id][1]
        if label is not None:
            self._counts[label][answer] += n


def seconds_between(first: str, last: str) -> float:
    """Seconds from one moment, as the store writes it, to another."""
    return max(0.0, (datetime.fromisoformat(last) - datetime.fromisoformat(first)).total_seconds())
