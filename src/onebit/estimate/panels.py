"""Wealth from verdicts on every output of an item, looked up as far as they are known.

The items come in an order that nobody chose: for a pool, that of a random permutation; for a stream, that in which they
were drawn. Along it every pair of hypotheses has its differences D, -1, 0 or 1, whether anybody has asked for them or
not. So the wealth of a pair is that of the longest beginning over which its verdicts are known, and verdicts can be
asked for later without a change to what they are worth. Not in the paper; docs/certificate.md, step 15.

On a pool, what a judge says about every output is known beforehand. Of a share of the wealth the bets are on D - w J
instead of D, J the difference of the judge's scores: where the judge is good, less is left to chance. A mean of
supermartingales is one, so whatever the judge says the promise holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.special import logsumexp

from onebit.estimate.betting import BETS, Wealth, stakes

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Verdicts = NDArray[np.int8]


@dataclass(frozen=True, eq=False)
class JudgeScores:
    """The ``scores`` (N, n) of what hypotheses say on all items of a pool, in their order, 0 for an abstention.

    ``weight`` of them is taken off the verdicts, with a ``share`` of the wealth.
    """

    scores: Floats
    weight: float
    share: float

    def left(self, leader: int) -> Floats:
        """The sum over the pool of every h's scores less those of ``leader``; shape (N,)."""
        total = self.scores.sum(axis=1)
        ahead: Floats = total - total[leader]
        return ahead


class PanelWealth(Wealth):
    """Wealth of hypotheses that say ``said`` (N, m) on the items drawn so far, in their order, judged by ``verdict``.

    On a pool of ``n_items``, ``n_differ(g)`` (N,) says on how many of all items each hypothesis and g give different
    outputs; a stream has no ``n_items``, and no ``judge``. A pair's factors are those of ``PoolWealth`` and of
    ``IndependentWealth``. Bets have the ``stakes`` of ``usual_bet``.
    """

    def __init__(
        self,
        said: NDArray[np.integer],
        verdict: Verdicts,
        n_items: int | None,
        n_differ: Callable[[int], Ints],
        judge: JudgeScores | None = None,
        usual_bet: float | None = None,
    ) -> None:
        self._log_stakes = np.log(stakes(usual_bet))
        self._said, self._verdict, self._judge = said, verdict, judge
        self._n_items, self._n_differ = n_items, n_differ

    def log_wealth(self, leader: int, c: float, keep: bool = False) -> Floats:
        if self._n_items is None:
            state = np.zeros((self._said.shape[0], BETS.size))
            _bet_on_stream(state, self._said, self._verdict, leader, c)
            return self._log_mean(state)
        plain = self._on_pool(leader, self._n_items * c, np.zeros((1, 1)), np.zeros(self._said.shape[0]), 0.0)
        if self._judge is None:
            return plain
        J, share = self._judge, self._judge.share
        judged = self._on_pool(leader, self._n_items * c, J.scores, J.left(leader), J.weight)
        both: Floats = np.logaddexp(np.log(1 - share) + plain, np.log(share) + judged)
        return both

    def _on_pool(self, leader: int, least_sum: float, scores: Floats, scores_left: Floats, weight: float) -> Floats:
        state = np.zeros((self._said.shape[0], BETS.size))
        n_differ = self._n_differ(leader)
        _bet_on_pool(state, self._said, self._verdict, leader, n_differ, least_sum, scores, scores_left, weight)
        return self._log_mean(state)

    def _log_mean(self, state: Floats) -> Floats:
        mean: Floats = logsumexp(state + self._log_stakes, axis=1)
        return mean

    def forget(self, c: float) -> None:
        """Nothing is kept: verdicts that come later may be about items that came before."""

    def differences(self, leader: int, without: Iterable[int] = ()) -> tuple[Floats, Floats, Bools]:
        """The sums of D against ``leader`` and of its square over what is known, and whether that is all; each (N,).

        Items at the places ``without`` are left out.
        """
        D, differ = self.known_differences(leader), self._said != self._said[leader]
        left_out = list(without)
        D[:, left_out], differ[:, left_out] = 0.0, False
        unknown = (self._verdict < 0) | (self._verdict[leader] < 0)
        return D.sum(axis=1), (D != 0).sum(axis=1).astype(np.float64), ~(differ & unknown).any(axis=1)

    def known_differences(self, leader: int) -> Floats:
        """D against ``leader`` where both verdicts are known, 0 elsewhere; shape (N, m)."""
        is_known = (self._verdict >= 0) & (self._verdict[leader] >= 0) & (self._said != self._said[leader])
        D: Floats = np.where(is_known, self._verdict - self._verdict[leader], 0).astype(np.float64)
        return D


@njit(cache=True, nogil=True)
def _bet_on_pool(  # type: ignore[no-untyped-def]
    state, said, verdict, leader, n_differ, least_sum, scores, scores_left, weight
):
    """Without replacement among the items on which the two differ; ``least_sum`` is n c.

    The bets are on Y = D - weight J, where J is the difference of the scores, whose sum over what is left is known.
    """
    for h in range(said.shape[0]):
        S, left, J_left = 0.0, float(n_differ[h]), scores_left[h]
        for t in range(said.shape[1]):
            if said[h, t] == said[leader, t]:
                continue
            if verdict[h, t] < 0 or verdict[leader, t] < 0 or least_sum - S > left:
                break
            J = scores[h, t] - scores[leader, t] if weight > 0 else 0.0
            # A bet looks at what came before alone, and serves every c; what can be lost is taken at c = 0.
            room = 1 + weight + (S + weight * J_left) / left
            mean = (least_sum - S - weight * J_left) / left
            Y = verdict[h, t] - verdict[leader, t] - weight * J
            for k in range(BETS.size):
                bet = BETS[k] / room if room > 0 else BETS[k]
                state[h, k] += np.log1p(-bet * (Y - mean))
            S, left, J_left = S + verdict[h, t] - verdict[leader, t], left - 1, J_left - J
        if least_sum - S > left:
            # Not even D = 1 on all that is left would make up for c.
            state[h] = np.inf


@njit(cache=True, nogil=True)
def _bet_on_stream(state, said, verdict, leader, c):  # type: ignore[no-untyped-def]
    """Independent draws; where the two say the same, D is 0."""
    for h in range(said.shape[0]):
        for t in range(said.shape[1]):
            D = 0
            if said[h, t] != said[leader, t]:
                if verdict[h, t] < 0 or verdict[leader, t] < 0:
                    break
                D = verdict[h, t] - verdict[leader, t]
            for k in range(BETS.size):
                state[h, k] += np.log1p(-BETS[k] * (D - c))
