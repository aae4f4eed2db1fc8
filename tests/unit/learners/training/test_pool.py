"""Pools of which only some rows are chosen from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from onebit.classifier import YesNoClassifier
from onebit.learners.training.pool import PoolRows
from onebit.records import pool as of_records
from onebit.records.pool import rows_of_pool


def test_small_pools_are_taken_whole() -> None:
    assert rows_of_pool(200_000, None, 3) is None
    assert rows_of_pool(200_001, 100_001, 3) is None
    x = np.zeros((5, 2))
    pool = PoolRows.of(x, None, 3)
    assert pool.taken(x) is x
    assert (pool.row(4), pool.item(4), pool.rows_of((1, 3)).tolist()) == (4, 4, [1, 3])


def test_so_many_are_drawn_as_the_budget_may_need() -> None:
    rows, again, other = (rows_of_pool(10**9, 150_000, seed) for seed in (3, 3, 4))
    assert rows is not None
    assert again is not None
    assert other is not None
    assert rows.size == np.unique(rows).size == 300_000
    assert (np.diff(rows) > 0).all()
    assert np.array_equal(rows, again)
    assert not np.array_equal(rows, other)


def test_every_row_is_drawn_as_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 12 rows 4 are drawn 3,000 times. Each row's count is binomial(3,000, 1/3), with a standard deviation of 25.8.

    One of 12 is off by more than 5 of these with probability below 1e-5; where the first rows are favoured, it fails.
    """
    monkeypatch.setattr(of_records, "MOST_POOL", 4)
    counts = np.zeros(12)
    for seed in range(3000):
        counts[rows_of_pool(12, 2, seed)] += 1
    assert np.abs(counts - 1000).max() < 5 * 25.8


@pytest.mark.parametrize("kind", [np.asarray, csr_matrix, pd.DataFrame, list])
def test_rows_of_any_kind_are_taken(monkeypatch: pytest.MonkeyPatch, kind: type) -> None:
    monkeypatch.setattr(of_records, "MOST_POOL", 10)
    x = np.arange(60.0).reshape(30, 2)
    given = kind(x.tolist()) if kind is list else kind(x)
    pool = PoolRows.of(given, 5, 0, answers=[(29, "a", True), (0, "b", False), (99, "a", True), ("odd", "a", True)])
    assert pool.rows is not None
    assert {0, 29} <= set(pool.rows.tolist())
    assert len(pool.rows) in (10, 11, 12)
    taken = pool.taken(given)
    found = np.asarray(taken.todense() if kind is csr_matrix else taken)
    assert np.array_equal(found, x[pool.rows])
    assert [pool.row(pool.item(row)) for row in pool.rows.tolist()] == pool.rows.tolist()


def clusters(n_rows: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, n_rows)
    x = rng.standard_normal((3, 4))[y] * 3 + rng.standard_normal((n_rows, 4))
    return x.astype(np.float32), y


class Touched(np.ndarray):
    """An array that counts the rows that are read."""

    n_read = 0

    def __getitem__(self, key: Any) -> Any:
        found = np.asarray(self)[key]
        Touched.n_read += len(found)
        return found


def test_a_mapped_pool_is_learned_from_and_named_by_its_own_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(of_records, "MOST_POOL", 300)
    x, y = clusters(2000)
    np.save(tmp_path / "pool.npy", x)
    mapped = np.load(tmp_path / "pool.npy", mmap_mode="r", allow_pickle=False)
    asked: list[int] = []

    def answer(row: int, label: int) -> bool:
        asked.append(row)
        return bool(y[row] == label)

    model = YesNoClassifier(protocol="follow-up", budget=120, audit=30, seed=5)
    model.fit(mapped, answer=answer, labels=[0, 1, 2])
    drawn = rows_of_pool(2000, 120, 5)
    assert drawn is not None
    assert model.n_pool_ == drawn.size == 300
    assert set(asked) <= set(drawn.tolist())
    assert max(asked) >= 300
    assert model.answered_items_.tolist() == asked
    assert np.array_equal(model.verified_labels_, y[model.verified_items_])
    assert (model.predict(x) == y).mean() > 0.8
    # The run is that on these rows alone.
    alone = YesNoClassifier(protocol="follow-up", budget=120, audit=30, seed=5).fit(x[drawn], y[drawn])
    assert drawn[alone.answered_items_].tolist() == asked
    assert alone.accuracy_interval_ == model.accuracy_interval_


def test_only_what_is_drawn_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of_records, "MOST_POOL", 300)
    x, y = clusters(2000)
    Touched.n_read = 0
    YesNoClassifier(budget=50, seed=5).fit(x.view(Touched), answer=lambda r, k: bool(y[r] == k), labels=[0, 1, 2])
    assert Touched.n_read == 300


def test_earlier_answers_stay_in_the_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of_records, "MOST_POOL", 300)
    x, y = clusters(2000)
    first = YesNoClassifier(protocol="follow-up", budget=60, audit=20, seed=5).fit(x, y)
    on = YesNoClassifier(protocol="follow-up", budget=90, seed=6).fit(x, y, answers=first.history_)
    assert on.history_[:60] == first.history_
    audited = {row for row, _, _, was in on.history_ if was}
    assert {row for row, _, _, was in first.history_ if was} <= audited
    assert audited.isdisjoint({row for row, _, _, was in on.history_ if not was})


def test_what_is_no_pool_is_refused_in_words() -> None:
    for x in (np.array(3.0), None, 7):
        with pytest.raises((ValueError, TypeError)):
            YesNoClassifier().fit(x, [0, 1])
