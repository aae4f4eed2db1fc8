"""The weights satisfy every constraint of (OP), checked for every policy, within the publication's number of steps."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.problems import models_of_accuracy

from onebit.hypotheses.counting import CountingClass
from onebit.hypotheses.finite import PredictionTable
from onebit.research.rivals.coordinate_descent import CoordinateDescent, Rewards, contexts


def problem(seed: int, n_labels: int, psi_mu: float) -> tuple[PredictionTable, np.ndarray, Rewards, np.ndarray]:
    """A table, its predictions, the rewards as the algorithm has them, and b_h of every policy."""
    rng = np.random.default_rng(seed)
    table, truth = models_of_accuracy(rng, np.linspace(0.1, 0.9, 40), 60, n_labels)
    x = rng.integers(0, 60, 80)
    weight = n_labels * np.ones(80) / (80 * psi_mu)
    earned = (table[:, x] == truth[x]) @ weight
    rewards = Rewards(x, truth[x], weight, float(earned.max()))
    return PredictionTable(table, n_labels), table, rewards, earned.max() - earned


@pytest.mark.parametrize("n_labels", [2, 5, 20])
@pytest.mark.parametrize("mu_share", [0.5, 0.1, 0.02])
@pytest.mark.parametrize("psi", [100.0, 1.0])
def test_every_constraint_holds(n_labels: int, mu_share: float, psi: float) -> None:
    mu = mu_share / n_labels
    policies, table, rewards, b = problem(n_labels, n_labels, psi * mu)
    counted = CountingClass(policies)
    share = np.full(60, 1 / 60)
    descent = CoordinateDescent(counted, np.arange(60), share, mu, rewards)
    descent.solve()
    mass = np.zeros(40)
    mass[descent.policies] = descent.mass
    assert (mass >= 0).all()
    assert mass.sum() <= 1 + 1e-9
    assert float(mass @ b) <= 2 * n_labels * (1 + 1e-9)
    Q = np.stack([(1 - n_labels * mu) * (mass @ (table == said)) + mu for said in table])
    V = (1 / Q).mean(axis=1)
    assert (2 * n_labels + b + 1e-6 >= V).all()
    # Agarwal et al. 2014, Theorem 3: at most so many steps from Q = 0; one more call finds that it is over.
    assert counted.n_calls <= 4 * math.log(1 / (n_labels * mu)) / mu + 1


def test_without_the_solver_the_constraints_fail() -> None:
    _, table, _, _ = problem(0, 5, 1.0)
    mu = 0.02 / 5
    point = np.eye(40)[0]
    Q = np.stack([(1 - 5 * mu) * (point @ (table == said)) + mu for said in table])
    assert (1 / Q).mean(axis=1).max() > 2 * 5


def test_repeated_contexts_count_once_with_their_share() -> None:
    x, share = contexts(np.array([3, 1, 3, 3]))
    assert x.tolist() == [1, 3]
    assert share.tolist() == [0.25, 0.75]
    rows, even = contexts(np.array([[0.0], [0.0]]))
    assert rows.shape == (2, 1)
    assert even.tolist() == [0.5, 0.5]
