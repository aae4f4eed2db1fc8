"""SPIDER Frank-Wolfe in the L1 norm: first for any problem, then for the potential (Algorithm 2).

Two notions make the algorithm: a *gradient* that can be added and measured against points only through a linear
optimisation oracle, and a *batch* of fresh samples on which the same noise is seen at two neighbouring points. In the
plain case a gradient is an array; in Algorithm 2 it is a list of samples with signed weights, so that the oracle is one
weighted ERM call and nothing of size N is ever formed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from onebit.explore.mixture import Mixture
from onebit.explore.potential import slope
from onebit.hypotheses.base import Examples, Hypothesis, HypothesisClass, Labels

Point = TypeVar("Point")
Gradient = TypeVar("Gradient")
Vertex = TypeVar("Vertex")


class StochasticProblem(Protocol[Point, Gradient, Vertex]):
    """Minimise F(w) = E[f(w, z)] over a convex set that is known through its linear optimisation oracle.

    Paper: appendix "Stochastic (SPIDER) Frank-Wolfe in L1 norm", setup. Gradients can be added with ``+``.
    """

    def draw(self, n: int) -> Any:
        """``n`` fresh samples z."""

    def gradient(self, point: Point, batch: Any) -> Gradient:
        """The mean over the batch of grad f(point, z)."""

    def gradient_change(self, point: Point, before: Point, batch: Any) -> Gradient:
        """The mean over the batch of grad f(point, z) - grad f(before, z)."""

    def linear_minimum(self, gradient: Gradient) -> Vertex:
        """LOO(g): the vertex v with the least g . v."""

    def move(self, point: Point, vertex: Vertex, step: float) -> Point:
        """(1 - step) point + step * vertex."""


def step(t: int) -> float:
    """eta_t = 1 / t.

    Paper: Theorem 3 (appendix), and Theorem 1.
    """
    return 1 / t


def is_reset(t: int) -> bool:
    """Whether t is one of tau_k = 2^k - 1, the steps at which the gradient estimate starts anew.

    Paper: Algorithm 3 (appendix).
    """
    return (t + 1) & t == 0


def batch_size(t: int, reset_ratio: float) -> int:
    """b_t: (reset_ratio * t)^2 at a reset, t otherwise; rounded up and at least 1.

    Paper: Eq. (7) (appendix), reset_ratio = G / (beta D). More samples than the paper's real number only help.
    """
    return max(1, math.ceil((reset_ratio * t) ** 2)) if is_reset(t) else t


@dataclass(frozen=True)
class SpiderStep(Generic[Point, Gradient, Vertex]):
    """What is seen at step t: the point w_t, the estimate g_t of its gradient, and the vertex v_t moved to."""

    t: int
    point: Point
    gradient: Gradient
    vertex: Vertex


def spider_frank_wolfe(
    problem: StochasticProblem[Point, Gradient, Vertex],
    start: Point,
    n_steps: int,
    reset_ratio: float,
    observe: Callable[[SpiderStep[Point, Gradient, Vertex]], None] | None = None,
) -> Point:
    """The point w_{T+1} after T = ``n_steps`` steps of Frank-Wolfe with SPIDER gradient estimates.

    Paper: Algorithm 3 (appendix), with the step and batch sizes of Theorem 3. If f is convex, beta-smooth and
    G-Lipschitz in the L1 norm over d coordinates, the set has diameter D and reset_ratio is G / (beta D), then
    F(w_t) - min F <= 25 beta D^2 sqrt(log(d t / delta)) / t with probability at least 1 - delta.

    ``observe`` is called at every step, before the move.
    """
    point = before = start
    # Step 1 is a reset, so the first estimate never depends on an earlier one.
    estimate: Any = None
    for t in range(1, n_steps + 1):
        batch = problem.draw(batch_size(t, reset_ratio))
        if is_reset(t):
            estimate = problem.gradient(point, batch)
        else:
            estimate = estimate + problem.gradient_change(point, before, batch)
        vertex = problem.linear_minimum(estimate)
        if observe is not None:
            observe(SpiderStep(t, point, estimate, vertex))
        before, point = point, problem.move(point, vertex, step(t))
    return point


@dataclass(frozen=True)
class SignedSample:
    """A gradient of the potential: sample ``index[i]`` of S enters with weight ``weight[i]``, of either sign.

    It stands for g(h) = -sum_i weight[i] [h right on index[i]]. Adding joins the lists.
    """

    index: NDArray[np.int64]
    weight: NDArray[np.float64]

    def __add__(self, other: SignedSample) -> SignedSample:
        index, place = np.unique(np.concatenate([self.index, other.index]), return_inverse=True)
        weight = np.zeros(index.size)
        np.add.at(weight, place, np.concatenate([self.weight, other.weight]))
        return SignedSample(index, weight)


@dataclass(frozen=True)
class MixturePoint:
    """A mixture with W, the mass it gives to the true label of every confirmed sample; shape (|S|,)."""

    mixture: Mixture
    W: NDArray[np.float64]


class PotentialOnSamples:
    """The potential over the confirmed samples S as a stochastic problem: Algorithm 2.

    Paper: Algorithm 2; the oracle call is the one in the proof of Theorem 1.

    Samples are drawn from S without replacement. The theorem's sizes never need more than |S|; with smaller sizes S
    may be used up, and is then gone through again in a new random order (``n_passes`` says how often).
    """

    def __init__(self, hypotheses: HypothesisClass, x: Examples, y: Labels, gamma: float, rng: np.random.Generator):
        self.hypotheses = hypotheses
        self.x, self.y, self.gamma = x, y, gamma
        self._rng = rng
        self._unused = np.empty(0, dtype=np.int64)
        self.n_passes = 0

    def start(self) -> MixturePoint:
        """P_1: the hypothesis that is right on most of S. The first step replaces it, since eta_1 = 1."""
        h = self.hypotheses.erm(self.x, self.y, np.ones(self.y.size))
        return MixturePoint(Mixture.point(h), self._right(h).astype(np.float64))

    def draw(self, n: int) -> NDArray[np.int64]:
        parts = []
        while n > 0:
            if self._unused.size == 0:
                self._unused = self._rng.permutation(self.y.size)
                self.n_passes += 1
            parts.append(self._unused[:n])
            self._unused = self._unused[n:]
            n -= parts[-1].size
        return np.concatenate(parts)

    def gradient(self, point: MixturePoint, batch: NDArray[np.int64]) -> SignedSample:
        return SignedSample(batch, self._slope(point, batch))

    def gradient_change(self, point: MixturePoint, before: MixturePoint, batch: NDArray[np.int64]) -> SignedSample:
        return SignedSample(batch, self._slope(point, batch) - self._slope(before, batch))

    def linear_minimum(self, gradient: SignedSample) -> Hypothesis:
        return self.hypotheses.erm(self.x[gradient.index], self.y[gradient.index], gradient.weight)

    def move(self, point: MixturePoint, vertex: Hypothesis, step: float) -> MixturePoint:
        W = (1 - step) * point.W + step * self._right(vertex)
        return MixturePoint(point.mixture.toward(vertex, step), W)

    def _slope(self, point: MixturePoint, batch: NDArray[np.int64]) -> NDArray[np.float64]:
        return slope(point.W[batch], self.gamma, self.hypotheses.n_labels)

    def _right(self, h: Hypothesis) -> NDArray[np.bool_]:
        return np.equal(self.hypotheses.predict(h, self.x), self.y)
