"""All functions from a few points to labels: the largest class there is, with an exact oracle all the same."""

from __future__ import annotations

import numpy as np

from onebit.errors import InvalidInputError, check_count
from onebit.hypotheses.base import (
    Examples,
    Hypothesis,
    HypothesisClass,
    Labels,
    Weights,
    as_whole_numbers,
    check_n_labels,
)


class LookupClass(HypothesisClass):
    """Every function from the points 0, ..., ``n_points`` - 1 to the labels; a hypothesis is the tuple of its labels.

    N = K^n_points, and the ERM takes at each point the label of most weight.
    """

    exact = True

    def __init__(self, n_points: int, n_labels: int) -> None:
        self.n_points = check_count("n_points", n_points)
        self.n_labels = check_n_labels(n_labels)
        self.n_hypotheses = n_labels**n_points

    def check_examples(self, x: Examples) -> None:
        points = as_whole_numbers(x, "examples")
        if points.size and not 0 <= points.min() <= points.max() < self.n_points:
            raise InvalidInputError(f"the examples are points, numbered 0 to {self.n_points - 1}")

    def predict(self, h: Hypothesis, x: Examples) -> Labels:
        return np.asarray(h, dtype=np.int64)[np.asarray(x, dtype=np.int64)]

    def _columns(self, x: Examples, y: Labels, weight: Weights, n_columns: int) -> tuple[Hypothesis, ...]:
        total = np.zeros((self.n_points, self.n_labels))
        np.add.at(total, (np.asarray(x, dtype=np.int64), y), weight)
        return (tuple(np.argmax(total, axis=1).tolist()),)
