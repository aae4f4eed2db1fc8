"""How fast the kernel is: weighted agreement against what numpy offers and against merely reading the bits.

For each case, in billions of entries (hypotheses times samples times weight vectors) a second at equal threads: the
kernel; ``H32 @ a``, numpy's float32 product with the 0/1 matrix already at hand; ``(H == y) @ a`` from uint8
predictions; and the sum of the table's words, which is how fast memory can be read. Contestants take turns, and the
best of several rounds counts. The bits are random; for a mapped table they lie in a file. Errors are relative to
sum |weight|.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from benchmarks.harness import Case, best_seconds, run_cases
from numba import njit
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from onebit.kernels.bits import PackedTable, aligned_zeros, in_threads, words_shape
from onebit.kernels.planes import N_COARSE_PLANES, N_PLANES, agreement, best, error_bound, exact_agreement

ROUNDS = 7
#: Rows of the dense matrices: enough to leave the caches, few enough to fit the memory.
DENSE_ROWS, COMPARED_ROWS = 10_000, 2_000
#: Rows on which the error is measured.
CHECKED_ROWS = 2_000
N_BEST = 10

READ_GRAIN = 2**16

Words = NDArray[np.uint64]
#: Work, and the number of entries that it deals with.
Contestant = tuple[Callable[[], Any], int]


def cases() -> Iterator[Case]:
    main = {"N": 100_000, "m": 10_000, "vectors": 1, "planes": N_PLANES, "mapped": False}
    variants: list[Case] = [
        {},
        {"planes": N_COARSE_PLANES},
        {"vectors": 20},
        {"N": 1_000},
        {"N": 1_000_000},
        {"N": 1_000_000, "mapped": True},
    ]
    for variant in variants:
        for threads in (1, 2):
            yield {**main, **variant, "threads": threads}


def random_words(shape: tuple[int, int, int], mapped: bool) -> Words:
    """Random bits, tile by tile, in memory or in a file that vanishes with the array."""
    rng = np.random.default_rng(0)
    words: Words = aligned_zeros((*shape[:2], 8 * shape[2])).view(np.uint64)
    if mapped:
        with tempfile.TemporaryFile() as file:
            words = np.memmap(file, np.uint64, "w+", shape=shape)
    for tile in words:
        tile[:] = rng.integers(0, 2**64, tile.shape, np.uint64)
    return words


@njit(cache=True, nogil=True)
def _sum_words(words: Words, start: int, stop: int) -> np.uint64:
    total = np.uint64(0)
    for word in words[start:stop]:
        total += word
    return total


def measure(case: Case) -> Case:
    rng = np.random.default_rng(1)
    n, m, threads = case["N"], case["m"], case["threads"]
    words = random_words(words_shape(n, m), case["mapped"])
    table = PackedTable.from_words(words, n, m)
    weight = 1 / rng.uniform(0.05, 1, (case["vectors"], m))
    dense = rng.integers(0, 2, (DENSE_ROWS, m)).astype(np.float32)
    dense_weight = weight[0].astype(np.float32)
    predictions, labels = rng.integers(0, 10, (COMPARED_ROWS, m)).astype(np.uint8), rng.integers(0, 10, m)
    flat = words.reshape(-1)
    contestants: dict[str, Contestant] = {
        "kernel": (partial(agreement, table, weight, case["planes"], threads), n * m * case["vectors"]),
        "one thread": (partial(agreement, table, weight, case["planes"], 1), n * m * case["vectors"]),
        "best": (partial(best, table, weight[0], N_BEST, case["planes"], threads), n * m),
        "H32 @ a": (partial(np.matmul, dense, dense_weight), dense.size),
        "(H == y) @ a": (lambda: (predictions == labels) @ weight[0], predictions.size),
        "reading": (partial(in_threads, partial(_sum_words, flat), flat.size, threads, READ_GRAIN), n * m),
    }
    speed = speeds(contestants, threads)
    figures = {f"{name}, G/s": speed[name] / 1e9 for name in contestants if name != "one thread"}
    ratios = {
        f"kernel / {name}": speed["kernel"] / speed[name] for name in contestants if name not in ("kernel", "best")
    }
    return {**figures, **ratios, **errors(table, weight[0], case["planes"])}


def speeds(contestants: dict[str, Contestant], threads: int) -> dict[str, float]:
    """Entries a second of each contestant, the best of several rounds in which all take turns."""
    seconds = dict.fromkeys(contestants, np.inf)
    with threadpool_limits(threads):
        for _ in range(ROUNDS):
            for name, (work, _) in contestants.items():
                seconds[name] = min(seconds[name], best_seconds(work, repeats=2))
    return {name: size / seconds[name] for name, (_, size) in contestants.items()}


def errors(table: PackedTable, weight: NDArray[np.float64], n_planes: int) -> Case:
    rows = np.arange(min(CHECKED_ROWS, table.n_hypotheses))
    error = np.abs(agreement(table, weight, n_planes)[rows] - exact_agreement(table, rows, weight)).max()
    total = np.abs(weight).sum()
    return {"error": float(error / total), "error bound": float(error_bound(weight, n_planes) / total)}


if __name__ == "__main__":
    run_cases("kernel", cases(), measure)
