"""What the rows of a table say at each example, by counting and without sorting: votes, and distinct outputs.

Labels are few and rows may be many, so a count per label replaces a sort of the rows. Tables lie row by row: the
kernels go through blocks of neighbouring examples, whose counts stay in the cache, and within a block row by row.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

Ints = NDArray[np.int64]

#: Counts that are kept at once: they fit into the second cache. A block has as many examples as that allows, and at
#: most as many as a cache line has bytes.
COUNTS, MOST_EXAMPLES = 1 << 16, 64


def vote(said: NDArray[np.integer[Any]], weight: Ints) -> Ints:
    """The label with the most ``weight`` (V,) of the rows that say it, the lowest of equals, -1 for none.

    ``said`` (V, m) holds labels, negative where a row abstains; weights are positive. Shape (m,).

    >>> vote(np.array([[2, -1], [1, -1], [1, 0]]), np.array([3, 1, 1]))
    array([2, 0])
    """
    winner = np.full(said.shape[1], -1)
    _vote(said, weight, _n_labels(said), winner)
    return winner


def n_agreeing(said: NDArray[np.integer[Any]], label: Ints) -> Ints:
    """At how many examples each row of ``said`` (V, m) says ``label`` (m,), where that is not negative; (V,)."""
    agreed = np.zeros(said.shape[0], dtype=np.int64)
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
    n_rows, n_examples = said.shape
    n_labels = _n_labels(said)
    most = min(n_rows, n_labels + 1)
    code = np.empty((n_rows, n_examples), dtype=np.uint8 if most <= 256 else np.uint32)
    first = np.zeros(n_examples + 1, dtype=np.int64)
    found = np.empty((2, most * n_examples), dtype=np.int64)
    _distinct_outputs(said, n_labels, code, first, found[0], found[1])
    n = first[-1]
    return code, first, found[0, :n].copy(), found[1, :n].copy()


def _n_labels(said: NDArray[np.integer[Any]]) -> int:
    return int(said.max(initial=-1)) + 1


@njit(cache=True, nogil=True)
def _block(n_labels, n_examples):  # type: ignore[no-untyped-def]
    return max(1, min(COUNTS // (n_labels + 1), MOST_EXAMPLES, n_examples))


@njit(cache=True, nogil=True)
def _vote(said, weight, n_labels, winner):  # type: ignore[no-untyped-def]
    n_rows, n_examples = said.shape
    size = _block(n_labels, n_examples)
    counts = np.zeros((size, n_labels + 1), dtype=np.int64)
    most = np.zeros(size, dtype=np.int64)
    for begin in range(0, n_examples, size):
        end = min(begin + size, n_examples)
        most[:] = 0
        for h in range(n_rows):
            for i in range(begin, end):
                if said[h, i] >= 0:
                    counts[i - begin, said[h, i]] += weight[h]
        if n_labels <= n_rows:
            _highest(counts, winner[begin:end])
            continue
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
def _highest(counts, winner):  # type: ignore[no-untyped-def]
    """The first label with the highest count of each example, -1 where all are 0; they are 0 afterwards."""
    for i in range(winner.size):
        most = 0
        for label in range(counts.shape[1]):
            if counts[i, label] > most:
                most, winner[i] = counts[i, label], label
            counts[i, label] = 0


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
def _distinct_outputs(said, n_labels, code, first, label, votes):  # type: ignore[no-untyped-def]
    n_rows, n_examples = said.shape
    size = _block(n_labels, n_examples)
    # Of each label, in place 0 of abstention: how often it was seen, and then its number among those of the example.
    counts = np.zeros((size, n_labels + 1), dtype=np.int64)
    seen = np.empty((size, min(n_rows, n_labels + 1)), dtype=np.int64)
    n_seen = np.zeros(size, dtype=np.int64)
    for begin in range(0, n_examples, size):
        end = min(begin + size, n_examples)
        n_seen[:] = 0
        for h in range(n_rows):
            for i in range(begin, end):
                place, k = max(said[h, i], -1) + 1, i - begin
                if counts[k, place] == 0:
                    seen[k, n_seen[k]] = place
                    n_seen[k] += 1
                counts[k, place] += 1
        for i in range(begin, end):
            k = i - begin
            places = np.sort(seen[k, : n_seen[k]])
            for rank in range(places.size):
                output = first[i] + rank
                label[output], votes[output] = places[rank] - 1, counts[k, places[rank]]
                counts[k, places[rank]] = rank
            first[i + 1] = first[i] + places.size
        for h in range(n_rows):
            for i in range(begin, end):
                code[h, i] = counts[i - begin, max(said[h, i], -1) + 1]
        for k in range(end - begin):
            for rank in range(n_seen[k]):
                counts[k, seen[k, rank]] = 0
