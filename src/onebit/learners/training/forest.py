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

from onebit.errors import InvalidInputError
from onebit.learners.training.beside import FittedBeside
from onebit.learners.training.constants import N_TREES
from onebit.learners.training.model import Floats, Ints, Known

#: A leaf has no column.
LEAF = -1
#: What the arrays of a forest hold: roots, columns, thresholds, branches, labels.
KINDS = [np.dtype(each) for each in (np.int64, np.int32, np.float32, np.int32, np.int32)]


class Forest(FittedBeside):
    """``N_TREES`` trees; what it says is the share of them that vote for each label."""

    rows_of_each = 2

    def __init__(self, n_labels: int) -> None:
        super().__init__(n_labels)
        #: The nodes of all trees, one tree after the other: where each tree begins; the column of each node, its
        #: threshold, where its two branches are, and the label of a leaf, by its number among those met.
        self._roots = np.empty(0, dtype=np.int64)
        self._column = np.empty(0, dtype=np.int32)
        self._threshold = np.empty(0, dtype=np.float32)
        self._branches = np.empty((0, 2), dtype=np.int32)
        self._label = np.empty(0, dtype=np.int32)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """InvalidInputError for what is no forest: voting would read and write wherever its numbers lead."""
        # Of arrays of other types, such as masked ones, what is checked may not be what is voted by.
        arrays = {name: np.asarray(each) for name, each in state.items() if isinstance(each, np.ndarray)}
        self.__dict__.update(state | arrays)
        if not self._is_whole():
            raise InvalidInputError("the forest of the model has nodes that lead nowhere, or labels that there are not")

    def _is_whole(self) -> bool:
        """Whether all arrays are as they are grown, and each way through a tree ends at the label of a leaf."""
        arrays = self._roots, self._column, self._threshold, self._branches, self._label
        if not all(isinstance(each, np.ndarray) for each in (*arrays, self._n_of_each_label)):
            return False
        n_nodes, n_met = self._column.size, np.count_nonzero(self._n_of_each_label)
        shapes = [self._roots.shape[:1], (n_nodes,), (n_nodes,), (n_nodes, 2), (n_nodes,)]
        if [each.dtype for each in arrays] != KINDS or [each.shape for each in arrays] != shapes:
            return False
        inner = np.flatnonzero(self._column >= 0)
        branches, labels = self._branches[inner], self._label[self._column < 0]
        # The branches of a node come after it, so no way goes around.
        leads_on = bool((branches > inner[:, None]).all() and (branches < n_nodes).all())
        begins = bool(((self._roots >= 0) & (self._roots < n_nodes)).all()) and (self._roots.size > 0) == (n_nodes > 0)
        return leads_on and begins and bool(((labels >= 0) & (labels < n_met)).all())

    def _said(self, x: NDArray[np.floating]) -> Floats:
        if (last := self._column.max(initial=LEAF)) >= x.shape[1]:
            raise InvalidInputError(f"the forest goes by column {last}, and rows have {x.shape[1]}")
        votes = np.zeros((len(x), np.count_nonzero(self._n_of_each_label)))
        _vote(x, self._roots, self._column, self._threshold, self._branches, self._label, votes)
        return votes / self._roots.size

    def _fit(self, known: Known, rows: Ints, label: Ints, rng: np.random.Generator) -> None:
        x, seeds = known.x[rows], rng.integers(0, 2**31, N_TREES)
        trees = [ExtraTreeClassifier(random_state=int(seed)).fit(x, label).tree_ for seed in seeds]
        sizes = np.array([tree.node_count for tree in trees])
        self._roots = np.concatenate([[0], sizes.cumsum()[:-1]])
        self._column = np.concatenate(
            [np.where(tree.children_left == LEAF, LEAF, tree.feature) for tree in trees]
        ).astype(np.int32)
        self._threshold = np.concatenate([tree.threshold for tree in trees]).astype(np.float32)
        self._branches = np.concatenate(
            [
                np.stack([tree.children_left, tree.children_right], axis=1) + root
                for root, tree in zip(self._roots, trees, strict=True)
            ]
        ).astype(np.int32)
        self._label = np.concatenate([tree.value[:, 0].argmax(axis=1) for tree in trees]).astype(np.int32)


@njit(cache=True, nogil=True)
def _vote(x, roots, column, threshold, branches, label, votes):  # type: ignore[no-untyped-def]
    """Count in ``votes`` (n, m) the label of the leaf of each tree that a row of ``x`` (n, d) comes to."""
    for root in roots:
        for i in range(x.shape[0]):
            at = root
            while column[at] >= 0:
                at = branches[at, 0] if x[i, column[at]] <= threshold[at] else branches[at, 1]
            votes[i, label[at]] += 1
