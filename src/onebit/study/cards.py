"""Who was given which question, for how long, and who answered: the desk between a learner and many raters.

A *card* is a question as raters see it: one of the learner's, or a check of the rater that looks the same. Cards are
numbered in the order in which the log has them. The state here is the log replayed, except for leases: they only decide
who is given what next, so they live in memory, on a clock that nobody can set.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count

from onebit.errors import AlreadyAnsweredError, InvalidInputError, OnebitError, UnknownQuestionError
from onebit.log.events import (
    Answered,
    Asked,
    CheckAnswered,
    Checked,
    CheckUndone,
    Event,
    Offered,
    Undone,
    Unvoted,
    Voted,
)
from onebit.log.votes import Given
from onebit.records import Question


class NotYoursError(OnebitError):
    """An answer to a question that was given to somebody else, or the taking back of somebody else's answer."""


@dataclass(slots=True, eq=False)
class Card:
    """A card, and what happened to it. ``votes`` are those in force; ``done`` says that the question has its answer."""

    id: int
    ask: Question | Checked
    offered: list[str | None] = field(default_factory=list)
    leases: dict[str | None, float] = field(default_factory=dict)
    votes: dict[str | None, Given] = field(default_factory=dict)
    done: bool = False


class Desk:
    """All cards of a study. ``overlap`` raters answer each question; a lease lasts ``lease_seconds``."""

    def __init__(self, overlap: int, lease_seconds: float) -> None:
        self._overlap, self._lease_seconds = overlap, lease_seconds
        self.cards: list[Card] = []
        self._of_question: dict[int, Card] = {}
        self._of_check: dict[int, Card] = {}
        #: The cards that each rater answered, in that order (also those whose answer was taken back), and the checks.
        self.answered_by: dict[str | None, list[Card]] = defaultdict(list)
        self.checks_of: dict[str, list[Checked]] = defaultdict(list)
        #: What each token was used for.
        self.tokens: dict[str, tuple[int, Given]] = {}
        #: What each rater was given and may still hold, the last given last.
        self._held: dict[str, list[Card]] = defaultdict(list)
        #: Cards that may have room for another rater, and leases by when they end; both hold stale entries too.
        self._free: list[int] = []
        self._ends: list[tuple[float, int, Card, str | None]] = []
        self._n_leases = count()

    def take(self, event: Event) -> None:
        """What an event of the log does to the cards."""
        match event:
            case Asked(question, rater):
                self._of_question[question.id] = self._new(question, rater)
            case Checked():
                self._of_check[event.check_id] = self._new(event, event.rater)
                self.checks_of[event.rater].append(event)
            case Offered(question_id, rater):
                self._of_question[question_id].offered.append(rater)
            case Voted():
                self._vote(self._of_question[event.question_id], event)
            case CheckAnswered():
                card = self._of_check[event.check_id]
                self._vote(card, event)
                card.done = True
            case CheckUndone(check_id, rater):
                card = self._of_check[check_id]
                card.votes.clear()
                card.done = False
            case Answered():
                card = self._of_question[event.question_id]
                if self._overlap == 1:
                    self._vote(card, event)
                    card.leases.clear()
                card.done = True
            case Unvoted(question_id, rater):
                self._of_question[question_id].votes.pop(rater)
            case Undone(question_id, rater):
                card = self._of_question[question_id]
                if self._overlap == 1:
                    card.votes.clear()
                card.done = False

    def resume(self, events: Iterable[Event], now: float) -> None:
        """Take a whole log. Who held a question when it ended is given as long again; the nameless cannot come back."""
        for event in events:
            self.take(event)
        for card in self.cards:
            if not card.done:
                room = self._overlap - len(card.votes)
                waiting = [rater for rater in dict.fromkeys(reversed(card.offered)) if rater not in card.votes]
                for rater in waiting[:room]:
                    if rater is not None:
                        self.lease(card, rater, now)
                self._offer_room(card)

    @property
    def n_checks(self) -> int:
        return len(self._of_check)

    def card(self, card_id: int) -> Card:
        """The card of that number."""
        if not isinstance(card_id, int) or isinstance(card_id, bool) or not 0 <= card_id < len(self.cards):
            raise UnknownQuestionError(
                f"question {card_id!r} was never given to a rater; {len(self.cards)} were, numbered from 0"
            )
        return self.cards[card_id]

    def hand(self, rater: str) -> list[Card]:
        """The cards that a rater was given and whose answer is still wanted of this rater, the last leased first."""
        self._held[rater] = [card for card in self._held[rater] if self._is_wanted(card, rater)]
        return self._held[rater][::-1]

    def _is_wanted(self, card: Card, rater: str) -> bool:
        if card.done or rater in card.votes:
            return False
        return rater in card.leases or isinstance(card.ask, Checked) or self._room(card) > 0

    def next_free(self, rater: str | None, now: float) -> Card | None:
        """The first card that this rater may have: a lease ended, an answer was taken back, or more are wanted."""
        while self._ends and self._ends[0][0] <= now:
            end, _, ended, holder = heappop(self._ends)
            if ended.leases.get(holder) == end:
                del ended.leases[holder]
                self._offer_room(ended)
        passed: list[int] = []
        found = None
        while self._free and found is None:
            card = self.cards[heappop(self._free)]
            if card.done or self._room(card) <= 0:
                continue
            if rater in card.votes or rater in card.leases:
                passed.append(card.id)
            else:
                found = card
        for card_id in passed:
            heappush(self._free, card_id)
        return found

    def lease(self, card: Card, rater: str | None, now: float) -> None:
        """Keep a card for a rater for a while."""
        end = now + self._lease_seconds
        card.leases[rater] = end
        heappush(self._ends, (end, next(self._n_leases), card, rater))
        if rater is not None:
            held = self._held[rater]
            if card in held:
                held.remove(card)
            held.append(card)
        self._offer_room(card)

    def check_may_answer(self, card: Card, rater: str | None) -> None:
        """An error unless this rater was given this card and its answer is wanted."""
        if rater not in card.offered:
            raise NotYoursError(f"question {card.id} was not given to {_named(rater)}; answer your own questions")
        # Where several vote, one who was asked may vote although the others have settled it.
        if rater in card.votes or (card.done and self._overlap == 1):
            who = "you" if rater in card.votes else "somebody else"
            raise AlreadyAnsweredError(
                f"question {card.id} already has an answer from {who}; an answer counts once or the estimate is "
                "biased. Send the same token to repeat safely"
            )

    def is_late(self, card: Card, rater: str | None, now: float) -> bool:
        """Whether the rater's lease has ended."""
        return card.leases.get(rater, now) <= now

    def drop_lease(self, card: Card, rater: str | None) -> None:
        """A rater's answer has come, or was taken back by the nameless: whoever is next may have the card."""
        card.leases.pop(rater, None)
        self._offer_room(card)

    def _new(self, ask: Question | Checked, rater: str | None) -> Card:
        card = Card(len(self.cards), ask, offered=[rater])
        self.cards.append(card)
        return card

    def _vote(self, card: Card, event: Voted | Answered | CheckAnswered) -> None:
        card.votes[event.rater] = event.answer
        self.answered_by[event.rater].append(card)
        if event.token is not None:
            self.tokens[event.token] = (card.id, event.answer)

    def _room(self, card: Card) -> int:
        if isinstance(card.ask, Checked):
            return 0
        return self._overlap - len(card.votes) - len(card.leases)

    def _offer_room(self, card: Card) -> None:
        if not card.done and self._room(card) > 0:
            heappush(self._free, card.id)


def _named(rater: str | None) -> str:
    return "a rater without a name" if rater is None else repr(rater)


def check_rater(rater: str | None, needed: bool) -> None:
    """A rater's name, where there must be one."""
    if rater is None and needed:
        raise InvalidInputError("this study tells raters apart (overlap or checks); give the rater's name")
    if rater is not None and (not isinstance(rater, str) or not rater.strip() or len(rater) > 200):
        raise InvalidInputError(f"the rater {rater!r} is no name; give a text of at most 200 characters")
