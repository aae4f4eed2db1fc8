"""How the certified learner asks next: the mixture of least variance on what is known so far, and uniform guesses.

Everything here may look at all past answers and at the votes of the models, since it is fixed before the next example
is drawn. It decides how soon a run ends, never whether what it says is right.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np

from onebit.errors import InvalidInputError
from onebit.explore.corrective import Barrier, corrective_frank_wolfe
from onebit.hypotheses.on_sample import PackedOnSample
from onebit.kernels.bits import PackedTable
from onebit.learners.certified.outputs import Bools, Floats, Ints, Outputs, Predictions, contested, plurality
from onebit.records import EpochRecord

#: Share of uniform guesses. The mixture fits the samples it was found on; on new ones it misses labels, so that less
#: than a half asks for more answers, whatever is predicted on the samples.
GAMMA = 0.7
#: Gap to which the mixture is solved: the variance it is off by is a thousandth.
TOLERANCE = 1e-3
#: Confirmed samples below which the votes of the models stand in for them, and the most that are planned with.
ENOUGH_CONFIRMED, MOST_PLANNED = 50, 1000


@dataclass(frozen=True, eq=False)
class Scene:
    """What is believed of the population: ``mass`` (m,) of examples with predictions ``said`` (V, m), ``label`` (m,).

    V counts the survivors.
    """

    said: Predictions
    label: Ints
    mass: Floats


@dataclass(frozen=True, eq=False)
class Exploration:
    """The law of the next questions: draw from ``probabilities`` over ``rows`` of the survivors, or uniformly.

    A label a in A(x), those that survivors predict at x and whose answer is not known, is asked with probability
    (1 - gamma) W(x, a) + gamma / |A(x)|, W being the mixture's mass among its rows with a label in A(x).
    """

    rows: Ints
    probabilities: Floats
    gamma: float

    def propensity(self, outputs: Outputs, unknown: Bools) -> Floats:
        """With what probability each output is asked; 1 for those that are not ``unknown``: they never are."""
        mass = np.where(unknown, outputs.mass(self.rows, self.probabilities), 0)
        total, n_unknown = outputs.per_example(mass)[outputs.example], outputs.per_example(unknown)[outputs.example]
        # Where the mixture has no mass the guess is uniform, whatever gamma is.
        gamma = np.where(total > 0, self.gamma, 1.0)
        W = np.divide(mass, total, out=np.zeros_like(mass), where=total > 0)
        return np.where(unknown, (1 - gamma) * W + gamma / np.maximum(n_unknown, 1), 1.0)

    def draw(self, outputs: Outputs, unknown: Bools, uniform: Floats) -> Ints:
        """The output to ask at each example, counted from 0 within it, or -1 where none is unknown.

        ``uniform`` (m, 3) is the randomness.
        """
        if not unknown.any():
            return np.full(outputs.first.size - 1, -1)
        places, first = np.arange(outputs.first.size - 1), outputs.first
        n_unknown = outputs.per_example(unknown).astype(np.int64)
        # The unknown outputs of an example come after those of the examples before it; of them, the k-th.
        k = np.cumsum(n_unknown) - n_unknown + (uniform[:, 0] * n_unknown).astype(np.int64)
        guess = np.flatnonzero(unknown)[k.clip(max=unknown.sum() - 1)] - first[:-1]

        spoken = outputs.code[self.rows]
        ladder = (unknown[spoken + first[:-1]] * self.probabilities[:, None]).cumsum(axis=0)
        height = np.minimum(uniform[:, 1] * ladder[-1], np.nextafter(ladder[-1], 0))
        drawn = (ladder <= height).sum(axis=0).clip(max=self.rows.size - 1)
        uniformly = (uniform[:, 2] < self.gamma) | (ladder[-1] == 0)
        return np.where(n_unknown == 0, -1, np.where(uniformly, guess, spoken[drawn, places]))

    def in_order(self, said: Predictions) -> list[int]:
        """The labels that survivors give to one example, ``said`` (V,), in the order of the mixture's mass."""
        labels, votes = np.unique(said[said >= 0], return_counts=True)
        # Rounded, so that masses that are equal but for the order of summation count as equal.
        mass = np.array([self.probabilities @ (said[self.rows] == label) for label in labels]).round(12)
        order = np.lexsort((labels, -votes, -mass))
        ordered: list[int] = labels[order].tolist()
        return ordered


class Confirmed:
    """The latest rounds whose right label was found."""

    def __init__(self) -> None:
        self._batches: deque[tuple[Predictions, Ints, Floats]] = deque()
        self._n = 0

    def add(self, said: Predictions, label: Ints, propensity: Floats) -> None:
        """What all hypotheses said (N, m), the right label and the propensity of finding it (m,)."""
        self._batches.append((said, label, propensity))
        self._n += label.size
        while self._n - self._batches[0][1].size >= MOST_PLANNED:
            self._n -= self._batches.popleft()[1].size

    def scene(self, survivors: Ints) -> Scene | None:
        """The samples, each weighted by 1 / propensity; None if there are too few."""
        if self._n < ENOUGH_CONFIRMED:
            return None
        said = np.concatenate([said[survivors] for said, _, _ in self._batches], axis=1)
        mass = 1 / np.concatenate([propensity for _, _, propensity in self._batches])
        return Scene(said, np.concatenate([label for _, label, _ in self._batches]), mass / mass.sum())


def scene_of_votes(said: Predictions) -> Scene:
    """Evenly spread contested columns of ``said`` (V, m), with the plurality of the rows for the right label."""
    places = np.flatnonzero(contested(said))
    places = places[np.linspace(0, places.size - 1, min(MOST_PLANNED, places.size)).astype(np.int64)]
    return Scene(said[:, places], plurality(said[:, places]), np.full(places.size, 1 / max(places.size, 1)))


def as_logged(record: EpochRecord, names: Ints) -> Exploration:
    """The exploration of a log; ``names`` (V,) are the survivors' numbers in it."""
    if not {name for name, _ in record.mixture} <= set(names.tolist()):
        raise InvalidInputError(f"epoch {record.number} explores by models that do not survive until then")
    rows = np.array([np.flatnonzero(names == name)[0] for name, _ in record.mixture], dtype=np.int64)
    return Exploration(rows, np.array([mass for _, mass in record.mixture]), record.gamma)


def plan_exploration(scene: Scene, leader: int) -> Exploration:
    """The mixture of survivors that minimises the potential of the scene, with the floor gamma / |A(x)|.

    The leader, a row of the scene, where nothing is known.
    """
    used = contested(scene.said) & (scene.mass > 0) & (scene.label >= 0)
    if not used.any():
        return Exploration(np.array([leader]), np.ones(1), GAMMA)
    said, label, mass = scene.said[:, used], scene.label[used], scene.mass[used]
    table = PackedTable(said.shape[0])
    table.append(said, np.arange(label.size), label)
    names = np.arange(said.shape[0])
    outputs = Outputs.of(said)
    barrier = Barrier(mass / mass.sum(), GAMMA / outputs.per_example(outputs.label >= 0), GAMMA)
    mixture = corrective_frank_wolfe(PackedOnSample(table, names, names), barrier, TOLERANCE).mixture
    return Exploration(np.array(mixture.hypotheses), mixture.probabilities, GAMMA)
