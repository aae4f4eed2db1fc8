"""The built-in model: what networks say, and beside it names of labels or a forest, each as far as it helps.

With q(k | x) what the networks give label k, and g(k | x) what the other says, the classifier is

    p(k | x) in proportion to q(k | x)^alpha g(k | x)^beta.

Where labels have names (of texts), g is exp(c(x, k)), with c the cosine of an item and the name of a label; elsewhere g
is what a forest of random trees says (``forest.py``). How much each is heeded, alpha and beta, is learned from the
answers: each epoch, before they are learned, every pair of a small grid is held against them, older answers counting
less and less; the means of alpha and beta under the likelihoods are taken. So at first names speak alone, and once the
networks know better names are silent; and so is a forest where it is no good. What is asked goes by the networks, and
by names through the neighbours (``names.py``): they search, where this one would only repeat what is known. Not in the
paper.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax, logsumexp, softmax

from onebit.learners.training.constants import (
    BESIDE_FOREST,
    FEW_LABELS,
    FOREST_STRENGTHS,
    HEEDED,
    RECENT,
    STRENGTHS,
    UNTAUGHT,
)
from onebit.learners.training.forest import Forest
from onebit.learners.training.model import Floats, Known, Model, mean_belief
from onebit.learners.training.names import cosines, of_length_one
from onebit.learners.training.network import NetworkEnsemble


class Beside(ABC):
    """Who speaks beside the networks."""

    #: What alpha and beta may be.
    heeded: tuple[float, ...]
    strengths: tuple[float, ...]

    @abstractmethod
    def logs(self, x: NDArray[np.floating]) -> Floats:
        """log g, up to a constant for each row; shape (n, K)."""

    @abstractmethod
    def learn(self, known: Known, rng: np.random.Generator) -> None:
        """Take in all that is known so far."""


class NamesBeside(Beside):
    """The ``names`` (K, d) of labels, in the same features."""

    heeded, strengths = HEEDED, STRENGTHS

    def __init__(self, names: NDArray[np.floating]) -> None:
        self._names = of_length_one(names)

    def logs(self, x: NDArray[np.floating]) -> Floats:
        return cosines(x, self._names).astype(x.dtype)

    def learn(self, known: Known, rng: np.random.Generator) -> None:
        """Names are what they are."""


class ForestBeside(Beside):
    """A forest over the rows whose label is known."""

    heeded, strengths = BESIDE_FOREST, FOREST_STRENGTHS

    def __init__(self, n_labels: int) -> None:
        self._forest = Forest(n_labels)

    def logs(self, x: NDArray[np.floating]) -> Floats:
        return _logs(self._forest.belief(x)).astype(x.dtype)

    def learn(self, known: Known, rng: np.random.Generator) -> None:
        self._forest.learn(known, rng)


class PooledModel:
    """``networks``, and who speaks ``beside`` them."""

    gamma = 0.0

    def __init__(self, networks: Model, beside: Beside) -> None:
        self.networks, self._beside = networks, beside
        # Before the first answer networks know nothing.
        self._fit: Floats = np.subtract.outer(-UNTAUGHT * np.array(beside.heeded), np.zeros(len(beside.strengths)))

    @property
    def weights(self) -> Floats:
        return self.networks.weights

    @property
    def heeded(self) -> tuple[float, float]:
        """alpha and beta."""
        likely = softmax(self._fit)
        return float(likely.sum(axis=1) @ self._beside.heeded), float(likely.sum(axis=0) @ self._beside.strengths)

    def beliefs(self, x: NDArray[np.floating]) -> Floats:
        alpha, beta = self.heeded
        found: Floats = softmax(alpha * _logs(self.networks.beliefs(x)) + beta * self._beside.logs(x), axis=-1)
        return found

    def learn(self, known: Known, rng: np.random.Generator) -> None:
        new = np.flatnonzero(known.is_new) if known.is_new is not None else np.empty(0, dtype=np.int64)
        if new.size:
            own, other = _logs(mean_belief(self.networks, known.x[new])), self._beside.logs(known.x[new])
            possible = known.possible[new]
            self._fit *= (1 - 1 / RECENT) ** new.size
            for row, alpha in enumerate(self._beside.heeded):
                for column, beta in enumerate(self._beside.strengths):
                    said = log_softmax(alpha * own + beta * other, axis=1)
                    self._fit[row, column] += logsumexp(np.where(possible, said, -np.inf), axis=1).sum()
        self.networks.learn(known, rng)
        self._beside.learn(known, rng)


def built_in(
    n_features: int, n_labels: int, names: NDArray[np.floating] | None, rng: np.random.Generator
) -> NetworkEnsemble | PooledModel:
    """The built-in model: networks, beside them the ``names`` (K, d) of labels if there are any, else a forest.

    With many labels there is no forest: a split would weigh each of them.
    """
    networks = NetworkEnsemble(n_features, n_labels, rng)
    if names is not None:
        return PooledModel(networks, NamesBeside(names))
    return networks if n_labels > FEW_LABELS else PooledModel(networks, ForestBeside(n_labels))


def _logs(belief: Floats) -> Floats:
    logs: Floats = np.log(np.maximum(belief, np.finfo(np.float32).tiny))
    return logs
