"""Mixtures stay on the simplex and induce the label distribution that they should."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onebit.errors import InvalidInputError
from onebit.explore.frank_wolfe import frank_wolfe
from onebit.explore.mixture import Mixture
from onebit.explore.solution import Iteration
from onebit.hypotheses.finite import PredictionTable

TABLE = np.array([[0, 1, 2], [0, 2, 2], [1, 1, -1]])
CLASS = PredictionTable(TABLE, 3)
X = np.arange(3)


@given(st.lists(st.tuples(st.integers(0, 9), st.floats(0.001, 1)), min_size=1, max_size=60))
def test_steps_stay_on_the_simplex(moves: list[tuple[int, float]]) -> None:
    mixture, dense = Mixture.point(0), np.eye(10)[0]
    for h, step in moves:
        mixture, dense = mixture.toward(h, step), (1 - step) * dense + step * np.eye(10)[h]
    assert mixture.probabilities.sum() == pytest.approx(1)
    assert (mixture.probabilities > 0).all()
    found = np.zeros(10)
    found[list(mixture.hypotheses)] = mixture.probabilities
    assert found == pytest.approx(dense, abs=1e-9)


@pytest.mark.parametrize("n_hypotheses", [2, 200])
def test_rounding_does_not_add_up_over_many_steps(n_hypotheses: int) -> None:
    """Steps 1 / t as in the paper, each to another hypothesis, or to two in turn."""
    mixture = Mixture.point(1)
    for t in range(2, 201):
        mixture = mixture.toward(t % n_hypotheses, 1 / t)
    assert mixture.probabilities.sum() == pytest.approx(1, abs=1e-14)
    assert mixture.probabilities == pytest.approx(1 / n_hypotheses, abs=1e-12)


def test_w() -> None:
    mixture = Mixture((0, 1, 2), np.array([0.5, 0.25, 0.25]))
    assert mixture.W(CLASS, X, np.array([0, 2, 2])).tolist() == [0.75, 0.25, 0.75]


def test_of_drops_zeros_and_merges() -> None:
    mixture = Mixture.of([3, 1, 3, 2], np.array([1.0, 2.0, 1.0, 0.0]))
    assert mixture.hypotheses == (3, 1)
    assert mixture.probabilities.tolist() == [0.5, 0.5]


@pytest.mark.parametrize(
    ("hypotheses", "probabilities"), [((0, 0), [0.5, 0.5]), ((0,), [0.5, 0.5]), ((0, 1), [1.5, -0.5]), ((0, 1), [1, 1])]
)
def test_what_is_no_distribution_is_refused(hypotheses: tuple[int, ...], probabilities: list[float]) -> None:
    with pytest.raises(InvalidInputError):
        Mixture(hypotheses, np.array(probabilities, dtype=float))


def test_frank_wolfe_refuses_what_it_cannot_solve_and_says_when_it_stopped_short() -> None:
    with pytest.raises(InvalidInputError, match="no sample"):
        frank_wolfe(CLASS, X[:0], X[:0], 0.5, 0.1)
    with pytest.raises(InvalidInputError, match="tolerance"):
        frank_wolfe(CLASS, X, np.array([0, 1, 2]), 0.5, 0)
    seen: list[Iteration] = []
    short = frank_wolfe(CLASS, X, np.array([1, 2, 2]), 0.5, 1e-9, max_steps=3, observe=seen.append)
    # One call to start, four to measure the gap before, between and after the three steps.
    assert (short.converged, short.n_passes, len(seen)) == (False, 5, 4)
    assert short.gap == seen[-1].gap
    assert short.gap > 1e-9
