"""ILOVETOCONBANDITS: in epochs, sparse weights of low variance and low regret, found through an argmax oracle.

Agarwal, Hsu, Kale, Langford, Li and Schapire, "Taming the monster: a fast and simple algorithm for contextual bandits",
ICML 2014 (arXiv 1402.0555v2). The constants are those that a formalisation of it states: mu_m and
d_t = ln(16 t^2 N / delta) in Lemma 15 (prove2.me/theorems/d3b81ef5-f2e9-44e1-8e84-52764d20a564); psi = 100,
theta_1 = 94.1, c_0 = 4 rho (1 + theta_1) and rho <= sqrt(2) for epochs that double
(prove2.me/theorems/38dc7391-a73d-4db6-b393-e8f0d97b5899); Lemma 13, by which a policy of estimated regret 0 after
tau_m rounds has a regret of at most c_0 K mu_m (prove2.me/theorems/d5ab7fd9-f764-4a37-84a1-0b64011345f1).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from onebit.errors import InvalidInputError, check_fraction
from onebit.estimate.delta import log_iltcb
from onebit.explore.mixture import Mixture
from onebit.hypotheses.base import Hypothesis, HypothesisClass
from onebit.learners.items import ItemSource
from onebit.records import DELTA
from onebit.research.rivals.coordinate_descent import CoordinateDescent, Rewards, contexts
from onebit.research.rivals.doubling import DoublingLearner
from onebit.research.rivals.law import Law
from onebit.research.rivals.online import Rounds

Array = NDArray[np.float64]

#: psi of the publication.
PSI = 100.0


class IltcbLearner(DoublingLearner):
    """Epochs that double; at the end of each, weights Q with the variance and regret constraints of (OP).

    mu_m = min(1 / (2 K), ``scale`` sqrt(ln(16 tau_m^2 N / delta) / (K tau_m))), the publication's for scale 1; Q's
    missing mass goes to the empirically best policy, as in its sampling. ``psi`` and ``scale`` may be tuned; the
    theorem is for 100 and 1. What is returned is the empirically best policy. For a class of unknown size N,
    ``log_n`` stands for ln N.
    """

    def __init__(
        self,
        hypotheses: HypothesisClass,
        items: ItemSource,
        n_rounds: int,
        *,
        delta: float = DELTA,
        psi: float = PSI,
        scale: float = 1.0,
        log_n: float | None = None,
        seed: int = 0,
    ) -> None:
        super().__init__(hypotheses, items, n_rounds, seed=seed)
        if log_n is None and hypotheses.n_hypotheses is None:
            raise InvalidInputError("the size of the class is not known; give log_n, the logarithm that stands for it")
        if not (0 < psi < math.inf and 0 < scale < math.inf):
            raise InvalidInputError(f"psi is {psi!r} and scale {scale!r}; both must be above 0")
        if not hypotheses.takes_negative_weights:
            raise InvalidInputError(f"the oracle gets negative weights, and {type(hypotheses).__name__} takes none")
        self._log_n = math.log(hypotheses.n_hypotheses or 1) if log_n is None else log_n
        self._delta, self._psi, self._scale = check_fraction("delta", delta), psi, scale
        self._Q: tuple[tuple[Hypothesis, ...], Array] = ((), np.empty(0))
        self._leader: Hypothesis = None

    def mu(self, n_rounds: int) -> float:
        """mu_m for tau_m = ``n_rounds``."""
        log_term = log_iltcb(n_rounds, self._log_n, self._delta)
        return min(1 / (2 * self._n_labels), self._scale * math.sqrt(log_term / (self._n_labels * n_rounds)))

    def leader(self) -> Hypothesis:
        return self._leader

    @property
    def _promise(self) -> str:
        if self._psi == PSI and self._scale == 1 and self._hypotheses.exact:
            return (
                "the excess error is at most 538 sqrt(K ln(16 T^2 N / delta) / T) after T = 2^m rounds with "
                f"probability at least {1 - self._delta:g} (Agarwal et al. 2014, Lemma 13 for the empirically best)"
            )
        return "none: the theorem is for psi = 100, scale = 1 and an exact oracle"

    def _learn(self, rounds: Rounds) -> None:
        history = self._history()
        n = history.reward.size
        told = np.flatnonzero(history.reward)
        x, label, reward = history.x[told], history.label[told], history.reward[told] / n
        self._leader = self._hypotheses.erm(x, label, reward)
        if n == self._n_rounds:
            return
        mu = self.mu(n)
        weight = reward / (self._psi * mu)
        best = float(weight @ (self._hypotheses.predict(self._leader, x) == label))
        distinct, share = contexts(history.x)
        descent = CoordinateDescent(self._hypotheses, distinct, share, mu, Rewards(x, label, weight, best))
        descent.solve(*self._Q)
        self._Q = tuple(descent.policies), descent.mass
        rest = max(0.0, 1 - float(descent.mass.sum()))
        mixture = Mixture.of([*descent.policies, self._leader], np.append(descent.mass, rest))
        self.law = Law(mixture, self._n_labels * mu)
