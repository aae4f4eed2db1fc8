"""Full-gradient Frank-Wolfe on the potential of a sample: the plain reference, with the gap as its stopping rule."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from onebit.errors import InvalidInputError
from onebit.explore.mixture import Mixture
from onebit.explore.potential import frank_wolfe_gap, potential, slope
from onebit.explore.solution import Iteration, Solution
from onebit.hypotheses.base import Examples, HypothesisClass, Labels


def frank_wolfe(
    hypotheses: HypothesisClass,
    x: Examples,
    y: Labels,
    gamma: float,
    tolerance: float,
    max_steps: int = 100_000,
    observe: Callable[[Iteration], None] | None = None,
) -> Solution:
    """Minimise the potential until the gap is at most ``tolerance``: one oracle call a step, of size 2 / (t + 2).

    Not in the paper, which uses SPIDER. It starts at the hypothesis that is right on most of the sample; t counts
    from 1. At the end the sample's variance bound is at most (1 + tolerance) / (1 - gamma). ``observe`` is
    called with each step.
    """
    if y.size == 0:
        raise InvalidInputError("there is no sample; the potential needs at least one confirmed example")
    if not tolerance > 0:
        raise InvalidInputError(f"tolerance is {tolerance}; it must be above 0")
    h = hypotheses.erm(x, y, np.ones(y.size))
    mixture = Mixture.point(h)
    W = (hypotheses.predict(h, x) == y).astype(float)
    for t in range(1, max_steps + 2):
        h = hypotheses.erm(x, y, slope(W, gamma, hypotheses.n_labels))
        right = hypotheses.predict(h, x) == y
        gap = frank_wolfe_gap(right, W, gamma, hypotheses.n_labels)
        if observe is not None:
            observe(Iteration(t, potential(W, gamma, hypotheses.n_labels), gap, len(mixture.hypotheses)))
        if gap <= tolerance or t > max_steps:
            break
        eta = 2 / (t + 2)
        mixture = mixture.toward(h, eta)
        W = (1 - eta) * W + eta * right
    return Solution(mixture, gap, t + 1, gap <= tolerance, hypotheses.exact)
