"""Plain Frank-Wolfe: each of its steps, written out again."""

from __future__ import annotations

import numpy as np
import pytest

from onebit.explore.frank_wolfe import frank_wolfe
from onebit.explore.solution import Iteration
from onebit.hypotheses.finite import PredictionTable

GAMMA, K = 0.3, 4


def test_every_step_is_two_over_t_plus_two_towards_the_steepest() -> None:
    """Phi(P) = -mean of log(gamma / K + (1 - gamma) P(right)), by hand, against what is recorded of each step."""
    rng = np.random.default_rng(0)
    said, y = rng.integers(0, K, (6, 40)), rng.integers(0, K, 40)
    seen: list[Iteration] = []
    frank_wolfe(PredictionTable(said, K), np.arange(40), y, GAMMA, 1e-9, max_steps=12, observe=seen.append)
    right = (said == y).astype(float)
    mass = np.eye(6)[right.sum(axis=1).argmax()]
    for t, record in enumerate(seen, start=1):
        W = GAMMA / K + (1 - GAMMA) * mass @ right
        assert record.potential == pytest.approx(-np.log(W).mean())
        steepest = (right / W).mean(axis=1).argmax()
        mass = mass + 2 / (t + 2) * (np.eye(6)[steepest] - mass)
    assert len(seen) == 13
