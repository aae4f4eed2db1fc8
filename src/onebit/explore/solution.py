"""What every solver of the potential returns, and what it shows on the way."""

from __future__ import annotations

from dataclasses import dataclass

from onebit.explore.mixture import Mixture


@dataclass(frozen=True)
class Iteration:
    """What a solver has before its move ``number``: ``potential`` is Phi on its sample, ``support`` its mixture's size.

    ``gap`` is the Frank-Wolfe gap, or None where the solver does not see it, as SPIDER, whose gradient is an estimate.

    To keep a record of a run, give ``observe=records.append`` for a list ``records``.
    """

    number: int
    potential: float
    gap: float | None
    support: int


@dataclass(frozen=True)
class Solution:
    """A mixture, and how far from the minimum of the potential on its sample it can be.

    ``gap`` bounds Phi(P) - min Phi on the sample if ``certified``, which needs an exact oracle; otherwise it is only
    what the oracle claims. ``converged`` says whether it is at most the tolerance asked for. ``n_passes`` counts the
    oracle calls, passes over the class.
    """

    mixture: Mixture
    gap: float
    n_passes: int
    converged: bool
    certified: bool
