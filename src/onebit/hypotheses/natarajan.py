"""The Natarajan dimension, and the sizes that follow from it: of a class on s points, and of a sample for a cover.

A class shatters some points if at each of them it can choose between two sides, whatever it chooses at the others.
What the sides are makes the dimension: two labels (Natarajan), or one label against all others (graph). In the code, a
*split* is a point with its two sides; d splits shatter their points if each of the 2^d *cells* into which they cut the
class, one side of every split, holds a hypothesis.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations, groupby, product
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onebit.errors import InvalidInputError, check_fraction
from onebit.hypotheses.base import check_n_labels

#: A set of rows of a table: bit r is set if row r is in it.
Rows = int
#: What names the two sides of a split: a pair of labels, or the pivot label.
Sides = TypeVar("Sides")


@dataclass(frozen=True, slots=True)
class NatarajanWitness:
    """Points that a class shatters, and the two labels between which it chooses at each of them.

    Paper: Definition 1.
    """

    points: tuple[int, ...]
    label_pairs: tuple[tuple[int, int], ...]

    @property
    def dimension(self) -> int:
        return len(self.points)

    def is_shattered_by(self, patterns: ArrayLike) -> bool:
        """Whether all 2^d choices of a label from each pair are rows of ``patterns``; word for word the definition."""
        table = _distinct_rows(patterns)
        realised = set(map(tuple, table[:, self.points].tolist()))
        return self.dimension == 0 or realised.issuperset(product(*self.label_pairs))


@dataclass(frozen=True, slots=True)
class GraphWitness:
    """Points that a class shatters, and the pivot label that it gives or avoids at each of them.

    Not in the paper; Natarajan (1989).
    """

    points: tuple[int, ...]
    pivots: tuple[int, ...]

    @property
    def dimension(self) -> int:
        return len(self.points)

    def is_shattered_by(self, patterns: ArrayLike) -> bool:
        """Whether all 2^d choices of "the pivot" or "not the pivot" are made by rows of ``patterns``."""
        table = _distinct_rows(patterns)
        realised = set(map(tuple, (table[:, self.points] == self.pivots).tolist()))
        return self.dimension == 0 or realised.issuperset(product((False, True), repeat=self.dimension))


def natarajan_dimension(patterns: ArrayLike) -> NatarajanWitness:
    """The Natarajan dimension of a finite class, with a set of that size that it shatters.

    Paper: Definition 1. With two labels it is the VC dimension.

    ``patterns`` has shape (N, n): row h holds the labels that hypothesis h gives to the n points. Rows may repeat;
    without rows or points the dimension is 0. The search is exact; its time is exponential in the dimension. Raises
    InvalidInputError if a row abstains.

    >>> natarajan_dimension([[0, 0], [0, 2], [1, 0], [1, 2], [2, 1]])
    NatarajanWitness(points=(0, 1), label_pairs=((0, 1), (0, 2)))
    """
    table = _distinct_rows(patterns)
    splits = [
        _Split(point, (a, b), rows[a], rows[b])
        for point, rows in enumerate(_rows_by_label(table))
        for a, b in combinations(sorted(rows), 2)
    ]
    found = _most_splits(splits, n_rows=table.shape[0])
    return NatarajanWitness(tuple(split.point for split in found), tuple(split.sides for split in found))


def graph_dimension(patterns: ArrayLike) -> GraphWitness:
    """The graph dimension of a finite class, with a set of that size that it shatters.

    Not in the paper. It is at least the Natarajan dimension d, equal to it with two labels, and at most
    4.67 * log2(n_labels) * d (Ben-David, Cesa-Bianchi, Haussler and Long 1995). ``patterns`` as in
    :func:`natarajan_dimension`.

    >>> graph_dimension([[0, 0], [0, 1], [1, 0], [2, 2]])
    GraphWitness(points=(0, 1), pivots=(0, 0))
    """
    table = _distinct_rows(patterns)
    everyone = (1 << table.shape[0]) - 1
    splits = [
        _Split(point, pivot, rows[pivot], everyone ^ rows[pivot])
        for point, rows in enumerate(_rows_by_label(table))
        for pivot in sorted(rows)
    ]
    found = _most_splits(splits, n_rows=table.shape[0])
    return GraphWitness(tuple(split.point for split in found), tuple(split.sides for split in found))


def growth_bound(n_points: int, n_labels: int, dimension: int) -> int:
    """At most so many label patterns has a class of this Natarajan dimension on that many points.

    Paper: S of Proposition 1, sum over i <= dimension of C(n_points, i) * C(n_labels, 2)^i, as an exact integer. The
    simpler bound beside it there, (e s / d)^d K^(2d), holds for n_points >= dimension >= 1 only.
    """
    _check_not_negative("n_points", n_points)
    _check_not_negative("dimension", dimension)
    n_pairs = math.comb(check_n_labels(n_labels), 2)
    return sum(math.comb(n_points, i) * n_pairs**i for i in range(dimension + 1))


def cover_sample_size(n_labels: int, dimension: int, radius: float, failure: float) -> int:
    """How many unlabelled examples make a cover of this radius, except with probability ``failure``.

    Paper: Lemma 5, where the radius is eps/2 and the failure probability delta/2; the smallest s from which on the
    bound of Eq. (6), 2 * (2 e s / d)^(2d) * K^(4d) * exp(-radius s / 2), stays at most ``failure``. It rises up to
    s = 4 d / radius and falls from there. A class of dimension 0 is a single function and its own cover: s = 0.

    Eq. (6) rests on the double-sample argument, which is usually stated with 2^(-radius s / 2) and for radius s >= 8.
    Its base e is right nevertheless. The median of a binomial is not below the floor of its mean, so two hypotheses
    more than ``radius`` apart differ k = floor(radius s) times or more in a second sample with probability at least
    1/2. To differ there and nowhere in the first sample has probability at most 2^-k when the two are swapped point
    by point, and 2^-k <= exp(-radius s / 2) once radius s >= 3. Every s returned here is beyond 4 d / radius, where
    both this and the 2 s >= d that (2 e s / d)^d needs hold.
    """
    check_n_labels(n_labels)
    _check_not_negative("dimension", dimension)
    check_fraction("radius", radius)
    check_fraction("failure", failure)
    if dimension == 0:
        return 0

    def suffices(s: int) -> bool:
        return _log_no_cover(s, n_labels, dimension, radius) <= math.log(failure)

    # At its peak the bound exceeds 1; beyond it, "suffices" turns from false to true once.
    too_few = math.floor(4 * dimension / radius)
    enough = 2 * too_few
    while not suffices(enough):
        too_few, enough = enough, 2 * enough
    while enough - too_few > 1:
        middle = (too_few + enough) // 2
        too_few, enough = (too_few, middle) if suffices(middle) else (middle, enough)
    return enough


def _log_no_cover(s: int, n_labels: int, d: int, radius: float) -> float:
    """The logarithm of Eq. (6)'s bound on the probability that ``s`` examples make no cover of this radius."""
    return math.log(2) + 2 * d * (1 + math.log(2 * s / d)) + 4 * d * math.log(n_labels) - radius * s / 2


@dataclass(frozen=True, slots=True)
class _Split(Generic[Sides]):
    """A point with two disjoint sets of rows, and what names the two."""

    point: int
    sides: Sides
    left: Rows
    right: Rows


def _most_splits(splits: list[_Split[Sides]], n_rows: int) -> tuple[_Split[Sides], ...]:
    """As many of the ``splits`` as possible such that every cell holds a row. They are given in order of points."""
    # Equal splits leave a cell empty if both are chosen, so one of them is enough.
    distinct: dict[frozenset[Rows], _Split[Sides]] = {}
    for split in splits:
        distinct.setdefault(frozenset((split.left, split.right)), split)
    by_point = [list(group) for _, group in groupby(distinct.values(), key=lambda split: split.point)]
    return _extend((), [(1 << n_rows) - 1], by_point, ())


def _extend(
    chosen: tuple[_Split[Sides], ...],
    cells: list[Rows],
    candidates: list[list[_Split[Sides]]],
    best: tuple[_Split[Sides], ...],
) -> tuple[_Split[Sides], ...]:
    """``best``, or something longer that begins with ``chosen`` and goes on with ``candidates``.

    Branch and bound. The candidates are grouped by point, of which each gives at most one split; ``cells`` are the
    cells of ``chosen``. A split that is of no use here is of none further down, where the cells are smaller.
    """
    best = max(best, chosen, key=len)
    # To beat best, each part that a split makes here must in the end be cut into so many cells, with a row in each.
    n_needed = 1 << (len(best) - len(chosen))
    useful = [cuts for group in candidates if (cuts := _useful_cuts(cells, group, n_needed))]
    for i, cuts in enumerate(useful):
        if len(chosen) + len(useful) - i <= len(best):
            break
        later = [[split for split, _ in others] for others in useful[i + 1 :]]
        for split, parts in cuts:
            best = _extend((*chosen, split), parts, later, best)
    return best


def _useful_cuts(
    cells: list[Rows], splits: list[_Split[Sides]], n_needed: int
) -> list[tuple[_Split[Sides], list[Rows]]]:
    """The splits that leave at least ``n_needed`` rows in both parts of every cell, each with these parts."""
    return [(split, parts) for split in splits if (parts := _cut(cells, split, n_needed))]


def _cut(cells: list[Rows], split: _Split[Sides], n_needed: int) -> list[Rows]:
    """Both parts of every cell; nothing if one of them has fewer than ``n_needed`` rows."""
    parts: list[Rows] = []
    for cell in cells:
        left, right = cell & split.left, cell & split.right
        if left.bit_count() < n_needed or right.bit_count() < n_needed:
            return []
        parts += (left, right)
    return parts


def _rows_by_label(table: NDArray[np.int64]) -> list[dict[int, Rows]]:
    """For each point, and each label given to it, the rows that give it."""
    by_point: list[dict[int, Rows]] = []
    for column in table.T.tolist():
        rows: dict[int, Rows] = {}
        for row, label in enumerate(column):
            rows[label] = rows.get(label, 0) | 1 << row
        by_point.append(rows)
    return by_point


def _distinct_rows(patterns: ArrayLike) -> NDArray[np.int64]:
    """The distinct rows of ``patterns``, after checking that they hold labels."""
    table = np.asarray(patterns)
    if table.size == 0:
        n_points = table.shape[1] if table.ndim == 2 else 0
        return np.empty((0, n_points), dtype=np.int64)
    if table.ndim != 2 or table.dtype.kind not in "iu":
        raise InvalidInputError(
            f"the patterns have shape {table.shape} and type {table.dtype}; give one row for each hypothesis and one "
            "column for each point, in whole numbers"
        )
    if (table < 0).any():
        row, point = np.argwhere(table < 0)[0]
        raise InvalidInputError(
            f"row {row} abstains at point {point}; the dimensions are defined for hypotheses that give a label "
            "everywhere: leave the row out, or give abstention a label of its own"
        )
    return np.unique(table.astype(np.int64), axis=0)


def _check_not_negative(name: str, value: int) -> None:
    if value < 0:
        raise InvalidInputError(f"{name} is {value}; it must be at least 0")
