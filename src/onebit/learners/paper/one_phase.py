"""What the two reference learners share: one phase of a given number of rounds, then the weighted ERM."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from numpy.typing import NDArray

from onebit.errors import check_count, check_fraction
from onebit.hypotheses.base import HypothesisClass, Labels
from onebit.learners.contract import EpochLearner
from onebit.learners.items import ItemSource
from onebit.learners.paper.final import Conclusion, ErmResult, after_the_fact, conclude
from onebit.records import DELTA, Answer, Question


class OnePhaseLearner(EpochLearner[ErmResult]):
    """``n_rounds`` questions of one law, then the weighted ERM with intervals that hold with probability 1 - delta."""

    def __init__(
        self,
        hypotheses: HypothesisClass,
        items: ItemSource,
        n_rounds: int,
        *,
        delta: float = DELTA,
        seed: int | None = None,
    ) -> None:
        super().__init__(hypotheses, items, seed)
        self._n_rounds = check_count("n_rounds", n_rounds, least=2)
        self._delta = check_fraction("delta", delta)
        self._conclusion: Conclusion | None = None

    @abstractmethod
    def _labels_and_weights(
        self, questions: list[Question], answers: list[Answer | int | None]
    ) -> tuple[Labels, NDArray[np.float64]]:
        """The label that each round speaks of, and its weight; shape (n_rounds,)."""

    @property
    @abstractmethod
    def _largest(self) -> float:
        """The most that one round can add to the estimate of a hypothesis."""

    @property
    def result(self) -> ErmResult:
        self._settle()
        end = self._conclusion
        return ErmResult(
            status=self._status(complete=end is not None),
            promise=after_the_fact(self._hypotheses, self._delta),
            n_rounds=self._ledger.n_answered,
            chosen=end.chosen if end else None,
            oracle_calls=self._hypotheses.n_calls,
            intervals=end.intervals if end else None,
            achieved_eps=end.achieved_eps if end else None,
        )

    def _n_wanted(self) -> int:
        return self._n_rounds - len(self._ledger.questions)

    def _close_epoch(self) -> bool:
        if self._epoch > 0 or self._n_wanted() > 0:
            return False
        questions, answers = self._rounds(0)
        label, weight = self._labels_and_weights(questions, answers)
        x = self._examples(questions)
        self._conclusion = conclude(self._hypotheses, x, label, weight, self._largest, self._delta)
        return True
