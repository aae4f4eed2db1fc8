"""Decision trees of depth two: an axis-aligned split at the root, a stump on either side. Exact by a pruned search."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from onebit.hypotheses.base import Examples, Hypothesis, Labels, Weights
from onebit.hypotheses.split_class import SplitClass
from onebit.hypotheses.stumps import Stump
from onebit.kernels.splits import Cells, RootSplit, best_splits, better_tree


@dataclass(frozen=True, slots=True)
class Tree:
    """The stump ``left`` where x[feature] < threshold, the stump ``right`` elsewhere.

    The parts may change on construction, the function does not: see ``_normal_form``. Equal functions compare equal,
    and one that a single stump can express becomes ``Tree.without_root``.
    """

    feature: int
    threshold: float
    left: Stump
    right: Stump

    def __post_init__(self) -> None:
        parts = _normal_form(self.feature, self.threshold, self.left, self.right)
        for name, value in zip(self.__slots__, parts, strict=True):
            object.__setattr__(self, name, value)

    @classmethod
    def without_root(cls, stump: Stump) -> Tree:
        """The tree whose root parts nothing: ``stump`` everywhere."""
        return cls(0, -math.inf, stump, stump)

    @classmethod
    def of_split(cls, split: RootSplit, cells: Cells) -> Tree:
        """The tree that a split of ``cells`` and of its two sides stands for."""
        threshold = cells.threshold(split.feature, split.cut)
        return cls(split.feature, threshold, Stump.of_split(split.left, cells), Stump.of_split(split.right, cells))

    def fits(self, n_features: int, n_labels: int) -> bool:
        """Whether the tree belongs to the class with these sizes."""
        stumps_fit = self.left.fits(n_features, n_labels) and self.right.fits(n_features, n_labels)
        return stumps_fit and self.feature in range(n_features)

    def predict(self, x: NDArray[np.float64]) -> Labels:
        """The labels of the examples ``x``, shape (n, d)."""
        return np.where(x[:, self.feature] < self.threshold, self.left.predict(x), self.right.predict(x))


class TreeClass(SplitClass):
    """All trees of depth two on ``n_features`` features with ``n_labels`` labels. Infinite; the oracle is exact.

    The examples are rows of real numbers, shape (n, n_features). One oracle call takes at most O(n_features ** 2 *
    n_values * n_cells), for n_values distinct values and n_cells distinct (value, label) along a feature; most of that
    is usually pruned. Further columns are the best trees with their root along the other features.

    >>> trees = TreeClass(n_features=2, n_labels=2)
    >>> xor = trees.erm(np.array([[0.0, 0.0], [0.0, 2.0], [2.0, 0.0], [2.0, 2.0]]), [0, 1, 1, 0], [1.0] * 4)
    >>> xor.feature, xor.left
    (0, Stump(feature=1, threshold=1.0, left=0, right=1))
    """

    kind = Tree

    def _columns(self, x: Examples, y: Labels, weight: Weights, n_columns: int) -> tuple[Hypothesis, ...]:
        cells = self._cells(x, y, weight)
        stump = max(best_splits(cells, self.n_labels), key=lambda split: split.score)
        rootless = RootSplit(stump.score, 0, 0, stump, stump)

        def best_from(found: RootSplit, root: int) -> RootSplit:
            split: RootSplit = better_tree(cells, root, found, self.n_labels)
            return split

        roots = range(self.n_features)
        if n_columns == 1:
            # Each root has to beat the roots before it, which prunes more than searching each root by itself.
            return (Tree.of_split(reduce(best_from, roots, rootless), cells),)
        splits = sorted((best_from(rootless, root) for root in roots), key=lambda split: -split.score)
        return tuple(dict.fromkeys(Tree.of_split(split, cells) for split in splits))[:n_columns]


def _normal_form(feature: int, threshold: float, left: Stump, right: Stump) -> tuple[int, float, Stump, Stump]:
    """The parts of the tree, chosen in the same way for all trees that are the same function."""
    if not math.isfinite(threshold) or left == right:
        stump = left if threshold == math.inf else right
        return 0, -math.inf, stump, stump
    if left.feature == feature and left.threshold >= threshold:
        left = Stump.constant(left.left)
    if right.feature == feature and right.threshold <= threshold:
        right = Stump.constant(right.right)
    splits = {(stump.feature, stump.threshold) for stump in (left, right) if not stump.is_constant}

    if not splits:
        stump = Stump(feature, threshold, left.left, right.right)
        return 0, -math.inf, stump, stump
    if left.right == right.left and all(split[0] == feature for split in splits):
        # A function of one feature that does not change at the root: the root is better placed where it does.
        if left.is_constant:
            return 0, -math.inf, right, right
        return _normal_form(feature, left.threshold, Stump.constant(left.left), right)
    if len(splits) == 1 and min(splits) < (feature, threshold):
        # Two splits that make a grid can be taken in either order.
        below = Stump(feature, threshold, left.left, right.left)
        above = Stump(feature, threshold, left.right, right.right)
        return _normal_form(*min(splits), below, above)
    return feature, threshold, left, right
