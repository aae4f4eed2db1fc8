"""An interval for how often something happens, at any time, where each time it may be likelier or less likely.

Not in the paper. Y_1, Y_2, ... are 0 or 1, and p_i is the probability of Y_i = 1 given all before it. With s the sum of
the first n and p their mean p_i, for any tilt l

    exp(l s) / product of (1 - p_i + p_i exp(l))

is a martingale that starts at 1. The logarithm is concave, so the product is at most (1 - p + p exp(l))^n, and

    mean over the tilts l of exp(l s - n log(1 - p + p exp(l)))

is at most a martingale: by Ville's inequality it ever reaches 2 / delta with probability at most delta / 2. The p at
which it has not are those above the low end; the high end is that of the complement. This needs no p_i to be equal, so
it holds for questions that are chosen by what was answered before, where the intervals of ``accuracy.py`` do not.
"""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp

from onebit.errors import InvalidInputError, check_count, check_fraction

#: From the best for a hundred thousand answers to the best for a few: about sqrt(8 log(2 / delta) / n). Chosen before
#: anything was measured; none of it touches what is promised.
TILTS = np.geomspace(0.01, 8.0, 20)
#: How near to 0 and 1 the ends are looked for.
TINY = 1e-12


def running_rate(n_yes: int, n: int, delta: float) -> tuple[float, float]:
    """The ends between which the mean of p_1, ..., p_n is, with probability at least 1 - delta for all n at once.

    >>> low, high = running_rate(90, 100, 0.05)
    >>> round(low, 2), round(high, 2)
    (0.77, 0.97)
    """
    check_count("the number of answers", n, least=0)
    check_count("the number of yes", n_yes, least=0)
    check_fraction("delta", delta)
    if n_yes > n:
        raise InvalidInputError(f"there are {n_yes} yes among {n} answers; there cannot be more than answers")
    return _low(n_yes, n, delta), 1 - _low(n - n_yes, n, delta)


def _low(n_yes: int, n: int, delta: float) -> float:
    def beyond(p: float) -> float:
        """log of the mean, less log(2 / delta)."""
        logs = TILTS * n_yes - n * np.log1p(p * np.expm1(TILTS))
        return float(logsumexp(logs) - np.log(TILTS.size) - np.log(2 / delta))

    # It falls with p, and at the share of yes it is below: no tilt wins there.
    if n_yes == 0 or beyond(TINY) <= 0:
        return 0.0
    # Imported here: a server that starts should not wait for all of scipy.optimize.
    from scipy.optimize import brentq

    return float(brentq(beyond, TINY, n_yes / n))
