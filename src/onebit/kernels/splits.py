"""The best axis-aligned splits of a weighted sample: along one feature, and two levels deep.

Two ideas carry this module. Along a feature only the order of the values and the weight of each (value, label) matter,
so examples are merged into *cells*, sorted by value and then by label; a split is a place between two cells. And the
weights are made whole numbers once, so that every sum below is exact: it does not depend on the order of its terms, an
example that moves from one side to the other leaves nothing behind, and a tie is a tie.

Scores are weighted agreements, sum_i weight[i] * [h(x[i]) == y[i]], to be made large.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

#: The absolute values of whole weights add up to about 2 ** WEIGHT_BITS, so a few scores or bounds can be added without
#: overflow. Rounding changes a score by at most n * 2 ** -WEIGHT_BITS of that sum.
WEIGHT_BITS = 60


class Cells(NamedTuple):
    """A weighted sample of n examples, as each of d features sees it.

    Cells ``start[f]`` to ``start[f + 1] - 1`` are those of feature f, sorted by value, then by label. Each holds the
    examples with one ``value`` and one ``label``. A *cut* of f is the number of the first cell to its right.
    """

    start: NDArray[np.int64]  # (d + 1,)
    value: NDArray[np.float64]  # (n_cells,)
    label: NDArray[np.int64]  # (n_cells,)
    weight: NDArray[np.int64]  # (n_cells,) sum over the examples of the cell
    order: NDArray[np.int64]  # (d, n_kept) the examples with weight, cell by cell
    cell_of: NDArray[np.int64]  # (n, d) the cell of each example along each feature, -1 if without weight
    example_weight: NDArray[np.int64]  # (n,)

    def threshold(self, feature: int, cut: int) -> float:
        """The number t such that x < t picks the examples before ``cut``; -inf if there are none."""
        if cut == self.start[feature]:
            return -np.inf
        return threshold_between(float(self.value[cut - 1]), float(self.value[cut]))


class Split(NamedTuple):
    """Label ``left`` on the cells of ``feature`` before ``cut``, label ``right`` from there on, and its score."""

    score: int
    feature: int
    cut: int
    left: int
    right: int


class RootSplit(NamedTuple):
    """The split ``left`` on the examples before ``cut``, the split ``right`` on the others, and their joint score."""

    score: int
    feature: int
    cut: int
    left: Split
    right: Split


class _Side(NamedTuple):
    """What is known of the examples on one side of a root as its cut moves on."""

    weight: NDArray[np.int64]  # (n_cells,) of the examples on this side
    bound: NDArray[np.int64]  # (d,) no split along this feature scores more
    exact_at: NDArray[np.int64]  # (d,) the root's cut at which the bound was last reached by a split


def threshold_between(low: float, high: float) -> float:
    """A number t with low < t <= high: the midpoint, or ``high`` where that is rounded down to ``low``."""
    middle = low / 2 + high / 2  # unlike (low + high) / 2, this cannot overflow
    return middle if middle > low else high


def whole_weights(weight: NDArray[np.float64]) -> NDArray[np.int64]:
    """``weight`` times one power of two, rounded: as fine as sums of at most 2 ** WEIGHT_BITS allow."""
    _, exponent = np.frexp(np.abs(weight).max(initial=0.0))
    at_most_one = np.ldexp(weight, -exponent)  # so that the total is finite whatever the weights
    _, exponent = np.frexp(np.abs(at_most_one).sum())
    whole: NDArray[np.float64] = np.rint(np.ldexp(at_most_one, WEIGHT_BITS - exponent))
    return whole.astype(np.int64)


def cells_of(x: NDArray[np.float64], y: NDArray[np.int64], weight: NDArray[np.float64]) -> Cells:
    """The cells of the examples ``x``, shape (n, d), with labels ``y`` and weights ``weight``, shape (n,).

    Examples without weight change no score and are left out.
    """
    n, d = x.shape
    example_weight = whole_weights(weight)
    by_label = np.argsort(y, kind="stable")
    by_label = by_label[example_weight[by_label] != 0]
    order = np.empty((d, by_label.size), dtype=np.int64)
    cell_of = np.full((n, d), -1)
    start, value, label, cell_weight = [0], [], [], []
    for f in range(d):
        # A stable sort by value of examples in the order of their labels.
        order[f] = by_label[np.argsort(x[by_label, f], kind="stable")]
        first = _first_of_cells(x[order[f], f], y[order[f]])
        cell_of[order[f], f] = start[f] + np.repeat(np.arange(first.size), np.diff(first, append=by_label.size))
        start.append(start[f] + first.size)
        value.append(x[order[f, first], f])
        label.append(y[order[f, first]])
        cell_weight.append(np.add.reduceat(example_weight[order[f]], first))
    return Cells(
        start=np.array(start),
        value=np.concatenate(value),
        label=np.concatenate(label),
        weight=np.concatenate(cell_weight),
        order=order,
        cell_of=cell_of,
        example_weight=example_weight,
    )


def _first_of_cells(value: NDArray[np.float64], label: NDArray[np.int64]) -> NDArray[np.int64]:
    """The positions at which a sorted list of (value, label) changes, 0 included."""
    changes = np.ones(value.size, dtype=np.bool_)
    changes[1:] = (value[1:] != value[:-1]) | (label[1:] != label[:-1])
    return np.flatnonzero(changes)


@njit(cache=True)
def _best_label_scores(label: NDArray[np.int64], weight: NDArray[np.int64], n_labels: int) -> NDArray[np.int64]:
    """Entry i is the largest weight that one label has among the first i cells; shape (n_cells + 1,).

    Every label takes part from the start with weight 0: if all weights are negative, one that never occurs is best.
    """
    scores = np.zeros(label.size + 1, dtype=np.int64)
    total = np.zeros(n_labels, dtype=np.int64)
    best, score = 0, 0
    for i in range(label.size):
        current = label[i]
        total[current] += weight[i]
        if total[current] >= score:
            best, score = current, total[current]
        elif current == best:  # the best has fallen, and only then can another come first
            best = int(np.argmax(total))
            score = total[best]
        scores[i + 1] = score
    return scores


@njit(cache=True)
def _best_cut(cells: Cells, weight: NDArray[np.int64], feature: int, n_labels: int) -> tuple[int, int]:
    """The largest score of a split along ``feature`` for these weights of the cells, and the lowest cut that has it."""
    start, stop = cells.start[feature], cells.start[feature + 1]
    label, weight = cells.label[start:stop], weight[start:stop]
    before = _best_label_scores(label, weight, n_labels)
    after = _best_label_scores(label[::-1], weight[::-1], n_labels)[::-1]
    score, cut = after[0], start
    for i in range(1, label.size):
        # Cells of one value cannot be parted.
        if before[i] + after[i] > score and cells.value[start + i - 1] != cells.value[start + i]:
            score, cut = before[i] + after[i], start + i
    return score, cut


@njit(cache=True)
def _best_label(cells: Cells, weight: NDArray[np.int64], first: int, stop: int, n_labels: int) -> int:
    """The label with the largest weight in the cells ``first`` to ``stop`` - 1; among equals the lowest."""
    total = np.zeros(n_labels, dtype=np.int64)
    for cell in range(first, stop):
        total[cells.label[cell]] += weight[cell]
    return int(np.argmax(total))


@njit(cache=True)
def best_split(cells: Cells, weight: NDArray[np.int64], feature: int, n_labels: int) -> Split:
    """The split along ``feature`` with the largest score for these weights; among equals the lowest cut and labels."""
    score, cut = _best_cut(cells, weight, feature, n_labels)
    left = _best_label(cells, weight, cells.start[feature], cut, n_labels)
    right = _best_label(cells, weight, cut, cells.start[feature + 1], n_labels)
    return Split(score, feature, cut, left, right)


def best_splits(cells: Cells, n_labels: int) -> list[Split]:
    """The best split of the whole sample along each feature."""
    return [best_split(cells, cells.weight, feature, n_labels) for feature in range(cells.start.size - 1)]


@njit(cache=True)
def better_tree(cells: Cells, root: int, found: RootSplit, n_labels: int) -> RootSplit:
    """The best tree with its root along feature ``root`` if it scores more than ``found``, else ``found``.

    The cut of the root moves up through the values. At each cut, the best split of either side could be sought along
    every feature, but bounds save most of that work (see ``_move``): only while the largest bounds of the two sides add
    up to more than ``found`` are they made exact, the one that was exact longest ago first.
    """
    d, n_kept = cells.order.shape
    start, stop = cells.start[root], cells.start[root + 1]
    left = _Side(np.zeros_like(cells.weight), np.zeros(d, dtype=np.int64), np.full(d, -1))
    right = _Side(cells.weight.copy(), np.full(d, np.abs(cells.example_weight).sum()), np.full(d, -1))
    position = 0
    for cut in range(start, stop):
        if cut > start and cells.value[cut - 1] != cells.value[cut]:
            while left.bound.max() + right.bound.max() > found.score:
                below, above = int(np.argmax(left.bound)), int(np.argmax(right.bound))
                if left.exact_at[below] == cut and right.exact_at[above] == cut:
                    split_below = best_split(cells, left.weight, below, n_labels)
                    split_above = best_split(cells, right.weight, above, n_labels)
                    found = RootSplit(split_below.score + split_above.score, root, cut, split_below, split_above)
                elif left.exact_at[below] <= right.exact_at[above]:
                    _tighten(left, below, cells, cut, n_labels)
                else:
                    _tighten(right, above, cells, cut, n_labels)
        while position < n_kept and cells.cell_of[cells.order[root, position], root] == cut:
            _move(cells.order[root, position], cells, left, right)
            position += 1
    return found


@njit(cache=True)
def _tighten(side: _Side, feature: int, cells: Cells, cut: int, n_labels: int) -> None:
    """Replace the bound of ``feature`` by the best score itself, with the root at ``cut``."""
    side.bound[feature], _ = _best_cut(cells, side.weight, feature, n_labels)
    side.exact_at[feature] = cut


@njit(cache=True)
def _move(example: int, cells: Cells, left: _Side, right: _Side) -> None:
    """Take an example from the right side to the left.

    A positive weight can add at most itself to a score on the left, and nothing on the right. A negative one can add at
    most its absolute value to a score on the right, which is rid of it, and nothing on the left.
    """
    weight = cells.example_weight[example]
    for cell in cells.cell_of[example]:
        left.weight[cell] += weight
        right.weight[cell] -= weight
    if weight > 0:
        left.bound[:] += weight
    else:
        right.bound[:] -= weight
