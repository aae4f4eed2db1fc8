"""What is known spreads over the pool: rows that nobody was asked about take on the labels of those they lie among.

Of few known rows, each says something of the rows near it, these of others near them, and so on: where many items lie
together, one label says what most of them are. With Y (m, K) the labels known of the rows of ``around.py``, and S how
alike these are, the mass of each label at each row is

    F = sum_t REACH^t (D S)^t Y,

where D S leaves no mass at a label that was denied (Zhou and others 2004, "Learning with local and global
consistency", with denials). A new row has the labels of the rows nearest to it, each as far as it is alike. Not in the
paper.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from onebit.learners.training.around import likeness
from onebit.learners.training.beside import FittedBeside
from onebit.learners.training.constants import FEW_FOR_SPREAD, N_ALIKE, REACH, SPREAD_STEPS
from onebit.learners.training.model import Floats, Ints, Known
from onebit.learners.training.nearest import nearest_rows


class Spread(FittedBeside):
    """The rows (m, d), and the mass of each label met at each; says nothing where it is not known who is near whom."""

    few_rows = FEW_FOR_SPREAD

    def __init__(self, n_labels: int) -> None:
        super().__init__(n_labels)
        self._rows = np.empty((0, 0), dtype=np.float32)
        self._mass = np.empty((0, 0), dtype=np.float32)

    def learn(self, known: Known, rng: np.random.Generator) -> None:
        if known.around is not None:
            super().learn(known, rng)

    def _fit(self, known: Known, rows: Ints, label: Ints, rng: np.random.Generator) -> None:
        around, items = known.around, known.items
        if around is None or items is None:
            return
        met = self._n_of_each_label > 0
        place, is_row = around.places(items), around.holds[items]
        self._rows = around.rows
        given = np.zeros((len(self._rows), np.count_nonzero(met)), dtype=np.float32)
        np.add.at(given, (place[rows], label), 1)
        given /= np.maximum(given.sum(axis=1, keepdims=True), 1)
        may_have = np.ones_like(given)
        may_have[place[is_row]] = known.possible[is_row][:, met]
        mass = given
        for _ in range(SPREAD_STEPS):
            mass = given + np.float32(REACH) * (around.alike @ mass) * may_have
        self._mass = mass

    def _said(self, x: NDArray[np.floating]) -> Floats:
        # In double precision, whatever that of x: else the nearest of rows that lie together far from the mean would
        # hang on rounding, and the classifier that is audited would not be the one that predicts.
        x, rows = x.astype(np.float64, copy=False), self._rows.astype(np.float64)
        near = nearest_rows(x, rows, min(N_ALIKE, len(rows)))
        distance = np.stack([np.linalg.norm(x - rows[near[:, rank]], axis=1) for rank in range(near.shape[1])], axis=1)
        alike = likeness(distance, distance[:, -1:])
        mass = np.einsum("nj,njk->nk", alike, self._mass[near])
        # Far from all that is known a label is as likely as it is frequent.
        counts = self._n_of_each_label[self._n_of_each_label > 0]
        total = mass.sum(axis=1, keepdims=True)
        said: Floats = np.where(total > 0, mass / np.where(total > 0, total, 1), counts / counts.sum())
        return said
