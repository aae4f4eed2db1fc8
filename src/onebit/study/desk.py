"""Who holds which question, and for how long: the desk between a learner and many raters.

Everything else about a question is in the log, and its fold (``log/fold.py``). Leases are not: they only decide who is
given what next, so they live in memory, on a clock that nobody can set.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from heapq import heappop, heappush
from itertools import count

from onebit.errors import AlreadyAnsweredError, InvalidInputError, OnebitError, UnknownQuestionError
from onebit.log.events import Checked
from onebit.log.fold import Course
from onebit.study.constants import PRESENT_FOR, RENEWALS


class NotYoursError(OnebitError):
    """An answer to a question that was given to somebody else, or the taking back of somebody else's answer."""


class WithdrawnError(AlreadyAnsweredError):
    """An answer to a question that a study did not need any more when it ended."""


class Desk:
    """The leases of a study's questions; a lease lasts ``lease_seconds``.

    Asking again renews it, but for ``RENEWALS`` times its length at most. Then the rater may still answer, and so may
    whoever is given the question next: nobody keeps a question, and with it a study, by asking.

    Who held a question when the log ended, as ``course`` has it, is given as long again; the nameless cannot come back.
    """

    def __init__(self, course: Course, lease_seconds: float, now: float) -> None:
        self._course, self._overlap, self._lease_seconds = course, course.created.overlap, lease_seconds
        #: When each rater's lease of a question ends.
        self._leases: dict[int, dict[str | None, float]] = defaultdict(dict)
        #: Until when each rater's lease of an open question can be renewed.
        self._renewable: dict[tuple[int, str], float] = {}
        #: Answers that were taken back once: another time the question is not kept for the rater.
        self._taken_back: set[tuple[int, str]] = set()
        #: What each rater was given and may still hold, the last given last.
        self._held: dict[str, list[int]] = defaultdict(list)
        #: Questions that may have room for another rater, each once, and leases by when they end; both hold stale ones.
        self._free: list[int] = []
        self._is_free: set[int] = set()
        self._ends: list[tuple[float, int, int, str | None]] = []
        self._n_leases = count()
        #: When each rater last asked, in that order.
        self._seen: OrderedDict[str, float] = OrderedDict()
        for number, offered in enumerate(course.offered):
            if number not in course.answered:
                votes = course.votes[number]
                waiting = [rater for rater in reversed(offered) if rater not in votes]
                for rater in waiting[: self._overlap - len(votes)]:
                    if rater is not None:
                        self.lease(number, rater, now)
                self._offer_room(number)

    def check_given(self, number: int) -> None:
        """UnknownQuestionError unless a question of that number was given to somebody."""
        n_given = len(self._course.given)
        if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number < n_given:
            raise UnknownQuestionError(
                f"question {number!r} was never given to a rater; {n_given} were, numbered from 0"
            )

    def see(self, rater: str, now: float) -> None:
        """A rater asks for questions."""
        self._seen[rater] = now
        self._seen.move_to_end(rater)

    def n_answering(self, now: float) -> int:
        """Raters who can each have a question of their own at the same time: those present, by how many share one."""
        while self._seen and self._seen[first := next(iter(self._seen))] <= now - PRESENT_FOR:
            del self._seen[first]
        return max(1, -(-len(self._seen) // self._overlap))

    def hand(self, rater: str) -> list[int]:
        """What a rater was given and is still to answer, the last leased first."""
        self._held[rater] = [number for number in self._held[rater] if self._is_wanted(number, rater)]
        return self._held[rater][::-1]

    def _is_wanted(self, number: int, rater: str) -> bool:
        if number in self._course.answered or rater in self._course.votes[number] or self._is_withdrawn(number):
            return False
        return rater in self._leases[number] or self._is_check(number) or self._room(number) > 0

    def next_free(self, rater: str | None, now: float) -> int | None:
        """The first question that this rater may have: a lease ended, an answer was taken back, or more are wanted."""
        while self._ends and self._ends[0][0] <= now:
            end, _, ended, holder = heappop(self._ends)
            if self._leases[ended].get(holder) == end:
                del self._leases[ended][holder]
                self._offer_room(ended)
        passed: list[int] = []
        found = None
        while self._free and found is None:
            number = heappop(self._free)
            self._is_free.discard(number)
            if number in self._course.answered or self._room(number) <= 0:
                continue
            # What a rater has at hand, also after its lease, is not given to the same one as another question.
            is_at_hand = rater is not None and number in self._held[rater]
            if rater in self._course.votes[number] or rater in self._leases[number] or is_at_hand:
                passed.append(number)
            else:
                found = number
        for number in passed:
            self._offer_room(number)
        return found

    def lease(self, number: int, rater: str | None, now: float) -> None:
        """Keep a question for a rater for a while, or for longer, as far as a lease can be renewed."""
        end = now + self._lease_seconds
        if rater is not None:
            if not self._is_check(number):
                last = self._renewable.setdefault((number, rater), end + RENEWALS * self._lease_seconds)
                end = min(end, last)
            held = self._held[rater]
            if number in held:
                held.remove(number)
            held.append(number)
        if end > now:
            self._leases[number][rater] = end
            heappush(self._ends, (end, next(self._n_leases), number, rater))
        self._offer_room(number)

    def give_back(self, number: int, rater: str, now: float) -> None:
        """A rater took an answer back, and has the question again; it is kept for the rater once, for one lease."""
        is_first = (number, rater) not in self._taken_back
        self._taken_back.add((number, rater))
        self._renewable[number, rater] = now + self._lease_seconds if is_first else now
        self.lease(number, rater, now)

    def check_may_answer(self, number: int, rater: str | None) -> None:
        """An error unless this rater was given this question and its answer is wanted."""
        if rater not in self._course.offered[number]:
            raise NotYoursError(f"question {number} was not given to {_named(rater)}; answer your own questions")
        has_voted = rater in self._course.votes[number]
        if self._is_withdrawn(number) and not has_voted:
            raise WithdrawnError(
                f"question {number} is not needed any more: the study ended before its answer came, and nothing was "
                "counted. Ask for questions anew"
            )
        # Where several vote, one who was asked may vote although the others have settled it.
        if has_voted or (number in self._course.answered and self._overlap == 1):
            who = "you" if has_voted else "somebody else"
            raise AlreadyAnsweredError(
                f"question {number} already has an answer from {who}; an answer counts once or the estimate is "
                "biased. Send the same token to repeat safely"
            )

    def is_late(self, number: int, rater: str | None, now: float) -> bool:
        """Whether the rater's lease has ended."""
        return self._leases[number].get(rater, now) <= now

    def drop_lease(self, number: int, rater: str | None) -> None:
        """A rater's answer has come, or was taken back by the nameless: whoever is next may have the question."""
        if rater is not None:
            self._renewable.pop((number, rater), None)
        if number in self._course.answered and self._overlap == 1:
            self._leases.pop(number, None)
        else:
            self._leases[number].pop(rater, None)
            self._offer_room(number)

    def _room(self, number: int) -> int:
        if self._is_check(number) or self._is_withdrawn(number):
            return 0
        return self._overlap - len(self._course.votes[number]) - len(self._leases[number])

    def _is_withdrawn(self, number: int) -> bool:
        """Whether the study ended while the question was open."""
        return self._course.finished is not None and number in self._course.open

    def _is_check(self, number: int) -> bool:
        return isinstance(self._course.given[number], Checked)

    def _offer_room(self, number: int) -> None:
        if number not in self._is_free and number not in self._course.answered and self._room(number) > 0:
            heappush(self._free, number)
            self._is_free.add(number)


def _named(rater: str | None) -> str:
    return "a rater without a name" if rater is None else repr(rater)


def check_rater(rater: str | None, needed: bool) -> None:
    """A rater's name, where there must be one."""
    if rater is None and needed:
        raise InvalidInputError("this study tells raters apart (overlap or checks); give the rater's name")
    if rater is not None and (not isinstance(rater, str) or not rater.strip() or len(rater) > 200):
        raise InvalidInputError(f"the rater {rater!r} is no name; give a text of at most 200 characters")
