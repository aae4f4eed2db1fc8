"""The lemmas of the paper about the potential, each on random instances against an independent minimum."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.problems import random_point, random_right
from tests.reference.exact_potential import exact_minimum, phi

from onebit.explore.frank_wolfe import frank_wolfe
from onebit.explore.potential import W_gamma, gradient, potential, variance_bound
from onebit.hypotheses.finite import PredictionTable

seeds = st.integers(0, 10**6)
gammas = st.sampled_from([0.5, 0.3, 0.1])
label_counts = st.integers(2, 12)
#: Slack for the accuracy of the reference minimum.
SOLVER = 1e-6


@given(seeds, gammas, label_counts)
def test_lemma_1_first_order_optimality(seed: int, gamma: float, n_labels: int) -> None:
    """E[W_gamma(P) / W_gamma(P*)] <= 1 for every P, and E[[h right] / W_gamma(P*)] <= 2 for every h."""
    rng = np.random.default_rng(seed)
    right = random_right(rng, 5, 8)
    best, _ = exact_minimum(right, gamma, n_labels)
    W_best = W_gamma(best @ right, gamma, n_labels)
    for P in [random_point(rng, 5) for _ in range(5)]:
        assert (W_gamma(P @ right, gamma, n_labels) / W_best).mean() <= 1 + SOLVER
    assert (right / W_best).mean(axis=1).max() <= 1 / (1 - gamma) + SOLVER <= 2 + SOLVER


@given(seeds, gammas, label_counts)
def test_lemma_2_gradient_of_an_approximate_minimum(seed: int, gamma: float, n_labels: int) -> None:
    """max_h E[[h right] / W_gamma(P)] <= 2 + sqrt(2 mu K^2 / gamma^2), mu = Phi(P) - min Phi, for every P."""
    rng = np.random.default_rng(seed)
    right = random_right(rng, 5, 8)
    best, least = exact_minimum(right, gamma, n_labels)
    for mix in (0.0, 0.01, 0.1, 1.0):
        P = (1 - mix) * best + mix * random_point(rng, 5)
        mu = max(phi(right, P, gamma, n_labels) - least, 0)
        bound = 2 + np.sqrt(2 * mu * n_labels**2 / gamma**2) + SOLVER
        steepest = (right / W_gamma(P @ right, gamma, n_labels)).mean(axis=1).max()
        assert abs(gradient(right, P @ right, gamma, n_labels)).max() <= steepest <= bound


def test_lemma_2_is_not_vacuous() -> None:
    """At the least useful vertex of a class that needs mixing, the gradient is far above 2, yet within the bound."""
    right, gamma, n_labels = np.eye(6, dtype=bool), 0.5, 10
    P = np.eye(6)[0]
    _, least = exact_minimum(right, gamma, n_labels)
    steepest = (right / W_gamma(P @ right, gamma, n_labels)).mean(axis=1).max()
    mu = phi(right, P, gamma, n_labels) - least
    assert 3 < steepest <= 2 + np.sqrt(2 * mu * n_labels**2 / gamma**2)


def test_lemma_4_log_barrier_inequality() -> None:
    """omega(z) = -log z + z - 1 is at least (1-z)^2 / 2 for z <= 1, and z (1 - 1/z)^2 / 2 for z >= 1."""
    low, high = np.linspace(1e-6, 1, 100_000), np.geomspace(1, 1e6, 100_000)
    omega_low, omega_high = -np.log(low) + low - 1, -np.log(high) + high - 1
    assert (omega_low >= (1 - low) ** 2 / 2 - 1e-15).all()
    assert (omega_high >= high / 2 * (1 - 1 / high) ** 2 - 1e-15).all()
    # The second form is what fails below 1: the two cases are not interchangeable.
    assert not (omega_low >= (1 - 1 / low) ** 2 / 2).all()


@given(seeds, gammas, label_counts)
def test_lemma_3_constants_of_the_potential(seed: int, gamma: float, n_labels: int) -> None:
    """phi is K/gamma-Lipschitz and K^2/gamma^2-smooth in the L1 norm, on one sample, for random P and Q."""
    rng = np.random.default_rng(seed)
    right = random_right(rng, 6, 1)
    P, Q = random_point(rng, 6), random_point(rng, 6)
    at_P, at_Q = (gradient(right, point @ right, gamma, n_labels) for point in (P, Q))
    assert abs(at_P).max() <= n_labels / gamma
    assert abs(at_P - at_Q).max() <= (n_labels / gamma) ** 2 * abs(P - Q).sum() + 1e-12


@given(seeds, gammas, label_counts)
def test_gradient_matches_finite_differences(seed: int, gamma: float, n_labels: int) -> None:
    rng = np.random.default_rng(seed)
    right, P = random_right(rng, 4, 6), random_point(rng, 4)
    analytic = gradient(right, P @ right, gamma, n_labels)
    for h, unit in enumerate(np.eye(4) * 1e-6):
        ahead, behind = phi(right, P + unit, gamma, n_labels), phi(right, P - unit, gamma, n_labels)
        assert (ahead - behind) / 2e-6 == pytest.approx(analytic[h], rel=1e-4, abs=1e-6)


@given(seeds, gammas, st.integers(2, 6))
def test_frank_wolfe_reaches_the_exact_minimum(seed: int, gamma: float, n_labels: int) -> None:
    rng = np.random.default_rng(seed)
    right = random_right(rng, 4, 6)
    truth = np.zeros(6, dtype=np.int64)
    table = PredictionTable(np.where(right, 0, 1), n_labels)
    found = frank_wolfe(table, np.arange(6), truth, gamma, tolerance=2e-3)
    _, least = exact_minimum(right, gamma, n_labels)
    W = found.mixture.W(table, np.arange(6), truth)
    assert found.converged
    assert found.certified
    assert potential(W, gamma, n_labels) - least <= found.gap + 1e-8 <= 2e-3 + 1e-8
    # The gap also bounds the variance: (1 - gamma) max_h E[r / W_gamma] <= 1 + gap.
    assert max(variance_bound(r, W, gamma, n_labels) for r in right) <= (1 + found.gap) / (1 - gamma) + 1e-9
