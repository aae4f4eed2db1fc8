"""One epoch of training: its plan, how far it is, and how the labels of its questions are drawn."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field

import numpy as np

from onebit.learners.training.model import Bools, Floats, Ints
from onebit.records import Answer, EpochPlan, Question


@dataclass(eq=False)
class TrainingEpoch:
    """An epoch, and which of its places come next.

    ``belief`` (n, K) is what is believed of the items; None for a plan out of a log, until it is needed.
    ``next_label`` is None where it is the likeliest that is left.
    """

    plan: EpochPlan
    belief: Floats | None
    ready: deque[int] = field(init=False)
    next_label: list[int | None] = field(init=False)
    #: The place of each question, in the order asked, and the last question about each place.
    place_of: dict[int, int] = field(default_factory=dict)
    last_asked: dict[int, int] = field(default_factory=dict)
    times_asked: Counter[int] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.ready = deque(range(len(self.plan.items)))
        self.next_label = list(self.plan.labels)

    def ask(self, number: int, label: int) -> Question:
        """The question about the next place."""
        place = self.ready.popleft()
        self.place_of[number], self.last_asked[place] = place, number
        self.times_asked[place] += 1
        return Question(number, self.plan.items[place], label, self.plan.propensities[place], self.plan.number)

    def may_ask_on(self, question_id: int) -> bool:
        """Whether the item of a question may be asked about again."""
        place = self.place_of[question_id]
        limit = self.plan.limits[place] if self.plan.limits else self.plan.most_each
        return self.times_asked[place] < limit

    def ask_next_label(self, question_id: int) -> None:
        """Ask about the item of a question again, about another label."""
        place = self.place_of[question_id]
        self.next_label[place] = None
        self.ready.append(place)

    def n_asked(self) -> Ints:
        """How many questions were asked about each place."""
        return np.array([self.times_asked[place] for place in range(len(self.plan.items))])

    def right_guesses(
        self,
        questions: list[Question],
        answers: list[Answer | int | None],
        accepted: tuple[Answer, ...] = (Answer.YES,),
    ) -> Bools:
        """For each place, whether the first question was about the guess and was ``accepted``.

        Of fresh items that has the model's accuracy as its probability.
        """
        right, seen = np.zeros(len(self.plan.items), dtype=np.bool_), set[int]()
        for question, answer in zip(questions, answers, strict=True):
            place = self.place_of[question.id]
            if place not in seen and answer in accepted and question.label == self.plan.guesses[place]:
                right[place] = True
            seen.add(place)
        return right


def best_possible(belief: Floats, possible: Bools) -> Ints:
    """The likeliest label among those possible; shapes (..., K) and (..., K)."""
    best: Ints = np.where(possible, belief, -1.0).argmax(axis=-1)
    return best


def draw_guesses(
    beliefs: Floats, weights: Floats, gamma: float, possible: Bools, uniform: Floats
) -> tuple[Ints, Floats]:
    """Labels drawn from the guesses of the members, and the probability with which each was drawn; shape (n,).

    With probability 1 - gamma the best possible label of a member drawn by its weight, else any possible label:
    q(a | x) = (1 - gamma) W(x, a) + gamma / |A(x)|, with A(x) the labels that are still possible. ``beliefs`` has shape
    (M, n, K), ``weights`` (M,), ``possible`` (n, K), ``uniform`` (n,).
    """
    rows = np.arange(len(possible))
    q = gamma * possible / possible.sum(axis=1, keepdims=True)
    for weight, guess in zip(weights, best_possible(beliefs, possible), strict=True):
        q[rows, guess] += (1 - gamma) * weight
    below = q.cumsum(axis=1)
    label = (below > uniform[:, None] * below[:, -1:]).argmax(axis=1)
    return label, q[rows, label]
