"""What is asked in one round, and when the round is settled: a script for each protocol.

A script is a function of the answers given so far. It says which label is asked next, or how the round ended, so an
answer that is taken back leaves no trace. "Can't tell" is not a yes, and nothing more.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from onebit.records import Answer

Given = Answer | int


@dataclass(frozen=True, slots=True)
class Ask:
    """Ask about this label next; None asks for the label itself."""

    label: int | None


@dataclass(frozen=True, slots=True)
class Settled:
    """The round is over.

    ``outcome`` in one-shot: 1 if the label was accepted, else 0. Where the label is sought: that label, or -1 if none
    was found. ``contradicted`` says what the check of a follow-up round found; None if there was none.
    """

    outcome: int
    contradicted: bool | None = None


class Script(ABC):
    """What is asked in one round."""

    @abstractmethod
    def step(self, answers: Sequence[Given]) -> Ask | Settled:
        """What comes after these answers, given in the order in which the script asked."""


@dataclass(frozen=True, slots=True)
class OneQuestion(Script):
    """One-shot: one label, once."""

    label: int

    def step(self, answers: Sequence[Given]) -> Ask | Settled:
        return Settled(int(answers[0] is Answer.YES)) if answers else Ask(self.label)


@dataclass(frozen=True, slots=True)
class TheLabelItself(Script):
    """Labels: the rater gives the label, or can't."""

    def step(self, answers: Sequence[Given]) -> Ask | Settled:
        if not answers:
            return Ask(None)
        given = answers[0]
        return Settled(-1 if isinstance(given, Answer) else int(given))


@dataclass(frozen=True, slots=True)
class UntilAYes(Script):
    """Follow-up: ``labels`` in this order until a yes.

    With ``n_labels`` the labels of the table are taken to hold the right one of every item, so once all but one are
    denied that one is right, whether or not it was asked; a can't tell denies nothing.

    In a round that is checked, ``check`` is a uniform number, and one of the labels that are left after the yes is
    asked as well: a second yes contradicts "one right label". A label that is right because all others were denied is
    asked there, too, and a no contradicts it. What a check hears changes no outcome.
    """

    labels: tuple[int, ...]
    check: float | None = None
    n_labels: int | None = None

    def step(self, answers: Sequence[Given]) -> Ask | Settled:
        n_before = next((i for i, answer in enumerate(answers) if answer is Answer.YES), None)
        if n_before is None:
            return self._not_found(answers)
        found, left = self.labels[n_before], self.labels[n_before + 1 :]
        if self.check is None:
            return Settled(found)
        if not left:
            return Settled(found, False if self._implied(answers[:n_before]) == found else None)
        if len(answers) == n_before + 1:
            return Ask(left[int(self.check * len(left))])
        return Settled(found, answers[-1] is Answer.YES)

    def _not_found(self, answers: Sequence[Given]) -> Ask | Settled:
        n_asked = len(answers)
        if n_asked < len(self.labels):
            implied = self._implied(answers)
            return Ask(self.labels[n_asked]) if implied is None or self.check is not None else Settled(implied)
        implied = self._implied(answers[:-1])
        if implied == self.labels[-1]:
            return Settled(implied, True if answers[-1] is Answer.NO else None)
        implied = self._implied(answers)
        return Settled(-1 if implied is None else implied)

    def _implied(self, answers: Sequence[Given]) -> int | None:
        """The label that is right because all others of the table were denied."""
        if self.n_labels is None or len(self.labels) < self.n_labels:
            return None
        denied = {label for label, answer in zip(self.labels, answers, strict=False) if answer is Answer.NO}
        left = [label for label in self.labels if label not in denied]
        return left[0] if len(left) == 1 else None
