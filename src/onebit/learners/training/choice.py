"""Which items to ask about next: those that would teach most, and not many of a kind."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from onebit.learners.training.constants import CANDIDATES, LIKELIEST, SETTLED
from onebit.learners.training.model import Floats, Ints


def worth_asking(
    belief: Floats, n_wanted: int, chosen_share: float, spread: Callable[[Ints, int], Ints], rng: np.random.Generator
) -> tuple[Ints, Ints]:
    """Rows of ``belief`` (n, K) that few questions can settle, and others.

    Of those that can be settled, the most uncertain for about ``chosen_share``, and some that lie apart. The others
    cost a search among many labels, however much they would teach; as many of them as there are in proportion, which
    lie apart. ``spread(rows, n)`` are the places of n of the rows that lie apart.
    """
    can_be = can_be_settled(belief)
    quick, others = np.flatnonzero(can_be), np.flatnonzero(~can_be)
    n_wanted = min(n_wanted, len(belief))
    n_others = min(others.size, max(round(n_wanted * others.size / max(len(belief), 1)), n_wanted - quick.size))
    n_quick = n_wanted - n_others
    n_any = n_quick - rng.binomial(n_quick, chosen_share)
    apart = spread(quick, n_any)
    # Equal margins are not to be taken in the order of the pool.
    rest = rng.permutation(np.delete(quick, apart))
    chosen = rest[uncertain_and_diverse(belief[rest], n_quick - n_any)]
    return np.concatenate([quick[apart], chosen]), others[spread(others, n_others)]


def can_be_settled(belief: Floats) -> NDArray[np.bool_]:
    """Which rows of ``belief`` (n, K) few questions can settle."""
    n_likeliest = min(LIKELIEST, belief.shape[1])
    likely: NDArray[np.bool_] = np.partition(belief, -n_likeliest, axis=1)[:, -n_likeliest:].sum(axis=1) >= SETTLED
    return likely


def given_possible(belief: Floats, possible: NDArray[np.bool_]) -> Floats:
    """``belief`` (n, K) given that the label is among those possible."""
    left: Floats = belief * possible
    left /= np.maximum(left.sum(axis=1, keepdims=True), np.finfo(np.float32).tiny)
    return left


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
