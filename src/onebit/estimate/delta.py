"""Every split of delta. How certificates share it out is not in the paper: docs/certificate.md, steps 5, 14, 16 to 20.

Shares are fixed before the first answer. The checker in ``verify`` has its own, since it shares no code with learners.
Bounds hold the logarithm of 1 over a share; functions that return it are named ``log_*``.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

#: With raters who err on a pool: what of delta is for the wealth; the rest is for the luck of the verdicts.
WEALTH_SHARE = 0.5
#: With a single audit of a classifier: what of delta is for its end; the rest is for looks on the way.
WHOLE_AUDIT_SHARE = 0.9


def failure_of_wealth(delta: float, raters_err: bool) -> float:
    """What of delta the wealth of a certificate may use up: all of it, or the share beside the luck of the verdicts."""
    return WEALTH_SHARE * delta if raters_err else delta


def failure_of_luck(delta: float) -> float:
    """What of delta is for the luck of the verdicts, where raters err on a pool."""
    return (1 - WEALTH_SHARE) * delta


def failure_per_leader(agreement: NDArray[np.int64], delta: float) -> NDArray[np.float64]:
    """What of delta each hypothesis may use up as the leader: 1 / rank, so that any N - 1 of them add up to delta.

    The rank is by ``agreement`` (N,) with the vote, equal ones by number: whoever agrees more is likelier to lead. It
    must be fixed before the first answer.
    """
    rank = ranks(agreement)
    # 1 + 1/2 + ... + 1/(N - 1)
    most = max((1 / np.arange(1, agreement.size)).sum(), 1.0)
    failure: NDArray[np.float64] = delta / (rank * most)
    return failure


def ranks(agreement: NDArray[np.int64]) -> NDArray[np.int64]:
    """The rank of each hypothesis by its ``agreement`` (N,), from 1 for the highest; equal ones by their number."""
    rank = np.empty(agreement.size, dtype=np.int64)
    rank[np.argsort(-agreement, kind="stable")] = np.arange(1, agreement.size + 1)
    return rank


def even_failure_per_leader(n_hypotheses: int, delta: float) -> NDArray[np.float64]:
    """What of delta each hypothesis may use up as the leader, where nobody is likelier to lead; shape (N,)."""
    return np.full(n_hypotheses, delta / max(n_hypotheses - 1, 1))


def failure_per_candidate(n_candidates: int, delta: float) -> float:
    """What of delta the statements of a gate about one of its candidates may use up, all of them together."""
    return delta / max(n_candidates, 1)


def failure_at_zero(failure: float) -> float:
    """What "better" may use up of a candidate's share, and "worse" as much: half each.

    Both are wrong where the two models are equal, and there only. A statement that one is ahead by less than some
    c > 0 can be wrong only where that one is ahead, and then no statement about the other is: it may use up all.
    """
    return failure / 2


def failure_of_top(rank: NDArray[np.int64] | None, n_hypotheses: int, top: int, delta: float) -> NDArray[np.float64]:
    """What of delta each hypothesis g may use up beside each rival, where the ``top`` best are looked for; shape (N,).

    Whoever the best are, ``top`` rivals are among them and N - top hypotheses g are not: over all of these pairs the
    shares add up to at most delta. The first ``top`` by ``rank`` (from 1, fixed before the first answer) have the same,
    those after them 1/2, 1/3 and so on of it; without a rank all have the same.
    """
    stake = np.ones(n_hypotheses) if rank is None else 1 / np.maximum(rank - top + 1, 1)
    largest = np.sort(stake)[::-1][: max(n_hypotheses - top, 0)]
    failure: NDArray[np.float64] = delta * stake / max(top * largest.sum(), 1.0)
    return failure


def failure_per_pair(n_hypotheses: int, delta: float) -> float:
    """What of delta the statements about one pair may use up, all of them together, where all pairs are compared."""
    return delta / max(n_hypotheses * (n_hypotheses - 1) / 2, 1)


def failure_of_sequel(number: int, delta: float) -> float:
    """What the sequel of a study may use up, the first having number 1: all of them together a delta of their own."""
    return delta / (number * (number + 1))


def alarm_threshold(n_rivals: int, false_alarm_every: float) -> float:
    """The evidence that raises an alarm about one of so many rivals: each has an equal share of all false alarms."""
    return max(n_rivals, 1) * false_alarm_every


def failure_per_share(n_hypotheses: int, delta: float) -> float:
    """What the interval of one hypothesis' share may fail with: half of a delta of their own is for all N together."""
    return delta / (2 * n_hypotheses)


def failure_per_difference(n_hypotheses: int, delta: float) -> float:
    """What the interval of one pair may fail with: the other half of that delta is for all N (N - 1) / 2 pairs."""
    return delta / max(n_hypotheses * (n_hypotheses - 1), 1)


def log_share(n_events: int, delta: float) -> float:
    """log(n_events / delta), for an even split over so many events; their number may be beyond the range of a float."""
    return math.log(n_events) - math.log(delta)


def log_phase_1(n_steps: int, n_hypotheses: int, delta: float) -> float:
    """log(N t / (delta / 2)): phase 1 has half of delta, for every hypothesis at each of t steps.

    Paper: Theorem 3, high probability, with the share that Lemma 3 has in the proof of Theorem 1.
    """
    return log_share(2 * n_steps * n_hypotheses, delta)


def log_phase_1_as_printed(n_hypotheses: int, delta: float) -> float:
    """log(16 N / delta). Paper: Lemma 3, for half of delta; it leaves out the log t of Theorem 3."""
    return log_share(16 * n_hypotheses, delta)


def log_phase_2(n_hypotheses: int, delta: float) -> float:
    """log(N / (delta / 2)): phase 2 has the other half of delta, for N one-sided events.

    Paper: end of the proof of Theorem 1. The best must not be underestimated, nor any other overestimated.
    """
    return log_share(2 * n_hypotheses, delta)


def log_one_phase(n_hypotheses: int, delta: float) -> float:
    """log(2 N / delta): all of delta, for both sides of N estimates. Not in the paper, which gives orders here."""
    return log_share(2 * n_hypotheses, delta)


def failure_per_hypothesis(n_hypotheses: int, delta: float) -> float:
    """delta / N: what each of N two-sided intervals may fail with for all to hold with probability 1 - delta."""
    return delta / n_hypotheses


def cover_and_rest(delta: float) -> tuple[float, float]:
    """Half of delta for the cover of an infinite class, half for the learner of the cover. Paper: Proposition 1."""
    return delta / 2, delta / 2


def failure_per_audit(n_audits: int, delta: float) -> float:
    """delta / n: what each of n accuracy intervals of a training may fail with, so that all hold. Not in the paper."""
    return delta / n_audits


def failure_of_whole_audit(delta: float) -> float:
    """What the exact interval of a single audit may fail with once it is whole; the rest is for looks before that."""
    return WHOLE_AUDIT_SHARE * delta


def log_policy_elimination(t: int, n_hypotheses: int, delta: float) -> float:
    """log(1 / delta_t), delta_t = delta / (4 N t^2): Dudik et al. 2011, two sides of N estimates after every round."""
    return math.log(4 * n_hypotheses * t**2 / delta)


def log_iltcb(t: int, log_n: float, delta: float) -> float:
    """ln(16 t^2 N / delta), with ``log_n`` = ln N: d_t of Agarwal et al. 2014, Lemma 15."""
    return math.log(16 * t**2 / delta) + log_n
