"""Synthetic classes of any size as bits: hypotheses come in clusters that err alike, and clusters differ in accuracy.

Each cluster has a prototype that is right on a share of the samples. A hypothesis follows its prototype on a share of
the samples, and on the others is right at random, at an accuracy near that of the cluster. Coin flips alone would make
all hypotheses alike, and any mixture nearly optimal.

Eight hypotheses are made at once, in the layout of ``kernels/bits.py``: a word holds one byte of each of them.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from onebit.kernels.bits import TILE_BYTES, aligned_zeros, words_shape

Words = NDArray[np.uint64]

#: Accuracies of the clusters, lowest and highest: in the main benchmark, and in one where everybody is weak.
MIXED, WEAK = (0.05, 0.9), (0.05, 0.3)
N_CLUSTERS = 200
#: Chances are multiples of 2^-CHANCE_BITS.
CHANCE_BITS = 6
#: Share of the samples on which a hypothesis follows its prototype, in those multiples.
FOLLOWING = 48
WORDS_IN_BYTE = 4
SAME_IN_ALL_BYTES = np.uint64(0x0101010101010101)


def empty_words(n_hypotheses: int, n_samples: int) -> Words:
    """Room for the words of a table, in memory."""
    n_tiles, n_blocks, n_words = words_shape(n_hypotheses, n_samples)
    words: Words = aligned_zeros((n_tiles, n_blocks, 8 * n_words)).view(np.uint64)
    return words


def fill_clusters(words: Words, accuracies: tuple[float, float], seed: int) -> None:
    """Fill the words of a table (n_tiles, n_blocks, 256), in memory or mapped. More tiles only add samples."""
    rng = np.random.default_rng(seed)
    n_groups = words.shape[1] * WORDS_IN_BYTE
    scale = 2**CHANCE_BITS
    cluster_chance = np.rint(scale * np.linspace(*accuracies, N_CLUSTERS)).astype(np.int64)
    cluster = rng.integers(0, N_CLUSTERS, n_groups)
    chance = np.clip(cluster_chance[cluster] + rng.integers(-3, 4, n_groups), 1, scale - 1)
    for t in range(words.shape[0]):
        state = np.random.default_rng((seed, t)).integers(1, 2**63, dtype=np.uint64)
        _fill_tile(words[t], cluster_chance, cluster, chance, state)


@njit(cache=True)
def _next(state: np.uint64) -> np.uint64:
    """Xorshift: the next state, whose bits are random enough for a benchmark."""
    state ^= state << np.uint64(13)
    state ^= state >> np.uint64(7)
    return state ^ (state << np.uint64(17))


@njit(cache=True)
def _bits_of_chance(chance: int, state: np.uint64) -> tuple[np.uint64, np.uint64]:
    """64 bits, each 1 with chance / 2^CHANCE_BITS, and the new state: an AND halves the chance, an OR halves its
    distance to 1."""
    bits = np.uint64(0)
    for place in range(CHANCE_BITS):
        state = _next(state)
        bits = bits | state if chance >> place & 1 else bits & state
    return bits, state


@njit(cache=True)
def _fill_tile(
    words: Words,
    cluster_chance: NDArray[np.int64],
    cluster: NDArray[np.int64],
    chance: NDArray[np.int64],
    state: np.uint64,
) -> None:
    prototypes = np.empty(cluster_chance.size, np.uint64)
    for byte in range(TILE_BYTES):
        for c in range(cluster_chance.size):
            bits, state = _bits_of_chance(cluster_chance[c], state)
            prototypes[c] = (bits & np.uint64(255)) * SAME_IN_ALL_BYTES
        for group in range(cluster.size):
            own, state = _bits_of_chance(chance[group], state)
            follows, state = _bits_of_chance(FOLLOWING, state)
            word = (prototypes[cluster[group]] & follows) | (own & ~follows)
            words[group // WORDS_IN_BYTE, byte * WORDS_IN_BYTE + group % WORDS_IN_BYTE] = word
