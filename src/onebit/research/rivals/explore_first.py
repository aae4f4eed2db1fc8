"""Explore first: uniform guesses, one call of the ERM oracle, and from then on what it returned is played.

The obvious learner with an oracle and small regret (Langford and Zhang, "The epoch-greedy algorithm for contextual
multi-armed bandits", NIPS 2007, explore in the same way, in epochs). With n0 rounds of exploration Bernstein's
inequality gives an excess of order sqrt(K log(N / delta) / n0), and every round of exploration may cost 1: the regret
is at most n0 + T sqrt(K log(N / delta) / n0), least for n0 of order T^(2/3) (K log(N / delta))^(1/3). As a PAC learner
it wastes the rounds that it plays: what it returns is that of ``UniformLearner`` after n0 rounds.
"""

from __future__ import annotations

import math

import numpy as np

from onebit.errors import InvalidInputError, check_count
from onebit.estimate.delta import log_one_phase
from onebit.hypotheses.base import Examples, Hypothesis, HypothesisClass, Labels
from onebit.learners.items import ItemSource
from onebit.records import DELTA
from onebit.research.rivals.online import Array, OnlineLearner, Rounds


def exploring_rounds(n_rounds: int, n_labels: int, n_hypotheses: int, delta: float = DELTA) -> int:
    """n0 = T^(2/3) (K log(2N / delta))^(1/3), at most T: which makes the bound on the regret least, up to constants.

    >>> exploring_rounds(1000, 10, 100)
    437
    """
    wanted = math.pow(n_rounds, 2 / 3) * math.pow(n_labels * log_one_phase(n_hypotheses, delta), 1 / 3)
    return min(n_rounds, math.ceil(wanted))


class ExploreFirstLearner(OnlineLearner):
    """``n_exploring`` uniform guesses, then the ERM on them is asked about for the rest of the ``n_rounds``.

    It needs the oracle only, which is called once with weights that are not negative; so any class will do. Without
    ``n_exploring`` it is that of :func:`exploring_rounds`, for which the class must know its size. Where the one that
    is played abstains, a label is drawn uniformly.
    """

    def __init__(
        self,
        hypotheses: HypothesisClass,
        items: ItemSource,
        n_rounds: int,
        *,
        n_exploring: int | None = None,
        delta: float = DELTA,
        seed: int = 0,
    ) -> None:
        super().__init__(hypotheses, items, n_rounds, seed=seed)
        if n_exploring is None:
            n = self._hypotheses.n_hypotheses
            if n is None:
                raise InvalidInputError("the class does not know its size; say how long to explore: n_exploring")
            n_exploring = exploring_rounds(n_rounds, self._n_labels, n, delta)
        self.n_exploring = check_count("n_exploring", n_exploring)
        if n_exploring > n_rounds:
            raise InvalidInputError(f"n_exploring is {n_exploring} of {n_rounds} rounds; it can be all of them at most")
        self._played: Hypothesis = None

    def leader(self) -> Hypothesis:
        return self._played

    @property
    def _promise(self) -> str:
        return (
            f"that of uniform guesses after {self.n_exploring} rounds: order sqrt(K log(N / delta) / n) of excess "
            "error; the rounds after them add nothing to it"
        )

    def _end_of(self, epoch: int) -> int:
        return self.n_exploring if epoch == 0 else self._n_rounds

    def _choose(self, x: Examples, uniform: Array) -> tuple[Labels, Array]:
        n_labels = self._n_labels
        guess = (uniform[:, 0] * n_labels).astype(np.int64)
        if self._epoch == 0:
            return guess, np.full(guess.size, 1 / n_labels)
        said = self._hypotheses.predict(self._played, x)
        return np.where(said >= 0, said, guess), np.where(said >= 0, 1.0, 1 / n_labels)

    def _learn(self, rounds: Rounds) -> None:
        if self._epoch == 0:
            told = np.flatnonzero(rounds.reward)
            self._played = self._hypotheses.erm(rounds.x[told], rounds.label[told], rounds.reward[told])
