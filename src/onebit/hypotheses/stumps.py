"""Decision stumps: one axis-aligned split, a label on either side. Exact by two sweeps along each feature."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onebit.hypotheses.base import Examples, Hypothesis, Labels, Weights
from onebit.hypotheses.split_class import SplitClass
from onebit.kernels.splits import Cells, Split, best_splits


@dataclass(frozen=True, slots=True)
class Stump:
    """``left`` where x[feature] < threshold, ``right`` elsewhere.

    A stump that says the same everywhere becomes ``Stump.constant``, so that equal functions compare equal.
    """

    feature: int
    threshold: float
    left: int
    right: int

    def __post_init__(self) -> None:
        parts_nothing = not math.isfinite(self.threshold)
        if parts_nothing or self.left == self.right:
            label = self.left if self.threshold == math.inf else self.right
            for name, value in zip(self.__slots__, (0, -math.inf, label, label), strict=True):
                object.__setattr__(self, name, value)

    @classmethod
    def constant(cls, label: int) -> Stump:
        """``label`` everywhere."""
        return cls(0, -math.inf, label, label)

    @classmethod
    def of_split(cls, split: Split, cells: Cells) -> Stump:
        """The stump that a split of ``cells`` stands for."""
        return cls(split.feature, cells.threshold(split.feature, split.cut), split.left, split.right)

    @property
    def is_constant(self) -> bool:
        return self.left == self.right

    def fits(self, n_features: int, n_labels: int) -> bool:
        """Whether the stump belongs to the class with these sizes."""
        return self.feature in range(n_features) and self.left in range(n_labels) and self.right in range(n_labels)

    def predict(self, x: NDArray[np.float64]) -> Labels:
        """The labels of the examples ``x``, shape (n, d)."""
        return np.where(x[:, self.feature] < self.threshold, np.int64(self.left), np.int64(self.right))


class StumpClass(SplitClass):
    """All stumps on ``n_features`` features with ``n_labels`` labels, constants too. Infinite; the oracle is exact.

    The examples are rows of real numbers, shape (n, n_features). One oracle call takes O(n_features * n log n); further
    columns are the best stumps along the other features.

    >>> stumps = StumpClass(n_features=2, n_labels=3)
    >>> stumps.erm(np.array([[7.0, 0.0], [7.0, 1.0], [7.0, 3.0]]), [2, 2, 0], [1.0, 1.0, 1.0])
    Stump(feature=1, threshold=2.0, left=2, right=0)
    """

    kind = Stump

    def _columns(self, x: Examples, y: Labels, weight: Weights, n_columns: int) -> tuple[Hypothesis, ...]:
        cells = self._cells(x, y, weight)
        splits = sorted(best_splits(cells, self.n_labels), key=lambda split: -split.score)
        # The best along two features may be the same constant.
        return tuple(dict.fromkeys(Stump.of_split(split, cells) for split in splits))[:n_columns]
