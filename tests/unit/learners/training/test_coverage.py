"""Items are covered as by the greedy choice written out, and crowds are left once they are covered."""

from __future__ import annotations

import numpy as np
import pytest

from onebit.learners.contract import run
from onebit.learners.training import coverage, planning
from onebit.learners.training.constants import LEAST_UNCOVERED
from onebit.learners.training.coverage import Coverage
from onebit.learners.training.follow_up import FollowUpPlanner
from onebit.learners.training.knowledge import Knowledge
from onebit.learners.training.learner import TrainingLearner
from onebit.learners.training.model import Floats, Ints, Known
from onebit.learners.training.planning import as_asked_about
from onebit.raters import SimulatedRater
from onebit.records import Answer, Question


def known_of(n_items: int, n_labels: int, asked: Ints) -> Knowledge:
    known = Knowledge(np.ones(n_items, dtype=np.bool_), n_labels)
    for item in asked.tolist():
        known.take_in(Question(0, item, 0, 1.0, 0), Answer.CANT_TELL)
    return known


def by_hand(x: Floats, n_near: int, asked: set[int], n_wanted: int) -> list[int]:
    """The greedy choice, with sets; among equals the first."""
    distance = np.linalg.norm(x[:, None] - x, axis=2)
    np.fill_diagonal(distance, np.inf)
    covers = [{item, *distance[item].argsort()[:n_near].tolist()} for item in range(len(x))]
    covered = {other for item in asked for other in covers[item]}
    chosen = []
    for _ in range(n_wanted):
        gains = [len(covers[item] - {item} - covered) / n_near for item in range(len(x))]
        best = int(np.argmax(gains))
        if gains[best] < LEAST_UNCOVERED:
            break
        chosen.append(best)
        covered |= covers[best]
    return chosen


class InOrder(np.random.Generator):
    """Leaves what it is given to put in any order as it is, so that ties can be checked."""

    def permutation(self, x: int) -> Ints:  # type: ignore[override]
        return np.arange(x)


@pytest.mark.parametrize("n_asked", [0, 1, 7])
def test_the_choice_is_the_greedy_one(n_asked: int) -> None:
    rng = np.random.default_rng(n_asked)
    x, asked = rng.standard_normal((120, 2)).astype(np.float32), rng.permutation(120)[:n_asked]
    covering = Coverage(x, np.arange(120), 3)
    found = covering.spread(np.arange(120), 40, known_of(120, 3, asked), InOrder(rng.bit_generator))
    expected = by_hand(x, 120 // 12, set(asked.tolist()), 40)
    assert 3 <= len(expected) < 40
    assert found[: len(expected)].tolist() == expected
    # The rest are any others.
    assert np.unique(found).size == 40


def test_what_is_outside_of_the_list_is_drawn_as_any(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coverage, "COVERED_AMONG", 30)
    rng = np.random.default_rng(1)
    covering = Coverage(rng.standard_normal((100, 2)).astype(np.float32), rng.permutation(100), 2)
    for items in (np.arange(100), np.arange(0), np.array([3])):
        found = covering.spread(items, 50, known_of(100, 2, np.arange(0)), rng)
        assert np.unique(found).size == min(50, items.size)
    all_others = covering.spread(np.arange(100), 0, known_of(100, 2, np.arange(0)), rng)
    assert all_others.size == 0


def test_a_pool_of_one_or_of_equal_items_is_covered() -> None:
    one = Coverage(np.zeros((1, 2), dtype=np.float32), np.arange(1), 2)
    assert one.spread(np.arange(1), 1, known_of(1, 2, np.arange(0)), np.random.default_rng(0)).tolist() == [0]
    equal = Coverage(np.zeros((50, 2), dtype=np.float32), np.arange(50), 2)
    found = equal.spread(np.arange(50), 50, known_of(50, 2, np.arange(3)), np.random.default_rng(0))
    assert sorted(found.tolist()) == list(range(50))


def test_what_tries_the_classifier_is_not_covered() -> None:
    x = np.random.default_rng(3).standard_normal((300, 2)).astype(np.float32)
    trained = TrainingLearner(Clueless(), x, 12, budget=60, protocol="follow-up", audit=20, near_are_alike=True)
    planner = trained._planner
    assert isinstance(planner, FollowUpPlanner)
    assert planner._coverage is not None
    # 20 are audited, and a tenth of the others is kept to be drawn at random.
    assert planner._coverage._nearest.holds.sum() == 252
    np.testing.assert_array_equal(planner._coverage._nearest.holds, trained._known.trains_on)


class Clueless:
    """A model that believes in nothing and never learns."""

    gamma, weights = 0.0, np.ones(1)

    def beliefs(self, x: np.ndarray) -> Floats:
        return np.full((1, len(x), 12), 1 / 12)

    def learn(self, known: Known, rng: np.random.Generator) -> None:
        pass


def test_small_groups_are_met_early() -> None:
    """Of 12 groups far from each other one has most of the items; without coverage its items come again and again."""
    rng = np.random.default_rng(2)
    truth = rng.permutation(np.repeat(np.arange(12), [680, *[20] * 11]))
    x = (50 * rng.standard_normal((12, 6))[truth] + rng.standard_normal((900, 6))).astype(np.float32)

    def n_met(seed: int) -> int:
        trained = TrainingLearner(
            Clueless(), x, 12, budget=70, protocol="follow-up", audit=0, near_are_alike=True, seed=seed
        )
        return len({each.label for each in run(trained, SimulatedRater(truth)).verified})

    met = np.mean([n_met(seed) for seed in range(30)])
    with pytest.MonkeyPatch.context() as patched:
        # The twin: nothing is ever worth covering.
        patched.setattr(coverage, "LEAST_UNCOVERED", 2.0)
        without = np.mean([n_met(seed) for seed in range(30)])
    assert without + 0.5 < met


def test_items_are_listed_as_they_are_asked_about(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planning, "RANDOM_SHARE", 0.25)
    shuffled = np.array([7, 3, 0, 1, 5, 2, 6, 4])
    # Two of eight are kept to be drawn at random: 7 and 3, the first. The others come from the end on.
    listed = as_asked_about(shuffled, known_of(8, 2, np.arange(0)))
    assert listed.tolist() == [4, 6, 2, 7, 5, 1, 0, 3]
    # What was asked about before comes first, and is not kept.
    assert as_asked_about(shuffled, known_of(8, 2, np.array([3, 5]))).tolist() == [3, 5, 4, 6, 2, 7, 1, 0]
    # But where they would fill the list, others are listed too.
    monkeypatch.setattr(planning, "MOST_LISTED", 2)
    assert as_asked_about(shuffled, known_of(8, 2, np.array([3, 5]))).tolist() == [3, 4, 6, 2, 7, 1, 0, 5]
