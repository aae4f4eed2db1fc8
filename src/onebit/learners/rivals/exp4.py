"""EXP4: exponential weights over hypotheses, on importance-weighted rewards.

Auer, Cesa-Bianchi, Freund and Schapire, "The nonstochastic multiarmed bandit problem", SIAM J. Computing 32, 2002.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from onebit.errors import InvalidInputError, check_count
from onebit.explore.mixture import Mixture
from onebit.hypotheses.base import Examples, HypothesisClass, Labels
from onebit.learners.items import ItemSource
from onebit.learners.rivals.law import Law, smoothed_draw
from onebit.learners.rivals.online import OnlineLearner, Rounds, finite_class
from onebit.randomness import RoundStream

Array = NDArray[np.float64]
Conversion = Literal["draw", "heaviest"]


def exp4_gamma(n_labels: int, n_hypotheses: int, n_rounds: int) -> float:
    """min(1, sqrt(K ln N / ((e - 1) T))): the gamma of the regret bound, with T for the best possible reward."""
    return min(1.0, math.sqrt(n_labels * math.log(n_hypotheses) / ((math.e - 1) * n_rounds)))


class Exp4Learner(OnlineLearner):
    """Ask by p(a) = (1 - gamma) sum_h w_h [h(x) = a] + gamma / K; multiply w_h by exp(rate * reward of h(x)).

    The publication's rate is gamma / K and its gamma that of :func:`exp4_gamma`; both may be tuned. It learns after
    every round; with ``block`` above 1, after so many, for raters who work in parallel.

    Online to batch: what is returned is drawn from the average of the weights over all rounds, to which the regret
    bound applies; ``conversion="heaviest"`` returns the heaviest in that average, for which there is no theorem.
    """

    def __init__(
        self,
        hypotheses: HypothesisClass,
        items: ItemSource,
        n_rounds: int,
        *,
        gamma: float | None = None,
        rate: float | None = None,
        block: int = 1,
        conversion: Conversion = "draw",
        seed: int = 0,
    ) -> None:
        super().__init__(hypotheses, items, n_rounds, seed=seed)
        self._finite = finite_class(hypotheses, "EXP4")
        n_labels, n_hypotheses = hypotheses.n_labels, self._finite.n_hypotheses
        self.gamma = exp4_gamma(n_labels, n_hypotheses, n_rounds) if gamma is None else gamma
        if not 0 <= self.gamma <= 1 or (rate is not None and not 0 < rate < math.inf):
            raise InvalidInputError(f"gamma is {gamma!r} and rate {rate!r}; gamma is a share and rate is above 0")
        if conversion not in ("draw", "heaviest"):
            raise InvalidInputError(f'conversion is {conversion!r}; it must be "draw" or "heaviest"')
        self._rate = self.gamma / n_labels if rate is None else rate
        self._block = check_count("block", block)
        self._conversion = conversion
        self._last = float(RoundStream(seed, "online to batch").uniforms(0, 1)[0, 0])
        self._log_weight = np.zeros(n_hypotheses)
        self._weight = np.full(n_hypotheses, 1 / n_hypotheses)
        self._sum_of_weights = np.zeros(n_hypotheses)
        self._default_rates = gamma is None and rate is None and block == 1

    @property
    def average(self) -> Array:
        """The average of the weights over the rounds so far; shape (N,)."""
        total = self._sum_of_weights.sum()
        return self._sum_of_weights / total if total else self._weight

    @property
    def law(self) -> Law:
        """The law of the next question."""
        return Law(Mixture.of(range(self._weight.size), self._weight), self.gamma)

    def leader(self) -> int:
        if self._conversion == "heaviest":
            return int(np.argmax(self.average))
        return int(np.searchsorted(self.average.cumsum()[:-1], self._last, side="right"))

    @property
    def _promise(self) -> str:
        if self._conversion == "draw" and self._default_rates:
            return (
                "in expectation, the excess error is at most 2 sqrt((e - 1) K ln(N) / T) after T rounds (Auer et al. "
                "2002, Theorem 7.1, divided by T; it counts the uniform guesser among the N)"
            )
        return "none: the regret bound is for the publication's rates and for a draw from the average weights"

    def _end_of(self, epoch: int) -> int:
        return (epoch + 1) * self._block

    def _choose(self, x: Examples, uniform: Array) -> tuple[Labels, Array]:
        return smoothed_draw(self._finite.predictions(x), self._weight, self.gamma, self._n_labels, uniform)

    def _learn(self, rounds: Rounds) -> None:
        self._sum_of_weights += rounds.reward.size * self._weight
        told = np.flatnonzero(rounds.reward)
        if told.size:
            right = self._finite.predictions(rounds.x[told]) == rounds.label[told]
            self._log_weight += self._rate * (right @ rounds.reward[told])
            weight = np.exp(self._log_weight - self._log_weight.max())
            self._weight = weight / weight.sum()
