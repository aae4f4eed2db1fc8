"""Banditron: the multiclass perceptron on yes/no answers, with a little uniform guessing.

Kakade, Shalev-Shwartz and Tewari, "Efficient bandit algorithms for online multiclass prediction", ICML 2008. Its text
could not be read; the bound used here is Theorem 4.7 of Bubeck and Cesa-Bianchi, "Regret analysis of stochastic and
nonstochastic multi-armed bandit problems" (arXiv 1204.5721v2), as stated, with a checked proof, at
prove2.me/theorems/acfb5301-9fca-4a95-8513-03a766acd4cb.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onebit.errors import InvalidInputError, check_count, check_fraction
from onebit.hypotheses.base import (
    Examples,
    Hypothesis,
    HypothesisClass,
    Labels,
    Weights,
    as_real_features,
    check_n_labels,
)
from onebit.learners.items import ItemSource
from onebit.research.rivals.online import OnlineLearner, Rounds

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Linear:
    """The classifier argmax_r (U x)_r; ``rows`` are the rows of U."""

    rows: tuple[tuple[float, ...], ...]

    @classmethod
    def of(cls, U: Array) -> Linear:
        return cls(tuple(map(tuple, U.tolist())))


class LinearClass(HypothesisClass):
    """All linear classifiers on ``n_features`` features. It has no ERM oracle: finding the best one is NP-hard."""

    exact = False

    def __init__(self, n_features: int, n_labels: int, features: Callable[[Examples], Array] | None = None) -> None:
        self.n_features = check_count("n_features", n_features)
        self.n_labels = check_n_labels(n_labels)
        self._features = features

    def rows(self, x: Examples) -> Array:
        """The features of the examples; shape (n, n_features)."""
        rows = as_real_features(x if self._features is None else self._features(x), 2)
        if rows.shape[1] != self.n_features:
            raise InvalidInputError(f"the examples have {rows.shape[1]} features; this class is for {self.n_features}")
        return rows

    def check_examples(self, x: Examples) -> None:
        self.rows(x)

    def predict(self, h: Hypothesis, x: Examples) -> Labels:
        if not isinstance(h, Linear) or np.shape(h.rows) != (self.n_labels, self.n_features):
            raise InvalidInputError(f"{h!r} is not a Linear of {self.n_labels} rows and {self.n_features} columns")
        said: Labels = np.argmax(self.rows(x) @ np.array(h.rows).T, axis=1)
        return said

    def _columns(self, x: Examples, y: Labels, weight: Weights, n_columns: int) -> tuple[Hypothesis, ...]:
        raise InvalidInputError("linear classifiers have no ERM oracle here; Banditron learns them without one")


def banditron_gamma(n_labels: int, n_rounds: int) -> float:
    """min(1/2, (K / T)^(1/3)): the gamma of the mistake bound, which is for T >= 8 K."""
    return min(0.5, float(np.cbrt(n_labels / n_rounds)))


def mistake_bound(n_labels: int, n_rounds: int, norm: float, hinge: float) -> float:
    """How many of T guesses are wrong at most in expectation, for T >= 8 K, rows of length 1 and that gamma.

    L + (1 + |U| sqrt(2 L / T)) K^(1/3) T^(2/3) + 2 |U|^2 K^(2/3) T^(1/3) + sqrt(2) |U| K^(1/6) T^(1/3), for any linear
    classifier U: ``norm`` is its Frobenius norm |U| and ``hinge`` its total hinge loss L over the T rounds.
    """
    K, T = float(n_labels), float(n_rounds)
    exploring = (1 + norm * np.sqrt(2 * hinge / T)) * K ** (1 / 3) * T ** (2 / 3)
    learning = 2 * norm**2 * K ** (2 / 3) * T ** (1 / 3) + np.sqrt(2) * norm * K ** (1 / 6) * T ** (1 / 3)
    return float(hinge + exploring + learning)


class BanditronLearner(OnlineLearner):
    """Ask label r with probability (1 - gamma) [r = y1] + gamma / K, y1 = argmax U x; then move the rows of U.

    Row r of U moves by x ([r asked][yes] / P(r) - [r = y1]), whose mean is the multiclass perceptron's step. It learns
    after every round. What is returned is the average of U over the rounds: the theorem bounds the mistakes made on
    the way, for rows x of length 1, and averaging is the usual way from there to one classifier. ``gamma`` is that of
    :func:`banditron_gamma` unless it is given.

    ``features`` makes rows of numbers from examples; without it the examples are such rows.
    """

    def __init__(
        self,
        n_features: int,
        n_labels: int,
        items: ItemSource,
        n_rounds: int,
        *,
        gamma: float | None = None,
        features: Callable[[Examples], Array] | None = None,
        seed: int = 0,
    ) -> None:
        self.linear = LinearClass(n_features, n_labels, features)
        super().__init__(self.linear, items, n_rounds, seed=seed)
        self._gamma = banditron_gamma(n_labels, n_rounds) if gamma is None else check_fraction("gamma", gamma)
        self.U = np.zeros((n_labels, n_features))
        self._sum_of_U = np.zeros_like(self.U)
        self._n_learned = 0

    def leader(self) -> Linear:
        return Linear.of(self._sum_of_U / max(1, self._n_learned))

    @property
    def _promise(self) -> str:
        if self._n_rounds < 8 * self._n_labels or self._gamma != banditron_gamma(self._n_labels, self._n_rounds):
            return "none: the bound on the wrong guesses is for gamma = (K / T)^(1/3) and T >= 8 K"
        return (
            "none on the excess error; for rows of length 1, at most L + (1 + |U| sqrt(2 L / T)) K^(1/3) T^(2/3) + 2 "
            "|U|^2 K^(2/3) T^(1/3) + sqrt(2) |U| K^(1/6) T^(1/3) of the T guesses are wrong in expectation, L the "
            "hinge loss and |U| the norm of any linear classifier (Bubeck and Cesa-Bianchi 2012, Theorem 4.7)"
        )

    def _end_of(self, epoch: int) -> int:
        return epoch + 1

    def _choose(self, x: Examples, uniform: Array) -> tuple[Labels, Array]:
        first = np.argmax(self.linear.rows(x) @ self.U.T, axis=1)
        guess = (uniform[:, 0] * self._n_labels).astype(np.int64)
        label = np.where(uniform[:, 2] < self._gamma, guess, first)
        return label, (1 - self._gamma) * (label == first) + self._gamma / self._n_labels

    def _learn(self, rounds: Rounds) -> None:
        self._sum_of_U += self.U
        self._n_learned += 1
        row = self.linear.rows(rounds.x)[0]
        first = int(np.argmax(self.U @ row))
        self.U[rounds.label[0]] += rounds.reward[0] * row
        self.U[first] -= row
