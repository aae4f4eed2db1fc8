"""What the survivors say at each example, output by output: the ground on which labels are drawn and guessed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

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

    code: Ints
    first: Ints
    label: Ints
    votes: Ints

    @classmethod
    def of(cls, said: Predictions) -> Outputs:
        """From what the rows say, (V, m)."""
        n_rows, n_examples = said.shape
        order = np.argsort(said, axis=0, kind="stable")
        ordered = np.take_along_axis(said, order, axis=0)
        new = np.ones((n_rows, n_examples), dtype=np.bool_)
        new[1:] = ordered[1:] != ordered[:-1]
        rank = new.cumsum(axis=0) - 1
        code = np.empty_like(rank)
        np.put_along_axis(code, order, rank, axis=0)
        first = np.concatenate([[0], np.cumsum(rank[-1] + 1)]) if n_rows else np.zeros(n_examples + 1, dtype=np.int64)
        label = ordered.T[new.T].astype(np.int64)
        votes = np.bincount((code + first[:-1]).ravel(), minlength=first[-1])
        return cls(code, first, np.maximum(label, -1), votes)

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
        for row, probability in zip(rows, probabilities, strict=True):
            total[self.code[row] + self.first[:-1]] += probability
        return total

    def shares(self, among: Bools) -> Floats:
        """The share of the votes that each output in ``among`` has of all of those at its example; 0 for the others."""
        votes = np.where(among, self.votes, 0)
        shares: Floats = votes / np.maximum(self.per_example(votes), 1)[self.example]
        return shares


def plurality(said: Predictions) -> Ints:
    """The label that most rows of ``said`` (V, m) give to each example, the lowest of equals, -1 for none; (m,)."""
    outputs = Outputs.of(said)
    return _winner(outputs, outputs.votes)


def _winner(outputs: Outputs, votes: Ints) -> Ints:
    """The label with the most ``votes`` (n_outputs,) at each example, the lowest of equals, -1 for none."""
    votes = np.where(outputs.label >= 0, votes, 0)
    # By example, then by falling votes, then by rising label: the first of each example wins.
    order = np.lexsort((outputs.label, -votes, outputs.example))
    winner: Ints = outputs.label[order[outputs.first[:-1]]]
    return winner


def agreement(said: Predictions) -> Ints:
    """On how many examples each row of ``said`` (V, m) agrees with the last of several votes; (V,).

    In the first vote rows count alike; after that, by the odds with which they agreed with the vote before. Weights are
    whole numbers, so that the result is the same on every machine.
    """
    outputs = Outputs.of(said)
    numbers, winner = (outputs.code + outputs.first[:-1]).ravel(), _winner(outputs, outputs.votes)
    agreed: Ints = ((said == winner) & (winner >= 0)).sum(axis=1)
    for _ in range(constants.FURTHER_VOTES):
        odds = constants.VOTES_AT_EVEN_ODDS * agreed // (said.shape[1] - agreed + 1) + 1
        votes = np.bincount(numbers, weights=np.repeat(odds, said.shape[1]), minlength=outputs.label.size)
        winner = _winner(outputs, votes.astype(np.int64))
        agreed = ((said == winner) & (winner >= 0)).sum(axis=1)
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
