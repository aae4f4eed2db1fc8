"""Hedge for low-variance exploration: phase 1 of the sequel's learners. No potential, no oracle, closed-form updates.

*The sequel* is Erez, Chen, Cohen, Koren, Mansour, Moran, Rakhlin, "The Sample Complexity of Multiclass and Sparse
Contextual Bandits", COLT 2026. Two notions make up this module:

- A *gain*: u_t(h) = sum over the labels j that got a yes in round t of [j in h(x_t)] / (floor + (1 - gamma) c_j / T),
  where c_j counts the hypotheses drawn before round t that give label j at x_t. It is large where nobody drawn so far
  covers a right label. Rounds without a yes have no gain and change nothing.
- A *draw*: in every round one hypothesis is drawn in proportion to exp(rate * sum of its gains so far). The mixture is
  the uniform one over all T draws.

Weights are kept as logarithms, so none is lost however far it falls behind. A yes costs a few passes over N numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from onebit.kernels.bits import PackedTable

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: ``draw(start, stop, probability)``: how often each hypothesis is drawn in rounds start, ..., stop - 1; shape (N,).
Draw = Callable[[int, int, Floats], Ints]


def hedge_draws(
    table: PackedTable,
    round_of: Ints,
    n_rounds: int,
    *,
    floor: float,
    gamma: float,
    rate: float,
    draw: Draw,
    copies: Ints | None = None,
) -> Ints:
    """How often each hypothesis was drawn in T = ``n_rounds`` rounds; shape (N,).

    Sequel: phase I of Algorithm 2 (floor = gamma / K) and of Algorithm 3 (floor = gamma m / K).

    Sample i of ``table`` is a label that got a yes in round ``round_of[i]`` (k,), in ascending order; several samples
    may be of one round. The hypothesis of a round is drawn before the round's gain counts. A row of the table may stand
    for several equal hypotheses: for ``copies`` (N,) of them, one each unless given.
    """
    log_weight = np.zeros(table.n_hypotheses) if copies is None else np.log(copies)
    drawn = np.zeros(table.n_hypotheses, dtype=np.int64)
    done = 0
    for t, samples in _by_round(round_of):
        probability = proportions(log_weight)
        drawn += draw(done, t, probability)
        log_weight += rate * _gain(table, samples, drawn / n_rounds, floor, gamma)
        drawn += draw(t, t + 1, probability)
        done = t + 1
    drawn += draw(done, n_rounds, proportions(log_weight))
    return drawn


def proportions(log_weight: Floats) -> Floats:
    """exp(log_weight) divided by its sum, also where it is beyond the range of a float."""
    weight = np.exp(log_weight - log_weight.max())
    share: Floats = weight / weight.sum()
    return share


def draw_by(uniform: Floats) -> Draw:
    """Draws by inversion: round t takes the hypothesis at which the running sum of probabilities passes uniform[t]."""

    def draw(start: int, stop: int, probability: Floats) -> Ints:
        edges = probability.cumsum()
        picked = np.searchsorted(edges[:-1], uniform[start:stop] * edges[-1], side="right")
        return np.bincount(picked, minlength=probability.size).astype(np.int64)

    return draw


def _gain(table: PackedTable, samples: list[int], share: Floats, floor: float, gamma: float) -> Floats:
    """u_t of the round that ``samples`` belong to; ``share`` is what of the T draws each hypothesis had before it."""
    gain = np.zeros(share.size)
    for sample in samples:
        says = table.column(sample)
        gain[says] += 1 / (floor + (1 - gamma) * share[says].sum())
    return gain


def _by_round(round_of: Ints) -> Iterator[tuple[int, list[int]]]:
    """The samples of each round that has any."""
    numbered = enumerate(round_of.tolist())
    for t, group in groupby(numbered, key=lambda pair: pair[1]):
        yield t, [i for i, _ in group]
