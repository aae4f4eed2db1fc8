"""What the verdicts of a pool may hide: errors that happen to favour the wrong model, and items with two right labels.

Not in the paper; docs/certificate.md, steps 10 and 14.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

#: Follow-up takes every item to have one right label. It tolerates that a check contradicts this once in so many.
TOLERATED = 0.01
#: Rates that are held against it, and the probability of an alarm while the rate is tolerated.
ALTERNATIVES = (0.05, 0.1, 0.2, 0.4, 0.8)
FALSE_ALARM = 0.05


def worst_variance(rate: float) -> float:
    """The largest variance of an answer that errs with probability at most ``rate``.

    >>> worst_variance(0.25), worst_variance(0.7)
    (0.1875, 0.25)
    """
    return min(rate, 0.5) * (1 - min(rate, 0.5))


def slack(n_differ: NDArray[np.int64], log_odds: float, f_no: float, f_yes: float) -> NDArray[np.float64]:
    """By how many items the verdicts may favour one model over another more than their rates do.

    Two models differ on ``n_differ`` items; the difference of their acceptances there is a sum of at most
    2 ``n_differ`` independent verdicts. It falls short of its mean by more than

        t = min(L / 3 + sqrt(L^2 / 9 + 2 V L), sqrt(n_differ L)),    V = 2 n_differ max(v(f_no), v(f_yes)),

    with probability at most exp(-L), L being ``log_odds``: Bernstein's inequality, or Hoeffding's. Any shape.
    """
    V = 2 * n_differ * max(worst_variance(f_no), worst_variance(f_yes))
    bernstein = log_odds / 3 + np.sqrt(log_odds**2 / 9 + 2 * V * log_odds)
    shortest: NDArray[np.float64] = np.minimum(bernstein, np.sqrt(n_differ * log_odds))
    return shortest


def one_label_is_refuted(n_checks: int, n_contradicted: int) -> bool:
    """Whether so many contradictions show that items have several right labels more often than is tolerated.

    The mean over the alternatives p of (p / r)^k ((1 - p) / (1 - r))^(n - k), with r the rate that is tolerated, is a
    supermartingale while checks are contradicted at most at that rate. So it ever reaches 1 / FALSE_ALARM with at most
    that probability, however often one looks. One contradiction is never enough: it may be a slip.

    >>> one_label_is_refuted(12, 2), one_label_is_refuted(13, 2), one_label_is_refuted(1, 1)
    (True, False, False)
    """
    p = np.array(ALTERNATIVES)
    log_odds = n_contradicted * np.log(p / TOLERATED) + (n_checks - n_contradicted) * np.log((1 - p) / (1 - TOLERATED))
    return n_contradicted > 1 and bool(np.logaddexp.reduce(log_odds) - np.log(p.size) >= np.log(1 / FALSE_ALARM))
