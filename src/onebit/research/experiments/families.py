"""The problems of the experiments: synthetic tables, and real ones where they are to be found."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from onebit.errors import InvalidInputError

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Problem:
    """Predictions (N, n) of N models on a pool of n items, and the true label of each item."""

    predictions: Ints
    truth: Ints
    n_labels: int

    @property
    def right(self) -> NDArray[np.bool_]:
        """Who is right where; shape (N, n)."""
        agrees: NDArray[np.bool_] = self.predictions == self.truth
        return agrees

    @property
    def accuracy(self) -> NDArray[np.float64]:
        share: NDArray[np.float64] = self.right.mean(axis=1)
        return share


def random_errors(n_labels: int, accuracy: NDArray[np.float64], n_items: int, seed: int) -> Problem:
    """Models that err at random, with these accuracies up to rounding: each is right on exactly so many items."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, n_labels, n_items)
    predictions = (truth + rng.integers(1, n_labels, (accuracy.size, n_items))) % n_labels
    for row, n_right in zip(predictions, np.rint(accuracy * n_items).astype(int).tolist(), strict=True):
        where_right = rng.permutation(n_items)[:n_right]
        row[where_right] = truth[where_right]
    return Problem(predictions, truth, n_labels)


def spread(n_labels: int, n_hypotheses: int, n_items: int, seed: int = 0) -> Problem:
    """Accuracies evenly spread from .3 to .9."""
    return random_errors(n_labels, np.linspace(0.3, 0.9, n_hypotheses), n_items, seed)


def specialists(n_labels: int, n_hypotheses: int, n_items: int, seed: int = 0, n_parts: int = 10) -> Problem:
    """The items are in parts; each model is good (.6 to .95) on its own part and at .15 elsewhere.

    So whoever leads says little of what others are right about, and exploring by the leader alone misses them.
    """
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, n_labels, n_items)
    part = np.arange(n_items) % n_parts
    own = part[None] == np.arange(n_hypotheses)[:, None] % n_parts
    chance = np.where(own, np.linspace(0.6, 0.95, n_hypotheses)[:, None], 0.15)
    wrong = (truth + rng.integers(1, n_labels, own.shape)) % n_labels
    return Problem(np.where(rng.random(own.shape) < chance, truth, wrong), truth, n_labels)


def gap_family(n_labels: int, n_hypotheses: int, eps: float, n_items: int, seed: int = 0, best: float = 0.6) -> Problem:
    """One model of accuracy ``best``, all others worse by 2 eps: whoever else is chosen has an excess above eps."""
    if 2 * eps * n_items < 1:
        raise InvalidInputError(f"2 eps = {2 * eps:g} of {n_items} items is less than one; use more items")
    return random_errors(n_labels, np.r_[best, np.full(n_hypotheses - 1, best - 2 * eps)], n_items, seed)


@dataclass(frozen=True, eq=False)
class SeveralRight:
    """Predictions (N, n) of N models on n items, and the s right labels of each item (n, s)."""

    predictions: Ints
    right_labels: Ints
    n_labels: int

    @property
    def right(self) -> NDArray[np.bool_]:
        """Who is right where; shape (N, n)."""
        found: NDArray[np.bool_] = (self.predictions[..., None] == self.right_labels).any(axis=2)
        return found

    @property
    def pairs(self) -> Problem:
        """Each right label of an item as an item of its own, of n s: a confirmed uniform guess is one of these."""
        n_right = self.right_labels.shape[1]
        return Problem(np.repeat(self.predictions, n_right, axis=1), self.right_labels.ravel(), self.n_labels)


def several_right(
    n_labels: int, n_hypotheses: int, n_right: int, eps: float, n_items: int, seed: int = 0, best: float = 0.6
) -> SeveralRight:
    """``gap_family`` with ``n_right`` right labels for each item; who is right gives any of them alike."""
    one = gap_family(n_labels, n_hypotheses, eps, n_items, seed, best)
    rng = np.random.default_rng([seed, n_right])
    # The right labels come first in an order of the labels that is drawn for each item.
    order = rng.permuted(np.tile(np.arange(n_labels), (n_items, 1)), axis=1)
    place = np.where(
        one.right,
        rng.integers(0, n_right, one.right.shape),
        rng.integers(n_right, n_labels, one.right.shape),
    )
    return SeveralRight(order[np.arange(n_items), place], order[:, :n_right], n_labels)


def real_table(name: str, n_items: int | None = None) -> Problem | None:
    """The table ``name``.npz of the folder ONEBIT_DATA, or None if it is not there; the first ``n_items`` of its items.

    ``digits`` is always there: scikit-learn's bundled images, and the models of ``onebit demo``.
    """
    if name == "digits":
        from onebit.digits import N_LABELS, train_models

        contest = train_models(lambda *_: None)
        return Problem(contest.predictions, contest.truth, N_LABELS)
    path = Path(os.environ.get("ONEBIT_DATA", "")) / f"{name}.npz"
    if not os.environ.get("ONEBIT_DATA") or not path.exists():
        return None
    with np.load(path, allow_pickle=False) as table:
        predictions, truth = table["preds"].astype(np.int64), table["y"].astype(np.int64)
        n_labels = table["labels"].size if "labels" in table else int(max(predictions.max(), truth.max())) + 1
    return Problem(predictions[:, :n_items], truth[:n_items], n_labels)
