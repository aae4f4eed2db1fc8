"""The suites for raters: whoever is asked "is this label right?"."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest

from onebit.errors import InvalidInputError
from onebit.raters import Rater
from onebit.records import Answer, Question


class RaterSuite:
    """What every rater keeps, who is a function of a question. Override ``make``, ``n_items`` and ``n_labels``.

    >>> class TestMine(RaterSuite):
    ...     n_items, n_labels = 40, 3
    ...     def make(self):
    ...         return CallableRater(lambda item, label: ask_a_service(item, label))
    """

    #: Questions are about items 0 to ``n_items`` - 1 and labels 0 to ``n_labels`` - 1.
    n_items: int
    n_labels: int
    #: Whether the rater can be asked for the label itself.
    gives_labels: bool = False

    def make(self) -> Rater:
        """A fresh rater."""
        raise NotImplementedError("a suite of a rater needs make(self), which returns a function of a question")

    def test_it_says_yes_no_or_cant_tell(self) -> None:
        rater = self.make()
        for question in self.questions():
            said = rater(question)
            assert isinstance(said, Answer), f"{said!r} to {question}"

    def test_asked_for_the_label_it_gives_one_or_refuses(self) -> None:
        rater = self.make()
        for item in range(self.n_items):
            question = Question(item, item, None, 1.0, 0)
            if not self.gives_labels:
                with pytest.raises(InvalidInputError):
                    rater(question)
            elif (said := rater(question)) is not Answer.CANT_TELL:
                assert isinstance(said, int | np.integer), f"{said!r} to {question}"
                assert 0 <= said < self.n_labels, f"{said!r} to {question}"

    def questions(self) -> list[Question]:
        """Every item with every label, once."""
        pairs = [(item, label) for item in range(self.n_items) for label in range(self.n_labels)]
        return [Question(i, item, label, 1 / self.n_labels, 0) for i, (item, label) in enumerate(pairs)]


class SteadyRaterSuite(RaterSuite):
    """What a rater keeps whose verdicts stay, as certificates on a pool assume; made again, it says the same.

    >>> class TestMine(SteadyRaterSuite):
    ...     n_items, n_labels, most_yes = 40, 3, 1
    ...     def make(self):
    ...         return CallableRater(lambda item, label: RIGHT[item] == label)
    """

    #: How many labels of an item may get a yes; 1 is what follow-up and training assume. None: any number.
    most_yes: int | None = None

    def test_a_verdict_does_not_depend_on_when_and_how_it_is_asked(self) -> None:
        asked = self.questions()
        first = self.verdicts(self.make(), asked)
        other = [Question(len(asked) - q.id, q.item, q.label, propensity=0.25, epoch=3) for q in asked]
        random.Random(0).shuffle(other)
        rater = self.make()
        assert self.verdicts(rater, other) == first
        assert self.verdicts(rater, asked) == first

    def test_no_item_has_more_right_labels_than_declared(self) -> None:
        verdicts = self.verdicts(self.make(), self.questions())
        n_yes = Counter(item for (item, _), said in verdicts.items() if said is Answer.YES)
        most = self.n_labels if self.most_yes is None else self.most_yes
        assert [item for item, n in n_yes.items() if n > most] == []

    def verdicts(self, rater: Rater, questions: list[Question]) -> dict[tuple[int, int | None], Answer | int]:
        """What the rater says to each, by item and label."""
        return {(question.item, question.label): rater(question) for question in questions}
