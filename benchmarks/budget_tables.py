"""The tables of ``benchmarks/budgets.py``: four that are real, and four that are made for what is hard in a choice."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from benchmarks.harness import prediction_table
from numpy.typing import NDArray

Ints = NDArray[np.int64]
#: Items of a table that is made; pools are drawn from them.
N_MADE = 5000
REAL = ("letter_models.npz", "clinc150_models.npz", "imagenetv2.npz", "mmlu_pro.npz")


@dataclass(frozen=True, eq=False)
class Table:
    """What models say (N, n), -1 for an abstention, and the truth (n,)."""

    said: Ints
    truth: Ints
    n_labels: int

    def pool(self, seed: int, size: int | None) -> Table:
        """So many of its items, drawn by the seed; all for None."""
        if size is None or size >= self.truth.size:
            return self
        items = np.sort(np.random.default_rng([seed, 27]).choice(self.truth.size, size, replace=False))
        return Table(self.said[:, items], self.truth[items], self.n_labels)

    @property
    def accuracy(self) -> NDArray[np.float64]:
        return (self.said == self.truth).mean(axis=1)


def table(name: str) -> Table | None:
    """A table by its name; None where its file is missing."""
    if name in MADE:
        return MADE[name](np.random.default_rng(sum(map(ord, name))))
    found = prediction_table(name)
    return None if found is None else Table(found[0].astype(np.int64), found[1].astype(np.int64), found[2])


def _wrong(rng: np.random.Generator, truth: Ints, n_labels: int, shape: tuple[int, ...]) -> Ints:
    """Labels that are not the truth, at random."""
    return (truth + rng.integers(1, n_labels, shape)) % n_labels


def _models(rng: np.random.Generator, truth: Ints, n_labels: int, accuracy: NDArray[np.float64]) -> Ints:
    """Models with these accuracies that err at random; items differ in how hard they are."""
    hardness = rng.normal(0, 1, truth.size)
    level = np.log(accuracy / (1 - accuracy))[:, None] * 1.2 - hardness
    right = rng.random((accuracy.size, truth.size)) < 1 / (1 + np.exp(-level))
    return np.where(right, truth, _wrong(rng, truth, n_labels, right.shape))


def bad_consensus(rng: np.random.Generator) -> Table:
    """24 of 40 models learned the same wrong thing: on 45% of the items most of them say one wrong label."""
    truth = rng.integers(0, 5, N_MADE)
    good = _models(rng, truth, 5, np.linspace(0.62, 0.78, 16))
    misled, label = rng.random(N_MADE) < 0.45, _wrong(rng, truth, 5, (N_MADE,))
    follows = misled & (rng.random((24, N_MADE)) < 0.9)
    poor = np.where(follows, label, _models(rng, truth, 5, np.full(24, 0.8)))
    return Table(rng.permutation(np.concatenate([good, poor])), truth, 5)


def two_labels(rng: np.random.Generator) -> Table:
    """Two labels, 60 models, 45 of them little better than a coin or worse, often with the same errors."""
    truth = rng.integers(0, 2, N_MADE)
    good = _models(rng, truth, 2, np.linspace(0.6, 0.82, 15))
    trap = rng.random(N_MADE) < 0.5
    poor = _models(rng, truth, 2, np.linspace(0.45, 0.7, 45))
    poor = np.where(trap & (rng.random(poor.shape) < 0.8), 1 - truth, poor)
    return Table(rng.permutation(np.concatenate([good, poor])), truth, 2)


def many_poor_models(rng: np.random.Generator) -> Table:
    """Ten labels, 200 models, 190 of them right on a tenth to a third of the items."""
    truth = rng.integers(0, 10, N_MADE)
    accuracy = np.concatenate([np.linspace(0.1, 0.33, 190), np.linspace(0.6, 0.72, 10)])
    return Table(rng.permutation(_models(rng, truth, 10, accuracy)), truth, 10)


def one_far_ahead(rng: np.random.Generator) -> Table:
    """Ten labels, 50 models of which one is right ten points more often than the next."""
    truth = rng.integers(0, 10, N_MADE)
    accuracy = np.concatenate([np.linspace(0.55, 0.65, 49), [0.78]])
    return Table(rng.permutation(_models(rng, truth, 10, accuracy)), truth, 10)


MADE = {each.__name__: each for each in (bad_consensus, two_labels, many_poor_models, one_far_ahead)}
