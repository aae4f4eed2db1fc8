"""The questions of an epoch of the certified learner: which come next, and which rounds each is for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Sequence

import numpy as np

from onebit.errors import UnknownQuestionError
from onebit.learners.certified.epoch import Choices, Drawn, Epoch, OneShot
from onebit.learners.certified.outputs import Floats, Ints, contested
from onebit.learners.certified.protocols import Ask, Given, OneQuestion, Script, TheLabelItself, UntilAYes
from onebit.records import Question


class Asking(ABC):
    """The questions of an epoch under way, the epoch with this ``number``."""

    number: int

    @property
    @abstractmethod
    def n_ready(self) -> int:
        """How many questions can be asked now."""

    @property
    @abstractmethod
    def n_unsettled(self) -> int:
        """Of how many things the epoch is still to hear; at 0 it is over."""

    @property
    @abstractmethod
    def questions(self) -> list[int]:
        """The numbers of the questions asked so far."""

    @abstractmethod
    def next(self, number: int) -> Question:
        """The next question, with that number."""

    @abstractmethod
    def tell(self, question: Question, answer: Given) -> None:
        """A question of the epoch has its answer."""

    @abstractmethod
    def check_may_untell(self, question_id: int) -> None:
        """UnknownQuestionError if something was asked on the strength of this answer."""

    @abstractmethod
    def untell(self, question_id: int) -> None:
        """The question is open again."""

    def overhear(self, question: Question, answer: Given) -> None:  # noqa: B027 (most epochs share nothing)
        """A question of another epoch under way has its answer; a round of this one may have drawn the same."""

    def forget(self, question: Question) -> None:  # noqa: B027 (as above)
        """The answer to a question of another epoch was taken back."""


class RoundQuestions(Asking):
    """Questions about rounds, which are numbered by their place in the epoch."""

    def __init__(self, epoch: Epoch) -> None:
        self.epoch, self.number = epoch, epoch.number
        #: Rounds whose next question can be asked.
        self.ready: deque[int] = deque()
        #: What is asked in each round, and what was answered.
        self._scripts: dict[int, Script] = {}
        self._answers: dict[int, list[Given]] = {}
        #: Rounds that share one question, by the first of them; and those that the answer to each question is for.
        self._together: dict[int, list[int]] = {}
        self._places_of: dict[int, list[int]] = {}
        self._last_asked: dict[int, int] = {}
        #: What this epoch asks by itself, by item and label; and rounds that wait for a question of another epoch.
        self._own: dict[tuple[int, int], int] = {}
        self._borrowed: dict[tuple[int, int | None], list[int]] = {}

    @property
    def n_questions(self) -> int:
        """How many were asked so far, and can be asked now."""
        return len(self._places_of) + len(self.ready)

    @property
    def n_ready(self) -> int:
        return len(self.ready)

    @property
    def n_unsettled(self) -> int:
        return self.epoch.unsettled

    @property
    def questions(self) -> list[int]:
        return list(self._places_of)

    def add(self, place: int, script: Script) -> None:
        """Ask in a round what the script says."""
        self._follow(place, script)
        self.ready.append(place)

    def share(self, first: int, place: int, script: Script) -> None:
        """The question of the round ``first`` is that of another round, too."""
        self._together.setdefault(first, [first]).append(place)
        self._follow(place, script)

    def draw(self, place: int, label: int, earlier: Sequence[RoundQuestions]) -> None:
        """A round asks about one label; nothing is asked twice, here or in ``earlier`` epochs under way."""
        drawn, script = (int(self.epoch.drawn.items[place]), label), OneQuestion(label)
        if drawn in self._own:
            self.share(self._own[drawn], place, script)
            return
        asking = next((each for each in earlier if drawn in each._own), None)
        if asking is None:
            self._own[drawn] = place
            self.add(place, script)
            return
        self._follow(place, script)
        self._borrowed.setdefault(drawn, []).append(place)
        for answer in asking._answers[asking._own[drawn]]:
            self._answer(place, answer)

    def _follow(self, place: int, script: Script) -> None:
        self._scripts[place], self._answers[place] = script, []

    def next(self, number: int) -> Question:
        epoch, place = self.epoch, self.ready.popleft()
        step = self._scripts[place].step(self._answers[place])
        label = step.label if isinstance(step, Ask) else None
        self._places_of[number] = self._together.get(place, [place])
        self._last_asked.update(dict.fromkeys(self._places_of[number], number))
        return Question(number, int(epoch.drawn.items[place]), label, float(epoch.propensity[place]), epoch.number)

    def tell(self, question: Question, answer: Given) -> None:
        for place in self._places_of[question.id]:
            self._answer(place, answer)

    def overhear(self, question: Question, answer: Given) -> None:
        for place in self._borrowed.get((question.item, question.label), ()):
            self._answer(place, answer)

    def _answer(self, place: int, answer: Given) -> None:
        self._answers[place].append(answer)
        step = self._scripts[place].step(self._answers[place])
        if isinstance(step, Ask):
            self.ready.append(place)
        else:
            self.epoch.settle(place, step)

    def check_may_untell(self, question_id: int) -> None:
        if any(self._last_asked[place] != question_id for place in self._places_of[question_id]):
            raise UnknownQuestionError(
                f"the next label was already asked about the item of question {question_id}; its answer stands"
            )

    def untell(self, question_id: int) -> None:
        for place in self._places_of[question_id]:
            self._take_back(place)

    def forget(self, question: Question) -> None:
        for place in self._borrowed.get((question.item, question.label), ()):
            self._take_back(place)

    def _take_back(self, place: int) -> None:
        self._answers[place].pop()
        if self.epoch.is_settled[place]:
            self.epoch.unsettle(place)
        else:
            self.ready.remove(place)


def one_question_each(
    number: int, drawn: Drawn, one_shot: OneShot, earlier: Sequence[RoundQuestions] = ()
) -> RoundQuestions:
    """One-shot. Rounds that drew the same item and label share a question, with those of ``earlier`` epochs, too."""
    costs = np.zeros(drawn.items.size, dtype=np.bool_)
    costs[one_shot.places] = one_shot.asked >= 0
    asking = RoundQuestions(Epoch(number, drawn, costs, one_shot))
    asking.epoch.propensity[one_shot.places] = one_shot.propensity
    for place, label in zip(one_shot.places.tolist(), one_shot.label.tolist(), strict=True):
        if label >= 0:
            asking.draw(place, label, earlier)
    return asking


def labels_themselves(number: int, drawn: Drawn, survivors: Ints, passive: bool) -> RoundQuestions:
    """The label itself is asked for; ``passive``: also where survivors agree."""
    costs = np.ones(drawn.items.size, dtype=np.bool_) if passive else contested(drawn.said[survivors])
    asking = RoundQuestions(Epoch(number, drawn, costs, None))
    for place in np.flatnonzero(costs).tolist():
        asking.add(place, TheLabelItself())
    return asking


def until_a_yes(number: int, drawn: Drawn, of: Choices, checks: Floats, n_labels: int | None) -> RoundQuestions:
    """Follow-up. ``checks`` (m,) has the uniform number of each round that is checked, NaN for the others.

    ``n_labels`` is given where the labels are exhaustive.
    """
    costs = np.zeros(drawn.items.size, dtype=np.bool_)
    costs[of.places] = True
    asking = RoundQuestions(Epoch(number, drawn, costs, None, of))
    label, first = of.outputs.label[of.in_order()], of.outputs.first
    for i, place in enumerate(of.places.tolist()):
        check = None if np.isnan(checks[place]) else float(checks[place])
        labels = tuple(a for a in label[first[i] : first[i + 1]].tolist() if a >= 0)
        asking.add(place, UntilAYes(labels, check, n_labels))
    return asking
