"""Gates: how often what they say is wrong, and how many answers they need beside a paired test and full labels.

First, 300 runs of each population of ``tests/statistical/gate_populations.py`` at delta .2 (ONEBIT_RUNS sets another
number), and twins that must fail. Then two models that say different things on 8% of 10,000 items, one of them ahead by
so many points: the answers of a gate, and the items of McNemar's test with as much power. docs/decisions.md has what
this prints.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from benchmarks.harness import Case, run_cases
from benchmarks.populations import score
from numpy.typing import NDArray
from scipy.stats import norm
from tests.statistical.gate_populations import CASES, TWINS

from onebit.learners.contract import run
from onebit.raters import SimulatedRater
from onebit.records import Setting
from onebit.study.kinds.selection.selectors import build_selection

#: The pool of the comparison: items, labels, and the share on which the two say different things. On a tenth of these
#: neither is right.
N_ITEMS, N_LABELS, DIFFER, NEITHER = 10_000, 10, 0.08, 0.1
#: How far the candidate is ahead; 40 runs of each.
AHEAD = (0.03, 0.0, -0.03)
SEEDS = 40
DELTA = 0.05
#: The second is less than an item's weight: it passes nobody who is behind by one item.
MARGINS = (0.01, 0.00005)


def two_models(ahead: float, seed: int = 0) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """A baseline and a candidate that is ahead by so much, and the truth; on a fifth of the items both are wrong."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, N_LABELS, N_ITEMS)
    order = rng.permutation(N_ITEMS)
    n_won, n_lost, n_neither = (round(N_ITEMS * share) for share in (*won_and_lost(ahead), DIFFER * NEITHER))
    said = np.stack([truth, truth])
    won, lost, neither, both = np.split(order, np.cumsum([n_won, n_lost, n_neither]))
    said[0, won] = (truth[won] + rng.integers(1, N_LABELS, won.size)) % N_LABELS
    said[1, lost] = (truth[lost] + rng.integers(1, N_LABELS, lost.size)) % N_LABELS
    said[:, neither] = (truth[neither] + [[1], [2]]) % N_LABELS
    said[:, both[: N_ITEMS // 5]] = (truth[both[: N_ITEMS // 5]] + 1) % N_LABELS
    return said, truth


def won_and_lost(ahead: float) -> tuple[float, float]:
    """The shares of items that the candidate wins and loses."""
    one_right = DIFFER * (1 - NEITHER)
    return (one_right + ahead) / 2, (one_right - ahead) / 2


def comparisons() -> Iterator[Case]:
    for ahead in AHEAD:
        for margin in MARGINS if ahead else MARGINS[:1]:
            for protocol in ("one-shot", "follow-up", "panel", "labels"):
                yield {"ahead": ahead, "margin": margin, "protocol": protocol, "seeds": SEEDS}


def compare(case: Case) -> Case:
    said, truth = two_models(case["ahead"])
    needed, verdicts = [], []
    for seed in range(case["seeds"]):
        setting = Setting(case["margin"], DELTA, case["protocol"], seed=seed, baseline=0)
        result = run(build_selection(setting, "certified", said, N_LABELS).learner, SimulatedRater(truth))
        needed.append(result.n_answers)
        verdicts.append(result.gate[0].verdict)
    counts = {verdict: verdicts.count(verdict) for verdict in sorted(set(verdicts))}
    share = [float(np.quantile(needed, q)) for q in (0.5, 0.8, 0.95)]
    return {
        "mean": float(np.mean(needed)),
        "half within": share[0],
        "80% within": share[1],
        "95% within": share[2],
        "verdicts": ", ".join(f"{n} {verdict}" for verdict, n in counts.items()),
    }


def mcnemar(power: float, ahead: float) -> tuple[int, int]:
    """Items that are labelled for McNemar's two-sided test at DELTA: drawn from all, or from those that differ.

    With p the share won of the items on which one is right, n of these give power where
    sqrt(n) |2p - 1| = z(delta / 2) + z(1 - power) sqrt(4 p (1 - p)) (Connor 1987, given the discordant pairs).
    """
    won, lost = won_and_lost(ahead)
    p = won / (won + lost)
    z, z_power = norm.isf(DELTA / 2), norm.isf(1 - power)
    discordant = ((z + z_power * math.sqrt(4 * p * (1 - p))) / (2 * p - 1)) ** 2
    return math.ceil(discordant / (won + lost)), math.ceil(discordant * DIFFER / (won + lost))


if __name__ == "__main__":
    score("gates", CASES, TWINS)
    run_cases("gates_compared", comparisons(), compare)
    for power in (0.5, 0.8, 0.95):
        everywhere, where_they_differ = mcnemar(power, 0.03)
        print(
            f"McNemar with power {power:g}, 3 points on 8% of the items: {everywhere:,} labels of random items, or "
            f"{where_they_differ:,} of items on which the two differ; every item: {N_ITEMS:,} labels"
        )
