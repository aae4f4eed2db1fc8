"""Piecewise constant functions on the line: at most k cuts, a label for each piece. Exact by dynamic programming."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from onebit.errors import InvalidInputError
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
    """``labels[j]`` on the points from ``cuts[j - 1]`` (included) to ``cuts[j]`` (excluded)."""

    cuts: tuple[float, ...]
    labels: tuple[int, ...]

    @classmethod
    def of_pieces(cls, cuts: list[float], labels: list[int]) -> Intervals:
        """The function with these pieces, neighbours of one label merged, so that equal functions compare equal."""
        kept = [j for j in range(len(cuts)) if labels[j] != labels[j + 1]]
        return cls(tuple(cuts[j] for j in kept), (labels[0], *(labels[j + 1] for j in kept)))


class IntervalClass(HypothesisClass):
    """All functions on the line with at most ``n_cuts`` cuts and ``n_labels`` labels. Infinite; the oracle is exact.

    The examples are real numbers, shape (n,). One oracle call takes O(n log n + n * n_cuts * n_labels).

    >>> IntervalClass(n_cuts=1, n_labels=3).erm(np.array([0.0, 1.0, 3.0]), [2, 2, 0], [1.0, 1.0, 1.0])
    Intervals(cuts=(2.0,), labels=(2, 0))
    """

    exact = True

    def __init__(self, n_cuts: int, n_labels: int) -> None:
        if n_cuts < 0:
            raise InvalidInputError(f"n_cuts is {n_cuts}; it must be at least 0")
        self.n_cuts = n_cuts
        self.n_labels = check_n_labels(n_labels)

    def predict(self, h: Hypothesis, x: Examples) -> Labels:
        if not isinstance(h, Intervals):
            raise InvalidInputError(f"{h!r} is not a member of this class; its hypotheses are Intervals")
        points = as_real_features(x, 1)
        return np.asarray(h.labels, dtype=np.int64)[np.searchsorted(h.cuts, points, side="right")]

    def _columns(self, x: Examples, y: Labels, weight: Weights, n_columns: int) -> tuple[Hypothesis, ...]:
        points = as_real_features(x, 1)
        if points.size == 0:
            return (Intervals((), (0,)),)
        values, group = np.unique(points, return_inverse=True)
        order = np.argsort(group, kind="stable")
        path = _best_labels(group[order], y[order], weight[order], values.size, self.n_cuts, self.n_labels)
        starts = np.flatnonzero(np.diff(path)) + 1
        cuts = [threshold_between(float(values[i - 1]), float(values[i])) for i in starts]
        return (Intervals.of_pieces(cuts, [int(path[0]), *path[starts].tolist()]),)


@njit(cache=True)
def _best_labels(
    group: NDArray[np.int64],
    y: NDArray[np.int64],
    weight: NDArray[np.float64],
    n_groups: int,
    n_cuts: int,
    n_labels: int,
) -> NDArray[np.int64]:
    """The label of each group of equal points that maximises agreement with at most ``n_cuts`` changes.

    score[j, a]: best agreement on the groups so far with j changes, the last label being a. A new group either keeps
    its label or, from the best label with j - 1 changes, takes a new one; came[g, j, a] remembers which (-1: kept).
    """
    n_states = n_cuts + 1
    score = np.full((n_states, n_labels), -np.inf)
    score[0] = 0.0
    came = np.full((n_groups, n_states, n_labels), -1, dtype=np.int32)
    sample = 0
    for g in range(n_groups):
        if g > 0:
            for j in range(n_states - 1, 0, -1):
                best = int(np.argmax(score[j - 1]))
                for a in range(n_labels):
                    if score[j - 1, best] > score[j, a]:
                        score[j, a] = score[j - 1, best]
                        came[g, j, a] = best
        while sample < group.size and group[sample] == g:
            score[:, y[sample]] += weight[sample]
            sample += 1

    state, label = 0, 0
    for j in range(n_states):
        for a in range(n_labels):
            if score[j, a] > score[state, label]:
                state, label = j, a
    path = np.empty(n_groups, dtype=np.int64)
    for g in range(n_groups - 1, -1, -1):
        path[g] = label
        before = came[g, state, label]
        if before >= 0:
            state, label = state - 1, before
    return path
