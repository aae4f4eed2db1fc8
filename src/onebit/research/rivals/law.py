"""The law of a rival's question: a mixture of hypotheses, smoothed by uniform guesses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onebit.explore.mixture import Mixture
from onebit.hypotheses.base import Examples, HypothesisClass, Labels

Array = NDArray[np.float64]


def smoothed_draw(
    said: NDArray[np.integer], probabilities: Array, gamma: float, n_labels: int, uniform: Array
) -> tuple[Labels, Array]:
    """A label for each example, and the probability with which it was drawn.

    With probability gamma a uniform guess, else what a hypothesis drawn by ``probabilities`` (S,) says. ``said`` (S, n)
    holds what each says on the n examples, ``uniform`` (n, 3) the random numbers. Who abstains guesses uniformly.
    """
    n = uniform.shape[0]
    guess = (uniform[:, 0] * n_labels).astype(np.int64)
    drawn = np.searchsorted(probabilities.cumsum()[:-1], uniform[:, 1], side="right")
    label = said[drawn, np.arange(n)].astype(np.int64)
    label = np.where((uniform[:, 2] < gamma) | (label < 0), guess, label)
    mass = probabilities @ (said == label) + probabilities @ (said < 0) / n_labels
    return label, (1 - gamma) * mass + gamma / n_labels


@dataclass(frozen=True, eq=False)
class Law:
    """Label a is asked at x with probability (1 - gamma) W_P(x, a) + gamma / K; P is the mixture, or nobody.

    Paper: W^gamma_P of section 2; the contextual bandit papers write mu = gamma / K.
    """

    mixture: Mixture | None
    gamma: float

    def table(self, hypotheses: HypothesisClass, x: Examples, n_examples: int) -> Array:
        """The probability of every label at every example; shape (n_examples, K)."""
        n_labels = hypotheses.n_labels
        mass = np.zeros((n_examples, n_labels))
        if self.mixture is None:
            return np.full_like(mass, 1 / n_labels)
        rows = np.arange(n_examples)
        for h, p in zip(self.mixture.hypotheses, self.mixture.probabilities.tolist(), strict=True):
            said = hypotheses.predict(h, x)
            spoke = said >= 0
            mass[rows[spoke], said[spoke]] += p
            mass[~spoke] += p / n_labels
        return (1 - self.gamma) * mass + self.gamma / n_labels

    def draw(self, hypotheses: HypothesisClass, x: Examples, uniform: Array) -> tuple[Labels, Array]:
        """Labels to ask at ``x``, and their propensities."""
        n_labels = hypotheses.n_labels
        if self.mixture is None:
            return (uniform[:, 0] * n_labels).astype(np.int64), np.full(uniform.shape[0], 1 / n_labels)
        said = self.mixture.predictions(hypotheses, x)
        return smoothed_draw(said, self.mixture.probabilities, self.gamma, n_labels, uniform)
