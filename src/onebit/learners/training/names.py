"""What the names of labels say of texts: a text often has the words of its label's name, or words that go with them.

With c(x, k) the cosine of the features of text x and of the name of label k, names say

    p(k | x) = exp(beta c(x, k)) / sum_j exp(beta c(x, j)).

How much they say, beta, is learned from the answers: it is the mean of some strengths, weighted by the likelihood of
what is known. So names that mean nothing, which have beta = 0, are soon not heeded. Not in the paper.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax, logsumexp, softmax

from onebit.learners.training.constants import MOST_WEIGHED, STRENGTHS
from onebit.learners.training.knowledge import Knowledge
from onebit.learners.training.model import Floats, Ints


class Names:
    """The names of K labels beside the pool ``x`` (n, d), in the same features: ``places`` (K, d)."""

    def __init__(self, x: NDArray[np.floating], places: NDArray[np.floating]) -> None:
        self._x, self._places = x, of_length_one(places)
        #: The order in which items are taken to learn from, whatever the order of the pool is.
        self._rank = np.random.default_rng(0).permutation(len(x))

    def logs(self, items: Ints, known: Knowledge) -> Floats:
        """log p(label | item) up to a constant for each item; shape (n, K)."""
        logs: Floats = np.float32(self.strength(known)) * self.cosines(items)
        return logs

    def strength(self, known: Knowledge) -> float:
        """How much the names say, by what is known: beta."""
        asked = known.asked_items()
        asked = asked[known.n_possible[asked] > 0]
        some = asked[self._rank[asked].argsort()[:MOST_WEIGHED]]
        near, possible = self.cosines(some), known.possible[some]
        fit = [
            logsumexp(np.where(possible, log_softmax(beta * near, axis=1), -np.inf), axis=1).sum() for beta in STRENGTHS
        ]
        return float(softmax(np.array(fit)) @ STRENGTHS)

    def cosines(self, items: Ints) -> Floats:
        """The cosine of each item and each name; shape (n, K)."""
        return cosines(self._x[items], self._places)


def cosines(x: NDArray[np.floating], places: NDArray[np.floating]) -> Floats:
    """The cosine of each row of ``x`` (n, d) and each of ``places`` (K, d), which have length one; shape (n, K)."""
    found: Floats = of_length_one(x) @ places.T
    return found


def of_length_one(rows: NDArray[np.floating]) -> NDArray[np.floating]:
    """Rows scaled to length one; what is 0 stays."""
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    scaled: NDArray[np.floating] = rows / np.where(length > 0, length, 1)
    return scaled
