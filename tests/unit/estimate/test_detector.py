"""Evidence against a choice: against the plain formula, and its mean over all orders."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from onebit.estimate.delta import alarm_threshold
from onebit.estimate.detector import BETS, MOST, after_batch, alarms, nothing_yet


def plain(D: list[int | None], n_differ: int, n_items: int, eps: float) -> list[float]:
    """The growth of one rival as the docstring says it; None where the two say the same."""
    on_batch, on_population = np.ones(BETS.size), np.ones(BETS.size)
    S, left = 0, n_differ
    for d in D:
        on_population *= 1 + BETS / (1 + eps) * ((d or 0) - eps)
        if d is not None:
            c = (n_items * eps - S) / left
            if c < 1:
                on_batch *= 1 + BETS / (1 + c) * (d - c)
            S, left = S + d, left - 1
    return np.minimum(on_batch, on_population).tolist()


def grown(D: list[int | None], n_differ: int, n_items: int, eps: float) -> np.ndarray:
    said = np.array([[d or 0 for d in D]])
    differ = np.array([[d is not None for d in D]])
    return after_batch(nothing_yet(1), said, differ, np.array([n_differ]), n_items, eps)[0]


@pytest.mark.parametrize("D", [[1, None, -1, 1], [None, None], [0, 1, 1], [-1, -1, 1]])
def test_growth_is_the_plain_product(D: list[int | None]) -> None:
    assert grown(D, 6, 40, 0.05).tolist() == pytest.approx(plain(D, 6, 40, 0.05))


@pytest.mark.parametrize("D", [[1, 0, 0, None, None], [1, 1, -1, None, None], [1, 1, -1, -1, None]])
def test_its_mean_over_all_orders_is_at_most_one(D: list[int | None]) -> None:
    n_differ, n = sum(d is not None for d in D), len(D)
    eps = max(sum(d or 0 for d in D) / n, 0.01)
    for n_drawn in range(1, n + 1):
        found = [grown(list(order[:n_drawn]), n_differ, n, eps) for order in permutations(D)]
        assert (np.mean(found, axis=0) <= 1 + 1e-12).all()


def test_its_mean_over_independent_draws_is_at_most_one() -> None:
    # Of three items drawn from a population with D = 1, 0, -1 and 0 where the two say the same, ahead by .1.
    kinds = {1: 0.3, 0: 0.1, -1: 0.2, None: 0.4}
    mean = np.zeros(BETS.size)
    for a, p in kinds.items():
        for b, q in kinds.items():
            for c, r in kinds.items():
                n_differ = sum(d is not None for d in (a, b, c))
                # All that is drawn is looked at but for the last.
                mean += p * q * r * grown([a, b], n_differ, 3, 0.1)
    assert (mean <= 1 + 1e-12).all()


def test_a_bet_on_a_claim_that_is_false_grows() -> None:
    assert grown([1] * 10, 40, 100, 0.05).mean() > 5


def test_one_more_unit_is_staked_before_each_batch() -> None:
    quiet = np.zeros((1, 0), dtype=np.int64), np.zeros((1, 0), dtype=bool)
    found = nothing_yet(1)
    for _ in range(3):
        found = after_batch(found, *quiet, np.array([0]), 10, 0.1)
    assert (found == 3).all()


def test_where_eps_is_refuted_on_the_batch_the_population_decides() -> None:
    # Ahead on 4 of 10 items whatever the last one is.
    found = grown([1, 1, 1, 1, 1], 6, 10, 0.05)
    assert found.tolist() == pytest.approx(np.prod([1 + BETS / 1.05 * 0.95] * 5, axis=0).tolist())


def test_evidence_is_cut_off_where_a_log_could_not_hold_it() -> None:
    assert grown([1] * 2000, 2000, 2000, 0.05).max() == pytest.approx(MOST)


def test_alarms_are_of_those_with_their_share_of_evidence() -> None:
    evidence = np.array([[299.0] * 10, [300.0] * 10, [0.0] * 10])
    assert alarm_threshold(3, 100) == 300
    assert alarms(evidence, 100).tolist() == [1]
