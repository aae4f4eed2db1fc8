"""Which items are asked about: of those that few questions can settle the least certain, and others at random."""

from __future__ import annotations

import numpy as np
import pytest

from onebit.learners.training.choice import margins, uncertain_and_diverse, worth_asking
from onebit.learners.training.model import Floats, Ints


def choose(belief: Floats, n_wanted: int, chosen_share: float, seed: int = 0) -> tuple[Ints, Ints]:
    """What is worth asking about, where any items lie apart."""
    rng = np.random.default_rng(seed)
    return worth_asking(belief, n_wanted, chosen_share, lambda rows, n: rng.permutation(rows.size)[:n], rng)


def test_the_margin_is_between_the_two_likeliest() -> None:
    belief = np.array([[0.5, 0.2, 0.3], [0.1, 0.8, 0.1]])
    np.testing.assert_allclose(margins(belief), [0.2, 0.7])
    np.testing.assert_allclose(margins(np.ones((3, 1))), 1.0)


def test_near_duplicates_are_not_chosen_together() -> None:
    belief = np.array([[0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [0.0, 0.52, 0.48], [0.9, 0.1, 0.0], [1.0, 0.0, 0.0]])
    assert set(uncertain_and_diverse(belief, 2).tolist()) == {0, 2}


def test_items_that_cost_a_search_are_drawn_at_random_and_in_proportion() -> None:
    n_labels = 50
    certain = np.full((60, n_labels), 0.1 / 49)
    certain[:, 3] = 0.9
    torn = np.full((60, n_labels), 0.2 / 48)
    torn[:, :2] = 0.4
    unknown = np.full((80, n_labels), 1 / n_labels)
    belief, drawn = np.concatenate([certain, torn, unknown]), set()
    for seed in range(30):
        settled, others = choose(belief, 20, 1.0, seed)
        assert settled.size == 12
        assert others.size == 8
        # The torn come before the certain.
        assert ((settled >= 60) & (settled < 120)).all()
        assert (others >= 120).all()
        drawn |= set(others.tolist())
    assert len(drawn) > 70


def test_as_long_as_little_is_known_certain_items_are_asked_about_too() -> None:
    certain, torn = np.tile([0.9, 0.1, 0.0], (100, 1)), np.tile([0.5, 0.5, 0.0], (100, 1))
    belief = np.concatenate([certain, torn])
    n_certain = [int((choose(belief, 40, share, seed)[0] < 100).sum()) for share in (0.0, 0.5) for seed in range(50)]
    # Half of any 40 are certain: 20, with a standard deviation of 3.2 or less; of 20 by choice and 20 of any, 10.
    assert np.mean(n_certain[:50]) == pytest.approx(20, abs=4 * 3.2 / 50**0.5)
    assert np.mean(n_certain[50:]) == pytest.approx(10, abs=4 * 3.2 / 50**0.5)


def test_all_are_chosen_if_all_are_wanted() -> None:
    belief = np.concatenate([np.eye(9)[:4], np.full((5, 9), 1 / 9)])
    # Five of nine equal labels are more than the share that counts as settled.
    settled, others = choose(belief, 20, 1.0)
    assert sorted([*settled.tolist(), *others.tolist()]) == list(range(9))
    assert choose(belief[:0], 3, 0.5)[0].size == 0


def test_those_that_are_not_chosen_for_their_margins_lie_apart() -> None:
    """Whoever says what lies apart is asked once for those that can be settled, and once for the others."""
    belief = np.concatenate([np.tile([0.9, 0.1] + 38 * [0.0], (30, 1)), np.full((10, 40), 1 / 40)])
    asked: list[int] = []

    def last(rows: Ints, n_wanted: int) -> Ints:
        asked.extend([rows.size, n_wanted])
        return np.arange(rows.size)[rows.size - n_wanted :]

    settled, others = worth_asking(belief, 8, 0.0, last, np.random.default_rng(0))
    assert asked == [30, 6, 10, 2]
    assert settled.tolist() == [24, 25, 26, 27, 28, 29]
    assert others.tolist() == [38, 39]
