"""Right or wrong, one bit per entry: the table that the fast kernels read.

Samples are added as answers arrive and nothing is ever moved, so the table is stored tile by tile. A *tile* holds 512
samples of every hypothesis. Within it, a *block* holds 32 hypotheses side by side, so that one vector instruction
serves all of them and the kernel reads the table in the order in which it lies in memory:

    bits[tile, block, byte, lane], bit b  =  [hypothesis 32 * block + lane is right on sample 512 * tile + 8 * byte + b]

A row of words for each hypothesis, the obvious layout, would have to be copied in order to grow, and the vectors
gathered from 32 places.

Tiles are allocated in *chunks*: in memory as long as the table keeps to its share of it, beyond that in mapped files.
Bits that stand for no sample, or for no hypothesis in the last block, may be anything.
"""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from onebit.errors import InvalidInputError
from onebit.kernels.lanes import N_LANES

Bits = NDArray[np.uint8]
Bools = NDArray[np.bool_]

#: Hypotheses in a block: as many as a vector has bytes.
BLOCK = N_LANES
#: Samples in a tile: few, because the error of the kernel grows with them; not fewer, because a tile's end costs time.
TILE = 512
TILE_BYTES = TILE // 8
BLOCK_BYTES = BLOCK * TILE_BYTES
#: A chunk has at most so many tiles, and no more bytes than this unless a single tile has.
CHUNK_TILES = 32
CHUNK_BYTES = 2**28
CACHE_LINE = 64
#: Blocks times samples below which packing is not shared between threads: about a millisecond.
PACK_GRAIN = 2**15


class PackedTable:
    """Which of N hypotheses are right on which of the samples seen so far, as bits.

    ``memory_share`` is the share of the machine's memory that the table may take; what it needs beyond that lies in
    nameless files in ``folder`` (by default where temporary files go), which vanish with the table. Results do not
    depend on it. A table may be read from several threads, but not while it is appended to.

    >>> table = PackedTable(2)
    >>> table.append([[0, 1], [1, 1]], items=[0, 1, 1], labels=[1, 1, 0])
    >>> table.right(1)
    array([ True,  True, False])
    """

    def __init__(self, n_hypotheses: int, *, memory_share: float = 0.5, folder: Path | str | None = None) -> None:
        if n_hypotheses < 1:
            raise InvalidInputError(f"n_hypotheses is {n_hypotheses}; a table needs at least one hypothesis")
        if not 0 <= memory_share <= 1:
            raise InvalidInputError(f"memory_share is {memory_share}; it is a share of the memory, from 0 to 1")
        self.n_hypotheses = n_hypotheses
        self.n_blocks = -(-n_hypotheses // BLOCK)
        self.n_samples = 0
        self._resident_limit = memory_share * _memory_bytes()
        self._folder = folder
        self._chunks: list[Bits] = []

    @classmethod
    def from_words(cls, words: NDArray[np.uint64], n_hypotheses: int, n_samples: int) -> PackedTable:
        """The table whose bits are ``words``, in memory or mapped, of the shape ``words_shape(...)``.

        They are used where they are, not copied; best they begin at a cache line, as ``aligned_zeros`` and maps do.
        Samples appended later go into what room they leave.
        """
        table = cls(n_hypotheses)
        shape = words_shape(n_hypotheses, n_samples)
        if words.shape != shape or words.dtype != np.uint64 or not words.flags.c_contiguous:
            raise InvalidInputError(
                f"the words have shape {words.shape} and type {words.dtype}; {n_hypotheses} hypotheses on {n_samples} "
                f"samples need a contiguous array of shape {shape} and type uint64"
            )
        table._chunks.append(np.asarray(words).view(np.uint8).reshape(*shape[:2], TILE_BYTES, BLOCK))
        table.n_samples = n_samples
        return table

    @property
    def n_bytes(self) -> int:
        """Bytes in use, in memory or mapped."""
        return n_tiles_for(self.n_samples) * self.n_blocks * BLOCK_BYTES

    def chunks(self) -> Iterator[tuple[slice, Bits]]:
        """The bits in use, chunk by chunk: which tiles, and their bits (n_tiles, n_blocks, TILE_BYTES, BLOCK)."""
        first, last = 0, n_tiles_for(self.n_samples)
        for chunk in self._chunks:
            bits = chunk[: last - first]
            if bits.size:
                yield slice(first, first + bits.shape[0]), bits
            first += bits.shape[0]

    def append(self, preds: ArrayLike, items: ArrayLike, labels: ArrayLike, n_threads: int = 1) -> None:
        """Add one sample for each entry of ``items``: hypothesis h is right on it if preds[h, item] == label.

        ``preds`` has shape (N, n) and any integer type, negative where a hypothesis abstains; ``items`` (k,) are
        columns of it and ``labels`` (k,) are at least 0. Nothing is added if any of them is wrong.
        """
        table, columns, answers = self._checked_samples(preds, items, labels)
        while columns.size:
            first, chunk = self._room()
            n_fitting = chunk.shape[0] * TILE - first
            work = partial(_pack, chunk, table, *_in_bytes(columns[:n_fitting], answers[:n_fitting], first))
            in_threads(work, self.n_blocks, n_threads, grain=PACK_GRAIN // columns.size)
            self.n_samples += min(columns.size, n_fitting)
            columns, answers = columns[n_fitting:], answers[n_fitting:]

    def right(self, h: ArrayLike) -> Bools:
        """Whether hypothesis ``h`` is right on each sample; shape (m,), or (k, m) for k hypotheses."""
        rows = as_indices(h, self.n_hypotheses, "hypothesis")
        block, lane = np.divmod(rows, BLOCK)
        packed = np.empty((*rows.shape, n_tiles_for(self.n_samples), TILE_BYTES), np.uint8)
        for tiles, bits in self.chunks():
            packed[..., tiles, :] = bits[:, block, :, lane]
        return _unpacked(packed.reshape(*rows.shape, packed.shape[-2] * TILE_BYTES), self.n_samples)

    def column(self, sample: int) -> Bools:
        """Whether each hypothesis is right on ``sample``; shape (N,)."""
        as_indices(sample, self.n_samples, "sample")
        tile, place = divmod(sample, TILE)
        packed = next(bits[tile - tiles.start, :, place // 8] for tiles, bits in self.chunks() if tile < tiles.stop)
        right: Bools = (packed.reshape(-1)[: self.n_hypotheses] >> place % 8 & 1).view(np.bool_)
        return right

    def anyone_right(self) -> Bools:
        """Whether at least one hypothesis is right on each sample; shape (m,)."""
        n_last = self.n_hypotheses - (self.n_blocks - 1) * BLOCK
        packed = [np.zeros(0, np.uint8)]
        for _, bits in self.chunks():
            words = bits.reshape(*bits.shape[:2], -1).view(np.uint64)
            full_blocks = np.bitwise_or.reduce(words[:, :-1], axis=1).view(np.uint8).reshape(-1, BLOCK)
            last_block = bits[:, -1, :, :n_last].reshape(-1, n_last)
            packed.append(np.bitwise_or.reduce(full_blocks, axis=1) | np.bitwise_or.reduce(last_block, axis=1))
        return _unpacked(np.concatenate(packed), self.n_samples)

    def _room(self) -> tuple[int, Bits]:
        """The place of the next sample in the chunk that takes it, and that chunk."""
        place = self.n_samples
        for chunk in self._chunks:
            if place < chunk.shape[0] * TILE:
                return place, chunk
            place -= chunk.shape[0] * TILE
        self._chunks.append(self._new_chunk())
        return 0, self._chunks[-1]

    def _new_chunk(self) -> Bits:
        tile_size = self.n_blocks * BLOCK_BYTES
        n_tiles = max(1, min(CHUNK_TILES, CHUNK_BYTES // tile_size))
        shape = (n_tiles, self.n_blocks, TILE_BYTES, BLOCK)
        # Pages of either kind take up memory or disk only once they are written to.
        if sum(chunk.nbytes for chunk in self._chunks) + n_tiles * tile_size <= self._resident_limit:
            return aligned_zeros(shape)
        with tempfile.TemporaryFile(dir=self._folder) as file:
            return np.asarray(np.memmap(file, np.uint8, "w+", shape=shape))

    def _checked_samples(
        self, preds: ArrayLike, items: ArrayLike, labels: ArrayLike
    ) -> tuple[NDArray[Any], NDArray[np.int64], NDArray[np.int64]]:
        table = np.asarray(preds)
        if table.ndim != 2 or table.shape[0] != self.n_hypotheses or table.dtype.kind not in "iu":
            raise InvalidInputError(
                f"the predictions have shape {table.shape} and type {table.dtype}; give whole numbers, one row for "
                f"each of the {self.n_hypotheses} hypotheses"
            )
        columns = as_indices(items, table.shape[1], "item")
        answers = np.asarray(labels)
        if columns.ndim != 1 or columns.shape != answers.shape:
            raise InvalidInputError(
                f"items have shape {columns.shape} and labels {answers.shape}; give one label for each item"
            )
        if answers.size and (answers.dtype.kind not in "iu" or answers.min() < 0):
            raise InvalidInputError(
                "a label is negative or not a whole number; labels count from 0, and a negative prediction is an "
                "abstention, which is never right"
            )
        return table, columns, answers.astype(np.int64)


def n_tiles_for(n_samples: int) -> int:
    """How many tiles hold that many samples."""
    return -(-n_samples // TILE)


def words_shape(n_hypotheses: int, n_samples: int) -> tuple[int, int, int]:
    """The shape of the words that :meth:`PackedTable.from_words` takes: (n_tiles, n_blocks, words of a block)."""
    return n_tiles_for(n_samples), -(-n_hypotheses // BLOCK), BLOCK_BYTES // 8


def aligned_zeros(shape: tuple[int, ...]) -> Bits:
    """Zeros of type uint8 that begin at a cache line: a vector that straddles two takes longer to load."""
    size = math.prod(shape)
    room = np.zeros(size + CACHE_LINE, np.uint8)
    start = -room.ctypes.data % CACHE_LINE
    return room[start : start + size].reshape(shape)


def in_threads(work: Callable[[int, int], object], n: int, n_threads: int, grain: int) -> None:
    """Call ``work(start, stop)`` on ranges that together are 0 to n - 1, in up to so many threads.

    ``work`` releases the interpreter lock. Ranges shorter than ``grain`` are not worth a thread. Numba's own parallel
    loops are not used: under its default threading layer two of them at the same time, say from two requests to a
    server, end the process.
    """
    if n_threads < 1:
        raise InvalidInputError(f"n_threads is {n_threads}; there must be at least one thread")
    # Several ranges for each thread, so that one that is held up does not hold up all.
    n_ranges = min(4 * n_threads, n // max(1, grain))
    if n_threads == 1 or n_ranges < 2:
        work(0, n)
        return
    ranges: SimpleQueue[tuple[int, int]] = SimpleQueue()
    for i in range(n_ranges):
        ranges.put((n * i // n_ranges, n * (i + 1) // n_ranges))
    # The caller's thread works too: it is awake already, and has its place on a processor.
    with ThreadPoolExecutor(n_threads - 1) as pool:
        others = [pool.submit(_work_off, work, ranges) for _ in range(n_threads - 1)]
        _work_off(work, ranges)
    for other in others:
        other.result()


def _work_off(work: Callable[[int, int], object], ranges: SimpleQueue[tuple[int, int]]) -> None:
    while True:
        try:
            start, stop = ranges.get_nowait()
        except Empty:
            return
        work(start, stop)


def _in_bytes(
    items: NDArray[np.int64], labels: NDArray[np.int64], first: int
) -> tuple[NDArray[np.uint64], NDArray[np.int64], Bits, int]:
    """The samples from number ``first`` on as whole bytes: items and labels (n_bytes, 8), the mask of the bits in each
    byte that are samples at all (n_bytes,), and the number of the first byte."""
    before = first % 8
    samples = np.zeros((3, -(-(before + items.size) // 8), 8), np.int64)
    samples.reshape(3, -1)[:, before : before + items.size] = items, labels, np.ones_like(items)
    # Without a sign, an index needs no check for counting from the end.
    return samples[0].view(np.uint64), samples[1], np.packbits(samples[2] > 0, bitorder="little"), first // 8


@njit(cache=True, nogil=True)
def _pack(
    bits: Bits,
    preds: NDArray[Any],
    items: NDArray[np.uint64],
    labels: NDArray[np.int64],
    mask: Bits,
    first_byte: int,
    start: int,
    stop: int,
) -> None:
    """Write the bits under ``mask``, from ``first_byte`` of the chunk on, for the blocks ``start`` to ``stop`` - 1."""
    for h in range(start * BLOCK, min(stop * BLOCK, preds.shape[0])):
        row = preds[h]
        for i in range(mask.size):
            value = 0
            for bit in range(8):
                value |= (row[items[i, bit]] == labels[i, bit]) << bit
            tile, byte = divmod(first_byte + i, TILE_BYTES)
            place = (tile, h // BLOCK, byte, h % BLOCK)
            bits[place] = bits[place] & ~mask[i] | value & mask[i]


def _unpacked(packed: Bits, n_samples: int) -> Bools:
    return np.unpackbits(packed, axis=-1, bitorder="little")[..., :n_samples].view(np.bool_)


def as_indices(indices: ArrayLike, n: int, what: str) -> NDArray[np.int64]:
    """``indices`` as int64, each from 0 to n - 1."""
    given = np.asarray(indices)
    if given.size == 0:
        return given.astype(np.int64)
    if given.dtype.kind not in "iu":
        raise InvalidInputError(f"the {what} is of type {given.dtype}; give a whole number from 0 to {n - 1}")
    outside = (given < 0) | (given >= n)
    if outside.any():
        raise InvalidInputError(f"there is no {what} {given[outside][0]}; they are numbered 0 to {n - 1}")
    return given.astype(np.int64)


def _memory_bytes() -> float:
    """The machine's memory; infinite where it cannot be told, so that tables stay in memory there."""
    if not hasattr(os, "sysconf"):
        return float("inf")
    return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
