"""Follow the regularised leader with negative entropy and a log-barrier: regret that does not pay for K.

Erez, Cohen, Koren, Mansour and Moran, "The real price of bandit information in multiclass classification", COLT 2024
(arXiv 2405.10027): regret of order N + sqrt(T), up to logarithms, where EXP4 has sqrt(K T log N).

Built from the description of the method alone; the publication's learning rates could not be found, so they are
arguments, tuned in the experiments, and no theorem is claimed for them.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import wrightomega

from onebit.errors import InvalidInputError, check_count
from onebit.hypotheses.base import Examples, HypothesisClass, Labels
from onebit.learners.items import ItemSource
from onebit.research.rivals.law import smoothed_draw
from onebit.research.rivals.online import OnlineLearner, Rounds, finite_class

Array = NDArray[np.float64]

MAX_NEWTON_STEPS = 100
#: How far the probabilities may be from adding up to one before they are divided by their sum.
SUM_TOLERANCE = 1e-10


def regularised_leader(reward: Array, rate: float, barrier: float, start: float = 0.0) -> tuple[Array, float]:
    """argmax over distributions p of p . reward - (1 / rate) sum p log p + (1 / barrier) sum log p, and its multiplier.

    With a = rate / barrier, p_h = a / z_h where z e^z = a exp(-rate (reward_h + m)): z is Wright's omega function. The
    multiplier m that makes p add up to one is found by Newton's method from ``start``, the one of a similar problem.
    """
    a = rate / barrier
    offset = math.log(a) - rate * (reward - reward.max())
    m = start
    for _ in range(MAX_NEWTON_STEPS):
        z = wrightomega(offset - m).real
        p: Array = a / z
        excess = float(p.sum()) - 1
        if abs(excess) <= SUM_TOLERANCE:
            break
        # dp/dm = p / (1 + z). In log(sum p) the function is nearly linear, so the step is taken there.
        m -= math.log1p(excess) * (1 + excess) / float((p / (1 + z)).sum())
    return p / p.sum(), m


class SparseRegretLearner(OnlineLearner):
    """Draw h from p_t and ask h(x); p_t is the regularised leader on the importance-weighted rewards so far.

    ``rate`` weighs the entropy and ``barrier`` the log-barrier, whose part keeps each p_h, and so every propensity,
    away from 0 without uniform guesses. What is returned is the heaviest in the average of the p_t.
    """

    def __init__(
        self,
        hypotheses: HypothesisClass,
        items: ItemSource,
        n_rounds: int,
        *,
        rate: float,
        barrier: float,
        block: int = 1,
        seed: int = 0,
    ) -> None:
        super().__init__(hypotheses, items, n_rounds, seed=seed)
        self._finite = finite_class(hypotheses, "the sparse-reward learner")
        if not (0 < rate < math.inf and 0 < barrier < math.inf):
            raise InvalidInputError(f"rate is {rate!r} and barrier {barrier!r}; both must be above 0")
        self._rate, self._barrier, self._block = rate, barrier, check_count("block", block)
        n = self._finite.n_hypotheses
        self._reward = np.zeros(n)
        self.weight, self._multiplier = np.full(n, 1 / n), 0.0
        self._sum_of_weights = np.zeros(n)

    def leader(self) -> int:
        return int(np.argmax(self._sum_of_weights))

    @property
    def _promise(self) -> str:
        return "none: the publication's regret bound is for learning rates of its own"

    def _end_of(self, epoch: int) -> int:
        return (epoch + 1) * self._block

    def _choose(self, x: Examples, uniform: Array) -> tuple[Labels, Array]:
        return smoothed_draw(self._finite.predictions(x), self.weight, 0.0, self._n_labels, uniform)

    def _learn(self, rounds: Rounds) -> None:
        self._sum_of_weights += rounds.reward.size * self.weight
        told = np.flatnonzero(rounds.reward)
        if told.size:
            right = self._finite.predictions(rounds.x[told]) == rounds.label[told]
            self._reward += right @ rounds.reward[told]
            self.weight, self._multiplier = regularised_leader(
                self._reward, self._rate, self._barrier, self._multiplier
            )
