"""Importance weights: unbiased estimates of every hypothesis's accuracy from yes/no answers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def importance_weights(yes: NDArray[np.bool_], propensity: Array) -> Array:
    """alpha_i = [yes] / propensity_i: what round i adds to every hypothesis that gave the asked label.

    Paper: Algorithm 1, last line. X_i(h) = alpha_i [h(x_i) = asked label] has mean P(h(x) = y) whatever the
    propensities are, as long as each is the probability with which that label was asked and none is 0.
    """
    return yes / propensity
