"""The built-in networks together with what the names of labels say, as long as that helps.

With q(k | x) what the networks give label k, and c(x, k) the cosine of an item and the name of a label, the classifier
is

    p(k | x) in proportion to q(k | x)^alpha exp(beta c(x, k)).

How much networks and names are heeded, alpha and beta, is learned from the answers: each epoch, before the networks
have learned its answers, every pair of a small grid is held against them, older answers counting less and less; the
means of alpha and beta under the likelihoods are taken. So at first names speak alone, and once the networks know
better names are silent. What is asked goes by the networks, and by names through the neighbours (``names.py``): they
search, where this one would only repeat what names say. Not in the paper.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax, logsumexp, softmax

from onebit.learners.training.constants import HEEDED, RECENT, STRENGTHS, UNTAUGHT
from onebit.learners.training.model import Floats, Known, Model, mean_belief
from onebit.learners.training.names import cosines, of_length_one
from onebit.learners.training.network import NetworkEnsemble


class NamedModel:
    """``networks``, and the ``names`` (K, d) of the labels in the same features."""

    gamma = 0.0

    def __init__(self, networks: Model, names: NDArray[np.floating]) -> None:
        self.networks, self._names = networks, of_length_one(names)
        # Before the first answer networks know nothing.
        self._fit: Floats = np.subtract.outer(-UNTAUGHT * np.array(HEEDED), np.zeros(len(STRENGTHS)))

    @property
    def weights(self) -> Floats:
        return self.networks.weights

    @property
    def heeded(self) -> tuple[float, float]:
        """alpha and beta."""
        likely = softmax(self._fit)
        return float(likely.sum(axis=1) @ HEEDED), float(likely.sum(axis=0) @ STRENGTHS)

    def beliefs(self, x: NDArray[np.floating]) -> Floats:
        alpha, beta = self.heeded
        found: Floats = softmax(
            alpha * _logs(self.networks.beliefs(x)) + beta * cosines(x, self._names).astype(x.dtype), axis=-1
        )
        return found

    def learn(self, known: Known, rng: np.random.Generator) -> None:
        new = np.flatnonzero(known.is_new) if known.is_new is not None else np.empty(0, dtype=np.int64)
        if new.size:
            logs = _logs(mean_belief(self.networks, known.x[new]))
            near, possible = cosines(known.x[new], self._names), known.possible[new]
            self._fit *= (1 - 1 / RECENT) ** new.size
            for row, alpha in enumerate(HEEDED):
                for column, beta in enumerate(STRENGTHS):
                    pooled = np.where(possible, log_softmax(alpha * logs + beta * near, axis=1), -np.inf)
                    self._fit[row, column] += logsumexp(pooled, axis=1).sum()
        self.networks.learn(known, rng)


def built_in(
    n_features: int, n_labels: int, names: NDArray[np.floating] | None, rng: np.random.Generator
) -> NetworkEnsemble | NamedModel:
    """The built-in model: networks, which heed the ``names`` (K, d) of labels if there are any."""
    networks = NetworkEnsemble(n_features, n_labels, rng)
    return networks if names is None else NamedModel(networks, names)


def _logs(belief: Floats) -> Floats:
    logs: Floats = np.log(np.maximum(belief, np.finfo(np.float32).tiny))
    return logs
