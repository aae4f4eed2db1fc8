"""The law of the questions: what is stated is what is drawn, and it serves those who need it."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from onebit.learners.certified import constants
from onebit.learners.certified.law import Law, draw
from onebit.learners.certified.outputs import Outputs

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
seeds = st.integers(0, 10**6)


def random_scene(seed: int) -> tuple[Law, Outputs, Bools, Floats]:
    """Up to six models on up to eight examples, some labels of which are known; a law, and guesses."""
    rng = np.random.default_rng(seed)
    n_rows, n_examples = int(rng.integers(2, 7)), int(rng.integers(1, 9))
    outputs = Outputs.of(rng.integers(-1, rng.choice([2, 5]), (n_rows, n_examples)))
    unknown = (outputs.label >= 0) & (rng.random(outputs.label.size) < 0.8)
    leader = int(rng.integers(n_rows))
    rivals = np.array([row for row in range(n_rows) if row != leader])
    law = Law(leader, rivals, rng.uniform(0.05, 1, rivals.size), float(rng.uniform(0.1, 1)), float(rng.uniform(0, 2)))
    return law, outputs, unknown, rng.uniform(0, 1, outputs.label.size) * unknown


@given(seeds)
def test_the_law_is_the_formula(seed: int) -> None:
    law, outputs, unknown, guess = random_scene(seed)
    label, example = law.of(outputs, unknown, guess)
    need = dict(zip(law.rivals.tolist(), law.needs.tolist(), strict=True))
    for i in range(outputs.first.size - 1):
        span = range(outputs.first[i], outputs.first[i + 1])
        A = [k for k in span if unknown[k]]
        scores = {}
        for k in A:
            place = k - outputs.first[i]
            leads = outputs.code[law.leader, i] == place
            relevance = sum(n for row, n in need.items() if (outputs.code[row, i] == place) != leads)
            scores[k] = float(np.sqrt(relevance * (guess[k] * (1 - guess[k]) + constants.LEAST_VARIANCE)))
        S = sum(scores.values())
        for k in span:
            gamma = law.gamma if S > 0 else 1.0
            expected = (1 - gamma) * (scores[k] / S if S > 0 else 0) + gamma / len(A) if k in A else 0.0
            assert label[k] == pytest.approx(expected, abs=1e-9)
        assert example[i] == pytest.approx(min(max(S / law.sure_from, constants.LEAST_ASKED), 1.0) if A else 0.0)


@given(seeds)
def test_what_can_be_asked_is_asked_with_positive_probability(seed: int) -> None:
    """No output that is unknown is ever out of reach: q > 0 is all that the proof needs."""
    law, outputs, unknown, guess = random_scene(seed)
    label, example = law.of(outputs, unknown, guess)
    q = label * example[outputs.example]
    assert (q[unknown] >= constants.LEAST_ASKED * law.gamma / np.diff(outputs.first).max() - 1e-12).all()
    assert (q[~unknown] == 0).all()
    assert outputs.per_example(label)[example > 0] == pytest.approx(1)


@given(seeds)
def test_labels_are_drawn_with_the_probabilities_stated(seed: int) -> None:
    """The first number falls into an interval as long as the label's probability, in the order of the labels."""
    law, outputs, unknown, guess = random_scene(seed)
    label, example = law.of(outputs, unknown, guess)
    for i in range(outputs.first.size - 1):
        span = slice(outputs.first[i], outputs.first[i + 1])
        ends = np.concatenate([[0.0], np.cumsum(label[span])])
        for k in range(ends.size - 1):
            if ends[k + 1] > ends[k]:
                for u in (ends[k] + 1e-9, ends[k + 1] - 1e-9):
                    uniform = np.tile([u, 0.0], (outputs.first.size - 1, 1))
                    assert draw(outputs.first, label, example, uniform)[i] == k
        uniform = np.tile([0.5, example[i]], (outputs.first.size - 1, 1))
        assert draw(outputs.first, label, example, uniform)[i] == -1


def test_the_largest_uniform_number_draws_the_last_label() -> None:
    below_one = np.nextafter(1.0, 0)
    label = np.array([0.1, 0.2, 0.7]) / 3
    for u in itertools.product([0.0, below_one], repeat=2):
        found = draw(np.array([0, 3]), label, np.ones(1), np.array([u]))
        assert found.tolist() in ([0], [2])


def test_where_nothing_is_unknown_nothing_is_drawn() -> None:
    law = Law(0, np.array([1]), np.ones(1), 0.5, 1.0)
    outputs = Outputs.of(np.array([[0, 1], [1, 0]]))
    nothing = np.zeros(outputs.label.size, dtype=np.bool_)
    label, example = law.of(outputs, nothing, np.zeros(outputs.label.size))
    assert draw(outputs.first, label, example, np.zeros((2, 2))).tolist() == [-1, -1]
    empty = Outputs.of(np.empty((2, 0), dtype=np.int64))
    assert [each.size for each in law.of(empty, nothing[:0], np.empty(0))] == [0, 0]


def test_labels_that_tell_a_needy_rival_from_the_leader_are_asked_more() -> None:
    """Rows 1 and 2 say something else than the leader, each on one example; row 2 needs most."""
    outputs = Outputs.of(np.array([[0, 0], [1, 0], [0, 1]]))
    law = Law(0, np.array([1, 2]), np.array([0.1, 1.0]), 0.3, 2.0)
    _, example = law.of(outputs, np.ones(4, dtype=np.bool_), np.full(4, 0.5))
    assert example[1] > 2 * example[0]


def test_what_the_leaders_label_weighs_is_added_up() -> None:
    """Of 3,000 rivals few differ from the leader: taken off the sum of all needs, theirs would be mostly rounding."""
    rng = np.random.default_rng(0)
    said = np.zeros((3001, 40), dtype=np.int64)
    for example in range(40):
        said[rng.choice(np.arange(1, 3001), 2, replace=False), example] = 1
    needs = rng.random(3000)
    outputs = Outputs.of(said)
    law = Law(0, np.arange(1, 3001), needs, 0.3, 0.0)
    guess = np.full(outputs.label.size, 0.5)
    scores = law.scores(outputs, np.ones(outputs.label.size, dtype=np.bool_), guess)
    for example in range(40):
        weighs = math.fsum(needs[said[1:, example] == 1])
        expected = math.sqrt(weighs * (0.25 + constants.LEAST_VARIANCE))
        assert scores[outputs.first[example]] == pytest.approx(expected, rel=1e-14, abs=0)
