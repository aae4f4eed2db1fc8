"""Lines that begin at the names of labels, beside the networks (``pooled.py``).

With c(x, k) the cosine of an item and the name of label k (``names.py``), they say

    g(k | x) in proportion to exp(beta c(x, k) + w_k . x),

where beta and the w_k are the likeliest under the answers, noes included, and under priors: beta near ``FIRST_NAMES``,
and the w_k near 0. So before the first answer names speak alone, and what they get wrong is mended label by label.
There are no offsets: of many labels few are met at first, and these would be preferred. Not in the paper.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from onebit.learners.training.beside import Beside
from onebit.learners.training.constants import (
    FIRST_NAMES,
    FITTED_GROWTH,
    LEAST_NEW,
    MOST_NAMED,
    NAMED_RIDGE,
    NAMED_STEPS,
)
from onebit.learners.training.model import Bools, Floats, Known
from onebit.learners.training.names import cosines, of_length_one
from onebit.learners.training.network import one_thread


class NamedLines(Beside):
    """The ``names`` (K, d) of labels, and weights (d, K) that are fitted anew when the answers have grown."""

    def __init__(self, names: NDArray[np.floating]) -> None:
        self._names = of_length_one(names)
        self._beta = FIRST_NAMES
        self._weights = np.zeros(names.T.shape, dtype=np.float32)
        self._n_fitted = 0

    def logs(self, x: NDArray[np.floating]) -> Floats:
        said: Floats = (self._beta * cosines(x, self._names) + x @ self._weights).astype(x.dtype)
        return said

    def learn(self, known: Known, rng: np.random.Generator) -> None:
        if known.n_answers < max(FITTED_GROWTH * self._n_fitted, self._n_fitted + LEAST_NEW):
            return
        # Imported here: a server that starts should not wait for all of scipy.optimize.
        from scipy.optimize import minimize

        self._n_fitted = known.n_answers
        rows = rng.permutation(len(known.x))[:MOST_NAMED]
        x = known.x[rows]
        told = x, cosines(x, self._names).astype(np.float32), known.possible[rows]
        start, options = np.append(self._weights, self._beta), {"maxiter": NAMED_STEPS}
        with one_thread():
            found = minimize(loss, start, told, jac=True, method="L-BFGS-B", options=options).x
        self._weights, self._beta = found[:-1].reshape(self._weights.shape).astype(np.float32), float(found[-1])


def loss(
    flat: NDArray[np.float64], x: NDArray[np.floating], near: NDArray[np.float32], possible: Bools
) -> tuple[float, NDArray[np.float64]]:
    """-log of the likelihood that labels are ``possible`` (n, K), and of the priors; and its slope.

    ``flat`` are the weights and then beta, ``near`` (n, K) what names say.
    """
    weights, beta = flat[:-1].reshape(x.shape[1], -1), flat[-1]
    logits = x @ weights.astype(np.float32) + np.float32(beta) * near
    logits -= logits.max(axis=1, keepdims=True)
    of_all = np.exp(logits)
    of_possible = np.where(possible, of_all, np.float32(0))
    tiny = np.finfo(np.float32).tiny
    total, left = of_all.sum(axis=1, keepdims=True), of_possible.sum(axis=1, keepdims=True) + tiny
    value = np.log(total / left).sum(dtype=np.float64)
    value += NAMED_RIDGE * (weights**2).sum() / 2 + ((beta - FIRST_NAMES) / FIRST_NAMES) ** 2 / 2
    slope = of_all / total - of_possible / left
    of_beta = np.einsum("nk,nk->", slope, near) + (beta - FIRST_NAMES) / FIRST_NAMES**2
    return float(value), np.append(x.T @ slope + NAMED_RIDGE * weights, of_beta)
