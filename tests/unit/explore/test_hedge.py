"""Hedge in log space against the sequel's Algorithms 2 and 3 written out, round by round."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from onebit.explore.hedge import draw_by, hedge_draws, proportions
from onebit.kernels.bits import PackedTable

GAMMA, K = 0.5, 6


def written_out(
    lists: NDArray[np.int64], asked: list[tuple[int, set[int]]], uniform: NDArray[np.float64], rate: float
) -> list[int]:
    """The hypotheses drawn, from ``lists`` (N, items, m): asked[t] is the item of round t and what got a yes there."""
    n_rounds, m = len(asked), lists.shape[2]
    weight = np.ones(len(lists))
    drawn: list[int] = []
    for t, (item, right) in enumerate(asked):
        edges = np.cumsum(weight / weight.sum())
        drawn.append(int((edges[:-1] <= uniform[t] * edges[-1]).sum()))
        gain = np.zeros(len(lists))
        for j in sorted(right):
            covered = sum(j in lists[h, item] for h in drawn[:-1])
            for h in range(len(lists)):
                gain[h] += (j in lists[h, item]) / (GAMMA * m / K + (1 - GAMMA) * covered / n_rounds)
        weight = weight * np.exp(rate * gain)
    return drawn


@pytest.mark.parametrize("m", [1, 3])
@pytest.mark.parametrize("seed", range(5))
def test_draws_are_the_algorithms(seed: int, m: int) -> None:
    rng = np.random.default_rng(seed)
    lists = np.stack([[rng.permutation(K)[:m] for _ in range(4)] for _ in range(7)])
    asked = [(int(rng.integers(4)), set(rng.permutation(K)[: rng.integers(0, m + 1)].tolist())) for _ in range(60)]
    uniform = rng.random(60)
    rate = GAMMA * m / (K * m)
    expected = np.bincount(written_out(lists, asked, uniform, rate), minlength=7)

    confirmed = [(t, item, j) for t, (item, right) in enumerate(asked) for j in sorted(right)]
    table = PackedTable(7)
    for _, item, j in confirmed:
        table.append((lists[:, item] == j).any(axis=1)[:, None].astype(np.int8), [0], [1])
    rounds = np.array([t for t, _, _ in confirmed])
    found = hedge_draws(table, rounds, 60, floor=GAMMA * m / K, gamma=GAMMA, rate=rate, draw=draw_by(uniform))
    assert found.tolist() == expected.tolist()
    assert found.sum() == 60


def test_without_a_yes_draws_are_uniform() -> None:
    uniform = (np.arange(40) + 0.5) / 40
    found = hedge_draws(
        PackedTable(4), np.zeros(0, np.int64), 40, floor=0.1, gamma=0.5, rate=0.1, draw=draw_by(uniform)
    )
    assert found.tolist() == [10, 10, 10, 10]


def test_a_hypothesis_far_behind_is_not_lost() -> None:
    """Weights that a float would have rounded to 0 come back when their hypothesis gains again."""
    log_weight = np.array([5000.0, 0.0])
    assert proportions(log_weight).tolist() == [1.0, 0.0]
    assert proportions(log_weight + np.array([0.0, 5000.0])).tolist() == [0.5, 0.5]


def test_a_label_that_is_covered_gains_less() -> None:
    """The running denominator: the same yes, again and again, is worth less to those who give that label."""
    table = PackedTable(2)
    table.append(np.array([[0], [1]], np.int8), [0] * 30, [0] * 30)
    seen: list[float] = []

    def draw(start: int, stop: int, probability: NDArray[np.float64]) -> NDArray[np.int64]:
        if stop == start + 1:
            seen.append(float(np.log(probability[0] / probability[1])))
        return np.array([stop - start, 0])

    hedge_draws(table, np.arange(30), 30, floor=0.01, gamma=0.5, rate=0.01, draw=draw)
    gains = np.diff(seen)
    assert gains[0] == pytest.approx(1)
    assert (np.diff(gains) < 0).all()
    assert gains[20] == pytest.approx(0.01 / (0.01 + 0.5 * 20 / 30))
