"""How much of a mixture gives each asked label of an example: for hypotheses that give one label, or a list of m."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray


@njit(cache=True, nogil=True)
def label_mass(
    said: NDArray[np.integer], labels: NDArray[np.int64], probability: NDArray[np.float64], n_labels: int
) -> NDArray[np.float64]:
    """The probability that labels[i, j] is in a list drawn from the mixture and filled up at random; shape (n, k).

    ``said`` has shape (N, n, m), ``labels`` (n, k). Who gives f < m labels to an example (the others are negative) has
    m - f more, drawn from the other K - f: each of those is in the list with probability (m - f) / (K - f). A matrix
    product would first turn ``said`` into N n m floats.
    """
    mass = np.zeros(labels.shape)
    n_said = said.shape[2]
    for h in range(said.shape[0]):
        p = probability[h]
        for i in range(labels.shape[0]):
            given = 0
            for k in range(n_said):
                given += said[h, i, k] >= 0
            for j in range(labels.shape[1]):
                has = False
                for k in range(n_said):
                    has |= said[h, i, k] == labels[i, j]
                if has:
                    mass[i, j] += p
                elif given < n_said:
                    mass[i, j] += p * (n_said - given) / (n_labels - given)
    return mass


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
