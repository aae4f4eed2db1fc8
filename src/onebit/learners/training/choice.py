"""Which items to ask about next: those that would teach most, and not many of a kind."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from onebit.learners.training.model import Floats, Ints

#: Of so many times the items wanted, the most uncertain, those wanted are chosen far from each other.
CANDIDATES = 3


def margins(belief: Floats) -> Floats:
    """How far the likeliest label is ahead of the next, for each row of ``belief`` (n, K); 1 if there is one label."""
    if belief.shape[1] == 1:
        return np.ones(len(belief))
    two = np.partition(belief, -2, axis=1)[:, -2:]
    ahead: Floats = two[:, 1] - two[:, 0]
    return ahead


def uncertain_and_diverse(belief: Floats, n_wanted: int) -> Ints:
    """Rows of ``belief`` (n, K): the least margins first, then far from each other in what is believed of them.

    Starting from the least margin, the candidate that is farthest from all chosen so far comes next. Distance is that
    of the square roots of the beliefs: rows that are torn between the same labels are near.
    """
    n_candidates = min(len(belief), CANDIDATES * n_wanted)
    if n_wanted == 0:
        return np.empty(0, dtype=np.int64)
    candidates = np.argsort(margins(belief), kind="stable")[:n_candidates]
    if n_candidates <= n_wanted:
        return candidates
    place = np.sqrt(belief[candidates])
    chosen = np.empty(n_wanted, dtype=np.int64)
    nearest: NDArray[np.floating] = np.full(n_candidates, np.inf)
    at = 0
    for i in range(n_wanted):
        chosen[i] = at
        # 2 - 2 <a, b> is the squared distance of two rows of length 1.
        nearest = np.minimum(nearest, 2 - 2 * place @ place[at])
        nearest[at] = -np.inf
        at = int(nearest.argmax())
    return candidates[chosen]
