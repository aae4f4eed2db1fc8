"""The answers of a study to look at: by item and by rater, kept up event by event, so that a page of them is quick."""

from __future__ import annotations

import statistics
import threading
from collections import Counter, defaultdict
from collections.abc import Hashable
from dataclasses import dataclass, field
from datetime import datetime

from onebit.log.events import Answered, Asked, CheckAnswered, Event, Undone, Unvoted, Voted
from onebit.log.votes import Given
from onebit.records import Answer
from onebit.study.agreement import cohen_kappa, krippendorff_alpha
from onebit.study.constants import LONGEST_ANSWER


@dataclass(slots=True)
class ItemCounts:
    """What was said about an item: how many outputs have an answer, were accepted, and denied.

    Of ``n_cant_tell`` some rater could not tell, and on ``n_differ`` raters differ.
    """

    n_answers: int = 0
    n_yes: int = 0
    n_no: int = 0
    n_cant_tell: int = 0
    n_differ: int = 0

    def add(self, question: AskedQuestion, sign: int) -> None:
        """Count a question in, or out."""
        answer = question.answer
        if answer is not None:
            self.n_answers += sign
            # Who gives the label itself says yes to it.
            self.n_yes += sign * (answer is Answer.YES or not isinstance(answer, Answer))
            self.n_no += sign * (answer in (Answer.NO, Answer.NONE))
        self.n_cant_tell += sign * (Answer.CANT_TELL in question.votes.values())
        self.n_differ += sign * (len(set(question.votes.values())) > 1)


@dataclass(slots=True)
class AskedQuestion:
    """A question: the learner's number of its item, its label, what each rater said, and the answer that counts."""

    id: int
    item: int
    label: int | None
    votes: dict[str | None, Given] = field(default_factory=dict)
    answer: Given | None = None


class AnswerBook:
    """All answers in force, with when raters gave them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._questions: dict[int, AskedQuestion] = {}
        self._of_item: dict[int, list[int]] = defaultdict(list)
        self._counts: dict[int, ItemCounts] = defaultdict(ItemCounts)
        #: When each rater answered last, and the seconds between answers.
        self._last_at: dict[str, float] = {}
        self._seconds: dict[str, list[float]] = defaultdict(list)

    def take(self, event: Event, at: str) -> None:
        """Go on by an event that was written then."""
        with self._lock:
            match event:
                case Asked():
                    question = event.question
                    self._questions[question.id] = AskedQuestion(question.id, question.item, question.label)
                    self._of_item[question.item].append(question.id)
                case Voted() | Answered():
                    self._note_time(event.rater, at)
                    self._change(event)
                case CheckAnswered():
                    self._note_time(event.rater, at)
                case Unvoted() | Undone():
                    self._change(event)

    def _change(self, event: Voted | Answered | Unvoted | Undone) -> None:
        question = self._questions[event.question_id]
        counts = self._counts[question.item]
        counts.add(question, -1)
        match event:
            case Voted():
                question.votes[event.rater] = event.answer
            case Unvoted():
                question.votes.pop(event.rater, None)
            case Answered():
                question.answer = event.answer
                # Where several vote, this is what they came to.
                if not question.votes:
                    question.votes[event.rater] = event.answer
            case Undone():
                question.answer = None
                if event.rater in question.votes and len(question.votes) == 1:
                    question.votes.clear()
        counts.add(question, 1)

    def _note_time(self, rater: str | None, at: str) -> None:
        if rater is None or not at:
            return
        now = datetime.fromisoformat(at).timestamp()
        before = self._last_at.get(rater)
        self._last_at[rater] = now
        if before is not None and 0 <= now - before <= LONGEST_ANSWER:
            self._seconds[rater].append(now - before)

    def items(self) -> dict[int, ItemCounts]:
        """What was said about every item with an answer, the latest first; by the learner's number."""
        with self._lock:
            return {item: counts for item, counts in reversed(self._counts.items()) if counts.n_answers}

    def questions(self, items: set[int]) -> list[AskedQuestion]:
        """The questions about these items, in the order asked."""
        with self._lock:
            numbers = sorted(number for item in items for number in self._of_item.get(item, ()))
            return [
                AskedQuestion(each.id, each.item, each.label, dict(each.votes), each.answer)
                for each in map(self._questions.__getitem__, numbers)
            ]

    def median_seconds(self) -> dict[str, float]:
        """The median of the seconds that each rater took for an answer, pauses left out."""
        with self._lock:
            return {rater: statistics.median(seconds) for rater, seconds in self._seconds.items() if seconds}

    def alpha(self) -> float | None:
        """Krippendorff's alpha of all raters, on the questions that several answered."""
        with self._lock:
            return krippendorff_alpha(list(each.votes.values()) for each in self._questions.values())

    def kappas(self) -> dict[str, float]:
        """Cohen's kappa of each rater with the others, on the questions that others answered, too."""
        pairs: dict[str, Counter[tuple[Hashable, Hashable]]] = defaultdict(Counter)
        with self._lock:
            for each in self._questions.values():
                if len(each.votes) > 1:
                    for rater, own in each.votes.items():
                        for other, said in each.votes.items():
                            if rater is not None and rater != other:
                                pairs[rater][own, said] += 1
        found = {rater: cohen_kappa(counted) for rater, counted in pairs.items()}
        return {rater: kappa for rater, kappa in found.items() if kappa is not None}
