"""The minimum of the potential on a tiny class by a general solver that shares nothing with onebit."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from tests.problems import Floats


def phi(right: NDArray[np.bool_], P: Floats, gamma: float, n_labels: int) -> float:
    """Phi(P), written out: the mean over samples of -log((1 - gamma) sum_h P_h r_h + gamma / K)."""
    return float(np.mean([-np.log((1 - gamma) * (P @ column) + gamma / n_labels) for column in right.T]))


def exact_minimum(right: NDArray[np.bool_], gamma: float, n_labels: int) -> tuple[Floats, float]:
    """P* and Phi(P*), accurate to about 1e-9."""
    n_samples = right.shape[1]
    weight, floor = np.full(n_samples, 1 / n_samples), np.full(n_samples, gamma / n_labels)
    P, _ = exact_weighted_minimum(right, weight, floor, gamma)
    return P, phi(right, P, gamma, n_labels)


def exact_weighted_minimum(
    right: NDArray[np.bool_], weight: Floats, floor: Floats, gamma: float
) -> tuple[Floats, float]:
    """The P that minimises sum_i -weight_i log((1 - gamma) sum_h P_h r_h + floor_i), and the minimum."""
    n = right.shape[0]

    def Q(P: Floats) -> Floats:
        return (1 - gamma) * (P @ right) + floor

    def value(P: Floats) -> float:
        return float(-(weight * np.log(Q(P))).sum())

    found = minimize(
        value,
        np.full(n, 1 / n),
        jac=lambda P: -(1 - gamma) * (right * (weight / Q(P))).sum(axis=1),
        bounds=[(0, 1)] * n,
        constraints={"type": "eq", "fun": lambda P: P.sum() - 1, "jac": lambda P: np.ones(n)},
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 1000},
    )
    P = np.maximum(found.x, 0)
    P /= P.sum()
    return P, value(P)
