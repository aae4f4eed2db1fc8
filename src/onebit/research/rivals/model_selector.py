"""Model Selector: label-efficient model selection from a pool (Okanovic et al., AISTATS 2025, arXiv 2410.13609).

A posterior over which model is the best: under "h is the best", h is right with probability 1 - eps, and gamma = (1 -
eps) / eps is what its weight is multiplied with when it is right. The item that is labelled next has the least expected
entropy of the posterior, where every one of the labels is taken to be as likely as any other; one of equals at random.
Named is the model that is right most often on the labelled items. Their eps is chosen for each data set by a search on
labels that the models' votes make up, and came out from .35 to .49; their default, .46, is used here.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from onebit.research.rivals.labelled import LabelledRival, Predictions

#: The authors' default.
EPS = 0.46


class ModelSelector(LabelledRival):
    """The item with the least expected entropy of the posterior comes next; ``eps`` is its only setting."""

    def __init__(self, said: Predictions, n_labels: int, rng: np.random.Generator, *, eps: float = EPS) -> None:
        super().__init__(said, n_labels, rng)
        self._gamma = (1 - eps) / eps
        self._log_posterior = np.zeros(said.shape[0])
        # Where all models say the same nothing is learned.
        self._differ = (self.said != self.said[0]).any(axis=0)
        self._by_item = np.ascontiguousarray(self.said.T)

    def next(self) -> int | None:
        items = np.flatnonzero(self.unlabelled & self._differ)
        if items.size == 0:
            return None
        posterior = np.exp(self._log_posterior - self._log_posterior.max())
        entropy = _expected_entropy(self._by_item, items, posterior / posterior.sum(), self._gamma, self.n_labels)
        return int(items[self.one_of(np.flatnonzero(entropy <= entropy.min() + 1e-12))])

    def tell(self, item: int, label: int) -> None:
        super().tell(item, label)
        self._log_posterior += math.log(self._gamma) * (self.said[:, item] == label)


@njit(cache=True, nogil=True)
def _expected_entropy(by_item, items, posterior, gamma, n_labels):  # type: ignore[no-untyped-def]
    """The entropy of the posterior after the label of each item, on average over all labels.

    With W the mass of those that say a and E their sum of p log p, the posterior after a has Z = 1 + (gamma - 1) W and
    the entropy log Z - (sum of p log p + (gamma - 1) E + gamma W log gamma) / Z.
    """
    p_log_p = np.where(posterior > 0, posterior * np.log(np.maximum(posterior, 1e-300)), 0.0)
    all_of_it, found = p_log_p.sum(), np.empty(items.size)
    W, E = np.zeros(n_labels), np.zeros(n_labels)
    for i in range(items.size):
        says = by_item[items[i]]
        for h in range(says.size):
            if says[h] >= 0:
                W[says[h]] += posterior[h]
                E[says[h]] += p_log_p[h]
        total, n_given = 0.0, 0
        for h in range(says.size):
            a = says[h]
            if a >= 0 and W[a] > 0:
                Z = 1 + (gamma - 1) * W[a]
                total += np.log(Z) - (all_of_it + (gamma - 1) * E[a] + gamma * W[a] * np.log(gamma)) / Z
                n_given += 1
                W[a] = E[a] = 0.0
        # A label that nobody says changes nothing.
        found[i] = (total - (n_labels - n_given) * all_of_it) / n_labels
    return found
