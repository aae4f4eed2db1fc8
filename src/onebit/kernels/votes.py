"""What the rows of a table say at each example, by counting and without sorting: votes, and distinct outputs.

Labels are few and rows may be many, so a count per label replaces a sort of the rows. Tables lie row by row: the
kernels go through blocks of neighbouring examples, whose counts stay in the cache, and within a block row by row.

Small tables are gone through by numpy, so that the first question of a new installation does not wait for a compiler.
For the same reason the kernels hold loops alone: arrays that numba makes, slices and sorts each take part of a second
to compile. What they work in is made by their callers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

Ints = NDArray[np.int64]

#: Counts that are kept at once: they fit into the second cache. A block has as many examples as that allows, up to
#: where more make nothing faster: a piece of a row is read ahead of its use if it is long, and not if it is a cache
#: line. Origin: 100,000 models, 64 examples 3.2 ns per cell, 512 1.4, 2,048 .95, 4,096 1.0.
COUNTS, MOST_EXAMPLES = 1 << 16, 2048
#: Cells of a small table, and counts of all its examples: numpy takes milliseconds for these.
SMALL, SMALL_COUNTS = 20_000, 1_000_000


def vote(said: NDArray[np.integer[Any]], weight: Ints) -> Ints:
    """The label with the most ``weight`` (V,) of the rows that say it, the lowest of equals, -1 for none.

    ``said`` (V, m) holds labels, negative where a row abstains; weights are positive. Shape (m,).

    >>> vote(np.array([[2, -1], [1, -1], [1, 0]]), np.array([3, 1, 1]))
    array([2, 0])
    """
    if _is_small(said):
        return _vote_in_numpy(said, weight)
    winner, counts = np.full(said.shape[1], -1), _counts(said)
    _vote(said, weight, winner, counts, np.zeros(counts.shape[0], dtype=np.int64))
    return winner


def n_agreeing(said: NDArray[np.integer[Any]], label: Ints) -> Ints:
    """At how many examples each row of ``said`` (V, m) says ``label`` (m,), where that is not negative; (V,)."""
    agreed: Ints = np.zeros(said.shape[0], dtype=np.int64)
    if _is_small(said):
        agreed += ((said == label) & (label >= 0)).sum(axis=1)
        return agreed
    _n_agreeing(said, label, agreed)
    return agreed


def n_differing(said: NDArray[np.integer[Any]], rows: Ints, other: int) -> Ints:
    """At how many examples each of ``rows`` says something else than the row ``other``; shape (n_rows,)."""
    n = np.zeros(rows.size, dtype=np.int64)
    _n_differing(said, rows, other, n)
    return n


def any_differ(said: NDArray[np.integer[Any]], rows: Ints) -> NDArray[np.bool_]:
    """Whether ``rows`` of ``said`` (N, m) differ at each example; shape (m,)."""
    differ = np.zeros(said.shape[1], dtype=np.bool_)
    _any_differ(said, rows, differ)
    return differ


def distinct_outputs(said: NDArray[np.integer[Any]]) -> tuple[NDArray[np.unsignedinteger[Any]], Ints, Ints, Ints]:
    """The distinct entries of each column of ``said`` (V, m), rising: code, first, label, votes.

    Column i has those with the numbers first[i] to first[i + 1] - 1; ``label`` and ``votes`` belong to each, and
    ``code`` (V, m) says which of its column, counted from 0, each entry is.
    """
    if _is_small(said):
        return _distinct_in_numpy(said)
    n_rows, n_examples = said.shape
    counts = _counts(said)
    most = min(n_rows, counts.shape[1])
    code = np.empty((n_rows, n_examples), dtype=_code_type(most))
    first = np.zeros(n_examples + 1, dtype=np.int64)
    found = np.empty((2, most * n_examples), dtype=np.int64)
    seen, n_seen = np.empty((counts.shape[0], most), dtype=np.int64), np.zeros(counts.shape[0], dtype=np.int64)
    _distinct_outputs(said, code, first, found[0], found[1], counts, seen, n_seen)
    n = first[-1]
    return code, first, found[0, :n].copy(), found[1, :n].copy()


def _is_small(said: NDArray[np.integer[Any]]) -> bool:
    return 0 < said.size <= SMALL and said.shape[1] * (int(said.max()) + 2) <= SMALL_COUNTS


def _code_type(n_outputs: int) -> type[np.uint8 | np.uint32]:
    return np.uint8 if n_outputs <= 256 else np.uint32


def _vote_in_numpy(said: NDArray[np.integer[Any]], weight: Ints) -> Ints:
    rows, columns = np.nonzero(said >= 0)
    votes = np.zeros((said.shape[1], int(said.max(initial=0)) + 1), dtype=np.int64)
    np.add.at(votes, (columns, said[rows, columns]), weight[rows])
    winner: Ints = np.where(votes.any(axis=1), votes.argmax(axis=1), -1)
    return winner


def _distinct_in_numpy(said: NDArray[np.integer[Any]]) -> tuple[NDArray[np.unsignedinteger[Any]], Ints, Ints, Ints]:
    said = np.maximum(said, -1)
    order = np.argsort(said, axis=0, kind="stable")
    ordered = np.take_along_axis(said, order, axis=0)
    new = np.ones(said.shape, dtype=np.bool_)
    new[1:] = ordered[1:] != ordered[:-1]
    rank = new.cumsum(axis=0) - 1
    code = np.empty_like(rank)
    np.put_along_axis(code, order, rank, axis=0)
    first: Ints = np.concatenate([[0], np.cumsum(rank[-1] + 1)])
    label: Ints = ordered.T[new.T].astype(np.int64)
    votes: Ints = np.bincount((code + first[:-1]).ravel(), minlength=first[-1])
    most = min(said.shape[0], int(said.max()) + 2)
    return code.astype(_code_type(most)), first, label, votes


def _counts(said: NDArray[np.integer[Any]]) -> Ints:
    """Room for a count per label, and one more, at the examples of a block; all 0."""
    n_labels = int(said.max(initial=-1)) + 1
    size = max(1, min(COUNTS // (n_labels + 1), MOST_EXAMPLES, said.shape[1]))
    return np.zeros((size, n_labels + 1), dtype=np.int64)


@njit(cache=True, nogil=True)
def _vote(said, weight, winner, counts, most):  # type: ignore[no-untyped-def]
    n_rows, n_examples = said.shape
    size, n_labels = counts.shape[0], counts.shape[1] - 1
    for begin in range(0, n_examples, size):
        end = min(begin + size, n_examples)
        for h in range(n_rows):
            for i in range(begin, end):
                if said[h, i] >= 0:
                    counts[i - begin, said[h, i]] += weight[h]
        if n_labels <= n_rows:
            _highest(counts, winner, begin, end)
            continue
        for k in range(size):
            most[k] = 0
        for h in range(n_rows):
            for i in range(begin, end):
                label = said[h, i]
                if label < 0:
                    continue
                votes = counts[i - begin, label]
                # Who comes second finds no votes: a label is looked at once, and its count is free again.
                counts[i - begin, label] = 0
                if votes > most[i - begin] or (votes == most[i - begin] > 0 and label < winner[i]):
                    most[i - begin], winner[i] = votes, label


@njit(cache=True, nogil=True)
def _highest(counts, winner, begin, end):  # type: ignore[no-untyped-def]
    """The first label with the highest count of each example, -1 where all are 0; they are 0 afterwards."""
    for i in range(begin, end):
        most = 0
        for label in range(counts.shape[1]):
            if counts[i - begin, label] > most:
                most, winner[i] = counts[i - begin, label], label
            counts[i - begin, label] = 0


@njit(cache=True, nogil=True)
def _n_agreeing(said, label, agreed):  # type: ignore[no-untyped-def]
    for h in range(said.shape[0]):
        n = 0
        for i in range(said.shape[1]):
            n += (said[h, i] == label[i]) & (label[i] >= 0)
        agreed[h] = n


@njit(cache=True, nogil=True)
def _n_differing(said, rows, other, n):  # type: ignore[no-untyped-def]
    for place in range(rows.size):
        total = 0
        for i in range(said.shape[1]):
            total += said[rows[place], i] != said[other, i]
        n[place] = total


@njit(cache=True, nogil=True)
def _any_differ(said, rows, differ):  # type: ignore[no-untyped-def]
    for place in range(1, rows.size):
        for i in range(said.shape[1]):
            differ[i] |= said[rows[place], i] != said[rows[0], i]


@njit(cache=True, nogil=True)
def _sort(seen, n_seen, counts, k):  # type: ignore[no-untyped-def]
    """Bring the places that example k of a block has seen into rising order; their counts are not 0."""
    if n_seen[k] * n_seen[k] > counts.shape[1]:
        n = 0
        for place in range(counts.shape[1]):
            if counts[k, place] > 0:
                seen[k, n] = place
                n += 1
        return
    for last in range(1, n_seen[k]):
        place, at = seen[k, last], last
        while at > 0 and seen[k, at - 1] > place:
            seen[k, at] = seen[k, at - 1]
            at -= 1
        seen[k, at] = place


@njit(cache=True, nogil=True)
def _distinct_outputs(said, code, first, label, votes, counts, seen, n_seen):  # type: ignore[no-untyped-def]
    """``counts`` are, of each label and in place 0 of abstention, how often it was seen; then its number."""
    n_rows, n_examples = said.shape
    size = counts.shape[0]
    for begin in range(0, n_examples, size):
        end = min(begin + size, n_examples)
        for k in range(size):
            n_seen[k] = 0
        for h in range(n_rows):
            for i in range(begin, end):
                place, k = max(said[h, i], -1) + 1, i - begin
                if counts[k, place] == 0:
                    seen[k, n_seen[k]] = place
                    n_seen[k] += 1
                counts[k, place] += 1
        for i in range(begin, end):
            k = i - begin
            _sort(seen, n_seen, counts, k)
            for rank in range(n_seen[k]):
                output, place = first[i] + rank, seen[k, rank]
                label[output], votes[output] = place - 1, counts[k, place]
                counts[k, place] = rank
            first[i + 1] = first[i] + n_seen[k]
        for h in range(n_rows):
            for i in range(begin, end):
                code[h, i] = counts[i - begin, max(said[h, i], -1) + 1]
        for k in range(end - begin):
            for rank in range(n_seen[k]):
                counts[k, seen[k, rank]] = 0
