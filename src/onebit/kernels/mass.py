"""How much of a mixture gives each asked label of an example: for hypotheses that give one label, or a list of m."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray


@njit(cache=True, nogil=True)
def label_mass(
    said: NDArray[np.integer], labels: NDArray[np.int64], probability: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """sum_h probability[h] [labels[i, j] is in said[h, i]], shape (n, k), and the mass of those who abstain, (n,).

    ``said`` has shape (N, n, m), ``labels`` (n, k); who gives fewer than m labels (some are negative) abstains and
    counts there alone. A matrix product would first turn ``said`` into N n m floats.
    """
    gives = np.zeros(labels.shape)
    abstains = np.zeros(labels.shape[0])
    n_said = said.shape[2]
    for h in range(said.shape[0]):
        p = probability[h]
        for i in range(labels.shape[0]):
            whole = True
            for k in range(n_said):
                whole &= said[h, i, k] >= 0
            if not whole:
                abstains[i] += p
                continue
            for j in range(labels.shape[1]):
                for k in range(n_said):
                    if said[h, i, k] == labels[i, j]:
                        gives[i, j] += p
    return gives, abstains


@njit(cache=True, nogil=True)
def list_rewards(
    said: NDArray[np.integer],
    labels: NDArray[np.int64],
    weight: NDArray[np.float64],
    total: NDArray[np.float64],
    total_of_squares: NDArray[np.float64],
) -> None:
    """Add the sums over i of X_i(h) and of X_i(h)^2, X_i(h) = sum_j weight[i, j] [labels[i, j] is in said[h, i]].

    ``said`` has shape (N, n, m), ``labels`` and ``weight`` (n, k); the totals, shape (N,), are changed in place. Rounds
    are added in order, so equal hypotheses get equal sums and ties stay ties.
    """
    for h in range(said.shape[0]):
        for i in range(labels.shape[0]):
            value = 0.0
            for j in range(labels.shape[1]):
                for k in range(said.shape[2]):
                    if weight[i, j] != 0 and said[h, i, k] == labels[i, j]:
                        value += weight[i, j]
            total[h] += value
            total_of_squares[h] += value * value
