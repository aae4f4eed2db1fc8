"""What the two reference learners share: one phase of a given number of rounds, then the weighted ERM."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from numpy.typing import NDArray

from onebit.errors import InvalidInputError, check_fraction
from onebit.hypotheses.base import HypothesisClass, Labels
from onebit.hypotheses.counting import CountingClass
from onebit.learners.base import EpochLearner, Result
from onebit.learners.final import Conclusion, conclude
from onebit.learners.items import ItemSource
from onebit.records import Answer, Question


class OnePhaseLearner(EpochLearner[Result]):
    """``n_rounds`` questions of one law, then the weighted ERM with intervals that hold with probability 1 - delta."""

    #: The most that one round can add to the estimate of a hypothesis.
    largest: float

    def __init__(
        self, hypotheses: HypothesisClass, items: ItemSource, n_rounds: int, *, delta: float = 0.05, seed: int = 0
    ) -> None:
        if n_rounds < 1:
            raise InvalidInputError(f"n_rounds is {n_rounds}; it must be at least 1")
        super().__init__(items, hypotheses.n_labels, seed)
        self._hypotheses = CountingClass(hypotheses)
        self._n_rounds = n_rounds
        self._delta = check_fraction("delta", delta)
        self._conclusion: Conclusion | None = None

    @abstractmethod
    def _labels_and_weights(
        self, questions: list[Question], answers: list[Answer | int | None]
    ) -> tuple[Labels, NDArray[np.float64]]:
        """The label that each round speaks of, and its weight; shape (n_rounds,)."""

    @property
    def result(self) -> Result:
        self._settle()
        end = self._conclusion
        return Result(
            status=self._status(complete=end is not None),
            promise=(
                f"the excess error is at most achieved_eps with probability at least {1 - self._delta:g}, "
                "by empirical Bernstein intervals for all hypotheses of a finite class"
            ),
            n_rounds=self._n_answered,
            chosen=end.chosen if end else None,
            oracle_calls=self._hypotheses.n_calls,
            intervals=end.intervals if end else None,
            achieved_eps=end.achieved_eps if end else None,
        )

    def _n_wanted(self) -> int:
        return self._n_rounds - len(self._questions)

    def _close_epoch(self) -> bool:
        if self._epoch > 0 or self._n_wanted() > 0:
            return False
        questions, answers = self._rounds(0)
        label, weight = self._labels_and_weights(questions, answers)
        x = self._examples(questions)
        self._conclusion = conclude(self._hypotheses, x, label, weight, self.largest, self._delta)
        return True
