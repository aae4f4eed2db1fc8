"""EXP4: exponential weights over hypotheses, on importance-weighted rewards.

Auer, Cesa-Bianchi, Freund and Schapire, "The nonstochastic multiarmed bandit problem", SIAM J. Computing 32, 2002. The
constants below are derived here, so that none is taken on trust. (Bubeck and Cesa-Bianchi, arXiv 1204.5721, Theorem
4.2, have sqrt(2 K ln(N) / T) for losses and no uniform guesses, as stated at
prove2.me/theorems/7dd71bab-08bc-44f0-a22e-86d0a09d5e0d.)

*The draw.* q are the weights of a round, W(a) = sum_h q_h [h(x) = a], p = (1 - gamma) W + gamma / K the law of the
question a, and z_h = rate [h(x) = a][yes] / p(a), at most 1 if rate <= gamma / K. Then e^z <= 1 + z + (e - 2) z^2 gives

    ln sum_h q_h e^(z_h) <= sum_h q_h z_h + (e - 2) sum_h q_h z_h^2.

Summed over the T rounds the left side is at least rate * (reward of the best) - ln N. In expectation, sum_h q_h z_h is
rate times the accuracy of a draw from q, and sum_h q_h z_h^2 is rate^2 W(y) / p(y) for the one right label y, at most
rate^2 min(1 / (1 - gamma), K / gamma). So a draw from the average of the weights has an expected excess error of at
most ln(N) / (rate T) + (e - 2) rate min(1 / (1 - gamma), K / gamma): see :func:`exp4_excess`.

*Regret.* The guesses are right at least 1 - gamma times as often as a draw from q. Times 1 - gamma the bound above
gives an average regret of at most gamma + K ln(N) / (gamma T) + (e - 2) gamma / K at rate = gamma / K, and so the
publication's 2 sqrt((e - 1) K ln(N) / T) at the gamma of :func:`exp4_gamma`.

*Which rate.* Small regret asks for a small gamma, hence a small rate, and the draw then pays sqrt(K ln(N) / T). Who
does not mind wrong guesses on the way takes gamma = 1/2 and the larger rate of :func:`exp4_rates_for_a_draw`: its
expected excess is at most eps after max(8 (e - 2) ln(N) / eps^2, 4 K ln(N) / eps) rounds, with no K beside 1 / eps^2.
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
from onebit.randomness import RoundStream
from onebit.research.rivals.law import Law, smoothed_draw
from onebit.research.rivals.online import OnlineLearner, Rounds, finite_class

Array = NDArray[np.float64]
Conversion = Literal["draw", "heaviest"]


def exp4_gamma(n_labels: int, n_hypotheses: int, n_rounds: int) -> float:
    """min(1, sqrt(K ln N / ((e - 1) T))): the gamma of the regret bound, with T for the best possible reward."""
    return min(1.0, math.sqrt(n_labels * math.log(n_hypotheses) / ((math.e - 1) * n_rounds)))


def exp4_rates_for_a_draw(n_labels: int, n_hypotheses: int, n_rounds: int) -> tuple[float, float]:
    """gamma and rate for a good draw at the end, not for few wrong guesses on the way; not in the publication.

    gamma = 1/2; the rate makes both terms of :func:`exp4_excess` equal, or is gamma / K if that is less.
    """
    gamma = 0.5
    balanced = math.sqrt((1 - gamma) * math.log(n_hypotheses) / ((math.e - 2) * n_rounds))
    return gamma, min(gamma / n_labels, balanced)


def exp4_excess(n_labels: int, n_hypotheses: int, n_rounds: int, gamma: float, rate: float) -> float | None:
    """The bound on the expected excess error of a draw from the average weights; None if rate > gamma / K."""
    if n_hypotheses == 1:
        return 0.0
    if rate > gamma / n_labels * (1 + 1e-12):
        return None
    second_moment = n_labels / gamma if gamma == 1 else min(1 / (1 - gamma), n_labels / gamma)
    return math.log(n_hypotheses) / (rate * n_rounds) + (math.e - 2) * rate * second_moment


class Exp4Learner(OnlineLearner):
    """Ask by p(a) = (1 - gamma) sum_h w_h [h(x) = a] + gamma / K; multiply w_h by exp(rate * reward of h(x)).

    The publication's rate is gamma / K and its gamma that of :func:`exp4_gamma`; both may be tuned. It learns after
    every round; with ``block`` above 1, after so many, for raters who work in parallel.

    Online to batch: what is returned is drawn from the average of the weights over all rounds, to which the bound of
    :func:`exp4_excess` applies; ``conversion="heaviest"`` returns the heaviest in that average, for which there is no
    theorem.
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
        bound = exp4_excess(self._n_labels, self._weight.size, self._n_rounds, self.gamma, self._rate)
        if self._conversion != "draw" or self._block != 1 or bound is None:
            return "none: the bound is for a draw from the average weights, block = 1 and rate <= gamma / K"
        return (
            f"in expectation, and if one label is right, the excess error is at most {bound:.3g}: ln(N) / (rate T) + "
            "(e - 2) rate min(1 / (1 - gamma), K / gamma) after T rounds"
        )

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
