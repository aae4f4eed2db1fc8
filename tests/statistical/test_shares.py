"""How often models are accepted: intervals hold at every moment at once as often as they say; twins miss.

Each comparison raises a false alarm with probability at most 1e-6 for intervals that fail exactly as often as they may.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import binom, chisquare

from onebit.estimate.independent_wealth import Rounds
from onebit.estimate.shares import UNKNOWN, Intervals, count, share_intervals
from onebit.estimate.weighted_shares import WeightedEpoch, WeightedRounds
from onebit.hypotheses.finite import PredictionTable
from onebit.learners.certified import CertifiedLearner, PanelLearner
from onebit.learners.certified.sightings import Sightings, Skips
from onebit.learners.contract import run
from onebit.learners.items import Pool, Stream
from onebit.raters import SimulatedRater

FAILURE = 0.2


def most(n_runs: int) -> int:
    return int(binom.isf(1e-6, n_runs, FAILURE))


def n_missed(found: Intervals, truth: float) -> int:
    return int(((found.low > truth + 1e-9) | (found.high < truth - 1e-9)).sum())


@pytest.mark.parametrize("is_pool", [True, False])
@pytest.mark.parametrize("hides", [False, True])
def test_in_a_random_order(is_pool: bool, hides: bool, measured: Callable[[str], None]) -> None:
    """2,000 orders of 80 items, each row one; somebody who knows all verdicts hides some. The twin leaves these out."""
    rng, n_runs, n_items, n_yes = np.random.default_rng(5), 2000, 80, 48
    yes = rng.permuted(np.tile(np.arange(n_items) < n_yes, (n_runs, 1)), axis=1)
    if not is_pool:
        yes = rng.random((n_runs, n_items)) < n_yes / n_items
    unknown = yes & (rng.random(yes.shape) < 0.6) if hides else np.zeros_like(yes)
    sizes = np.full(n_runs, n_items) if is_pool else None
    everything, so_far = np.ones_like(yes), slice(0, 60)
    found = share_intervals(
        count((yes & ~unknown)[:, so_far], unknown[:, so_far], everything[:, so_far]), sizes, FAILURE
    )
    missed = n_missed(found, n_yes / n_items)
    measured(f"shares in a random order, pool {is_pool}, some hidden {hides}: {missed} of {n_runs} missed")
    assert missed <= most(n_runs)
    if hides:
        twin = count((yes & ~unknown)[:, so_far], np.zeros_like(yes)[:, so_far], ~unknown[:, so_far])
        assert n_missed(share_intervals(twin, sizes, FAILURE), n_yes / n_items) > most(n_runs)


def test_the_completed_order_is_one_of_all_items(measured: Callable[[str], None]) -> None:
    """How many of two closed items come before the first and the second draw from two open ones."""
    n_seeds = 6000
    before = [tuple(Skips(4, seed).before(2, 2).tolist()) for seed in range(n_seeds)]
    # Of the six orders of open and closed.
    expected = {(0, 0): 1, (0, 1): 1, (0, 2): 1, (1, 0): 1, (1, 1): 1, (2, 0): 1}
    assert set(before) == set(expected)
    measured(f"p = {chisquare([before.count(each) for each in expected]).pvalue:.3f}")
    assert chisquare([before.count(each) for each in expected]).pvalue > 1e-6


def _followed_up(seed: int, completes: bool) -> Intervals:
    """Two models a and b differ on 100 items, where a is right on half; c alone is wrong on 100 more, and soon out."""
    rng, n = np.random.default_rng(seed), 200
    truth = np.zeros(n, dtype=np.int64)
    a, b, c = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    a[:50], b[50:100], c[100:] = 1, 1, 1
    said = np.stack([a, b, c])
    sightings, skips = Sightings(3, said, False), Skips(n, seed)
    first = rng.permutation(n)[:20]
    left = np.setdiff1d(np.arange(100), first)
    for items, n_open in ((first, n), (rng.permutation(left), left.size)):
        verdict = (said[:, items] == truth[items]).astype(np.int8)
        if n_open < n:
            verdict[2] = UNKNOWN
        skipped = skips.before(items.size, n_open)
        sightings.add(said[:, items], verdict, skipped if completes else None)
    return sightings.shares(FAILURE)


def test_items_that_are_no_longer_drawn(measured: Callable[[str], None]) -> None:
    """a is right on 150 of the 200 items on which models differ. The twin takes what is drawn for a sample of all."""
    n_runs = 150
    missed = sum(n_missed(_followed_up(seed, True).of(np.array([0])), 0.75) for seed in range(n_runs))
    twin = sum(n_missed(_followed_up(seed, False).of(np.array([0])), 0.75) for seed in range(n_runs))
    measured(f"items no longer drawn: {missed} of {n_runs} missed; the twin {twin}")
    assert missed <= most(n_runs) < twin


def _weighted(seed: int, knows_weights: bool) -> tuple[Intervals, Intervals]:
    """400 items; two models differ everywhere, and are accepted on 60% and 30%: one of the two is asked about."""
    rng, m = np.random.default_rng(seed), 400
    z = rng.random((m, 2)) < (0.6, 0.3)
    q = rng.uniform(0.05, 0.12, (m, 2))
    # What is accepted is asked about more often.
    q[z] *= 4
    draw = rng.random(m)
    asked = np.where(draw < q[:, 0], 0, np.where(draw < q.sum(axis=1), 1, -1))
    guess = rng.random(2 * m)
    rounds = Rounds(
        np.arange(2),
        np.tile(np.arange(2, dtype=np.uint8)[:, None], (1, m)),
        2 * np.arange(m + 1),
        q.ravel() if knows_weights else np.full(2 * m, q.mean()),
        guess,
        guess,
        asked,
        np.where(asked >= 0, z[np.arange(m), np.maximum(asked, 0)], 0).astype(np.float64),
        0,
    )
    epochs = [WeightedEpoch(rounds, 0, 0)]
    found = WeightedRounds(epochs, 2)
    return found.shares(FAILURE), found.differences(1, FAILURE)


def test_weighted_answers(measured: Callable[[str], None]) -> None:
    """40 runs; the twin gives all answers the same weight."""
    n_runs, missed = 40, dict.fromkeys(("share", "difference", "share of the twin"), 0)
    for seed in range(n_runs):
        shares, gaps = _weighted(seed, knows_weights=True)
        missed["share"] += n_missed(shares.of(np.array([0])), 0.6)
        missed["difference"] += n_missed(gaps.of(np.array([0])), 0.3)
        missed["share of the twin"] += n_missed(_weighted(seed, knows_weights=False)[0].of(np.array([0])), 0.6)
    measured(f"weighted answers, of {n_runs} runs: {missed}")
    assert max(missed["share"], missed["difference"]) <= most(n_runs) < missed["share of the twin"]


def _table(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    truth, hard = rng.integers(0, 4, 250), rng.random(250)
    right = rng.random((4, 250)) < np.array([0.5, 0.65, 0.75, 0.85])[:, None] + 0.3 * (0.5 - hard)
    return np.where(right, truth, rng.integers(0, 4, (4, 250))), truth


@pytest.mark.parametrize("protocol", ["one-shot", "follow-up", "labels", "passive", "panel"])
@pytest.mark.parametrize("is_pool", [True, False])
def test_whole_runs(protocol: str, is_pool: bool, measured: Callable[[str], None]) -> None:
    """All shares and differences of a run at once, when it ends; the truth is that of the table."""
    n_runs, missed, widths = 10, 0, []
    for seed in range(n_runs):
        said, truth = _table(seed)
        rows = np.random.default_rng(seed).integers(0, 250, 1500)
        items = Pool(np.arange(250)) if is_pool else Stream(rows)
        table = PredictionTable(said, 4)
        if protocol == "panel":
            learner: CertifiedLearner | PanelLearner = PanelLearner(table, items, eps=0.06, delta=FAILURE, seed=seed)
        else:
            learner = CertifiedLearner(
                table,
                items,
                eps=0.06,
                delta=FAILURE,
                seed=seed,
                protocol="labels" if protocol == "passive" else protocol,  # type: ignore[arg-type]
                passive=protocol == "passive",
            )
        result = run(learner, SimulatedRater(truth if is_pool else truth[rows]))
        assert result.measure is not None
        found = result.measure()
        accepted = said == truth
        counted = np.ones(250, dtype=np.bool_) if protocol == "passive" else (said != said[0]).any(axis=0)
        gap = accepted.mean(axis=1) - accepted[result.chosen].mean()
        shares = accepted[:, counted].mean(axis=1)
        missed += any(
            ((each.low > true + 1e-9) | (each.high < true - 1e-9)).any()
            for each, true in ((found.shares, shares), (found.ahead, gap))
        )
        assert found.all_count == (protocol == "passive")
        widths.append((found.shares.high - found.shares.low).mean())
    measured(f"shares after {protocol}, pool {is_pool}: {missed} of {n_runs} runs missed, width {np.mean(widths):.2f}")
    assert missed <= most(n_runs)
    assert np.mean(widths) < 0.9
