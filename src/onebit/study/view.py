"""What a study looks like from outside: its durable events, counted as the study publishes them."""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from onebit.log.chain import Head
from onebit.log.events import Answered, Asked, Closed, EpochBegan, Event, Finished, Planned, Undone, Unvoted, Voted
from onebit.log.votes import Given
from onebit.records import Answer, Closing


@dataclass(frozen=True, slots=True)
class Agreement:
    """Of ``n`` answers of a rater to questions that others answered too, ``n_same`` were the one that counts."""

    n_same: int
    n: int


@dataclass(frozen=True, slots=True)
class Seen:
    """A study at one moment: answers in force, can't-tells among them, closed epochs, seconds, where its log ends."""

    n_answers: int
    n_cant_tell: int
    closings: tuple[Closing, ...]
    seconds: float
    head: Head


class View:
    """Takes the events of a study once they are durable; ``head`` moves with everything that happens."""

    def __init__(self, created_at: str) -> None:
        self._lock = threading.Lock()
        self._created_at = self._last_at = created_at
        self._label_of: dict[int, int | None] = {}
        self._votes: dict[int, dict[str | None, Given]] = defaultdict(dict)
        #: Answers in force, by question; and how often each came for each label that was asked about.
        self.answers: dict[int, Given] = {}
        self._counts: dict[int, Counter[Given]] = defaultdict(Counter)
        self._n_cant_tell = 0
        self.closings: list[Closing] = []
        self.n_epochs = 0
        self.finished: Finished | None = None
        self._head = Head()

    @property
    def head(self) -> Head:
        """Where the durable log ends."""
        return self._head

    def take(self, events: Iterable[Event], head: Head, written_at: str) -> None:
        """Count events that are durable: the log ends at ``head`` with them, and they were written at this time."""
        with self._lock:
            for event in events:
                self._take(event)
            self._head, self._last_at = head, written_at

    def seen(self) -> Seen:
        """The study now."""
        with self._lock:
            return Seen(
                len(self.answers),
                self._n_cant_tell,
                tuple(self.closings),
                seconds_between(self._created_at, self._last_at),
                self._head,
            )

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
                self._label_of[event.question.id] = event.question.label
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
            case Closed():
                self.closings.append(event.closing)
            case Finished():
                self.finished = event

    def _count(self, question_id: int, answer: Given, n: int) -> None:
        self._n_cant_tell += n * (answer is Answer.CANT_TELL)
        label = self._label_of[question_id]
        if label is not None:
            self._counts[label][answer] += n


def seconds_between(first: str, last: str) -> float:
    """Seconds from one moment, as the store writes it, to another."""
    return max(0.0, (datetime.fromisoformat(last) - datetime.fromisoformat(first)).total_seconds())
