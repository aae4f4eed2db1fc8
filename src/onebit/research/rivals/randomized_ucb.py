"""RandomizedUCB: low estimated regret, under a bound on the variance that is laxer for who looks worse.

Dudik, Hsu, Kale, Karampatziakis, Langford, Reyzin and Zhang, "Efficient optimal learning for contextual bandits", UAI
2011 (arXiv 1106.2369), its second algorithm. In round t it plays (1 - K mu) W_P + mu for a distribution P over the
policies that makes the estimated regret sum_h P_h Delta_h least, subject to

    mean over past x of 1 / ((1 - K mu) W_P(x, h(x)) + mu)  <=  max(4 K, t Delta_h^2 / (180 C)),

C = 2 log(N t / delta), mu = min(1 / (2 K), sqrt(C / (2 K t))). Its text could not be read; these constants are from
second hand, so 180 is an argument, and no theorem is claimed.

Two things differ. The publication has the constraint for every mixture of policies, and an ellipsoid method for it;
here it is for single policies. And the regret is not made least, but kept at the order of the least: with b_h = (the
right side) - 2 K, coordinate descent (``coordinate_descent.py``; of b_h it needs only that it is not negative) finds Q
of mass at most 1 with sum_h Q_h (2 K + b_h) <= 2 K and variances of at most 2 K + b_h. So sum_h Q_h t Delta_h^2 /
(180 C) <= 2 K, and by Jensen's inequality the law's estimated regret is at most sqrt(360 K C / t). What mass is missing
goes to the best.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from onebit.errors import InvalidInputError, check_fraction
from onebit.explore.mixture import Mixture
from onebit.hypotheses.base import Hypothesis, HypothesisClass, Labels
from onebit.hypotheses.finite import PredictionTable
from onebit.learners.items import ItemSource
from onebit.records import DELTA
from onebit.research.rivals.coordinate_descent import CoordinateDescent, Rewards, contexts
from onebit.research.rivals.doubling import DoublingLearner
from onebit.research.rivals.law import Law
from onebit.research.rivals.online import Rounds, finite_class

Array = NDArray[np.float64]

#: What divides t Delta^2 / C in the bound on the variance.
EASE = 180.0


class RandomizedUcbLearner(DoublingLearner):
    """The law of RandomizedUCB, found anew when the rounds have doubled; what is returned is the best estimate.

    ``ease`` is the publication's 180: the larger, the more even the exploration. Contexts are the examples seen so far.
    """

    def __init__(
        self,
        hypotheses: HypothesisClass,
        items: ItemSource,
        n_rounds: int,
        *,
        delta: float = DELTA,
        ease: float = EASE,
        seed: int = 0,
    ) -> None:
        super().__init__(hypotheses, items, n_rounds, seed=seed)
        self._finite = finite_class(hypotheses, "RandomizedUCB")
        if not 0 < ease < math.inf:
            raise InvalidInputError(f"ease is {ease!r}; it must be above 0")
        self._delta, self._ease = check_fraction("delta", delta), ease
        self._total = np.zeros(self._finite.n_hypotheses)

    def log_term(self, t: int) -> float:
        """C = 2 log(N t / delta)."""
        return 2 * math.log(self._finite.n_hypotheses * t / self._delta)

    def mu(self, t: int) -> float:
        return min(1 / (2 * self._n_labels), math.sqrt(self.log_term(t) / (2 * self._n_labels * t)))

    def most_variance(self, t: int) -> Array:
        """max(4 K, t Delta_h^2 / (ease C)) of every policy, after t rounds; shape (N,)."""
        behind = (self._total.max() - self._total) / t
        limit: Array = np.maximum(4 * self._n_labels, t * behind**2 / (self._ease * self.log_term(t)))
        return limit

    def leader(self) -> int:
        return int(np.argmax(self._total))

    @property
    def _promise(self) -> str:
        return "none: the publication's constants could not be checked, and its constraint is kept for single policies"

    def _learn(self, rounds: Rounds) -> None:
        self._total += self._finite.agreement(rounds.x, rounds.label, rounds.reward)
        t = len(self._ledger.questions)
        if t == self._n_rounds:
            return
        distinct, share = contexts(self._history().x)
        said = self._finite.predictions(distinct).astype(np.int64)
        descent = _OverAList(said, self._n_labels, share, self.mu(t), self.most_variance(t) - 2 * self._n_labels)
        descent.solve()
        rest = max(0.0, 1 - float(descent.mass.sum()))
        mixture = Mixture.of([*descent.policies, self.leader()], np.append(descent.mass, rest))
        self.law = Law(mixture, self._n_labels * self.mu(t))


class _OverAList(CoordinateDescent):
    """Coordinate descent for any b_h >= 0, shape (N,), over policies that are listed: ``said`` (N, m)."""

    def __init__(self, said: Labels, n_labels: int, share: Array, mu: float, b: Array) -> None:
        nothing = Rewards(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0), 0.0)
        super().__init__(PredictionTable(said, n_labels), np.arange(share.size), share, mu, nothing)
        self._everybody, self._every_b = said, b

    def _most_violated(self, inverse: Array) -> Hypothesis:
        at = inverse[np.arange(self._share.size), self._everybody]
        variance = np.where(self._everybody >= 0, at, 1 / self._mu) @ self._share
        return int(np.argmax(variance - self._every_b))

    def _b_of(self, h: Hypothesis) -> float:
        return float(self._every_b[h])
