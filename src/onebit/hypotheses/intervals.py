"""Piecewise constant functions on the line: at most k cuts, a label for each piece. Exact by dynamic programming."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
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
from onebit.kernels.splits import threshold_between


@dataclass(frozen=True, slots=True)
class Intervals:
    """``labels[j]`` on the points from ``cuts[j - 1]`` (included) to ``cuts[j]`` (excluded).

    The oracle never cuts between equal labels, so its equal functions compare equal.
    """

    cuts: tuple[float, ...]
    labels: tuple[int, ...]


class IntervalClass(HypothesisClass):
    """All functions on the line with at most ``n_cuts`` cuts and ``n_labels`` labels. Infinite; the oracle is exact.

    The examples are real numbers, shape (n,). One oracle call takes O(n log n + n * n_cuts * n_labels).

    >>> IntervalClass(n_cuts=1, n_labels=3).erm(np.array([0.0, 1.0, 3.0]), [2, 2, 0], [1.0, 1.0, 1.0])
    Intervals(cuts=(2.0,), labels=(2, 0))
    """

    exact = True

    def __init__(self, n_cuts: int, n_labels: int) -> None:
        self.n_cuts = check_count("n_cuts", n_cuts, least=0)
        self.n_labels = check_n_labels(n_labels)

    def check_examples(self, x: Examples) -> None:
        as_real_features(x, 1)

    def predict(self, h: Hypothesis, x: Examples) -> Labels:
        if not isinstance(h, Intervals) or len(h.cuts) > self.n_cuts or max(h.labels) >= self.n_labels:
            raise InvalidInputError(
                f"{h!r} is not a member of this class; its hypotheses are Intervals with at most {self.n_cuts} cuts "
                f"and labels 0 to {self.n_labels - 1}"
            )
        points = as_real_features(x, 1)
        return np.asarray(h.labels, dtype=np.int64)[np.searchsorted(h.cuts, points, side="right")]

    def _columns(self, x: Examples, y: Labels, weight: Weights, n_columns: int) -> tuple[Hypothesis, ...]:
        points = as_real_features(x, 1)
        if points.size == 0:
            return (Intervals((), (0,)),)
        order = np.argsort(points, kind="stable")
        points = points[order]
        path = _best_labels(points, y[order], weight[order], self.n_cuts, self.n_labels)
        starts = (np.flatnonzero(path[1:] != path[:-1]) + 1).tolist()
        cuts = [threshold_between(float(points[i - 1]), float(points[i])) for i in starts]
        return (Intervals(tuple(cuts), (int(path[0]), *path[starts].tolist())),)


@njit(cache=True)
def _best_labels(
    points: NDArray[np.float64],
    y: NDArray[np.int64],
    weight: NDArray[np.float64],
    n_cuts: int,
    n_labels: int,
) -> NDArray[np.int64]:
    """The labels of sorted points that maximise agreement with at most ``n_cuts`` changes; equal points get one label.

    score[j, a]: best agreement on the points so far with j changes, the last label being a. A new value either keeps
    the label or, from the best label with j - 1 changes, takes a new one; changed[i, j, a] remembers whether, and
    source[i, j] from which.
    """
    n_states = n_cuts + 1
    score = np.full((n_states, n_labels), -np.inf)
    score[0] = 0.0
    changed = np.zeros((points.size, n_states, n_labels), dtype=np.bool_)
    source = np.zeros((points.size, n_states), dtype=np.int64)
    for i in range(points.size):
        if i > 0 and points[i] != points[i - 1]:
            for j in range(n_states - 1, 0, -1):
                source[i, j] = np.argmax(score[j - 1])
                best = score[j - 1, source[i, j]]
                for a in range(n_labels):
                    if best > score[j, a]:
                        score[j, a] = best
                        changed[i, j, a] = True
        score[:, y[i]] += weight[i]

    state, label = 0, 0
    for j in range(n_states):
        for a in range(n_labels):
            if score[j, a] > score[state, label]:
                state, label = j, a
    path = np.empty(points.size, dtype=np.int64)
    for i in range(points.size - 1, -1, -1):
        path[i] = label
        if changed[i, state, label]:
            state, label = state - 1, source[i, state]
    return path
