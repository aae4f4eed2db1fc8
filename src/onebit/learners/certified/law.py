"""With which probability each label is asked: by what it says about the rivals that are still to be ruled out.

The variance of X(a) = m + [asked](z - m) / q is about m (1 - m) / q, and it counts for every rival whose difference to
the leader has X(a) in it. Asking in proportion to the root of both makes the least of their sum. Not in the paper;
docs/certificate.md, step 2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from onebit.learners.certified import constants
from onebit.learners.certified.outputs import Bools, Floats, Ints, Outputs


@dataclass(frozen=True, eq=False)
class Law:
    """The law of an epoch: what each rival still ``needs`` in answers, for ``rivals``, rows of the survivors.

    A label a that can be asked has the score s(a) = sqrt(R(a) (m (1 - m) + LEAST_VARIANCE)), where m is its guess and
    R(a) the sum of the needs of the rivals whose difference to the ``leader`` it enters: those that say a or, if the
    leader does, those that do not. With S(x) the sum over the n labels of x that can be asked, x is asked about with
    probability p(x) = S(x) / ``sure_from``, at least LEAST_ASKED and at most 1 (1 if sure_from is 0), and then a with
    probability (1 - gamma) s(a) / S(x) + gamma / n.
    """

    leader: int
    rivals: Ints
    needs: Floats
    gamma: float
    sure_from: float

    def scores(self, outputs: Outputs, unknown: Bools, guess: Floats) -> Floats:
        """s of each output, 0 for those that are not ``unknown``."""
        variance = guess * (1 - guess) + constants.LEAST_VARIANCE
        scores: Floats = np.where(unknown, np.sqrt(self._relevance(outputs) * variance), 0.0)
        return scores

    def _relevance(self, outputs: Outputs) -> Floats:
        """R of each output."""
        relevance = outputs.mass(self.rivals, self.needs)
        of_leader = outputs.code[self.leader] + outputs.first[:-1]
        # Added up from the others, not taken off the sum of all: with many rivals little would be left but rounding.
        relevance[of_leader] = 0.0
        relevance[of_leader] = outputs.per_example(relevance)
        return relevance

    def of(self, outputs: Outputs, unknown: Bools, guess: Floats) -> tuple[Floats, Floats]:
        """The probability of each output, given that its example is asked about; and that of each example."""
        score = self.scores(outputs, unknown, guess)
        total, n_unknown = outputs.per_example(score), outputs.per_example(unknown)
        # Where no rival needs anything the label is drawn uniformly, whatever gamma is.
        gamma = np.where(total > 0, self.gamma, 1.0)[outputs.example]
        share = score / np.where(total > 0, total, 1.0)[outputs.example]
        label = np.where(unknown, (1 - gamma) * share + gamma / np.maximum(n_unknown, 1)[outputs.example], 0.0)
        example = np.ones(total.size)
        if self.sure_from > 0:
            example = (total / self.sure_from).clip(constants.LEAST_ASKED, 1.0)
        return label, np.where(n_unknown > 0, example, 0.0)


class PairsLaw(Law):
    """The law where pairs of all ``rivals`` are to be told apart, and not each from the leader.

    R(a) is the sum over the pairs of which one says a and the other does not, of the product of what the two need.
    """

    def _relevance(self, outputs: Outputs) -> Floats:
        # Needs have so many decimals: as whole numbers they are added and subtracted without rounding.
        mass = outputs.mass(self.rivals, np.rint(self.needs * 10**constants.DECIMALS))
        of_others = outputs.per_example(mass)[outputs.example] - mass
        relevance: Floats = mass * of_others / 10.0 ** (2 * constants.DECIMALS)
        return relevance


@njit(cache=True, nogil=True)
def draw(first, label, example, uniform):  # type: ignore[no-untyped-def]
    """The output to ask at each example, counted from 0 within it, or -1; ``uniform`` (m, 2) is the randomness.

    ``label`` and ``example`` are the probabilities of ``Law.of``. The first number chooses among the labels, the second
    says whether the example is asked about.
    """
    asked = np.full(first.size - 1, -1)
    for i in range(first.size - 1):
        if uniform[i, 1] < example[i]:
            height = uniform[i, 0] * label[first[i] : first[i + 1]].sum()
            up_to = 0.0
            for k in range(first[i], first[i + 1]):
                if label[k] > 0:
                    # The last one, where rounding leaves the sum below the height.
                    asked[i] = k - first[i]
                    up_to += label[k]
                    if up_to > height:
                        break
    return asked
