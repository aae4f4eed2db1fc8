"""Neighbours that are found in blocks are the nearest, in whatever order they are asked for."""

from __future__ import annotations

import numpy as np
import pytest

from onebit.learners.training import nearest
from onebit.learners.training.constants import N_NEIGHBOURS
from onebit.learners.training.nearest import Nearest


def by_brute_force(x: np.ndarray, listed: np.ndarray) -> np.ndarray:
    """For each listed item the others of the list, nearest first."""
    distance = np.linalg.norm(x[listed][:, None] - x[listed], axis=2)
    np.fill_diagonal(distance, np.inf)
    found: np.ndarray = listed[distance.argsort(axis=1)[:, :-1]]
    return found


@pytest.mark.parametrize("n_listed", [2, 40, 65, 90])
def test_neighbours_are_the_nearest_of_those_listed(n_listed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """In blocks of 32, the last of which is not whole."""
    monkeypatch.setattr(nearest, "SEARCH_BLOCK", 32)
    rng = np.random.default_rng(0)
    x, listed = rng.standard_normal((100, 3)).astype(np.float32), rng.permutation(100)[:n_listed]
    found = Nearest(x, listed).of(listed)
    assert np.array_equal(found, by_brute_force(x, listed)[:, :N_NEIGHBOURS])
    assert np.array_equal(Nearest(x, listed, 3).of(listed), by_brute_force(x, listed)[:, :3])
    assert np.array_equal(np.flatnonzero(Nearest(x, listed).holds), np.sort(listed))


def test_what_is_found_does_not_hang_on_the_order_asked_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nearest, "SEARCH_BLOCK", 32)
    rng = np.random.default_rng(1)
    # Many distances are equal.
    x, listed = rng.integers(0, 4, (200, 5)).astype(np.float32), rng.permutation(200)
    at_once, little_by_little = Nearest(x, listed), Nearest(x, listed)
    for item in rng.permutation(200).tolist():
        one = little_by_little.of(np.array([item]))
        assert np.array_equal(one, at_once.of(np.arange(200))[[item]])


def test_equal_rows_are_never_their_own_neighbours() -> None:
    found = Nearest(np.zeros((200, 2), dtype=np.float32), np.arange(200)).of(np.arange(200))
    assert not (found == np.arange(200)[:, None]).any()
    assert all(np.unique(row).size == row.size for row in found)
