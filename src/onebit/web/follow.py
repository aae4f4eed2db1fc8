"""What the log of a study says to those who watch it: read as it grows, without disturbing the study."""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from dataclasses import dataclass

from sqlalchemy import select

from onebit.log.chain import unlinked
from onebit.log.events import Answered, Asked, Closed, Event, Finished, Undone, Unvoted, Voted
from onebit.log.votes import Given
from onebit.records import Closing
from onebit.store import schema
from onebit.store.store import Store


@dataclass(frozen=True, slots=True)
class Agreement:
    """Of ``n`` answers of a rater to questions that others answered too, ``n_same`` were the one that counts."""

    n_same: int
    n: int


class Follower:
    """Reads what was added to a log since the last look. ``n_events`` grows with everything that happens."""

    def __init__(self, store: Store, study_id: int) -> None:
        self._store, self._study_id = store, study_id
        self._lock = threading.Lock()
        self._label_of: dict[int, int | None] = {}
        self._votes: dict[int, dict[str | None, Given]] = defaultdict(dict)
        #: Answers in force, by question; and how often each came for each label that was asked about.
        self.answers: dict[int, Given] = {}
        self._counts: dict[int, Counter[Given]] = defaultdict(Counter)
        self.closings: list[Closing] = []
        self.finished: Finished | None = None
        self.n_events = 0
        self.last_at = ""

    def update(self) -> int:
        """Read on to the end; how many events there are."""
        table = schema.events
        with self._lock:
            chosen = (table.c.study_id == self._study_id) & (table.c.seq >= self.n_events)
            query = select(table.c.event, table.c.written_at).where(chosen).order_by(table.c.seq)
            with self._store.reading() as connection:
                rows = connection.execute(query).all()
            for content, written_at in rows:
                self._take(unlinked(content)[0])
                self.last_at = written_at
            self.n_events += len(rows)
            return self.n_events

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
            case Asked(question):
                self._label_of[question.id] = question.label
            case Voted():
                self._votes[event.question_id][event.rater] = event.answer
            case Unvoted(question_id, rater):
                self._votes[question_id].pop(rater, None)
            case Answered():
                self.answers[event.question_id] = event.answer
                self._count(event.question_id, event.answer, 1)
            case Undone(question_id):
                self._count(question_id, self.answers.pop(question_id), -1)
            case Closed(closing):
                self.closings.append(closing)
            case Finished():
                self.finished = event

    def _count(self, question_id: int, answer: Given, n: int) -> None:
        label = self._label_of[question_id]
        if label is not None:
            self._counts[label][answer] += n
