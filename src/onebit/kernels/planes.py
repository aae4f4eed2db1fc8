"""Weighted agreement of every hypothesis of a packed table, in a small multiple of the time it takes to read it.

The agreement of h is sum_i weight[i] * [h right on i]. Four samples of h are four bits, a *nibble*, and there are only
16 nibbles: so the sum over a group of four samples is looked up in a table of 16 entries, for 32 hypotheses at once by
one instruction. That instruction looks up bytes, so the entries are rounded to whole numbers of 24 bits and split into
*planes*, digits of 6 bits, which are looked up and added separately. All sums of digits are exact; float64 enters only
once for each tile of 512 samples.

Within a tile, entries are counted in steps of widest / (2^24 - 1); widest is the largest sum of |weight| over a group.
Each of its 128 groups is thus off by at most half a step, and an agreement by at most 64 / (2^24 - 1) = 3.8e-6 of
sum |weight|, whatever the weights. Where they are alike it is 3e-8, and as errors of both signs cancel, some 1e-9.
:func:`error_bound` has the bound for the weights at hand.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from onebit.errors import InvalidInputError
from onebit.kernels.bits import (
    BLOCK,
    BLOCK_BYTES,
    TILE,
    TILE_BYTES,
    Bits,
    PackedTable,
    as_indices,
    in_threads,
    n_tiles_for,
)
from onebit.kernels.lanes import (
    DIGIT_BITS,
    Lanes,
    add_bytes,
    add_digits,
    add_words,
    high_nibbles,
    load,
    load_table,
    look_up,
    odd_bytes,
    prefetch,
    zeros,
)

Floats = NDArray[np.float64]

#: Planes by default, and for a quicker, coarser look. The kernel takes two planes at a time.
N_PLANES = 4
N_COARSE_PLANES = 2

#: Samples whose bits index one table, tables in a tile, and entries of a table.
GROUP = 4
N_GROUPS = TILE // GROUP
N_ENTRIES = 2**GROUP
#: Two bytes of bits make a step of the kernel: four groups, whose digits add up to no more than a byte holds; and those
#: of all the steps of a tile to no more than a word of 16 bits holds.
STEP_GROUPS = 4
N_STEPS = N_GROUPS // STEP_GROUPS
PAIR_BYTES = 2 * STEP_GROUPS * N_ENTRIES
#: Blocks that pass by for one tile before the next tile: their bits and sums stay in the nearest caches meanwhile.
STRIP = 64
#: Blocks times tiles times pairs of planes, and rows times tiles, below which threads are not worth their start: about
#: half a millisecond.
SWEEP_GRAIN = 2**12
RESCORE_GRAIN = 2**12
#: Below this a step would lose bits itself.
SMALLEST_STEP = float(np.finfo(np.float64).tiny)


def agreement(table: PackedTable, weight: ArrayLike, n_planes: int = N_PLANES, n_threads: int = 1) -> Floats:
    """sum_i weight[i] * [h right on i] for every h; shape (N,), or (V, N) for weights of shape (V, m).

    Weights are finite and may be negative; several vectors of them share one pass over the table. The error is at most
    ``error_bound(weight, n_planes)``. The result does not depend on ``n_threads``, on how the table came
    about, or on the other vectors; identical rows get identical sums.

    >>> table = PackedTable(2)
    >>> table.append([[0, 1], [1, 1]], items=[0, 1, 1], labels=[1, 1, 0])
    >>> agreement(table, [2.0, 0.5, -1.0])
    array([0.5, 2.5])
    """
    given = _checked_weight(weight, table.n_samples)
    vectors = np.atleast_2d(given)
    out = np.empty((vectors.shape[0], table.n_blocks * BLOCK))
    out[:] = np.minimum(vectors, 0).sum(axis=1, keepdims=True)
    entries, scale = _tables(vectors, n_planes)
    for tiles, bits in table.chunks():
        work = partial(_sweep, bits, entries[tiles], scale[tiles], out)
        in_threads(work, table.n_blocks, n_threads, grain=SWEEP_GRAIN // scale[tiles].size)
    return out[:, : table.n_hypotheses].reshape(*given.shape[:-1], table.n_hypotheses)


def exact_agreement(table: PackedTable, rows: ArrayLike, weight: ArrayLike, n_threads: int = 1) -> Floats:
    """The agreement of the hypotheses ``rows`` (k,) alone, summed in float64 without quantising; shape (k,).

    The order of summation is the same for every row, so identical rows get identical sums.
    """
    chosen = np.atleast_1d(as_indices(rows, table.n_hypotheses, "hypothesis"))
    given = _checked_weight(weight, table.n_samples)
    _check_one_vector(given)
    sums = _all_subset_sums(_in_groups(given))
    out = np.zeros(chosen.shape)
    for tiles, bits in table.chunks():
        work = partial(_rescore, bits, sums[tiles], chosen, out)
        in_threads(work, chosen.size, n_threads, grain=RESCORE_GRAIN // bits.shape[0])
    return out


def best(
    table: PackedTable, weight: ArrayLike, n: int = 1, n_planes: int = N_PLANES, n_threads: int = 1
) -> tuple[NDArray[np.int64], Floats]:
    """The ``n`` hypotheses of highest agreement, best first, and their exact agreements; all N if there are fewer.

    Ties go to the lowest index. ``weight`` has shape (m,). The answer is that of ``exact_agreement`` on all rows,
    whatever ``n_planes``: only those rows are left out that the error bound shows to be behind n others.
    """
    if n < 1:
        raise InvalidInputError(f"n is {n}; ask for at least one hypothesis")
    given = _checked_weight(weight, table.n_samples)
    _check_one_vector(given)
    rough = agreement(table, given, n_planes, n_threads)
    n = min(n, table.n_hypotheses)
    nth = np.partition(rough, -n)[-n]
    # n rows or more have rough >= nth, hence exact >= nth - bound; a row below the cut has exact < nth - bound.
    rows = np.flatnonzero(rough >= nth - 2 * error_bound(given, n_planes))
    exact = exact_agreement(table, rows, given, n_threads)
    order = np.lexsort((rows, -exact))[:n]
    return rows[order], exact[order]


def error_bound(weight: ArrayLike, n_planes: int = N_PLANES) -> Floats:
    """How far ``agreement`` can be from ``exact_agreement``, for any table; a number, or (V,) for weights (V, m)."""
    given = np.asarray(weight, np.float64)
    groups = np.abs(_in_groups(given)).sum(axis=-1)
    quantised = (np.count_nonzero(groups, axis=-1) * _step(groups, n_planes)).sum(axis=-1) / 2
    # Each of the two adds up no more than this many numbers, none of them, nor their sums, above sum |weight|.
    n_roundings = given.shape[-1] + 64
    bound: Floats = quantised + n_roundings * np.finfo(np.float64).eps * np.abs(given).sum(axis=-1)
    return bound


def _checked_weight(weight: ArrayLike, n_samples: int) -> Floats:
    given = np.asarray(weight, np.float64)
    if given.ndim not in (1, 2) or given.shape[-1] != n_samples or 0 in given.shape[:-1]:
        raise InvalidInputError(
            f"the weights have shape {given.shape}; give one for each of the {n_samples} samples of the table"
        )
    with np.errstate(over="ignore"):
        total = np.abs(given).sum(axis=-1)
    if not np.isfinite(total).all():
        raise InvalidInputError("a weight is NaN or infinite, or the weights add up to more than float64 can hold")
    return given


def _check_one_vector(weight: Floats) -> None:
    if weight.ndim != 1:
        raise InvalidInputError(f"the weights are {weight.shape[0]} vectors; exact sums are made for one at a time")


def _in_groups(weight: Floats) -> Floats:
    """Weights (..., m) as (..., n_tiles, N_GROUPS, GROUP), filled up with zeros."""
    n_samples = weight.shape[-1]
    n_tiles = n_tiles_for(n_samples)
    padded = np.zeros((*weight.shape[:-1], n_tiles * TILE))
    padded[..., :n_samples] = weight
    return padded.reshape(*weight.shape[:-1], n_tiles, N_GROUPS, GROUP)


def _step(groups: Floats, n_planes: int) -> Floats:
    """The unit of the entries of each tile, (..., n_tiles), from the groups' sums of |weight|."""
    if n_planes not in (N_COARSE_PLANES, N_PLANES):
        raise InvalidInputError(
            f"n_planes is {n_planes}; there are {N_PLANES} planes, or {N_COARSE_PLANES} to be quick"
        )
    widest = groups.max(axis=-1)
    step: Floats = np.maximum(widest / (2 ** (DIGIT_BITS * n_planes) - 1), SMALLEST_STEP)
    return step


def _tables(vectors: Floats, n_planes: int) -> tuple[NDArray[np.uint8], Floats]:
    """The look-up tables of V weight vectors, and the value of a unit of each pair of planes.

    Shapes (n_tiles, V * n_planes / 2, N_STEPS, 2, STEP_GROUPS, N_ENTRIES) and (n_tiles, V * n_planes / 2).
    """
    groups = _in_groups(vectors)
    step = _step(np.abs(groups).sum(axis=-1), n_planes)
    n_vectors, n_tiles = step.shape
    n_pairs = n_planes // 2
    unit = 2 ** (2 * DIGIT_BITS * np.arange(n_pairs))
    scale = (step.T[:, :, None] * unit).reshape(n_tiles, n_vectors * n_pairs)
    entries = np.empty((n_tiles, n_vectors * n_pairs, N_STEPS, 2, STEP_GROUPS, N_ENTRIES), np.uint8)
    _write_digits(groups, step, entries)
    return entries, scale


@njit(cache=True, nogil=True)
def _write_digits(groups: Floats, step: Floats, entries: NDArray[np.uint8]) -> None:
    """Fill ``entries`` with the digits, lowest first, of each subset's sum, counted from the group's lowest sum."""
    n_vectors, n_tiles = step.shape
    n_pairs = entries.shape[1] // n_vectors
    sums = np.empty(N_ENTRIES)
    whole = np.empty(N_ENTRIES, np.int32)
    for vector in range(n_vectors):
        for tile in range(n_tiles):
            for group in range(N_GROUPS):
                _subset_sums(groups[vector, tile, group], _highest_loss(groups[vector, tile, group]), sums)
                for subset in range(N_ENTRIES):
                    whole[subset] = np.int32(np.rint(sums[subset] / step[vector, tile]))
                for plane in range(2 * n_pairs):
                    pair = vector * n_pairs + plane // 2
                    place = entries[tile, pair, group // STEP_GROUPS, plane % 2, group % STEP_GROUPS]
                    for subset in range(N_ENTRIES):
                        place[subset] = whole[subset] >> DIGIT_BITS * plane & (2**DIGIT_BITS - 1)


@njit(cache=True, nogil=True)
def _highest_loss(weight: Floats) -> float:
    """What it costs to be right on all samples of a group that have a negative weight."""
    loss = 0.0
    for w in weight:
        loss -= min(w, 0.0)
    return loss


@njit(cache=True, nogil=True)
def _all_subset_sums(groups: Floats) -> Floats:
    """The sum of each subset of each group (n_tiles, N_GROUPS, GROUP); shape (n_tiles, N_GROUPS, N_ENTRIES)."""
    sums = np.empty((groups.shape[0], N_GROUPS, N_ENTRIES))
    for tile in range(groups.shape[0]):
        for group in range(N_GROUPS):
            _subset_sums(groups[tile, group], 0.0, sums[tile, group])
    return sums


@njit(cache=True, nogil=True)
def _subset_sums(weight: Floats, start: float, sums: Floats) -> None:
    """sums[subset] = start + the weights in the subset; bit i of its number says whether weight[i] is."""
    sums[0] = start
    for i in range(GROUP):
        for subset in range(2**i):
            sums[2**i + subset] = sums[subset] + weight[i]


@njit(cache=True, nogil=True)
def _sweep(bits: Bits, entries: NDArray[np.uint8], scale: Floats, out: Floats, start: int, stop: int) -> None:
    """Add to ``out`` (V, 32 * n_blocks) the agreements on a chunk, for the blocks from ``start`` to ``stop`` - 1."""
    n_vectors, n_rows = out.shape
    n_tiles, n_pairs = scale.shape
    n_pairs_each = n_pairs // n_vectors
    flat_bits, flat_entries, flat_out = bits.reshape(-1), entries.reshape(-1), out.reshape(-1)
    for strip in range(start, stop, STRIP):
        for tile in range(n_tiles):
            for vector in range(n_vectors):
                for block in range(strip, min(strip + STRIP, stop)):
                    bits_at = (tile * bits.shape[1] + block) * BLOCK_BYTES
                    out_at = vector * n_rows + block * BLOCK
                    for pair in range(vector * n_pairs_each, (vector + 1) * n_pairs_each):
                        entries_at = (tile * n_pairs + pair) * N_STEPS * PAIR_BYTES
                        _add_block(flat_bits, bits_at, flat_entries, entries_at, flat_out, out_at, scale[tile, pair])


@njit(cache=True, nogil=True, forceinline=True)
def _add_block(
    bits: Bits, bits_at: int, entries: NDArray[np.uint8], entries_at: int, out: Floats, out_at: int, scale: float
) -> None:
    """Add to 32 entries of ``out`` the sums of one pair of planes over one tile of one block."""
    low_pairs, low_odds, high_pairs, high_odds = zeros(), zeros(), zeros(), zeros()
    for step in range(N_STEPS):
        here = bits_at + 2 * BLOCK * step
        # The next block: the processor's own guess does not keep up when a block is read more than once.
        prefetch(bits, here + BLOCK_BYTES)
        first, second = load(bits, here), load(bits, here + BLOCK)
        nibbles = (first, high_nibbles(first), second, high_nibbles(second))
        low = _step_sum(entries, entries_at + PAIR_BYTES * step, nibbles)
        high = _step_sum(entries, entries_at + PAIR_BYTES * step + PAIR_BYTES // 2, nibbles)
        low_pairs, low_odds = add_words(low_pairs, low), add_words(low_odds, odd_bytes(low))
        high_pairs, high_odds = add_words(high_pairs, high), add_words(high_odds, odd_bytes(high))
    add_digits(out, out_at, scale, (low_pairs, low_odds), (high_pairs, high_odds))


@njit(cache=True, nogil=True, forceinline=True)
def _step_sum(entries: NDArray[np.uint8], at: int, nibbles: tuple[Lanes, Lanes, Lanes, Lanes]) -> Lanes:
    """The digits of four groups, looked up in one plane and added, for 32 hypotheses."""
    first = look_up(load_table(entries, at), nibbles[0])
    second = look_up(load_table(entries, at + N_ENTRIES), nibbles[1])
    third = look_up(load_table(entries, at + 2 * N_ENTRIES), nibbles[2])
    fourth = look_up(load_table(entries, at + 3 * N_ENTRIES), nibbles[3])
    total: Lanes = add_bytes(add_bytes(first, second), add_bytes(third, fourth))
    return total


@njit(cache=True, nogil=True)
def _rescore(bits: Bits, sums: Floats, rows: NDArray[np.int64], out: Floats, start: int, stop: int) -> None:
    """Add to ``out`` the exact agreements on a chunk of rows[start] to rows[stop - 1]."""
    for i in range(start, stop):
        block, lane = rows[i] // BLOCK, rows[i] % BLOCK
        for tile in range(bits.shape[0]):
            low, high = 0.0, 0.0
            for byte in range(TILE_BYTES):
                value = bits[tile, block, byte, lane]
                low += sums[tile, 2 * byte, value & 15]
                high += sums[tile, 2 * byte + 1, value >> 4]
            out[i] += low + high
