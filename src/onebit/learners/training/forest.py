"""A forest of random trees over the rows whose label is known, beside the networks (``pooled.py``).

Of few rows, and where single columns decide, trees often know more than networks. They are grown by scikit-learn, and
what is kept of each is what a vote takes: columns, thresholds, and the most frequent label of each leaf. Grown to the
end, nearly every leaf has one label, so nothing is lost, and a forest is a few MB. Not in the paper.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray
from sklearn.tree import ExtraTreeClassifier

from onebit.learners.training.constants import FOREST_GROWTH, LEAST_NEW, N_TREES
from onebit.learners.training.model import Floats, Known, softened

#: A leaf has no column.
LEAF = -1


class Forest:
    """Grown anew when the answers have grown by ``FOREST_GROWTH``; until labels have been met twice it says nothing."""

    def __init__(self, n_labels: int) -> None:
        self._n_of_each_label = np.zeros(n_labels, dtype=np.int64)
        self._n_grown = 0
        #: The nodes of all trees, one tree after the other: where each tree begins; the column of each node, its
        #: threshold, where its two branches are, and the label of a leaf.
        self._roots = np.empty(0, dtype=np.int64)
        self._column = np.empty(0, dtype=np.int32)
        self._threshold = np.empty(0, dtype=np.float32)
        self._branches = np.empty((0, 2), dtype=np.int32)
        self._label = np.empty(0, dtype=np.int32)

    def belief(self, x: NDArray[np.floating]) -> Floats:
        """The share of the trees that vote for each label, softened for labels not met; shape (n, K)."""
        votes = np.zeros((len(x), self._n_of_each_label.size))
        _vote(x, self._roots, self._column, self._threshold, self._branches, self._label, votes)
        return softened(votes / max(self._roots.size, 1), self._n_of_each_label)

    def learn(self, known: Known, rng: np.random.Generator) -> None:
        """Grow it anew, if that is due."""
        if known.n_answers < max(FOREST_GROWTH * self._n_grown, self._n_grown + LEAST_NEW):
            return
        rows = np.flatnonzero(known.possible.sum(axis=1) == 1)
        label = known.possible[rows].argmax(axis=1)
        met = np.unique(label)
        if not 2 <= met.size <= rows.size / 2:
            return
        self._n_grown = known.n_answers
        self._n_of_each_label = np.bincount(label, minlength=known.possible.shape[1])
        x, seeds = known.x[rows], rng.integers(0, 2**31, N_TREES)
        self._keep([ExtraTreeClassifier(random_state=int(seed)).fit(x, label).tree_ for seed in seeds], met)

    def _keep(self, trees: list[Any], met: NDArray[np.int64]) -> None:
        sizes = np.array([tree.node_count for tree in trees])
        self._roots = np.concatenate([[0], sizes.cumsum()[:-1]])
        of_leaf = [tree.children_left == LEAF for tree in trees]
        self._column = np.concatenate(
            [np.where(leaf, LEAF, tree.feature) for leaf, tree in zip(of_leaf, trees, strict=True)]
        ).astype(np.int32)
        self._threshold = np.concatenate([tree.threshold for tree in trees]).astype(np.float32)
        self._branches = np.concatenate(
            [
                np.stack([tree.children_left, tree.children_right], axis=1) + root
                for root, tree in zip(self._roots, trees, strict=True)
            ]
        ).astype(np.int32)
        self._label = met[np.concatenate([tree.value[:, 0].argmax(axis=1) for tree in trees])].astype(np.int32)


@njit(cache=True, nogil=True)
def _vote(x, roots, column, threshold, branches, label, votes):  # type: ignore[no-untyped-def]
    """Count in ``votes`` (n, K) the label of the leaf of each tree that a row of ``x`` (n, d) comes to."""
    for root in roots:
        for i in range(x.shape[0]):
            at = root
            while column[at] >= 0:
                at = branches[at, 0] if x[i, column[at]] <= threshold[at] else branches[at, 1]
            votes[i, label[at]] += 1
