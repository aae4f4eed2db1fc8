"""Weighted agreement of every row of a prediction table with a weighted sample: the plain kernel."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray


@njit(cache=True, nogil=True)
def _sum_where_right(
    predictions: NDArray[np.integer],
    items: NDArray[np.int64],
    labels: NDArray[np.int64],
    weight: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:
    for h in range(predictions.shape[0]):
        total = 0.0
        row = predictions[h]
        for i in range(items.size):
            if row[items[i]] == labels[i]:
                total += weight[i]
        out[h] = total


def weighted_agreement(
    predictions: NDArray[np.integer],
    items: NDArray[np.int64],
    labels: NDArray[np.int64],
    weight: NDArray[np.float64],
) -> NDArray[np.float64]:
    """sum_i weight[i] * [predictions[h, items[i]] == labels[i]] for every h; shape (N,).

    Each row is summed in sample order, so identical rows get identical sums and ties stay ties.
    """
    out = np.zeros(predictions.shape[0])
    _sum_where_right(predictions, items, labels, weight, out)
    return out
