"""How the certified learner asks next: which mixture, and how much of it, for the fastest growing wealth.

Everything here may look at all past answers and at the votes of the models, since it is fixed before the next example
is drawn. It decides how soon a run ends, never whether what it says is right.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onebit.estimate.betting import bets_within
from onebit.explore.corrective import Barrier, corrective_frank_wolfe
from onebit.hypotheses.on_sample import PackedOnSample
from onebit.kernels.bits import PackedTable
from onebit.learners.evidence import contested, n_labels_at

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Shares of uniform guesses among which the plan chooses.
GAMMAS = (0.2, 0.4, 0.6, 0.8, 1.0)
#: Gap to which the mixture is solved: the variance it is off by is a thousandth.
TOLERANCE = 1e-3


@dataclass(frozen=True, eq=False)
class Scene:
    """What is believed of the population: ``mass`` (m,) of examples with predictions ``said`` (V, m), ``label`` (m,).

    V counts the survivors; ``mass`` adds up to at most one, the rest being examples on which nothing is decided.
    """

    said: NDArray[np.integer]
    label: Ints
    mass: Floats


@dataclass(frozen=True, eq=False)
class Exploration:
    """The law of the next questions: draw from ``probabilities`` over ``rows`` of the survivors, or uniformly.

    A label a that survivors predict at x is asked with (1 - gamma) W(x, a) + gamma / |A(x)|.
    """

    rows: Ints
    probabilities: Floats
    gamma: float


def plurality(said: NDArray[np.integer], n_labels: int) -> Ints:
    """The label that most rows of ``said`` (V, m) give to each example, the lowest of equals; shape (m,)."""
    votes = np.zeros((said.shape[1], n_labels + 1), dtype=np.int64)
    for row in said:
        votes[np.arange(row.size), row] += 1
    # Column -1 collects the abstentions.
    winner: Ints = votes[:, :-1].argmax(axis=1)
    return winner


def mixture_mass(exploration: Exploration, said: NDArray[np.integer], label: Ints) -> Floats:
    """W(x, label) among those of the mixture that do not abstain at x; 0 where all of them do. Shape (m,)."""
    spoken = said[exploration.rows]
    agreeing = exploration.probabilities @ (spoken == label)
    speaking = exploration.probabilities @ (spoken >= 0)
    mass: Floats = np.divide(agreeing, speaking, out=np.zeros_like(agreeing), where=speaking > 0)
    return mass


def plan_exploration(scene: Scene, leader: int, widest: int, eps: float) -> Exploration:
    """The exploration with the fastest growth of the slowest rival's wealth.

    ``leader`` is a row of the scene; ``widest`` bounds |A(x)| where anything is asked, and with gamma the range of the
    differences.
    """
    asked = contested(scene.said) & (n_labels_at(scene.said) <= widest)
    scene = Scene(scene.said[:, asked], scene.label[asked], scene.mass[asked])
    best, best_growth = Exploration(np.array([leader]), np.ones(1), 1.0), -np.inf
    for gamma in GAMMAS:
        exploration = solve_exploration(scene, leader, gamma)
        growth = _slowest_growth(scene, exploration, leader, widest / gamma, eps)
        if growth > best_growth:
            best, best_growth = exploration, growth
    return best


def solve_exploration(scene: Scene, leader: int, gamma: float) -> Exploration:
    """The mixture of survivors that minimises the potential of the scene, with the floor gamma / |A(x)|."""
    used = contested(scene.said) & (scene.mass > 0)
    if gamma == 1 or not used.any():
        return Exploration(np.array([leader]), np.ones(1), gamma)
    said, label, mass = scene.said[:, used], scene.label[used], scene.mass[used]
    table = PackedTable(said.shape[0])
    table.append(said, np.arange(label.size), label)
    names = np.arange(said.shape[0])
    barrier = Barrier(mass / mass.sum(), gamma / n_labels_at(said), gamma)
    mixture = corrective_frank_wolfe(PackedOnSample(table, names, names), barrier, TOLERANCE).mixture
    return Exploration(np.array(mixture.hypotheses), mixture.probabilities, gamma)


def _slowest_growth(scene: Scene, exploration: Exploration, leader: int, largest: float, eps: float) -> float:
    """min over rivals of max over bets of the expected log factor of a round at threshold eps.

    Examples that are not in the scene count as rounds with D = 0.
    """
    said, label, mass, gamma = scene.said, scene.label, scene.mass, exploration.gamma
    q = (1 - gamma) * mixture_mass(exploration, said, label) + gamma / np.maximum(n_labels_at(said), 1)
    bet = bets_within(largest, eps)[:, None]
    at_zero = np.log1p(bet * eps)
    right = said == label
    behind = mass * q * (np.log1p(bet * (1 / q + eps)) - at_zero)
    ahead = mass * q * (np.log1p(-bet * (1 / q - eps)) - at_zero)
    leads = right[leader]
    growth = at_zero + behind[:, leads] @ (~right[:, leads]).T + ahead[:, ~leads] @ right[:, ~leads].T
    return float(np.delete(growth.max(axis=0), leader).min(initial=np.inf))


def draw_labels(exploration: Exploration, said: NDArray[np.integer], uniform: Floats) -> tuple[Ints, Floats]:
    """A label to ask at each contested example, and its propensity.

    ``said`` (V, m) is what survivors say there, ``uniform`` (m, 3) the randomness.
    """
    n_labels, places = n_labels_at(said), np.arange(said.shape[1])
    # The k-th distinct label of each column, k uniform: count the first appearances in sorted order.
    ordered = np.sort(said, axis=0)
    new = (ordered >= 0) & np.concatenate([np.ones((1, places.size), dtype=bool), ordered[1:] != ordered[:-1]])
    k = (uniform[:, 0] * n_labels).astype(np.int64)
    guess = ordered[np.argmax(new.cumsum(axis=0) == k + 1, axis=0), places].astype(np.int64)

    spoken = said[exploration.rows]
    speaking = (spoken >= 0) * exploration.probabilities[:, None]
    ladder = speaking.cumsum(axis=0)
    drawn = (ladder <= uniform[:, 1] * ladder[-1]).sum(axis=0).clip(max=exploration.rows.size - 1)
    uniformly = (uniform[:, 2] < exploration.gamma) | (ladder[-1] == 0)
    label = np.where(uniformly, guess, spoken[drawn, places])
    W = mixture_mass(exploration, said, label)
    # Where all of the mixture abstain, the guess is uniform whatever gamma is.
    share = np.where(ladder[-1] == 0, 1.0, exploration.gamma)
    return label, (1 - share) * W + share / n_labels


def labels_by_mass(exploration: Exploration, said: NDArray[np.integer]) -> list[int]:
    """The labels that survivors give to one example, ``said`` (V,), in the order of the mixture's mass."""
    labels, votes = np.unique(said[said >= 0], return_counts=True)
    mass = [exploration.probabilities @ (said[exploration.rows] == label) for label in labels]
    order = np.lexsort((labels, -votes, -np.array(mass)))
    ordered: list[int] = labels[order].tolist()
    return ordered
