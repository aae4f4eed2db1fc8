"""The questions of an epoch of the certified learner: which come next, and which rounds each is for."""

from __future__ import annotations

from collections import deque

import numpy as np

from onebit.errors import UnknownQuestionError
from onebit.learners.epoch import Drawn, Epoch, OneShot
from onebit.learners.outputs import Ints, contested
from onebit.learners.planning import Exploration
from onebit.records import Answer, Question


class Asking:
    """An epoch under way, and its questions; rounds are numbered by their place in the epoch."""

    def __init__(self, epoch: Epoch) -> None:
        self.epoch = epoch
        #: Rounds whose next question can be asked.
        self.ready: deque[int] = deque()
        #: Rounds that share one question, by the first of them; and those that the answer to each question is for.
        self._together: dict[int, list[int]] = {}
        self._places_of: dict[int, list[int]] = {}
        self._last_asked: dict[int, int] = {}

    @property
    def questions(self) -> list[int]:
        """The numbers of the questions asked so far."""
        return list(self._places_of)

    def add(self, place: int, labels: list[int | None]) -> None:
        """Ask about these labels in a round, one after the other until one is right."""
        self.epoch.to_ask[place] = labels
        self.ready.append(place)

    def share(self, first: int, place: int) -> None:
        """The question of the round ``first`` is that of another round, too."""
        self._together.setdefault(first, []).append(place)

    def next(self, number: int) -> Question:
        """The next question, with that number."""
        epoch, place = self.epoch, self.ready.popleft()
        label = epoch.to_ask[place].pop(0)
        self._places_of[number] = self._together.get(place, [place])
        self._last_asked.update(dict.fromkeys(self._places_of[number], number))
        return Question(number, int(epoch.drawn.items[place]), label, float(epoch.propensity[place]), epoch.number)

    def tell(self, question: Question, answer: Answer | int) -> None:
        epoch = self.epoch
        for place in self._places_of[question.id]:
            if not isinstance(answer, Answer):
                epoch.settle(place, int(answer))
            elif answer is Answer.CANT_TELL:
                epoch.settle(place, -1)
            elif epoch.one_shot is not None:
                epoch.settle(place, int(answer is Answer.YES))
            elif answer is Answer.YES and question.label is not None:
                epoch.settle(place, question.label)
            elif epoch.to_ask[place]:
                self.ready.append(place)
            else:
                epoch.settle(place, -1)

    def check_may_untell(self, question_id: int) -> None:
        """UnknownQuestionError if the next label was asked on the strength of this answer."""
        if any(self._last_asked[place] != question_id for place in self._places_of[question_id]):
            raise UnknownQuestionError(
                f"the next label was already asked about the item of question {question_id}; its answer stands"
            )

    def untell(self, question_id: int) -> None:
        """The question is open again."""
        for place in self._places_of[question_id]:
            if self.epoch.is_settled[place]:
                self.epoch.unsettle(place)
            else:
                self.ready.remove(place)


def one_question_each(number: int, drawn: Drawn, one_shot: OneShot, reuses_answers: bool) -> Asking:
    """One-shot. With ``reuses_answers``, rounds that drew the same item and label share a question."""
    costs = np.zeros(drawn.items.size, dtype=np.bool_)
    costs[one_shot.places] = one_shot.asked >= 0
    asking = Asking(Epoch(number, drawn, costs, one_shot))
    asking.epoch.propensity[one_shot.places] = one_shot.propensity
    first_with: dict[tuple[int, int], int] = {}
    for place, label in zip(one_shot.places.tolist(), one_shot.label.tolist(), strict=True):
        if label < 0:
            continue
        # Raters who err are asked afresh each time: what they said before is no truth to be used again.
        key = (int(drawn.items[place]), label) if reuses_answers else (-1, place)
        first = first_with.setdefault(key, place)
        asking.share(first, place)
        if first == place:
            asking.add(place, [label])
    return asking


def until_the_label_is_found(
    number: int, drawn: Drawn, survivors: Ints, exploration: Exploration, follow_up: bool, passive: bool
) -> Asking:
    """Follow-up, or else the label itself is asked for; ``passive``: also where survivors agree."""
    said = drawn.said[survivors]
    costs = np.ones(drawn.items.size, dtype=np.bool_) if passive else contested(said)
    asking = Asking(Epoch(number, drawn, costs, None))
    for place in np.flatnonzero(costs).tolist():
        asking.add(place, list(exploration.in_order(said[:, place])) if follow_up else [None])
    return asking
