"""What all classes have in common whose hypotheses split rows of numbers along their features."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from onebit.errors import InvalidInputError, check_count
from onebit.hypotheses.base import (
    Examples,
    Hypothesis,
    HypothesisClass,
    Labels,
    Weights,
    as_real_features,
    check_n_labels,
)
from onebit.kernels.splits import Cells, cells_of


class SplitClass(HypothesisClass):
    """All hypotheses of one kind on ``n_features`` features with ``n_labels`` labels; the oracle is exact."""

    exact = True
    #: The kind: ``predict`` gives its labels, ``fits`` says whether it belongs to a class of such sizes.
    kind: ClassVar[type[Any]]

    def __init__(self, n_features: int, n_labels: int) -> None:
        self.n_features = check_count("n_features", n_features)
        self.n_labels = check_n_labels(n_labels)

    def check_examples(self, x: Examples) -> None:
        self._rows(x)

    def predict(self, h: Hypothesis, x: Examples) -> Labels:
        if not isinstance(h, self.kind) or not h.fits(self.n_features, self.n_labels):
            raise InvalidInputError(
                f"{h!r} is not a member of this class; its hypotheses are {self.kind.__name__}s on features 0 to "
                f"{self.n_features - 1} with labels 0 to {self.n_labels - 1}"
            )
        labels: Labels = h.predict(self._rows(x))
        return labels

    def _rows(self, x: Examples) -> NDArray[np.float64]:
        """``x`` as a finite float array of shape (n, n_features)."""
        rows = as_real_features(x, 2)
        if rows.shape[1] != self.n_features:
            raise InvalidInputError(
                f"the examples have {rows.shape[1]} features; this class was made for {self.n_features}"
            )
        return rows

    def _cells(self, x: Examples, y: Labels, weight: Weights) -> Cells:
        """The sample in the form that splits are searched in."""
        return cells_of(self._rows(x), y, weight)
