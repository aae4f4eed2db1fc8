"""Policy Elimination: explore with low variance for all who may be the best, and drop who cannot be.

Dudik, Hsu, Kale, Karampatziakis, Langford, Reyzin and Zhang, "Efficient optimal learning for contextual bandits", UAI
2011 (arXiv 1106.2369). Its text could not be read, so what it promises is derived here for the constants below.

The estimate of h is a mean of t rewards, each of second moment at most E_x[1 / p(h(x))] <= 2 K given the past, and at
most 1 / mu_t above its mean. Freedman's inequality with lambda = mu_t: with L = log(1 / delta_t), except with
probability delta_t, it is off to one side by at most (e - 2) 2 K mu_t + L / (t mu_t) = (e - 1) sqrt(2 K L / t) <= b_t.
(Where mu_t = 1 / (2 K), b_t is above 1.) The two sides, the N policies and all t use up
sum_t 2 N delta / (4 N t^2) < delta. Otherwise all estimates are within b_t, hence the best is never dropped, every
survivor is within 4 b_t of it, and the survivor of best estimate within 2 b_t.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from onebit.errors import InvalidInputError, check_fraction
from onebit.estimate.delta import log_policy_elimination
from onebit.explore.mixture import Mixture
from onebit.hypotheses.base import HypothesisClass
from onebit.hypotheses.finite import PredictionTable
from onebit.learners.items import ItemSource, Pool
from onebit.records import DELTA
from onebit.research.rivals.coordinate_descent import CoordinateDescent, Rewards, contexts
from onebit.research.rivals.doubling import DoublingLearner
from onebit.research.rivals.law import Law
from onebit.research.rivals.online import Rounds, finite_class

Array = NDArray[np.float64]


class PolicyEliminationLearner(DoublingLearner):
    """A law with E_x[1 / ((1 - K mu_t) W(x, h(x)) + mu_t)] <= 2 K for every survivor h; who is far behind is dropped.

    mu_t = min(1 / (2 K), sqrt(log(1 / delta_t) / (2 K t))), delta_t = delta / (4 N t^2); dropped is who is behind the
    best estimate by more than 2 b_t, b_t = 2 sqrt(2 K log(1 / delta_t) / t). ``radius`` multiplies b_t; the theorem is
    for 1. What is returned is the survivor of best estimate.

    The publication finds a new law in every round and knows the distribution of x. Here the law is found anew when t
    has doubled (a floor of mu_t for later rounds is higher than asked for, and survivors only get fewer), and the
    distribution of x is the pool. Of a stream it is the examples seen so far, and nothing is promised.
    """

    def __init__(
        self,
        hypotheses: HypothesisClass,
        items: ItemSource,
        n_rounds: int,
        *,
        delta: float = DELTA,
        radius: float = 1.0,
        seed: int = 0,
    ) -> None:
        super().__init__(hypotheses, items, n_rounds, seed=seed)
        self._finite = finite_class(hypotheses, "Policy Elimination")
        if not 0 < radius < math.inf:
            raise InvalidInputError(f"radius is {radius!r}; it must be above 0")
        self._delta, self._radius = check_fraction("delta", delta), radius
        self.survivors = np.arange(self._finite.n_hypotheses)
        self._total = np.zeros(self._finite.n_hypotheses)

    def log_term(self, t: int) -> float:
        """log(1 / delta_t)."""
        return log_policy_elimination(t, self._finite.n_hypotheses, self._delta)

    def mu(self, t: int) -> float:
        """mu_t."""
        return min(1 / (2 * self._n_labels), math.sqrt(self.log_term(t) / (2 * self._n_labels * t)))

    def b(self, t: int) -> float:
        """b_t, times the radius."""
        return self._radius * 2 * math.sqrt(2 * self._n_labels * self.log_term(t) / t)

    def leader(self) -> int:
        return int(self.survivors[np.argmax(self._total[self.survivors])])

    @property
    def _promise(self) -> str:
        if self._radius == 1 and isinstance(self._items, Pool):
            return (
                f"with probability at least {1 - self._delta:g} the best is never dropped, and the one chosen after t "
                f"rounds is within 2 b_t of it, b_t = 2 sqrt(2 K log(4 N t^2 / delta) / t); here 2 b_T = "
                f"{2 * self.b(self._n_rounds):.3g}"
            )
        return "none: the theorem is for radius = 1 and a known distribution of examples, a pool"

    def _learn(self, rounds: Rounds) -> None:
        self._total += self._finite.agreement(rounds.x, rounds.label, rounds.reward)
        t = len(self._ledger.questions)
        estimate = self._total[self.survivors] / t
        self.survivors = self.survivors[estimate >= estimate.max() - 2 * self.b(t)]
        if t < self._n_rounds:
            self.law = self._low_variance_law(self.mu(t))

    def _low_variance_law(self, mu: float) -> Law:
        x = self._items.x if isinstance(self._items, Pool) else self._history().x
        distinct, share = contexts(x)
        table = PredictionTable(self._finite.predictions(distinct)[self.survivors], self._n_labels)
        nothing = Rewards(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0), 0.0)
        descent = CoordinateDescent(table, np.arange(share.size), share, mu, nothing)
        descent.solve()
        if not descent.policies:
            # At mu = 1 / (2 K) every distribution will do.
            return Law(Mixture.point(self.leader()), self._n_labels * mu)
        return Law(Mixture.of(self.survivors[descent.policies].tolist(), descent.mass), self._n_labels * mu)
