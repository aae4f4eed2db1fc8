"""What survivors say at each example, against counting it label by label."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from onebit.learners.certified.outputs import Outputs, agreement, contested, plurality

Ints = NDArray[np.int64]
seeds = st.integers(0, 10**6)


def random_said(seed: int, n_rows: int | None = None, low: int = -1) -> Ints:
    """Up to seven rows and nine examples, of few or of many labels, with abstentions unless ``low`` is 0."""
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(1, 8)) if n_rows is None else n_rows
    return rng.integers(low, rng.choice([1, 3, 300]), (n_rows, rng.integers(0, 10)))


@given(seeds, st.sampled_from([np.int64, np.int32, np.int16]))
def test_outputs_are_the_distinct_ones_in_order(seed: int, kind: type) -> None:
    said: NDArray[np.integer] = random_said(seed).astype(kind)
    outputs = Outputs.of(said)
    assert outputs.first[0] == 0
    assert outputs.first.size == said.shape[1] + 1
    for i, column in enumerate(said.T.tolist()):
        begin, end = outputs.first[i], outputs.first[i + 1]
        labels = outputs.label[begin:end].tolist()
        assert labels == sorted(set(column))
        assert outputs.votes[begin:end].tolist() == [Counter(column)[label] for label in labels]
        assert [labels[k] for k in outputs.code[:, i]] == column
        assert (outputs.example[begin:end] == i).all()
    assert outputs.label.size == outputs.votes.size == outputs.first[-1]


@given(seeds)
def test_mass_and_shares_by_counting(seed: int) -> None:
    said = random_said(seed, n_rows=5)
    rng = np.random.default_rng(seed)
    rows, probabilities = rng.permutation(5)[:3], rng.dirichlet(np.ones(3))
    outputs = Outputs.of(said)
    mass = outputs.mass(rows, probabilities)
    among = rng.random(outputs.label.size) < 0.6
    shares = outputs.shares(among)
    totals = outputs.per_example(mass)
    for i, column in enumerate(said.T.tolist()):
        places = range(outputs.first[i], outputs.first[i + 1])
        votes = {k: column.count(outputs.label[k]) for k in places if among[k]}
        for k in places:
            spoken = [p for row, p in zip(rows, probabilities, strict=True) if column[row] == outputs.label[k]]
            assert mass[k] == pytest.approx(sum(spoken))
            assert shares[k] == pytest.approx(votes[k] / sum(votes.values()) if k in votes else 0.0)
        assert totals[i] == pytest.approx(1)


def plain_plurality(column: list[int]) -> int:
    """The label with most votes, the lowest of equals; abstentions do not vote; -1 if nobody does."""
    votes = Counter(label for label in column if label >= 0)
    return min(votes, key=lambda label: (-votes[label], label)) if votes else -1


@given(seeds)
def test_plurality_is_the_vote(seed: int) -> None:
    said = random_said(seed)
    assert plurality(said).tolist() == [plain_plurality(column) for column in said.T.tolist()]


def test_plurality_of_ties_and_abstentions() -> None:
    said = np.array([[2, -1, -1, 1, 0], [1, -1, -1, 1, 2], [2, -1, 3, 0, 1], [1, -1, -1, 0, -1]])
    assert plurality(said).tolist() == [1, -1, 3, 0, 0]


def plain_agreement(said: list[list[int]]) -> list[int]:
    """Step 5 of docs/certificate.md: three votes, each by the odds of having agreed with the one before."""
    n, votes = len(said[0]), [1] * len(said)
    for _ in range(3):
        agreed = [0] * len(said)
        for column in zip(*said, strict=True):
            total: Counter[int] = Counter()
            for label, weight in zip(column, votes, strict=True):
                total[label] += weight * (label >= 0)
            winner = min(total, key=lambda label: (-total[label], label))
            agreed = [a + (label == winner >= 0) for a, label in zip(agreed, column, strict=True)]
        votes = [1 + 1000 * a // (n - a + 1) for a in agreed]
    return agreed


@given(seeds)
def test_agreement_is_with_the_last_of_three_votes(seed: int) -> None:
    said = random_said(seed)
    assert agreement(said).tolist() == plain_agreement(said.tolist())


def test_who_is_usually_with_the_others_has_more_votes() -> None:
    """Three models agree with the vote on half of the other items only: on the last one, two outvote them."""
    said = np.array([[0] * 6 + [2]] * 2 + [[0, 0, 0, *order, 1] for order in ([1, 2, 3], [2, 3, 1], [3, 1, 2])])
    assert plurality(said)[-1] == 1
    assert agreement(said).tolist() == [7, 7, 3, 3, 3]


@given(seeds)
def test_contested_where_not_all_say_the_same(seed: int) -> None:
    said = random_said(seed)
    assert contested(said).tolist() == [len(set(column)) > 1 for column in said.T.tolist()]


def test_an_abstention_is_an_output_like_any_other() -> None:
    """It differs from a label, and has votes; that it is never asked is the caller's business."""
    outputs = Outputs.of(np.array([[-1], [-1], [4]]))
    assert outputs.label.tolist() == [-1, 4]
    assert outputs.votes.tolist() == [2, 1]
    assert contested(np.array([[-1], [-1], [4]])).tolist() == [True]
