"""The log-barrier potential Phi that phase 1 minimises, its gradient, and the Frank-Wolfe gap.

Everything here is a function of W, the mass that the mixture P gives to the true label of each sample, shape (n,):
Phi depends on P through W alone. With right[h, i] = [h(x_i) = y_i],

    Phi(P)          = mean_i -log W_gamma[i]
    dPhi/dP(h)      = -sum_i slope[i] * right[h, i],      slope[i] = (1 - gamma) / (n W_gamma[i])
    gap(P)          = max_h sum_i slope[i] * (right[h, i] - W[i])   >=  Phi(P) - min Phi

so the gradient reaches the class as the weights ``slope`` of an oracle call, and the minimum is never needed.
"""

from __future__ import annotations

from numbers import Real

import numpy as np
from numpy.typing import NDArray

from onebit.errors import InvalidInputError
from onebit.explore.constants import SMALLEST_GAMMA

Array = NDArray[np.float64]


def W_gamma(W: Array, gamma: float, n_labels: int) -> Array:
    """(1 - gamma) W + gamma / n_labels: the probability with which label y is asked at x.

    Paper: section 2, additional notation. At least gamma / n_labels.
    """
    return (1 - gamma) * W + gamma / n_labels


def potential(W: Array, gamma: float, n_labels: int) -> float:
    """Phi of the sample: the mean of -log W_gamma.

    Paper: Eq. (2), with the sample in place of the population.
    """
    return float(-np.log(W_gamma(W, gamma, n_labels)).mean())


def slope(W: Array, gamma: float, n_labels: int) -> Array:
    """-dPhi/dW: the weight of each sample in the oracle call that minimises the linearised potential.

    Paper: alpha_i in the proof of Theorem 1.
    """
    return (1 - gamma) / (W.size * W_gamma(W, gamma, n_labels))


def gradient(right: NDArray[np.bool_], W: Array, gamma: float, n_labels: int) -> Array:
    """dPhi/dP(h) for every row of ``right`` (N, n); shape (N,).

    Paper: proof of Lemma 1, grad Phi(P) = E[-(1 - gamma) r / W_gamma].
    """
    return -(right @ slope(W, gamma, n_labels))


def frank_wolfe_gap(right_of_best: NDArray[np.bool_], W: Array, gamma: float, n_labels: int) -> float:
    """max over h of -grad Phi(P) . (delta_h - P), the maximiser h being right on ``right_of_best``.

    It bounds Phi(P) - min Phi from above, on this sample, if h truly is the maximiser: if the oracle is exact.
    """
    return float(slope(W, gamma, n_labels) @ (right_of_best - W))


def variance_bound(right_of_best: NDArray[np.bool_], W: Array, gamma: float, n_labels: int) -> float:
    """mean_i [h(x_i) = y_i] / W_gamma[i], for the h that maximises it.

    Paper: Eq. (3), the bound on the variance of the importance-weighted estimates; at most 3 after phase 1.
    """
    return float((right_of_best / W_gamma(W, gamma, n_labels)).mean())


def check_gamma(gamma: float) -> float:
    """``gamma``, or an error if it is not in (0, 1/2]."""
    if not isinstance(gamma, Real) or not SMALLEST_GAMMA <= gamma <= 0.5:
        raise InvalidInputError(
            f"gamma is {gamma!r}; it must be above 0 (at least {SMALLEST_GAMMA}), so that every label can be asked, "
            "and at most 1/2, where the bound on the variance ends"
        )
    return gamma
