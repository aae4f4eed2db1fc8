"""Evidence that the choice is no longer within eps of a rival: an e-detector of Shiryaev and Roberts' kind.

Fresh items come in batches, each in a random order. D is the verdict on the rival's output less that on the choice's, 0
where the two say the same. Two claims that the rival is ahead by at most eps are bet against at once:

- on the n items of this batch. For each item on which the two differ a stake is multiplied by 1 + bet (D - c_t), where
  c_t = (n eps - S) / U is what the U of these items that are to come have on average at most, S the sum of D so far;
- on a population that the items are independent draws from. For each item a stake is multiplied by 1 + bet (D - eps).

The growth G of a batch is the smaller of the two products. While either claim is true its mean is at most 1.

Over batches M = (M + 1) G: one more unit is staked before each batch, so that a change is found whenever it comes, and
what was lost before it plays no part. While the claim is true M - (number of batches) has no upward drift, so M reaches
R within b batches with probability at most b / R, and after R batches on average at the earliest. A mean over bets and
over rivals has the same property. Not in the paper; Shin, Ramdas and Rinaldo (2024), "E-detectors". The argument is
step 18 of docs/certificate.md.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from onebit.estimate.delta import alarm_threshold

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]

#: No bet stakes more than the last share of what can be lost. Fewer and larger ones than in a certificate: a change is
#: to be found in tens of items, not thousands. Not tuned on any table.
BETS = np.geomspace(0.02, 0.9, 10)
#: As much evidence as is ever counted, so that every log can hold it.
MOST = 1e300


def nothing_yet(n_rivals: int) -> Floats:
    """The evidence before the first batch; shape (n_rivals, n_bets)."""
    return np.zeros((n_rivals, BETS.size))


def after_batch(carried: Floats, D: Ints, differ: Bools, n_differ: Ints, n_items: int, eps: float) -> Floats:
    """The evidence (n_rivals, n_bets) after a batch of ``n_items``, from that ``carried`` into it.

    ``D`` (n_rivals, m) is that of the first m items of the order, and ``differ`` (n_rivals, m) whether the rival and
    the choice say different things there; on ``n_differ`` (n_rivals,) items of the whole batch they do.
    """
    growth = np.zeros((n_differ.size, BETS.size))
    _bet(growth, D, differ, n_differ, n_items * eps, eps)
    return np.minimum((carried + 1) * np.exp(np.minimum(growth, np.log(MOST))), MOST)


def of_rivals(evidence: Floats) -> Floats:
    """The evidence about each rival: the mean over its bets; shape (n_rivals,)."""
    mean: Floats = evidence.mean(axis=1)
    return mean


def alarms(evidence: Floats, false_alarm_every: float) -> Ints:
    """The rivals, counted from 0, that are shown to have been ahead by more than eps."""
    found: Ints = np.flatnonzero(of_rivals(evidence) >= alarm_threshold(evidence.shape[0], false_alarm_every))
    return found


@njit(cache=True, nogil=True)
def _bet(growth, D, differ, n_differ, most_sum, eps):  # type: ignore[no-untyped-def]
    """Write the logarithm of the growth of a batch into ``growth`` (n_rivals, n_bets); ``most_sum`` is n eps."""
    on_population = np.empty(BETS.size)
    for h in range(D.shape[0]):
        on_population[:] = 0.0
        S, left, is_refuted = 0.0, float(n_differ[h]), False
        for t in range(D.shape[1]):
            d = D[h, t] if differ[h, t] else 0
            for k in range(BETS.size):
                on_population[k] += np.log1p(BETS[k] / (1 + eps) * (d - eps))
            if not differ[h, t]:
                continue
            mean = (most_sum - S) / left
            # At -1 or below, not even D = -1 on all that is left would bring the rival back to eps.
            is_refuted |= mean <= -1
            # From 1 on nothing can be shown, so nothing is bet.
            if mean < 1 and not is_refuted:
                for k in range(BETS.size):
                    growth[h, k] += np.log1p(BETS[k] / (1 + mean) * (d - mean))
            S, left = S + d, left - 1
        is_refuted |= S - left > most_sum
        for k in range(BETS.size):
            growth[h, k] = on_population[k] if is_refuted else min(growth[h, k], on_population[k])
