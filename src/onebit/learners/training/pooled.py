"""The built-in model: what networks say, and beside it names of labels, or others, each as far as it helps.

With q(k | x) what the networks give label k, and g_j(k | x) what the j-th of the others says, the classifier is

    p(k | x) in proportion to q(k | x)^alpha prod_j g_j(k | x)^beta_j.

Where labels have names (of texts), g are lines that begin at these (``named_lines.py``); elsewhere there is what a
logistic regression says (``linear.py``), what spreads over the pool from the rows that are known (``spread.py``) and,
where labels are few, a forest of random trees (``forest.py``). How much each is heeded, alpha and the betas, is learned
from the answers: each epoch, before they are learned, every weighting out of a small list is held against them, older
answers counting less and less; the mean of the weightings under the likelihoods is taken. Only items count that were
asked about for the first time: what comes again does so because guesses at it failed. Without names only rows count at
which not all hold the same label likeliest: on the others it does not matter who is heeded, and where these are many,
whoever is surest of what all know would win. With names, which may silence the networks, all rows count: late in a run,
what is left to differ about is what the networks get wrong, and they would be silenced for it. So at first names speak
nearly alone, and once the networks know better names are silent; and so is anybody else who is no good.
What is asked goes by the networks, and by names through the neighbours (``names.py``): they search, where this one
would only repeat what is known. Not in the paper.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax, logsumexp, softmax

from onebit.learners.training.beside import Beside, logs
from onebit.learners.training.constants import (
    FEW_LABELS,
    HEEDED,
    LEAST_PARTS,
    N_PARTS,
    NAMED_POWERS,
    NETWORKS_AHEAD,
    RECENT,
    SHARPNESS,
    UNTAUGHT,
)
from onebit.learners.training.forest import Forest
from onebit.learners.training.linear import Linear
from onebit.learners.training.model import Bools, Floats, Known, Model, mean_belief
from onebit.learners.training.named_lines import NamedLines
from onebit.learners.training.network import NetworkEnsemble
from onebit.learners.training.spread import Spread


class PooledModel:
    """``networks``, and those who speak ``beside`` them; ``weightings`` (W, 1 + J) are what alpha and betas may be.

    ``first`` (W,) are the logarithms of how likely these are before the first answer. ``counts_all``: rows at which all
    hold the same label likeliest count too.
    """

    gamma = 0.0

    def __init__(
        self, networks: Model, beside: Sequence[Beside], weightings: Floats, first: Floats, counts_all: bool = False
    ) -> None:
        self.networks, self._beside, self._weightings = networks, list(beside), weightings
        self._fit, self._counts_all = first.copy(), counts_all

    @property
    def weights(self) -> Floats:
        return self.networks.weights

    @property
    def heeded(self) -> Floats:
        """alpha and the betas; shape (1 + J,)."""
        heeded: Floats = softmax(self._fit) @ self._weightings
        return heeded

    def beliefs(self, x: NDArray[np.floating]) -> Floats:
        alpha, *betas = self.heeded
        said = alpha * logs(self.networks.beliefs(x))
        for beta, each in zip(betas, self._beside, strict=True):
            said += beta * each.logs(x)
        found: Floats = softmax(said, axis=-1).astype(x.dtype)
        return found

    def learn(self, known: Known, rng: np.random.Generator) -> None:
        if known.is_new is not None and known.is_new.any():
            self._weigh(known.x[known.is_new], known.possible[known.is_new])
        self.networks.learn(known, rng)
        for each in self._beside:
            each.learn(known, rng)

    def _weigh(self, x: NDArray[np.floating], possible: Bools) -> None:
        """Hold every weighting against answers about ``x`` (n, d) that leave the labels ``possible`` (n, K)."""
        said = np.stack([logs(mean_belief(self.networks, x)), *(each.logs(x) for each in self._beside)])
        likeliest = said.argmax(axis=2)
        counted = np.flatnonzero((likeliest != likeliest[0]).any(axis=0) | self._counts_all)
        self._fit *= (1 - 1 / RECENT) ** counted.size
        for number, weighting in enumerate(self._weightings):
            pooled = log_softmax(np.einsum("j,jnk->nk", weighting, said[:, counted]), axis=1)
            self._fit[number] += logsumexp(np.where(possible[counted], pooled, -np.inf), axis=1).sum()


def built_in(
    n_features: int, n_labels: int, names: NDArray[np.floating] | None, rng: np.random.Generator
) -> PooledModel:
    """The built-in model: networks, and beside them the ``names`` (K, d) of labels, or lines, a spread and a forest.

    With many labels there is no forest: a split would weigh each of them.
    """
    networks = NetworkEnsemble(n_features, n_labels, rng)
    if names is not None:
        may_be = np.array(list(product(HEEDED, NAMED_POWERS)))
        # Before the first answer networks know nothing, and names may.
        return PooledModel(networks, [NamedLines(names)], may_be, -UNTAUGHT * may_be[:, 0], counts_all=True)
    beside = [Linear(n_labels), Spread(n_labels), *([Forest(n_labels)] if n_labels <= FEW_LABELS else [])]
    may_be = weightings(len(beside))
    return PooledModel(networks, beside, may_be, NETWORKS_AHEAD * may_be[:, 0] / may_be.sum(axis=1))


def weightings(n_beside: int) -> Floats:
    """Shares of networks and of ``n_beside`` others, in parts of 1 / N_PARTS, times how sharp they are together.

    Networks have LEAST_PARTS at least.
    """
    parts = product(range(LEAST_PARTS, N_PARTS + 1), *[range(N_PARTS + 1)] * n_beside)
    shares = np.array([each for each in parts if sum(each) == N_PARTS]) / N_PARTS
    found: Floats = np.concatenate([sharpness * shares for sharpness in SHARPNESS])
    return found
