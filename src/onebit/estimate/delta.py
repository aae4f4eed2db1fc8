"""How a certificate shares out delta before the first answer: docs/certificate.md, steps 5 and 14. Not in the paper."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

#: With raters who err on a pool: what of delta is for the wealth; the rest is for the luck of the verdicts.
WEALTH_SHARE = 0.5


def failure_per_leader(agreement: NDArray[np.int64], delta: float) -> NDArray[np.float64]:
    """What of delta each hypothesis may use up as the leader: 1 / rank, so that any N - 1 of them add up to delta.

    The rank is by ``agreement`` (N,) with the vote, equal ones by number: whoever agrees more is likelier to lead. It
    must be fixed before the first answer.
    """
    rank = np.empty(agreement.size)
    rank[np.argsort(-agreement, kind="stable")] = np.arange(1, agreement.size + 1)
    # 1 + 1/2 + ... + 1/(N - 1)
    most = max((1 / np.arange(1, agreement.size)).sum(), 1.0)
    failure: NDArray[np.float64] = delta / (rank * most)
    return failure
