"""The passes over a batch of the networks that are not matrix products, each fused into one loop.

Written out in numpy each would be several passes, with a new array for every one; that took most of the time of a
step. M is the number of networks, n the size of a batch, H the number of hidden units, K that of labels.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Array = NDArray[np.float32]


@njit(cache=True, nogil=True)
def activate(entering: Array, offset: Array, kept: Array, leaving: Array) -> None:
    """leaving = max(0, entering + offset) * kept; shapes (M, n, H), (M, 1, H), (M, H), (M, n, H)."""
    zero = np.float32(0)
    for m in range(entering.shape[0]):
        for i in range(entering.shape[1]):
            for h in range(entering.shape[2]):
                leaving[m, i, h] = max(zero, entering[m, i, h] + offset[m, 0, h]) * kept[m, h]


@njit(cache=True, nogil=True)
def shift_logits(logits: Array, offset: Array) -> None:
    """Add ``offset`` (M, 1, K) and bring the largest of each row of ``logits`` (M, n, K) to 0."""
    for m in range(logits.shape[0]):
        for i in range(logits.shape[1]):
            largest = np.float32(-np.inf)
            for k in range(logits.shape[2]):
                logits[m, i, k] += offset[m, 0, k]
                largest = max(largest, logits[m, i, k])
            for k in range(logits.shape[2]):
                logits[m, i, k] -= largest


@njit(cache=True, nogil=True)
def likelihood_slope(mass: Array, possible: NDArray[np.bool_], rows: NDArray[np.int64]) -> None:
    """From exp(logits) to the slope of the mean of -log(probability of the possible labels), in place.

    ``mass`` has shape (M, n, K); ``possible`` (rows of all examples, K) is looked up at ``rows`` (M, n).
    With p = mass / sum(mass) the slope is (p - p restricted to the possible labels and renormalised) / n.
    """
    share, tiny = np.float32(1 / mass.shape[1]), np.float32(1e-7)
    for m in range(mass.shape[0]):
        for i in range(mass.shape[1]):
            allowed = possible[rows[m, i]]
            total = inside = np.float32(0)
            for k in range(mass.shape[2]):
                total += mass[m, i, k]
                if allowed[k]:
                    inside += mass[m, i, k]
            before, after = share / total, share / (inside + tiny * total)
            for k in range(mass.shape[2]):
                mass[m, i, k] *= before - after if allowed[k] else before


@njit(cache=True, nogil=True)
def back_through(slope: Array, leaving: Array, kept: Array) -> None:
    """The slope at what leaves the hidden units becomes that at what enters them, in place; shapes as ``activate``."""
    for m in range(slope.shape[0]):
        for i in range(slope.shape[1]):
            for h in range(slope.shape[2]):
                slope[m, i, h] = slope[m, i, h] * kept[m, h] if leaving[m, i, h] > 0 else np.float32(0)


# Without these a loop with a root and a quotient is not vectorised, and takes six times as long.
@njit(cache=True, nogil=True, error_model="numpy", fastmath={"arcp", "contract", "nsz", "reassoc", "afn"})
def adam(param: Array, slope: Array, mean: Array, square: Array, rate: float, kept: float, decays: Array) -> None:
    """One step of Adam with decoupled weight decay, in place; all flat.

    ``kept`` is the factor by which ``param`` is shrunk first; ``decays`` are the shares of the new slope in ``mean``
    and ``square``.
    """
    # Not 1e-8: where all is learned, slopes vanish, and steps of full length in their noise drive the weights away.
    step, shrink, least = np.float32(rate), np.float32(kept), np.float32(1e-4)
    of_mean, of_square = decays[0], decays[1]
    for i in range(param.size):
        mean[i] += of_mean * (slope[i] - mean[i])
        square[i] += of_square * (slope[i] * slope[i] - square[i])
        param[i] = param[i] * shrink - step * mean[i] / (np.sqrt(square[i]) + least)
