"""Tables of predictions for tests of what a selection costs."""

from __future__ import annotations

import numpy as np


def votes(n_items: int = 400) -> np.ndarray:
    """Ten models: five poor ones, one of which abstains on the first half, and five that are right more often."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 5, n_items)
    shares = [0.2, 0.2, 0.3, 0.3, 0.3, 0.85, 0.87, 0.9, 0.92, 0.95]
    said = np.array([np.where(rng.random(n_items) < a, truth, rng.integers(0, 5, n_items)) for a in shares])
    said[0, : n_items // 2] = -1
    return said


def synthetic(seed: int, n_items: int = 2000) -> tuple[np.ndarray, np.ndarray]:
    """A table of twelve models and its truth: how good the models are, and how far the best is ahead, is drawn.

    On hard items models are wrong more often, and wrong models say the same more often than by chance.
    """
    rng = np.random.default_rng(seed)
    n_labels = int(rng.integers(3, 20))
    truth, tempting = rng.integers(0, n_labels, (2, n_items))
    best, step = rng.uniform(0.6, 0.95), rng.choice([0.0, 0.01, 0.03])
    accuracy = best - step * np.arange(12) - 0.1 * (np.arange(12) > 5)
    hardness = rng.normal(0, 1, n_items)
    logit = np.log(accuracy / (1 - accuracy))[:, None] - hardness + 0.7 * rng.normal(0, 1, (12, n_items))
    wrong = np.where(rng.random((12, n_items)) < 0.5, tempting, rng.integers(0, n_labels, (12, n_items)))
    return np.where(logit > 0, truth, wrong), truth
