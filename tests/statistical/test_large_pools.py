"""The accuracy interval of a training that chooses from some rows of its pool is for the whole pool."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom
from sklearn.dummy import DummyClassifier

from onebit.classifier import YesNoClassifier
from onebit.records import pool as of_records

N_ROWS, N_DRAWN, N_RUNS, DELTA = 2000, 120, 120, 0.2
#: More misses than these have a probability below 1e-6 if each has one of at most DELTA.
MOST_MISSES = int(binom.isf(1e-6, N_RUNS, DELTA))


def pool() -> tuple[NDArray[np.float64], NDArray[np.int64], float]:
    """Rows, labels, and the share of label 0, which is the accuracy of whoever always says it: much less at the end."""
    rng = np.random.default_rng(0)
    y = (rng.random(N_ROWS) >= np.linspace(0.95, 0.35, N_ROWS)).astype(np.int64)
    return rng.standard_normal((N_ROWS, 2)), y, float((y == 0).mean())


def n_misses(monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(of_records, "MOST_POOL", N_DRAWN)
    x, y, accuracy = pool()
    always = DummyClassifier(strategy="constant", constant=0)
    missed = 0
    for seed in range(N_RUNS):
        model = YesNoClassifier(always, budget=50, audit=40, delta=DELTA, seed=seed).fit(x, y)
        assert model.n_pool_ == N_DRAWN
        assert model.accuracy_interval_ is not None
        low, high = model.accuracy_interval_
        missed += not low <= accuracy <= high
    return missed


def test_the_interval_holds_for_the_whole_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    """It fails with probability below 1e-6 if the interval is what it claims to be."""
    assert n_misses(monkeypatch) <= MOST_MISSES


def test_twin_the_first_rows_are_no_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    def first_rows(n_rows: int, budget: int | None, seed: int) -> NDArray[np.int64]:
        return np.arange(N_DRAWN)

    monkeypatch.setattr("onebit.learners.training.pool.rows_of_pool", first_rows)
    assert n_misses(monkeypatch) > MOST_MISSES
