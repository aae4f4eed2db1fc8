"""The networks' gradient, and that a no teaches."""

from __future__ import annotations

import numpy as np

from onebit.learners.training import network
from onebit.learners.training.model import Known, mean_belief
from onebit.learners.training.network import NetworkEnsemble


def clusters(rng: np.random.Generator, n: int, n_labels: int) -> tuple[np.ndarray, np.ndarray]:
    y = rng.integers(0, n_labels, n)
    x = 3 * rng.standard_normal((n_labels, 6))[y] + rng.standard_normal((n, 6))
    return x.astype(np.float32), y


def test_beliefs_are_probabilities() -> None:
    rng = np.random.default_rng(0)
    model = NetworkEnsemble(6, 4, rng)
    belief = model.beliefs(rng.standard_normal((2 * network.CHUNK + 3, 6)).astype(np.float32))
    assert belief.shape == (network.N_MEMBERS, 2 * network.CHUNK + 3, 4)
    np.testing.assert_allclose(belief.sum(axis=2), 1.0, rtol=1e-5)


def test_it_learns_from_denials_alone() -> None:
    """Every example has two of its three wrong labels denied, never the same; no label is ever confirmed."""
    rng = np.random.default_rng(1)
    x, y = clusters(rng, 600, 4)
    possible = np.ones((600, 4), dtype=np.bool_)
    for _ in range(2):
        possible[np.arange(600), (y + rng.integers(1, 4, 600)) % 4] = False
    model = NetworkEnsemble(6, 4, rng)
    model.learn(Known(x[:400], possible[:400], np.zeros(400), n_answers=250), rng)
    assert (mean_belief(model, x[400:]).argmax(axis=1) == y[400:]).mean() > 0.9


def test_the_same_seed_gives_the_same_model() -> None:
    rng = np.random.default_rng(2)
    x, y = clusters(rng, 100, 3)
    known = Known(x, np.eye(3, dtype=np.bool_)[y], np.ones(100), n_answers=20)
    beliefs = []
    for _ in range(2):
        model = NetworkEnsemble(6, 3, np.random.default_rng(5))
        model.learn(known, np.random.default_rng(6))
        beliefs.append(model.beliefs(x))
    np.testing.assert_array_equal(beliefs[0], beliefs[1])
