"""Sparse weights whose exploration has variance at most 2 K + b_h for every policy h, by coordinate descent.

Agarwal, Hsu, Kale, Langford, Li and Schapire (2014), problem (OP) and Algorithm 2. With Q >= 0 over policies, of total
mass at most 1, and Q^mu(a | x) = (1 - K mu) sum_h Q_h [h(x) = a] + mu,

    sum_h Q_h b_h <= 2 K,    V_h(Q) = mean_x 1 / Q^mu(h(x) | x) <= 2 K + b_h    for every h,

b_h = (best estimated reward - that of h) / (psi mu). With b = 0 it is the condition of Policy Elimination. The step and
the rescaling are those that a formalisation of arXiv 1402.0555v2 states for Algorithm 2
(prove2.me/theorems/1dc0f584-6b81-4f92-a92f-8923b9f8e878), with a checked proof that at most 4 ln(1 / (K mu)) / mu steps
lead from Q = 0 to a solution, whichever violated constraint each step takes (Theorem 3,
prove2.me/theorems/b6e2c519-17ba-45ea-bdd5-af075247ba06).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onebit.errors import OnebitError
from onebit.hypotheses.base import Examples, Hypothesis, HypothesisClass, Labels

Array = NDArray[np.float64]

#: Rounding may leave a constraint violated by so much, relative to 2 K.
SLACK = 1e-9
MAX_STEPS = 100_000


@dataclass(frozen=True, eq=False)
class Rewards:
    """b_h up to a constant: h earns ``weight[i]`` where it says ``label[i]`` on ``x[i]``; b_h = best - what h earns.

    ``best`` is what the best of the class earns. Without rounds every b_h is 0.
    """

    x: Examples
    label: Labels
    weight: Array
    best: float


class CoordinateDescent:
    """The weights Q, as policies with mass, over contexts ``x`` that count ``share`` (m,), adding up to one."""

    def __init__(self, hypotheses: HypothesisClass, x: Examples, share: Array, mu: float, rewards: Rewards) -> None:
        self._class, self._x, self._share, self._mu, self._rewards = hypotheses, x, share, mu, rewards
        self._n_labels = hypotheses.n_labels
        self.policies: list[Hypothesis] = []
        self.mass = np.empty(0)
        self._b = np.empty(0)
        self._said = np.empty((0, share.size), dtype=np.int64)

    def solve(self, policies: tuple[Hypothesis, ...] = (), mass: Array | None = None) -> None:
        """Go from Q = 0, or from given weights, until no constraint is violated. One oracle call a step."""
        for h, q in zip(policies, [] if mass is None else mass.tolist(), strict=True):
            self._add(h, q)
        for _ in range(MAX_STEPS):
            self._shrink()
            inverse = self._inverse()
            h = self._most_violated(inverse)
            V, S = self._moments(h, inverse)
            D = V - 2 * self._n_labels - self._b_of(h)
            if SLACK * self._n_labels >= D:
                return
            self._add(h, (V + D) / (2 * (1 - self._n_labels * self._mu) * S))
        raise OnebitError(f"coordinate descent did not end in {MAX_STEPS} steps; raise the least probability mu")

    def _shrink(self) -> None:
        """Make sum_h Q_h (2 K + b_h) at most 2 K."""
        most = 2 * self._n_labels
        total = float(self.mass @ (most + self._b))
        if total > most:
            self.mass = self.mass * (most / total)

    def _inverse(self) -> Array:
        """1 / Q^mu(a | x) for every context and label; shape (m, K). Who abstains says no label."""
        n_contexts, K = self._share.size, self._n_labels
        spoke = self._said >= 0
        places = (np.arange(n_contexts) * K + self._said)[spoke]
        mass = np.broadcast_to(self.mass[:, None], self._said.shape)[spoke]
        Q = np.bincount(places, mass, minlength=n_contexts * K).reshape(n_contexts, K)
        smoothed: Array = 1 / ((1 - K * self._mu) * Q + self._mu)
        return smoothed

    def _most_violated(self, inverse: Array) -> Hypothesis:
        """The h of highest V_h - b_h: one call of the oracle.

        Labels that nobody in play gives have 1 / Q^mu = 1 / mu; so that only the others need a row, 1 / mu is taken
        from all. Their weights are negative.
        """
        less = inverse - 1 / self._mu
        place, given = np.nonzero(less)
        x = np.concatenate([np.asarray(self._x)[place], np.asarray(self._rewards.x)])
        label = np.concatenate([given, self._rewards.label])
        weight = np.concatenate([self._share[place] * less[place, given], self._rewards.weight])
        return self._class.erm(x, label, weight)

    def _moments(self, h: Hypothesis, inverse: Array) -> tuple[float, float]:
        """The means of 1 / Q^mu(h(x) | x) and of its square. Who abstains is taken to ask what nobody does."""
        said = self._class.predict(h, self._x)
        at_h = np.where(said >= 0, inverse[np.arange(said.size), said], 1 / self._mu)
        return float(self._share @ at_h), float(self._share @ at_h**2)

    def _b_of(self, h: Hypothesis) -> float:
        earned = self._rewards.weight @ (self._class.predict(h, self._rewards.x) == self._rewards.label)
        return max(0.0, self._rewards.best - float(earned))

    def _add(self, h: Hypothesis, mass: float) -> None:
        if h in self.policies:
            self.mass[self.policies.index(h)] += mass
            return
        self.policies.append(h)
        self.mass = np.append(self.mass, mass)
        self._b = np.append(self._b, self._b_of(h))
        self._said = np.concatenate([self._said, self._class.predict(h, self._x)[None]])


def contexts(x: Examples) -> tuple[Examples, Array]:
    """The examples, those of a table that repeat once with the share of both; and the share of each."""
    x = np.asarray(x)
    if x.ndim == 1 and x.dtype.kind in "iu":
        distinct, times = np.unique(x, return_counts=True)
        return distinct, times / x.size
    return x, np.full(x.shape[0], 1 / x.shape[0])
