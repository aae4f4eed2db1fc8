"""What the rivals share: rounds in blocks, the law fixed within a block and learned from at its end.

The rivals were made for regret: they are judged by every round, and learn after each. Here they are asked for one
hypothesis at the end. Their propensities depend on earlier answers, so the intervals of the one-phase learners, which
are for independent rounds, do not apply: what they promise is their own theorem, in words.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onebit.errors import InvalidInputError, check_count
from onebit.hypotheses.base import Examples, Hypothesis, HypothesisClass, Labels
from onebit.hypotheses.finite import FiniteClass
from onebit.learners.contract import EpochLearner, Result
from onebit.learners.items import ItemSource
from onebit.records import Answer, Question

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RivalResult(Result):
    """The result of a rival; ``n_yes`` of its guesses were right, which is what regret counts."""

    oracle_calls: int
    n_yes: int


@dataclass(frozen=True, eq=False)
class Rounds:
    """Answered rounds: examples, labels asked, and reward[i] = [yes] / propensity, an unbiased reward of that label."""

    x: Examples
    label: Labels
    reward: Array


class OnlineLearner(EpochLearner[RivalResult]):
    """``n_rounds`` questions; epoch m ends after round ``_end_of(m)``, and what it taught makes the next law."""

    def __init__(self, hypotheses: HypothesisClass, items: ItemSource, n_rounds: int, *, seed: int = 0) -> None:
        super().__init__(hypotheses, items, seed)
        self._n_rounds = check_count("n_rounds", n_rounds, least=2)
        self._chosen: Hypothesis = None
        self._complete = False

    @abstractmethod
    def _end_of(self, epoch: int) -> int:
        """After how many rounds of the run the epoch ends, if the run is that long."""

    @abstractmethod
    def _learn(self, rounds: Rounds) -> None:
        """Take in the rounds of the epoch that has just ended, and set the law of the next."""

    @abstractmethod
    def leader(self) -> Hypothesis:
        """What would be returned if the run ended with the epochs closed so far."""

    @property
    @abstractmethod
    def _promise(self) -> str:
        """In words, what the rival's own theorem says of the hypothesis returned."""

    @property
    def result(self) -> RivalResult:
        self._settle()
        return RivalResult(
            status=self._status(self._complete),
            promise=self._promise,
            n_rounds=self._ledger.n_answered,
            chosen=self._chosen,
            oracle_calls=self._hypotheses.n_calls,
            n_yes=sum(answer is Answer.YES for answer in self._ledger.answers),
        )

    def _n_wanted(self) -> int:
        return min(self._end_of(self._epoch), self._n_rounds) - len(self._ledger.questions)

    def _close_epoch(self) -> bool:
        if self._complete or self._n_wanted() > 0:
            return False
        self._learn(self._as_rounds(*self._rounds(self._epoch)))
        if len(self._ledger.questions) == self._n_rounds:
            self._chosen, self._complete = self.leader(), True
        return True

    def _as_rounds(self, questions: list[Question], answers: list[Answer | int | None]) -> Rounds:
        yes = np.array([answer is Answer.YES for answer in answers])
        label = np.array([q.label for q in questions], dtype=np.int64)
        return Rounds(self._examples(questions), label, yes / np.array([q.propensity for q in questions]))

    def _history(self) -> Rounds:
        """All rounds so far; no question is open."""
        return self._as_rounds(self._ledger.questions, self._ledger.answers)


def finite_class(hypotheses: HypothesisClass, rival: str) -> FiniteClass:
    """The class, or an error: the rival keeps a number for every hypothesis."""
    if not isinstance(hypotheses, FiniteClass):
        raise InvalidInputError(
            f"{rival} keeps a weight for every hypothesis and {type(hypotheses).__name__} is not a finite list; "
            "cover it by one (NatarajanLearner), or use a learner that needs only the oracle"
        )
    return hypotheses
