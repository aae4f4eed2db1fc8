"""What is counted with every answer is what the whole tables say, and shares of labels are learned from yes and no."""

from __future__ import annotations

import numpy as np
import pytest

from onebit.learners.training.knowledge import Knowledge
from onebit.records import Answer, Question


def asked_at_random(truth: np.ndarray, n_labels: int, n_each: int, rng: np.random.Generator) -> Knowledge:
    """Labels of each item in random order, so many or until a yes."""
    known = Knowledge(np.ones(truth.size, dtype=np.bool_), n_labels)
    for item, right in enumerate(truth.tolist()):
        for label in rng.permutation(n_labels)[:n_each].tolist():
            if label != right:
                known.deny(item, label)
            known.take_in(Question(0, item, label, 1.0, 0), Answer.YES if label == right else Answer.NO)
            if label == right:
                break
    return known


def test_counts_are_those_of_the_whole_tables() -> None:
    """After noes, can't tells, yeses, and some taken back again."""
    rng, n_items, n_labels = np.random.default_rng(0), 40, 4
    asks_last, trains_on = rng.random(n_items) < 0.5, rng.random(n_items) < 0.9
    known, unsure = Knowledge(trains_on, n_labels, asks_last), np.zeros((n_items, n_labels), dtype=np.bool_)
    confirmed, dropped = np.zeros((2, n_items), dtype=np.bool_)
    for number in range(300):
        item = int(rng.integers(n_items))
        askable = np.flatnonzero(known.askable(item))
        if confirmed[item] or not askable.size:
            continue
        label, kind = int(rng.choice(askable)), rng.integers(4)
        question = Question(number, item, label, 1.0, 0)
        if kind == 0:
            known.take_in(question, Answer.YES)
            confirmed[item] = True
        elif kind == 1:
            known.leave_open(item, label)
            known.take_in(question, Answer.CANT_TELL)
            unsure[item, label] = True
        else:
            known.deny(item, label)
            if kind == 2:
                known.take_in(question, Answer.NO)
                dropped[item] = not known.possible[item].any()
            else:
                known.forget(item, label)
    n_possible, items = known.possible.sum(axis=1), np.arange(n_items)
    assert np.array_equal(known.n_possible, n_possible)
    assert np.array_equal(known.label, np.where(n_possible == 1, known.possible.argmax(axis=1), -1))
    assert known.n_known == (trains_on & (n_possible == 1)).sum()
    assert np.array_equal(known.asked_items(), np.flatnonzero(known.asked & trains_on))
    can_be_asked = (known.possible & ~unsure).any(axis=1)
    worth = (n_possible > 1) | (asks_last & ~confirmed)
    assert np.array_equal(known.unknown(items), trains_on & ~dropped & worth & can_be_asked)
    assert [known.is_open(item) for item in items.tolist()] == (can_be_asked & ((n_possible > 1) | asks_last)).tolist()
    teaches = known.asked & trains_on & ~dropped & ~known.possible.all(axis=1)
    assert np.array_equal(known.taught(), np.flatnonzero(teaches))


@pytest.mark.parametrize("n_each", [1, 4])
def test_the_shares_of_labels_are_learned_from_yes_and_no(n_each: int) -> None:
    """Labels of 4,000 items are asked at random: one label each, or several until a yes."""
    rng, shares = np.random.default_rng(4), [0.6, 0.2, 0.1, 0.06, 0.04]
    known = asked_at_random(rng.choice(5, 4000, p=shares), 5, n_each, rng)
    np.testing.assert_allclose(known.label_shares().sum(), 1.0)
    # Each label is the first that is asked about a fifth of the items, and from these alone its share has the standard
    # error of 800 of them; of five labels one is further off than 4.4 of these in one case of 20,000.
    error = np.sqrt(np.multiply(shares, np.subtract(1, shares)) / 800)
    assert (np.abs(known.label_shares() - shares) < 4.4 * error).all()


def test_shares_are_equal_before_the_first_answer_and_stay_nearer_the_more_count_before() -> None:
    truth = np.zeros(20, dtype=np.int64)
    spread = []
    for items_before in (1.0, 30.0):
        known = Knowledge(np.ones(20, dtype=np.bool_), 5, items_before=items_before)
        np.testing.assert_allclose(known.label_shares(), 0.2)
        for item, label in enumerate(truth.tolist()):
            known.take_in(Question(item, item, label, 1.0, 0), Answer.YES)
        np.testing.assert_allclose(known.label_shares()[0], (items_before + 20) / (5 * items_before + 20))
        spread.append(known.label_shares().max())
    assert spread[0] > spread[1] > 0.2
