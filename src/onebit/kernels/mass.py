"""How much of a mixture gives the asked label of each example, and how much abstains."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray


@njit(cache=True, nogil=True)
def label_mass(
    said: NDArray[np.integer], labels: NDArray[np.int64], probability: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """sum_h probability[h] [said[h, i] == labels[i]], and the same for said[h, i] < 0, for every i; shape (n,) each.

    ``said`` has shape (N, n). A matrix product would first turn it into N n floats.
    """
    gives = np.zeros(labels.size)
    abstains = np.zeros(labels.size)
    for h in range(said.shape[0]):
        p = probability[h]
        for i in range(labels.size):
            if said[h, i] == labels[i]:
                gives[i] += p
            elif said[h, i] < 0:
                abstains[i] += p
    return gives, abstains
