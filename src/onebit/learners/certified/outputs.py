"""What the survivors say at each example, output by output: the ground on which labels are drawn and guessed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from onebit.kernels.votes import distinct_outputs, n_agreeing, vote
from onebit.learners.certified import constants

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Predictions = NDArray[np.integer]


@dataclass(frozen=True, eq=False)
class Outputs:
    """The distinct outputs at m examples, in increasing order, one example after the other.

    Example i has the outputs number first[i] to first[i + 1] - 1; ``label`` (-1 for abstention) and ``votes``, the
    number of rows that give it, belong to each output. ``code`` (V, m) says which output of the example, counted from
    0, each row gives.
    """

    code: NDArray[np.unsignedinteger]
    first: Ints
    label: Ints
    votes: Ints

    @classmethod
    def of(cls, said: Predictions) -> Outputs:
        """From what the rows say, (V, m)."""
        return cls(*distinct_outputs(said))

    @property
    def example(self) -> Ints:
        """The example that each output belongs to."""
        return np.repeat(np.arange(self.first.size - 1), np.diff(self.first))

    def per_example(self, value: NDArray[np.generic]) -> Floats:
        """The sum over the outputs of each example."""
        total = np.bincount(self.example, weights=value.astype(np.float64), minlength=self.first.size - 1)
        return total.astype(np.float64)

    def mass(self, rows: Ints, probabilities: Floats) -> Floats:
        """The mass of a mixture of rows on each output."""
        total = np.zeros(self.label.size)
        _add_mass(total, self.code, self.first, rows, probabilities)
        return total

    def shares(self, among: Bools) -> Floats:
        """The share of the votes that each output in ``among`` has of all of those at its example; 0 for the others."""
        votes = np.where(among, self.votes, 0)
        shares: Floats = votes / np.maximum(self.per_example(votes), 1)[self.example]
        return shares


def plurality(said: Predictions) -> Ints:
    """The label that most rows of ``said`` (V, m) give to each example, the lowest of equals, -1 for none; (m,)."""
    return vote(said, np.ones(said.shape[0], dtype=np.int64))


def agreement(said: Predictions) -> Ints:
    """On how many examples each row of ``said`` (V, m) agrees with the last of several votes; (V,).

    In the first vote rows count alike; after that, by the odds with which they agreed with the vote before. Weights are
    whole numbers, so that the result is the same on every machine.
    """
    agreed = n_agreeing(said, plurality(said))
    for _ in range(constants.FURTHER_VOTES):
        odds = constants.VOTES_AT_EVEN_ODDS * agreed // (said.shape[1] - agreed + 1) + 1
        agreed = n_agreeing(said, vote(said, odds))
    return agreed


def contested(said: Predictions) -> Bools:
    """Whether the rows of ``said`` (V, m) differ at each example; shape (m,)."""
    differ: Bools = (said != said[0]).any(axis=0)
    return differ


def several_labels(said: Predictions) -> Bools:
    """Whether the rows of ``said`` (V, m) give two labels or more to each example, abstentions aside; shape (m,)."""
    highest = said.max(axis=0)
    several: Bools = ((said >= 0) & (said != highest)).any(axis=0)
    return several


@njit(cache=True, nogil=True)
def _add_mass(total, code, first, rows, probabilities):  # type: ignore[no-untyped-def]
    """Row by row, so that sums are the same on every machine."""
    for k in range(rows.size):
        for i in range(code.shape[1]):
            total[first[i] + code[rows[k], i]] += probabilities[k]
