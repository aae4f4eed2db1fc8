"""What neighbours say, against the formulas written out, and what it is worth."""

from __future__ import annotations

import numpy as np
import pytest

from onebit.learners.contract import run
from onebit.learners.training import constants, neighbours
from onebit.learners.training.knowledge import Knowledge
from onebit.learners.training.learner import TrainingLearner
from onebit.learners.training.model import Floats, Known
from onebit.learners.training.neighbours import Neighbours
from onebit.raters import SimulatedRater
from onebit.records import Answer, Question, TrainingProtocol

N_ITEMS, N_LABELS = 60, 7


def some_knowledge(rng: np.random.Generator) -> Knowledge:
    """A third confirmed, a third with some labels denied, a third not asked about."""
    known, truth = Knowledge(np.ones(N_ITEMS, dtype=np.bool_), N_LABELS), rng.integers(0, N_LABELS, N_ITEMS)
    for item in range(2 * N_ITEMS // 3):
        if item % 2:
            known.take_in(Question(item, item, int(truth[item]), 1.0, 0), Answer.YES)
        else:
            for label in rng.permutation(np.delete(np.arange(N_LABELS), truth[item]))[: rng.integers(1, 5)]:
                known.deny(item, int(label))
                known.take_in(Question(item, item, int(label), 1.0, 0), Answer.NO)
    return known


def nearest(x: np.ndarray, listed: np.ndarray) -> dict[int, list[int]]:
    """For each listed item the others, nearest first."""

    distance = np.linalg.norm(x[:, None] - x, axis=2)
    distance[:, np.setdiff1d(np.arange(len(x)), listed)] = np.inf
    np.fill_diagonal(distance, np.inf)
    return {item: distance[item].argsort()[: listed.size - 1].tolist() for item in listed.tolist()}


def test_only_so_many_items_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(neighbours, "MOST_LISTED", 30)
    rng = np.random.default_rng(1)
    order, known = rng.permutation(N_ITEMS), some_knowledge(rng)
    few = Neighbours(rng.standard_normal((N_ITEMS, 3)).astype(np.float32), order)
    assert np.array_equal(np.flatnonzero(few.is_listed), np.sort(order[:30]))
    beliefs = rng.dirichlet(np.ones(N_LABELS), N_ITEMS)
    said = few.say(np.arange(N_ITEMS), known)
    pooled = few.pooled(beliefs, said, np.arange(N_ITEMS), known)
    np.testing.assert_allclose(pooled[order[30:]], beliefs[order[30:]], rtol=1e-5)
    assert not np.isclose(pooled[order[:30]], beliefs[order[:30]]).all()


def test_the_likelihood_is_that_of_the_formulas() -> None:
    rng = np.random.default_rng(2)
    x, known = rng.standard_normal((N_ITEMS, 3)).astype(np.float32), some_knowledge(rng)
    found = Neighbours(x, np.arange(N_ITEMS))
    same, near, shares = found.same(known), nearest(x, np.arange(N_ITEMS)), known.label_shares()
    confirmed = {each.item: each.label for each in known.verified}
    met = np.bincount(list(confirmed.values()), minlength=N_LABELS)
    expected = np.zeros((N_ITEMS, N_LABELS))
    for item in range(N_ITEMS):
        for k in range(N_LABELS):
            expected[item, k] = -same.sum() * min(known.asked.mean(), met[k] / shares[k] / N_ITEMS)
            for s, other in zip(same, near[item], strict=False):
                if other in confirmed:
                    likelihood = s * (k == confirmed[other]) + (1 - s) * shares[confirmed[other]]
                else:
                    denied = ~known.possible[other]
                    likelihood = 1 - s * denied[k] - (1 - s) * shares[denied].sum()
                expected[item, k] += np.log(likelihood)
    likelihood = found.log_likelihood(np.arange(N_ITEMS), known, shares)
    # Both up to a constant for each item.
    said = found.say(np.arange(N_ITEMS), known)
    np.testing.assert_allclose(said - likelihood, np.tile(np.log(shares), (N_ITEMS, 1)), atol=1e-4)
    likelihood, expected = (of - of.mean(axis=1, keepdims=True) for of in (likelihood, expected))
    np.testing.assert_allclose(likelihood, expected, atol=1e-4)


def test_how_often_neighbours_agree_is_learned() -> None:
    rng = np.random.default_rng(3)
    y = np.repeat(np.arange(N_LABELS), 100)
    apart = (100.0 * np.eye(N_LABELS)[y] + rng.standard_normal((700, N_LABELS))).astype(np.float32)
    known = Knowledge(np.ones(700, dtype=np.bool_), N_LABELS)
    for item in rng.permutation(700)[:400]:
        known.take_in(Question(0, int(item), int(y[item]), 1.0, 0), Answer.YES)
    # Groups are 100 apart, so all of the 64 nearest are alike, and the estimate is as high as it may be.
    assert (Neighbours(apart, np.arange(700)).same(known) == constants.MOST_SAME).all()
    mixed = rng.standard_normal((700, 3)).astype(np.float32)
    # One in seven is alike by chance. Of each rank over 150 pairs of confirmed items are seen, each at most twice; with
    # what was believed before, 4.5 standard errors are a false alarm in less than 1e-4 of cases.
    n_pairs, share = 150, 1 / N_LABELS
    most = share + 4.5 * np.sqrt(2 * share * (1 - share) / n_pairs)
    before = constants.PAIRS_BEFORE
    pulled = (before * constants.FIRST_SAME + n_pairs * most) / (before + n_pairs)
    assert (Neighbours(mixed, np.arange(700)).same(known) < pulled).all()


class Clueless:
    """A model that believes in the first label and never learns."""

    gamma = 0.0
    weights = np.ones(1)

    def beliefs(self, x: np.ndarray) -> Floats:
        belief = np.full((1, len(x), 40), 0.5 / 39)
        belief[:, :, 0] = 0.5
        return belief

    def learn(self, known: Known, rng: np.random.Generator) -> None:
        pass


@pytest.mark.parametrize("protocol", ["one-shot", "follow-up"])
def test_many_labels_are_found_through_neighbours(protocol: TrainingProtocol) -> None:
    """40 groups of 30: whatever the model believes, neighbours find the labels; its twin without them does not."""
    rng = np.random.default_rng(4)
    truth = np.repeat(np.arange(40), 30)
    x = (4 * rng.standard_normal((40, 8))[truth] + rng.standard_normal((1200, 8))).astype(np.float32)

    def n_confirmed(near_are_alike: bool) -> int:
        trained = TrainingLearner(
            Clueless(), x, 40, budget=2000, protocol=protocol, audit=0, near_are_alike=near_are_alike
        )
        return len(run(trained, SimulatedRater(truth)).verified)

    # Guessing takes 20.5 questions about an item at best, with a standard deviation of 11.5 (uniform on 1 to 40): what
    # 2,000 questions confirm is asymptotically normal, and 5 standard deviations more come in one case of a million.
    per_item, spread = 20.5, np.sqrt((40**2 - 1) / 12)
    most_by_guessing = 2000 / per_item + 5 * np.sqrt(2000 / per_item) * spread / per_item
    assert n_confirmed(near_are_alike=False) <= most_by_guessing < 4 * 2000 / 20 < n_confirmed(near_are_alike=True)


def test_the_accuracy_of_the_model_is_seen_though_neighbours_ask() -> None:
    """The model is right on a tenth, which the neighbours never expect: items drawn at random show it, others not."""
    rng = np.random.default_rng(5)
    group = 1 + rng.integers(0, 3, 6000)
    truth = np.where(rng.random(6000) < 0.1, 0, group)
    x = (20 * rng.standard_normal((4, 8))[group] + rng.standard_normal((6000, 8))).astype(np.float32)
    trained = TrainingLearner(Clueless(), x, 40, budget=5000, protocol="one-shot", audit=0, near_are_alike=True)
    result = run(trained, SimulatedRater(truth))
    n_items = [point.n_items for point in result.curve]
    seen = np.average([point.estimate for point in result.curve], weights=n_items)
    # A tenth of the questions; a rate of .1 among 500 has a standard deviation of .0134.
    assert sum(n_items) == 500
    assert seen == pytest.approx(0.1, abs=4 * 0.0134)
    plans = [plan for plan in trained.epochs if not plan.audits]
    others = [label for plan in plans for label, fresh in zip(plan.labels, plan.fresh, strict=True) if not fresh]
    assert np.mean(np.array(others) == 0) < 0.1 - 4 * 0.0134


class Knowing(Clueless):
    """A model that reads the label off the first column."""

    def beliefs(self, x: np.ndarray) -> Floats:
        return (0.9 * np.eye(40)[x[:, 0].astype(np.int64)] + 0.1 / 40)[None]


@pytest.mark.parametrize("protocol", ["one-shot", "follow-up"])
def test_what_has_no_neighbours_goes_by_the_model(protocol: TrainingProtocol, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 600 items 50 are listed, less than follow-up keeps to be drawn at random: the others are not left out."""
    monkeypatch.setattr(neighbours, "MOST_LISTED", 50)
    rng = np.random.default_rng(6)
    truth = rng.integers(0, 40, 600)
    x = np.column_stack([truth, rng.standard_normal((600, 2))]).astype(np.float32)
    trained = TrainingLearner(Knowing(), x, 40, budget=1200, protocol=protocol, audit=0, near_are_alike=True)
    # What is listed, one way or the other.
    listed = trained._planner._neighbours
    assert listed is not None
    answers: list[bool] = []

    def rater(question: Question) -> Answer | int:
        if not listed.is_listed[question.item]:
            answers.append(bool(truth[question.item] == question.label))
        return SimulatedRater(truth)(question)

    run(trained, rater)
    assert len(answers) == sum(answers) == 550


def test_neighbours_among_the_first_are_those_of_a_list_of_these() -> None:
    rng = np.random.default_rng(7)
    order, known = rng.permutation(N_ITEMS), some_knowledge(rng)
    x = rng.standard_normal((N_ITEMS, 3)).astype(np.float32)
    found = Neighbours(x, order)
    for n_first, n_among in ((2, 2), (9, 16), (16, 16), (17, 32), (50, N_ITEMS)):
        found.look_among(n_first)
        few = Neighbours(x, order[:n_among])
        assert np.array_equal(np.flatnonzero(found.is_listed), np.sort(order[:n_among]))
        said = found.say(np.arange(N_ITEMS), known)
        np.testing.assert_array_equal(said, few.say(np.arange(N_ITEMS), known))
        # Nothing is said of the others.
        outside = np.setdiff1d(np.arange(N_ITEMS), order[:n_among])
        assert not found.speaks_of[outside].any()
        np.testing.assert_allclose(said[outside], np.tile(np.log(known.label_shares()), (outside.size, 1)), rtol=1e-4)


def test_follow_up_looks_among_what_it_chooses_from() -> None:
    """Among 1,024 at first, from which is chosen, and in the whole pool once more than half of it is chosen from."""
    rng = np.random.default_rng(8)
    truth = rng.integers(0, 40, 3000)
    x = rng.standard_normal((3000, 3)).astype(np.float32)
    trained = TrainingLearner(Clueless(), x, 40, budget=400, protocol="follow-up", audit=0, near_are_alike=True)
    listed = trained._planner._neighbours
    assert listed is not None
    seen: list[int] = []

    def rater(question: Question) -> Answer | int:
        assert listed.is_listed[question.item]
        seen.append(int(listed.is_listed.sum()))
        return SimulatedRater(truth)(question)

    run(trained, rater)
    assert seen[0] == 1024
    assert seen[-1] == 3000
    assert (np.diff(seen) >= 0).all()
