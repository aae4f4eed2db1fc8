"""Where a model stands among all others: what ``--top`` and ``--tiers`` say of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Placing:
    """A ``model``, by its number in the table, among all that say different things; the first of equals stands for all.

    Its rank is from ``best_rank`` to ``worst_rank``, 1 for the best. With *top*, tier 1 are the models that are named
    as the best ones and tier 2 all others. With *tiers*, who is in a tier is better than all in the tiers below; it is
    better than the models ``better_than``, and within eps of those ``tied_with``, of whom neither is shown to be
    better. Of all pairs that are in neither list nothing is shown so far.
    """

    model: int
    tier: int
    best_rank: int
    worst_rank: int
    better_than: tuple[int, ...] = ()
    tied_with: tuple[int, ...] = ()
