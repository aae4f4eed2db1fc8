"""The law of the questions: what is stated is what is drawn, and drawn as the document says."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from onebit.learners.certified.outputs import Outputs
from onebit.learners.certified.planning import GAMMA, Exploration, Scene, plan_exploration

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]

#: Midpoints of cells that no boundary of the draw cuts. The guess is one of up to 4 labels and the mixture one of
#: quarters, less where some are left out: boundaries at multiples of 1/2, 1/3 and 1/4. gamma is a multiple of 1/10.
GRID = np.array(list(itertools.product(*(((np.arange(n) + 0.5) / n).tolist() for n in (12, 12, 10)))))

MIXTURES = {
    "one": ([1], [1.0]),
    "quarters": ([0, 2, 3], [0.5, 0.25, 0.25]),
    "all": ([3, 1, 0, 2], [0.25, 0.25, 0.25, 0.25]),
    "with a zero": ([0, 1, 2], [0.5, 0.0, 0.5]),
}


def cases() -> Iterator[tuple[tuple[int, ...], frozenset[int]]]:
    """What four models can say of an example, and which of the labels are known: none, some, all."""
    for said in [*itertools.product([-1, 0, 2], repeat=4), *itertools.permutations(range(4))]:
        labels = {label for label in said if label >= 0}
        if len(set(said)) > 1:
            for n_known in range(len(labels) + 1):
                yield said, frozenset(sorted(labels)[:n_known])


def unknown_outputs(outputs: Outputs, known: list[frozenset[int]]) -> Bools:
    pairs = zip(outputs.example.tolist(), outputs.label.tolist(), strict=True)
    return np.array([label >= 0 and label not in known[i] for i, label in pairs], dtype=np.bool_)


@pytest.mark.parametrize("gamma", [0.2, 0.4, 0.7, 1.0])
@pytest.mark.parametrize("mixture", MIXTURES)
def test_propensities_are_the_law_of_the_labels(mixture: str, gamma: float) -> None:
    """Frequencies over the grid are the propensities stated, which add up to one over A(x) and are the formula's."""
    rows, probabilities = MIXTURES[mixture]
    exploration = Exploration(np.array(rows), np.array(probabilities), gamma)
    all_said, all_known = (list(each) for each in zip(*cases(), strict=True))
    outputs = Outputs.of(np.array(all_said).T)
    stated = exploration.propensity(outputs, unknown_outputs(outputs, all_known))

    m = len(GRID)
    repeated = Outputs.of(np.repeat(np.array(all_said).T, m, axis=1))
    unknown = unknown_outputs(repeated, [known for known in all_known for _ in range(m)])
    drawn = exploration.draw(repeated, unknown, np.tile(GRID, (len(all_said), 1))).reshape(-1, m)

    for i, (said, known) in enumerate(zip(all_said, all_known, strict=True)):
        begin, end = outputs.first[i], outputs.first[i + 1]
        labels = outputs.label[begin:end].tolist()
        A = [label for label in labels if label >= 0 and label not in known]
        if not A:
            assert (drawn[i] == -1).all()
            assert (stated[begin:end] == 1).all()
            continue
        mass = {a: sum(p for row, p in zip(rows, probabilities, strict=True) if said[row] == a) for a in A}
        speaking = sum(mass.values())
        for k, label in enumerate(labels):
            frequency = (drawn[i] == k).mean()
            if label not in A:
                assert frequency == 0
                assert stated[begin + k] == 1
                continue
            W = mass[label] / speaking if speaking else 1 / len(A)
            assert stated[begin + k] == pytest.approx((1 - gamma) * W + gamma / len(A), abs=1e-12)
            assert frequency == pytest.approx(stated[begin + k], abs=1e-9)
        assert stated[begin:end][[label in A for label in labels]].sum() == pytest.approx(1)


def label_by_the_document(
    said: list[int], known: frozenset[int], mixture: list[tuple[int, float]], gamma: float, u: Floats
) -> int:
    """ "How a round is drawn": u1, u2 and u3 are the numbers of ``u``; -1 where nothing is asked."""
    A = sorted({label for label in said if label >= 0} - known)
    if not A:
        return -1
    speaking = [(row, p) for row, p in mixture if said[row] in A]
    total = sum(p for _, p in speaking)
    if u[2] < gamma or total == 0:
        return A[int(u[0] * len(A))]
    cumulative = 0.0
    for row, p in speaking:
        cumulative += p
        if cumulative > u[1] * total:
            return said[row]
    raise AssertionError("the cumulative mass ends at the total")


@given(st.integers(0, 10**6))
def test_labels_are_drawn_as_the_document_says(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_rows, n_examples, gamma = int(rng.integers(2, 7)), int(rng.integers(1, 30)), float(rng.choice([0.0, 0.3, 1.0]))
    said = rng.integers(-1, rng.choice([2, 5]), (n_rows, n_examples))
    known = [frozenset(rng.permutation(5)[: rng.integers(0, 4)].tolist()) for _ in range(n_examples)]
    rows = rng.permutation(n_rows)[: rng.integers(1, n_rows + 1)]
    mixture = Exploration(rows, rng.dirichlet(np.ones(rows.size)), gamma)
    outputs, uniform = Outputs.of(said), rng.random((n_examples, 3))
    drawn = mixture.draw(outputs, unknown_outputs(outputs, known), uniform)
    labels = [-1 if k < 0 else int(outputs.label[outputs.first[i] + k]) for i, k in enumerate(drawn.tolist())]
    pairs = list(zip(rows.tolist(), mixture.probabilities.tolist(), strict=True))
    assert labels == [
        label_by_the_document(column, known[i], pairs, gamma, uniform[i]) for i, column in enumerate(said.T.tolist())
    ]


def test_where_nothing_is_unknown_nothing_is_drawn() -> None:
    """In every example of a whole epoch, as when all answers about a pool are in; and for no example at all."""
    exploration = Exploration(np.array([0]), np.ones(1), 0.5)
    outputs = Outputs.of(np.array([[0, 1], [1, 0]]))
    nothing = np.zeros(outputs.label.size, dtype=np.bool_)
    assert exploration.draw(outputs, nothing, np.full((2, 3), 0.5)).tolist() == [-1, -1]
    empty = Outputs.of(np.empty((2, 0), dtype=np.int64))
    assert exploration.draw(empty, nothing[:0], np.empty((0, 3))).size == 0
    assert exploration.propensity(empty, nothing[:0]).size == 0


def test_the_largest_uniform_numbers_draw_something() -> None:
    """u just below 1, with masses that do not add up exactly: the last label, not one beyond."""
    below_one = np.nextafter(1.0, 0)
    exploration = Exploration(np.arange(3), np.array([0.1, 0.2, 0.7]) / 3, 0.0)
    outputs = Outputs.of(np.array([[0], [1], [2]]))
    everything = np.ones(3, dtype=np.bool_)
    for u in itertools.product([0.0, below_one], repeat=3):
        assert exploration.draw(outputs, everything, np.array([u])).tolist() in ([0], [2])


def test_labels_in_order_of_mass_votes_and_number() -> None:
    exploration = Exploration(np.array([0, 1]), np.array([0.6, 0.4]), 0.5)
    # Mass .6 for 7 and .4 for 3; then 5 with two votes, then 1 and 2 with one each.
    assert exploration.in_order(np.array([7, 3, 5, 2, 5, 1, -1])) == [7, 3, 5, 1, 2]
    assert exploration.in_order(np.array([-1, -1, 4])) == [4]


def scene(said: list[list[int]], label: list[int]) -> Scene:
    return Scene(np.array(said), np.array(label), np.full(len(label), 1 / len(label)))


def test_the_plan_is_a_mixture_of_survivors() -> None:
    planned = plan_exploration(scene([[0, 1, 0, 1], [1, 1, 1, 0], [0, 0, 2, 1]], [0, 1, 2, 1]), leader=0)
    assert (planned.probabilities > 0).all()
    assert planned.probabilities.sum() == pytest.approx(1)
    assert set(planned.rows.tolist()) <= {0, 1, 2}
    assert planned.gamma == GAMMA
    assert 0 < GAMMA <= 1


def test_the_plan_puts_mass_where_labels_are_found() -> None:
    """Model 1 is right wherever they differ: it takes all the mass."""
    planned = plan_exploration(scene([[0, 0, 0], [1, 1, 1]], [1, 1, 1]), leader=0)
    assert planned.rows[np.argmax(planned.probabilities)] == 1
    assert planned.probabilities.max() > 0.9


@pytest.mark.parametrize(
    ("said", "label"),
    [([[0, 1], [0, 1]], [0, 1]), ([[0, 1], [1, 0]], [-1, -1])],
    ids=["no contest", "no label confirmed"],
)
def test_with_nothing_known_the_leader_is_drawn(said: list[list[int]], label: list[int]) -> None:
    planned = plan_exploration(scene(said, label), leader=1)
    assert planned.rows.tolist() == [1]
    assert planned.probabilities.tolist() == [1.0]
