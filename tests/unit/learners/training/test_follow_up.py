"""What follow-up asks about: how many at random, how long about one item, and when the uncertain are chosen."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from onebit.learners.contract import run
from onebit.learners.training.constants import FEW_KNOWN, FEW_NAMED, GOOD_GUESSES, MOST_EACH, MOST_EACH_NAMED
from onebit.learners.training.guide import Guide
from onebit.learners.training.learner import TrainingLearner
from onebit.learners.training.model import Floats, Known
from onebit.raters import SimulatedRater
from onebit.records import Answer, EpochPlan, Status

N_ITEMS = 1000


class Fixed:
    """A model that believes what it is given of each example, an integer, and never learns."""

    gamma, weights = 0.0, np.ones(1)

    def __init__(self, belief: Floats) -> None:
        self.belief = belief

    def beliefs(self, x: np.ndarray) -> Floats:
        return self.belief[None, x.astype(np.int64)]

    def learn(self, known: Known, rng: np.random.Generator) -> None:
        pass


def plans(belief: Floats, truth: np.ndarray, budget: int, guide: Guide | None = None) -> list[EpochPlan]:
    n_items, n_labels = belief.shape
    trained = TrainingLearner(
        Fixed(belief), np.arange(n_items), n_labels, budget=budget, protocol="follow-up", audit=0, guide=guide
    )
    run(trained, SimulatedRater(truth))
    return trained.epochs


def test_a_tenth_of_all_items_is_drawn_at_random() -> None:
    truth = np.random.default_rng(0).integers(0, 5, N_ITEMS)
    n_items = n_random = 0
    for plan in plans(0.9 * np.eye(5)[truth] + 0.02, truth, 800):
        n_items += len(plan.items)
        n_random += sum(plan.fresh)
        assert n_random == round(n_items / 10)
    assert n_items == 800


@pytest.mark.parametrize("good", [True, False])
def test_an_item_is_asked_about_to_its_end_if_guesses_are_bad_and_little_is_known(good: bool) -> None:
    n_labels = 20
    rng = np.random.default_rng(1)
    truth = rng.integers(0, n_labels, N_ITEMS)
    believed = truth if good else rng.integers(0, n_labels, N_ITEMS)
    belief = 0.9 * np.eye(n_labels)[believed] + 0.1 / n_labels
    trained = TrainingLearner(Fixed(belief), np.arange(N_ITEMS), n_labels, budget=2500, protocol="follow-up", audit=0)
    known, n_answers, denied, most_each = set[int](), 0, Counter[int](), list[int]()
    while not isinstance(questions := trained.ask(1), Status):
        plan, question = trained.epochs[-1], questions[0]
        if plan.number == len(most_each):
            few = len(known) < FEW_KNOWN * n_labels
            # The expected place of the right label if labels are asked in the order of how often they were met.
            met = sorted((np.bincount(truth[list(known)], minlength=n_labels) + 1).tolist(), reverse=True)
            place = sum(rank * n for rank, n in enumerate(met, 1)) / sum(met)
            bad = (len(known) + 1) * place < GOOD_GUESSES * n_answers
            most_each.append(plan.most_each)
            assert plan.most_each == (n_labels if few and bad else MOST_EACH)
        right = bool(truth[question.item] == question.label)
        denied[question.item] += not right
        if right or denied[question.item] == n_labels - 1:
            known.add(question.item)
        n_answers += 1
        trained.tell(question.id, Answer.YES if right else Answer.NO)
    # It begins with guesses that are tried on several items.
    assert most_each[0] == MOST_EACH == most_each[-1]
    assert (n_labels in most_each) is not good


def test_with_an_estimator_an_item_is_left_for_later_too() -> None:
    """It learns nothing from noes alone, but what an end costs buys more easier items."""
    truth = np.random.default_rng(1).integers(0, 20, N_ITEMS)
    belief = 0.9 * np.eye(20)[truth] + 0.005
    guided = plans(belief, truth, 300, Guide(Fixed(belief), np.arange(N_ITEMS, dtype=np.float32), near_are_alike=False))
    assert {plan.most_each for plan in guided} == {MOST_EACH}


def test_knowing_which_label_is_frequent_is_no_good_guess() -> None:
    """Of most items the guess is right, but anyone who asks the most frequent label first does as well."""
    n_labels, rng = 20, np.random.default_rng(4)
    truth = np.where(rng.random(N_ITEMS) < 0.6, 0, rng.integers(0, n_labels, N_ITEMS))
    frequent = 0.9 * np.eye(n_labels)[np.zeros(N_ITEMS, dtype=np.int64)] + 0.1 / n_labels
    most_each = [plan.most_each for plan in plans(frequent, truth, 150)]
    assert most_each[0] == MOST_EACH
    assert most_each[-1] == n_labels


def test_an_item_that_is_found_at_once_does_not_let_an_epoch_ask_about_many() -> None:
    """Guesses are bad, so an item takes 20 questions, and an epoch of 2% of 3,000 answers has about 3 of them."""
    n_labels, rng = 40, np.random.default_rng(5)
    truth, believed = rng.integers(0, n_labels, (2, N_ITEMS))
    to_end = [
        len(plan.items)
        for plan in plans(0.9 * np.eye(n_labels)[believed] + 0.1 / n_labels, truth, 3000)
        if plan.most_each == n_labels
    ]
    assert len(to_end) > 50
    assert max(to_end) <= 6


def test_the_uncertain_are_chosen_once_something_is_known() -> None:
    """Half of the items are certain, half torn between the right label and the next."""
    rng = np.random.default_rng(3)
    truth, torn = rng.integers(0, 3, N_ITEMS), rng.random(N_ITEMS) < 0.5
    belief = np.where(torn[:, None], 0.5, 0.9) * np.eye(3)[truth]
    belief += np.where(torn[:, None], 0.49, 0.05) * np.eye(3)[(truth + 1) % 3]
    chosen = np.array(
        [
            item
            for plan in plans(belief, truth, 300)
            for item, fresh in zip(plan.items, plan.fresh, strict=True)
            if not fresh
        ]
    )
    # At 15 known items, 5 a label, five eighths are chosen for their doubt, and half of the others are torn too.
    assert torn[chosen[30:]].mean() > 0.8
    assert not torn[chosen[:30]].all()


@pytest.mark.parametrize("has_names", [True, False])
def test_with_names_many_items_are_asked_about_a_little_at_first(has_names: bool) -> None:
    n_labels = 6
    truth = np.random.default_rng(4).integers(0, n_labels, N_ITEMS)
    x = np.random.default_rng(5).standard_normal((N_ITEMS, 3)).astype(np.float32)
    x[:, 0] = np.arange(N_ITEMS)

    class Numbered(Fixed):
        def beliefs(self, x: np.ndarray) -> Floats:
            return super().beliefs(x[:, 0])

    trained = TrainingLearner(
        Numbered(0.9 * np.eye(n_labels)[truth] + 0.1 / n_labels),
        x,
        n_labels,
        budget=300,
        protocol="follow-up",
        audit=0,
        near_are_alike=True,
        names=x[:n_labels] if has_names else None,
    )
    known, most_each = set[int](), list[int]()
    while not isinstance(questions := trained.ask(1), Status):
        plan, question = trained.epochs[-1], questions[0]
        if plan.number == len(most_each):
            most_each.append(plan.most_each)
            few = len(known) < FEW_NAMED * n_labels
            # Before that guesses may count as bad.
            if len(known) >= FEW_KNOWN * n_labels:
                assert plan.most_each == (MOST_EACH_NAMED if has_names and few else MOST_EACH)
        right = bool(truth[question.item] == question.label)
        if right:
            known.add(question.item)
        trained.tell(question.id, Answer.YES if right else Answer.NO)
    assert (MOST_EACH_NAMED in most_each) is has_names
    assert most_each[-1] == MOST_EACH
