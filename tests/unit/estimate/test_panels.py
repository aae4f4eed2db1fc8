"""Wealth of panels against step 15 written out item by item, and what it must keep whoever was judged when."""

from __future__ import annotations

import itertools
import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.panels import Ints, Verdicts, random_panel, wealth_on_pool, wealth_on_stream

from onebit.estimate.betting import CAP
from onebit.estimate.panels import PanelWealth
from onebit.estimate.pool_wealth import PoolWealth
from onebit.estimate.shares import UNKNOWN

seeds = st.integers(0, 10**6)
thresholds = st.sampled_from([0.0, 0.01, 0.1, 0.3, 1.0])


def judged(seed: int, n_models: int = 4, unknown: float = 0.0) -> tuple[Ints, Verdicts]:
    """What models say on 30 items, and the verdicts, some of them unknown; equal outputs have the same."""
    panel = random_panel(seed, n_models, n_items=30)
    known = np.random.default_rng([seed, 1]).random(panel.yes.shape) >= unknown
    verdict = np.where(known[np.arange(30), panel.said], panel.accepted, UNKNOWN)
    return panel.said, np.where(panel.said < 0, 0, verdict).astype(np.int8)


def panel_wealth(said: Ints, verdict: Verdicts, n_drawn: int, is_pool: bool = True) -> PanelWealth:
    n_items = said.shape[1] if is_pool else None
    return PanelWealth(said[:, :n_drawn], verdict[:, :n_drawn], n_items, lambda g: (said != said[g]).sum(axis=1))


@given(seeds, st.sampled_from([0.0, 0.02, 0.3]), st.integers(0, 30), thresholds)
def test_wealth_on_a_pool_is_that_of_the_document(seed: int, unknown: float, n_drawn: int, c: float) -> None:
    said, verdict = judged(seed, unknown=unknown)
    for g in range(4):
        found = panel_wealth(said, verdict, n_drawn).log_wealth(g, c)
        plain = [wealth_on_pool(said, verdict, h, g, n_drawn, c) for h in range(4)]
        np.testing.assert_allclose(found, plain, rtol=1e-9, atol=1e-9)


@given(seeds, st.sampled_from([0.0, 0.02, 0.3]), st.integers(0, 30), thresholds)
def test_wealth_on_a_stream_is_that_of_the_document(seed: int, unknown: float, n_drawn: int, c: float) -> None:
    said, verdict = judged(seed, unknown=unknown)
    for g in range(4):
        found = panel_wealth(said, verdict, n_drawn, is_pool=False).log_wealth(g, c)
        plain = [wealth_on_stream(said, verdict, h, g, n_drawn, c) for h in range(4)]
        np.testing.assert_allclose(found, plain, rtol=1e-9, atol=1e-9)


@given(seeds, thresholds)
def test_where_all_is_known_it_is_the_wealth_of_draws_without_replacement(seed: int, c: float) -> None:
    said, verdict = judged(seed)
    pool = PoolWealth(said)
    pool.add(np.arange(20), verdict[:, :20] == 1)
    for g in range(4):
        found, other = panel_wealth(said, verdict, 20).log_wealth(g, c), pool.log_wealth(g, c)
        # A hypothesis is not its own rival.
        np.testing.assert_allclose(np.delete(found, g), np.delete(other, g), rtol=1e-9, atol=1e-9)


@given(seeds, st.integers(0, 29), thresholds, st.booleans())
def test_nothing_after_the_first_unknown_verdict_counts(seed: int, gap: int, c: float, is_pool: bool) -> None:
    said, verdict = judged(seed)
    said[0, gap], said[1, gap] = 0, 1
    verdict[0, gap] = UNKNOWN
    before = panel_wealth(said, verdict, gap, is_pool).log_wealth(0, c)[1]
    for after in (0, 1):
        verdict[:2, gap + 1 :] = np.where(said[:2, gap + 1 :] >= 0, after, 0)
        assert panel_wealth(said, verdict, 30, is_pool).log_wealth(0, c)[1] == before


@given(seeds, st.integers(0, 30), st.booleans())
def test_wealth_grows_with_the_threshold(seed: int, n_drawn: int, is_pool: bool) -> None:
    said, verdict = judged(seed)
    steps = [panel_wealth(said, verdict, n_drawn, is_pool).log_wealth(0, c) for c in (0.0, 0.05, 0.2, 0.6, 1.0)]
    for lower, higher in itertools.pairwise(steps):
        assert (lower <= higher + 1e-12).all()


@given(seeds, st.integers(0, 29), thresholds, st.booleans())
def test_a_lower_difference_never_takes_wealth(seed: int, place: int, c: float, is_pool: bool) -> None:
    """Step 15, "What is shown beside it": so the least that any group would give bounds what is claimed."""
    said, verdict = judged(seed)
    said[0, place], said[1, place] = 0, 1
    found = []
    for D in (-1, 0, 1):
        verdict[1, place], verdict[0, place] = D == 1, D == -1
        found.append(panel_wealth(said, verdict, 30, is_pool).log_wealth(0, c)[1])
    assert found[0] >= found[1] - 1e-12
    assert found[1] >= found[2] - 1e-12


@given(seeds, st.integers(0, 30), st.booleans())
def test_no_bet_loses_more_than_its_share_in_one_round(seed: int, n_drawn: int, is_pool: bool) -> None:
    """Factors are at least 1 - CAP, at whatever threshold: so wealth stays positive."""
    said, verdict = judged(seed, n_models=2)
    for c in (0.0, 0.3):
        wealth = [panel_wealth(said, verdict, m, is_pool).log_wealth(0, c)[1] for m in range(n_drawn + 1)]
        finite = [each for each in wealth if math.isfinite(each)]
        assert all(after - before >= math.log(1 - CAP) - 1e-9 for before, after in itertools.pairwise(finite))


def test_a_claim_that_the_pool_cannot_bear_is_rejected_before_the_first_answer() -> None:
    """The two differ on 3 of 10 items: neither is ahead by more than .3."""
    said = np.zeros((2, 10), dtype=np.int64)
    said[1, :3] = 1
    verdict = np.full((2, 10), UNKNOWN, dtype=np.int8)
    wealth = panel_wealth(said, verdict, 0)
    assert wealth.log_wealth(0, 0.3)[1] == 0
    assert wealth.log_wealth(0, 0.31)[1] == math.inf


def test_a_pool_to_its_end_tells_the_gap_exactly() -> None:
    said, verdict = judged(7)
    score = (verdict == 1).sum(axis=1)
    for g in range(4):
        for h in set(range(4)) - {g}:
            gap = (score[h] - score[g]) / 30
            wealth = panel_wealth(said, verdict, 30)
            assert wealth.log_wealth(g, max(gap, 0) + 1e-9)[h] == math.inf
            assert gap <= 0 or wealth.log_wealth(g, gap - 1e-9)[h] < math.inf


def test_differences_are_those_that_are_known() -> None:
    said = np.array([[0, 1, 2, -1, 3], [0, 2, 1, 0, 1], [1, 1, 2, -1, 3]])
    verdict = np.array([[UNKNOWN, 1, 0, 0, UNKNOWN], [UNKNOWN, 0, 1, 1, 1], [0, 1, 0, 0, UNKNOWN]], dtype=np.int8)
    total, squares, is_known = panel_wealth(said, verdict, 5).differences(0)
    # Model 1: the same, -1, +1, +1 against an abstention, unknown. Model 2: unknown, then the same throughout.
    assert total.tolist() == [0, 1, 0]
    assert squares.tolist() == [0, 3, 0]
    assert is_known.tolist() == [True, False, False]
    assert panel_wealth(said, verdict, 4).differences(0)[2].tolist() == [True, True, False]
