"""Which questions a rater is given: those at hand, those that are free, checks of the rater, and then new ones."""

from __future__ import annotations

from onebit.log.events import Answered, Finished, Offered
from onebit.log.recorder import Recorder
from onebit.records import Question, Status
from onebit.study.checks import Checks
from onebit.study.constants import ANSWERED_BEFORE
from onebit.study.desk import Desk
from onebit.study.kinds import Kind


class Dealer:
    """Deals the questions of a study, and notes in its log what it deals. Whoever calls it holds the study's lock."""

    def __init__(self, kind: Kind, recorder: Recorder, desk: Desk) -> None:
        self._kind, self._recorder, self._desk = kind, recorder, desk
        self._course = recorder.course
        self._checks = Checks(kind)

    def deal(self, rater: str | None, n: int, now: float) -> list[int] | Status:
        """Up to n questions, leased to the rater from now on; or why there is none."""
        dealt = []
        if rater is not None:
            self._desk.see(rater, now)
            dealt = self._desk.hand(rater)[:n]
            n = min(n, max(1, len(dealt), self._fair_share(n, now)))
        # What is held is leased anew first: a lease that has ended would make it free, and it would be dealt twice.
        for number in dealt:
            self._desk.lease(number, rater, now)
        while len(dealt) < n:
            more = self._more(rater, now, n - len(dealt))
            if isinstance(more, Status):
                if not dealt:
                    return more
                break
            # At once, or they would be dealt again.
            for number in more:
                self._desk.lease(number, rater, now)
            dealt += more
        if rater is not None:
            dealt += self._rest_of_item(rater, now)
        # In this order the first stays the first of the hand.
        for number in reversed(dealt):
            self._desk.lease(number, rater, now)
        return dealt

    def _rest_of_item(self, rater: str, now: float) -> list[int]:
        """The other outputs of the item that was begun: one rater judges all of them, by one standard."""
        rest: list[int] = []
        while self._kind.learner.continues_item:
            more = self._new(rater, 1)
            if isinstance(more, Status):
                break
            for number in more:
                self._desk.lease(number, rater, now)
            rest += more
        return rest

    def _fair_share(self, n: int, now: float) -> int:
        """How many of ``n`` questions a rater may hold, so that the others have something to answer, too.

        The learner hears, too, how many answer at once.
        """
        n_answering = self._desk.n_answering(now)
        self._kind.learner.expect(n_answering)
        n_ready = self._kind.learner.n_ready
        return n if n_ready is None or n_answering == 1 else -(-n_ready // n_answering)

    def _more(self, rater: str | None, now: float, n: int) -> list[int] | Status:
        """What the rater does not hold: a free question, one that checks the rater, or up to n new ones."""
        free = self._desk.next_free(rater, now)
        if free is not None:
            self._recorder.take(Offered(free, rater))
            return [free]
        return self._new(rater, n)

    def _new(self, rater: str | None, n: int) -> list[int] | Status:
        """A question that checks the rater, or up to n that nobody was given yet."""
        while True:
            # Before each question it is drawn anew whether a check comes first.
            check = self._checks.next(rater, self._course) if rater is not None else None
            if check is not None:
                self._recorder.take(check)
                return [check.question_id]
            asked = self._recorder.ask(1 if self._kind.about.has_checks else n, rater)
            if isinstance(asked, Status):
                self._finish_if_done(asked)
                return asked
            if new := [question.id for question in asked if not self._is_recalled(question)]:
                return new

    def _is_recalled(self, question: Question) -> bool:
        """Whether the question was answered before, in a study that this one goes on from: nobody is asked again."""
        answer = self._kind.recalled(question)
        if answer is None:
            return False
        self._recorder.take(Offered(question.id, ANSWERED_BEFORE))
        self._recorder.take(Answered(question.id, answer, ANSWERED_BEFORE))
        return True

    def _finish_if_done(self, status: Status) -> None:
        if status is Status.DONE and self._course.finished is None:
            result = self._kind.learner.result
            self._recorder.note_epochs()
            self._recorder.take(Finished(result.status, self._kind.summary(result)))
