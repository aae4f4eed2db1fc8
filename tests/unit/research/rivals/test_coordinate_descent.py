"""The weights satisfy every constraint of (OP), checked for every policy, within the publication's number of steps."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.problems import models_of_accuracy

from onebit.errors import OnebitError
from onebit.hypotheses.counting import CountingClass
from onebit.hypotheses.finite import PredictionTable
from onebit.research.rivals import coordinate_descent
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


def test_a_step_and_the_rescaling_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Step: (V + D) / (2 (1 - K mu) S), D = V - 2 K - b; then all mass times 2 K / sum of Q_h (2 K + b_h), if below 1.

    Three policies that never agree on four contexts. At Q = 0 every 1 / Q^mu is 1 / mu, so V = 1 / mu, S = 1 / mu^2 and
    the one with b = 0 is the most violated.
    """
    K, mu = 3, 0.05
    table = PredictionTable([[0, 1, 2, 0], [1, 2, 0, 1], [2, 0, 1, 2]], n_labels=K)
    x, share = np.arange(4), np.full(4, 0.25)
    b = [0.0, 1.0, 2.5]
    earns = Rewards(np.array([0, 0]), np.array([0, 1]), np.array([2.5, 1.5]), 2.5)
    step = (2 / mu - 2 * K) / (2 * (1 - K * mu) / mu**2)

    def after(n_steps: int) -> CoordinateDescent:
        descent = CoordinateDescent(table, x, share, mu, earns)
        monkeypatch.setattr(coordinate_descent, "MAX_STEPS", n_steps)
        with pytest.raises(OnebitError, match="did not end"):
            descent.solve()
        return descent

    one = after(1)
    assert one.policies == [0]
    assert one.mass.tolist() == pytest.approx([step])
    assert one._b.tolist() == [0.0]
    two = after(2)
    assert two.policies == [0, 1]
    # The second is seen with 1 / mu as before, and D has its own b.
    assert two.mass.tolist() == pytest.approx([step, (2 / mu - 2 * K - b[1]) / (2 * (1 - K * mu) / mu**2)])
    many = CoordinateDescent(table, x, share, mu, earns)
    for h, mass in enumerate((0.5, 0.5, 0.5)):
        many._add(h, mass)
    many._shrink()
    total = sum(0.5 * (2 * K + each) for each in b)
    assert many.mass.tolist() == pytest.approx([0.5 * 2 * K / total] * 3)
    few = CoordinateDescent(table, x, share, mu, earns)
    few._add(0, 0.5)
    few._shrink()
    assert few.mass.tolist() == [0.5]


def test_who_abstains_is_as_violated_as_who_says_what_nobody_does() -> None:
    """Policy 0 has all mass; 1 says other labels and 2 nothing: both have V = 1 / mu, and 1 has the lower b."""
    table = PredictionTable([[0, 1, 2, 0], [1, 2, 0, 1], [-1, -1, -1, -1]], n_labels=3)
    mu, share = 0.05, np.full(4, 0.25)
    earns = Rewards(np.array([0, 0]), np.array([0, 1]), np.array([2.5, 1.5]), 2.5)
    counted = CountingClass(table)
    descent = CoordinateDescent(counted, np.arange(4), share, mu, earns)
    descent._add(0, 1.0)
    inverse = descent._inverse()
    V = [descent._moments(h, inverse)[0] for h in range(3)]
    assert pytest.approx([1 / (1 - 2 * mu), 1 / mu, 1 / mu]) == V
    assert [descent._b_of(h) for h in range(3)] == [0.0, 1.0, 2.5]
    assert descent._most_violated(inverse) == 1


def test_repeated_contexts_count_once_with_their_share() -> None:
    x, share = contexts(np.array([3, 1, 3, 3]))
    assert x.tolist() == [1, 3]
    assert share.tolist() == [0.25, 0.75]
    rows, even = contexts(np.array([[0.0], [0.0]]))
    assert rows.shape == (2, 1)
    assert even.tolist() == [0.5, 0.5]
