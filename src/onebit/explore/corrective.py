"""Fully corrective Frank-Wolfe: after each pass over the class, the best mixture of all hypotheses found so far.

The potential is taken with weights w_i that add up to one and a floor of its own for each sample,

    Phi(P) = sum_i -w_i log Q_i,    Q_i = (1 - gamma) W_i + floor_i,

of which w_i = 1 / n and floor_i = gamma / K is the paper's. With C[h, i] = (1 - gamma) [h right on i] + floor_i, so
that Q = P C, and

    D_h = sum_i w_i C[h, i] / Q_i,    sum_h P_h D_h = 1,    gap = max_h D_h - 1,

P is the minimum exactly when no D_h exceeds 1. Since Phi(tP) = Phi(P) - log t, it is also the minimum over all P >= 0
of Phi(P) + sum_h P_h: the constraint that P adds up to one takes care of itself, which leaves a smooth problem with
bounds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onebit.errors import InvalidInputError
from onebit.explore.constants import (
    ARMIJO,
    INNER_SHARE,
    LARGE,
    MAX_NEWTON_STEPS,
    N_COLUMNS,
    N_COLUMNS_LARGE,
    NNLS_STEPS,
    RIDGE,
    SMALLEST_STEP,
)
from onebit.explore.mixture import Mixture
from onebit.explore.solution import Iteration, Solution
from onebit.hypotheses.base import Examples, Hypothesis, HypothesisClass, Labels
from onebit.hypotheses.on_sample import OnSample

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Barrier:
    """The potential on a sample: ``weight`` (m,) adds up to one, ``floor`` (m,) is positive."""

    weight: Array
    floor: Array
    gamma: float

    @classmethod
    def of_paper(cls, n_samples: int, gamma: float, n_labels: int) -> Barrier:
        """Equal weights, and the floor gamma / K."""
        return cls(np.full(n_samples, 1 / n_samples), np.full(n_samples, gamma / n_labels), gamma)

    def __post_init__(self) -> None:
        if self.weight.size == 0 or self.weight.shape != self.floor.shape:
            raise InvalidInputError("the potential needs at least one sample, with one weight and one floor for each")
        if not (self.weight > 0).all() or abs(self.weight.sum() - 1) > 1e-9:
            raise InvalidInputError("the weights of the samples must be positive and add up to 1")
        if not (self.floor > 0).all() or not np.isfinite(self.floor).all():
            raise InvalidInputError("every floor must be a number above 0, or a label might never be asked")
        if not 0 <= self.gamma <= 1:
            raise InvalidInputError(f"gamma is {self.gamma}; it is a share, from 0 to 1")

    def columns(self, right: NDArray[np.bool_]) -> Array:
        """C for hypotheses that are right where ``right`` (k, m) says."""
        return (1 - self.gamma) * right + self.floor


def corrective_frank_wolfe(
    oracle: OnSample,
    barrier: Barrier,
    tolerance: float,
    *,
    n_columns: int | None = None,
    start: Mixture | None = None,
    max_passes: int = 1000,
    observe: Callable[[Iteration], None] | None = None,
) -> Solution:
    """Minimise the potential until the gap is at most ``tolerance``.

    Not in the paper. Each pass takes up to ``n_columns`` hypotheses from the oracle (10, or 50 for large classes),
    minimises over all mixtures of them and the ones it has, and drops those without mass. ``start`` is a mixture to
    begin from, say the one for fewer samples; without it, the first pass finds the hypotheses that are right most.
    ``observe`` is called with each later pass.

    The gap is measured with the whole class, by the oracle: a certificate if the oracle is exact.
    """
    if not tolerance > 0:
        raise InvalidInputError(f"tolerance is {tolerance}; it must be above 0")
    if max_passes < 2:
        raise InvalidInputError(f"max_passes is {max_passes}; one pass finds where to start and one measures the gap")
    if oracle.n_samples != barrier.weight.size:
        raise InvalidInputError(
            f"the class is on {oracle.n_samples} samples, the potential on {barrier.weight.size}; make them the same"
        )
    if n_columns is None:
        n_columns = N_COLUMNS_LARGE if (oracle.n_hypotheses or 0) >= LARGE else N_COLUMNS
    reach = oracle.within_reach()
    active = _Active(oracle, barrier)
    if start is None:
        found = oracle.best(barrier.weight, n_columns)
        active.add(found, np.eye(1, len(found))[0])
    else:
        active.add(start.hypotheses, start.probabilities)
    inner = INNER_SHARE * tolerance
    for n_passes in range(2 if start is None else 1, max_passes + 1):
        active.correct(inner)
        # Samples on which nobody is right would only coarsen what the oracle can tell apart.
        slope = np.where(reach, (1 - barrier.gamma) * barrier.weight / active.Q, 0.0)
        found = oracle.best(slope, n_columns)
        gap = float(slope @ oracle.right(found[0]) + (barrier.weight * barrier.floor / active.Q).sum() - 1)
        if observe is not None:
            observe(Iteration(n_passes, active.potential, gap, active.size))
        if gap <= tolerance:
            break
        grew = active.add(found, np.zeros(len(found)))
        if not grew and gap > inner:
            # What is in play was not solved as far as asked: this is as far as rounding lets it go.
            break
        inner = INNER_SHARE * max(tolerance, min(gap, 1.0) ** 2 if grew else 0.0)
    return Solution(active.mixture(), max(gap, 0.0), n_passes, gap <= tolerance, oracle.exact)


def solve_paper_potential(
    hypotheses: HypothesisClass,
    x: Examples,
    y: Labels,
    gamma: float,
    tolerance: float,
    *,
    observe: Callable[[Iteration], None] | None = None,
) -> Solution:
    """Minimise the paper's potential over the confirmed samples (x, y).

    Items of a table that were confirmed more than once become one sample with their joint weight. ``observe`` as in
    :func:`corrective_frank_wolfe`.
    """
    if y.size == 0:
        raise InvalidInputError("there is no sample; the potential needs at least one confirmed example")
    weight = np.full(y.size, 1 / y.size)
    if np.ndim(x) == 1 and np.asarray(x).dtype.kind in "iu":
        pairs, times = np.unique(np.stack([np.asarray(x, dtype=np.int64), y]), axis=1, return_counts=True)
        (x, y), weight = pairs, times / y.size
    barrier = Barrier(weight, np.full(y.size, gamma / hypotheses.n_labels), gamma)
    return corrective_frank_wolfe(hypotheses.on_sample(x, y), barrier, tolerance, observe=observe)


class _Active:
    """The hypotheses in play: their columns C (k, m) and their mass p (k,), which adds up to one.

    ``keys`` are their bits on the sample, by which those that are alike there are told.
    """

    def __init__(self, oracle: OnSample, barrier: Barrier) -> None:
        self._oracle, self._barrier = oracle, barrier
        self._names: list[Hypothesis] = []
        self._keys: list[bytes] = []
        self._C = np.empty((0, barrier.weight.size))
        self._p = np.empty(0)

    @property
    def Q(self) -> Array:
        return self._p @ self._C

    @property
    def potential(self) -> float:
        return float(-(self._barrier.weight @ np.log(self.Q)))

    @property
    def size(self) -> int:
        return len(self._names)

    def add(self, names: tuple[Hypothesis, ...], mass: Array) -> bool:
        """Take in the hypotheses that differ on the sample from all that are in play. Says whether there were any."""
        rows = np.array([self._oracle.right(h) for h in names])
        keys = [bits.tobytes() for bits in np.packbits(rows, axis=1)]
        known = set(self._keys)
        fresh = [i for i, key in enumerate(keys) if key not in known and key not in keys[:i]]
        if fresh:
            self._names += [names[i] for i in fresh]
            self._keys += [keys[i] for i in fresh]
            self._C = np.concatenate([self._C, self._barrier.columns(rows[fresh])])
            self._p = np.concatenate([self._p, mass[fresh]])
            self._p /= self._p.sum()
        return bool(fresh)

    def correct(self, tolerance: float) -> None:
        """Move to the best mixture of the hypotheses in play; drop those without mass."""
        self._p = minimise_over_mixtures(self._C, self._barrier.weight, self._p, tolerance)
        kept = np.flatnonzero(self._p)
        self._names = [self._names[i] for i in kept]
        self._keys = [self._keys[i] for i in kept]
        self._C, self._p = self._C[kept], self._p[kept]

    def mixture(self) -> Mixture:
        return Mixture.of(self._names, self._p)


def minimise_over_mixtures(C: Array, weight: Array, p: Array, tolerance: float) -> Array:
    """The p >= 0, adding up to one, that minimises sum_i -weight_i log (p C)_i, up to a gap of ``tolerance``.

    Newton's method for f(p) = sum_i -weight_i log (p C)_i + sum_h p_h over p >= 0: the quadratic model is minimised
    under the bounds, which leaves exact zeros, and the step towards its minimum is shortened until f falls enough.
    """
    for _ in range(MAX_NEWTON_STEPS):
        Q = p @ C
        D = C @ (weight / Q)
        if D.max() - 1 <= tolerance:
            break
        step = _model_minimum(C * (np.sqrt(weight) / Q), p, D - 1) - p
        length = _step_length(Q, step @ C, weight, step, D - 1)
        if length == 0:
            break
        p = p + length * step
        p /= p.sum()
    return p


def _model_minimum(scaled: Array, p: Array, ascent: Array) -> Array:
    """The z >= 0 that minimises (z - p) H (z - p) / 2 - ascent (z - p), H = scaled scaled^T."""
    hessian = scaled @ scaled.T
    hessian.flat[:: hessian.shape[0] + 1] *= 1 + RIDGE
    # Imported here: what only plans or serves loads this module, and should not wait for all of scipy.optimize.
    from scipy.linalg import cholesky, solve_triangular
    from scipy.optimize import nnls

    root = cholesky(hessian)
    # With H = root^T root this is the least-squares problem |root z - target| over z >= 0.
    target = root @ p + solve_triangular(root, ascent, trans="T")
    z: Array = nnls(root, target, maxiter=NNLS_STEPS * p.size)[0]
    return z


def _step_length(Q: Array, change: Array, weight: Array, step: Array, ascent: Array) -> float:
    """The longest of 1, 1/2, 1/4, ... that makes f fall by enough; 0 if rounding hides any fall."""
    predicted = float(ascent @ step)
    length = 1.0
    while length >= SMALLEST_STEP and predicted > 0:
        fall = float(weight @ np.log1p(length * change / Q)) - length * float(step.sum())
        if fall >= ARMIJO * length * predicted:
            return length
        length /= 2
    return 0.0
