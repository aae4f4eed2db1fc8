"""Banditron: the multiclass perceptron on yes/no answers, with a little uniform guessing.

Kakade, Shalev-Shwartz and Tewari, "Efficient bandit algorithms for online multiclass prediction", ICML 2008.
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
from onebit.learners.rivals.online import OnlineLearner, Rounds

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


class BanditronLearner(OnlineLearner):
    """Ask label r with probability (1 - gamma) [r = y1] + gamma / K, y1 = argmax U x; then move the rows of U.

    Row r of U moves by x ([r asked][yes] / P(r) - [r = y1]), whose mean is the multiclass perceptron's step. It learns
    after every round. What is returned is the average of U over the rounds: the publication bounds the mistakes made on
    the way, for rows x of length at most 1, and averaging is the usual way from there to one classifier.

    ``features`` makes rows of numbers from examples; without it the examples are such rows.
    """

    def __init__(
        self,
        n_features: int,
        n_labels: int,
        items: ItemSource,
        n_rounds: int,
        *,
        gamma: float,
        features: Callable[[Examples], Array] | None = None,
        seed: int = 0,
    ) -> None:
        self.linear = LinearClass(n_features, n_labels, features)
        super().__init__(self.linear, items, n_rounds, seed=seed)
        self._gamma = check_fraction("gamma", gamma)
        self.U = np.zeros((n_labels, n_features))
        self._sum_of_U = np.zeros_like(self.U)
        self._n_learned = 0

    def leader(self) -> Linear:
        return Linear.of(self._sum_of_U / max(1, self._n_learned))

    @property
    def _promise(self) -> str:
        return (
            "none on the excess error; Kakade et al. 2008 bound the expected number of wrong guesses by L + gamma T + "
            "3 max(K D / gamma, sqrt(D gamma T)) + sqrt(K D L / gamma), L the hinge loss and D / 2 the squared norm of "
            "any linear classifier"
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
