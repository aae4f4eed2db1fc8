"""How many rounds each rival's own theorem asks for, beside those of ``learners/paper/schedule.py``.

Regret bounds are made into sizes by dividing by the number of rounds T: the average of the law played has at most that
excess error. Each row says what its guarantee is about; orders have no constants. The rivals themselves, and the
derivations named below, are in ``research/rivals/``; the formulas stand here, since ``onebit plan`` prints them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from onebit.estimate.delta import log_iltcb, log_policy_elimination
from onebit.learners.paper.constants import LARGEST
from onebit.learners.paper.schedule import check_problem

#: c_0 = 4 rho (1 + theta_1) of Agarwal et al. 2014, theta_1 = 94.1, for epochs that double: rho = sqrt(2). Where these
#: numbers were found is said in ``iltcb.py``.
ILTCB_C0 = 4 * math.sqrt(2) * (1 + 94.1)


@dataclass(frozen=True)
class RivalRounds:
    """``rounds`` that suffice for the ``guarantee`` (or, ``is_order``: an order without constants)."""

    learner: str
    rounds: float
    formula: str
    guarantee: str
    source: str
    is_order: bool = False


def least_rounds(bound: Callable[[int], float], eps: float) -> int:
    """The least T with bound(T) <= eps, for a bound that falls from some T on and is above eps before."""
    high = 1
    while bound(high) > eps and high < LARGEST:
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if bound(middle) <= eps else (middle, high)
    return high


def exp4_rounds(n_labels: int, n_hypotheses: int, eps: float) -> int:
    """4 (e - 1) K ln(N) / eps^2, at least 1: from the regret 2 sqrt((e - 1) T K ln N), derived in ``exp4.py``."""
    return max(1, math.ceil(4 * (math.e - 1) * n_labels * math.log(n_hypotheses) / eps**2))


def exp4_draw_rounds(n_labels: int, n_hypotheses: int, eps: float) -> int:
    """max(8 (e - 2) ln(N) / eps^2, 4 K ln(N) / eps), at least 1: for the rates of ``exp4_rates_for_a_draw``.

    There T rounds make the expected excess at most 2 sqrt(2 (e - 2) ln(N) / T), or 4 K ln(N) / T if the rate is
    gamma / K. Not in the publication; derived in ``exp4.py``.
    """
    log_n = math.log(n_hypotheses)
    return max(1, math.ceil(8 * (math.e - 2) * log_n / eps**2), math.ceil(4 * n_labels * log_n / eps))


def policy_elimination_rounds(n_labels: int, n_hypotheses: int, eps: float, delta: float) -> int:
    """The least T with 2 b_T <= eps, b_T = 2 sqrt(2 K log(4 N T^2 / delta) / T): derived in ``policy_elimination.py``.

    The publication's statement is about all survivors, who are within 4 b_T; the one that is returned is within 2 b_T.
    """
    return least_rounds(
        lambda t: 4 * math.sqrt(2 * n_labels * log_policy_elimination(t, n_hypotheses, delta) / t),
        eps,
    )


def iltcb_rounds(n_labels: int, n_hypotheses: int, eps: float, delta: float) -> int:
    """The least power of two T with c_0 sqrt(K ln(16 T^2 N / delta) / T) <= eps: Lemma 13 for the empirically best."""
    needed = least_rounds(
        lambda t: ILTCB_C0 * math.sqrt(n_labels * log_iltcb(t, math.log(n_hypotheses), delta) / t),
        eps,
    )
    return 1 << (needed - 1).bit_length()


def rival_rounds(n_labels: int, n_hypotheses: int, eps: float, delta: float) -> tuple[RivalRounds, ...]:
    """All rivals, in the order of their publication."""
    check_problem(n_labels, n_hypotheses, eps, delta)
    K, N = n_labels, n_hypotheses
    surely = f"with probability {1 - delta:g}"
    # A whole number may be too large for a float, and is then the larger of the two anyway.
    by_size = math.inf if N > LARGEST else N / eps + 1 / eps**2
    return (
        RivalRounds(
            "EXP4, drawn from its average",
            exp4_rounds(K, N, eps),
            "4 (e - 1) K ln(N) / eps^2",
            "in expectation",
            "Auer, Cesa-Bianchi, Freund, Schapire 2002",
        ),
        RivalRounds(
            "EXP4 with half uniform guesses",
            exp4_draw_rounds(K, N, eps),
            "max(8 (e - 2) ln(N) / eps^2, 4 K ln(N) / eps)",
            "in expectation, one right label",
            "derived here",
        ),
        RivalRounds(
            "Policy Elimination",
            policy_elimination_rounds(K, N, eps, delta),
            "4 sqrt(2 K ln(4 N T^2 / delta) / T) <= eps",
            surely,
            "Dudik, Hsu, Kale, Karampatziakis, Langford, Reyzin, Zhang 2011",
        ),
        RivalRounds(
            "ILOVETOCONBANDITS",
            iltcb_rounds(K, N, eps, delta),
            "538 sqrt(K ln(16 T^2 N / delta) / T) <= eps",
            surely,
            "Agarwal, Hsu, Kale, Langford, Li, Schapire 2014",
        ),
        RivalRounds(
            "sparse-reward regret",
            min(K * math.log(N) / eps**2, by_size),
            "min(K ln(N) / eps^2, N / eps + 1 / eps^2)",
            "in expectation, up to logarithms",
            "Erez, Cohen, Koren, Mansour, Moran 2024",
            is_order=True,
        ),
    )


def natarajan_order(n_labels: int, dimension: int, eps: float, delta: float) -> float:
    """K (d + ln(1 / delta)) / eps^2: the order, up to logarithms, for uniform guesses and ERM on a Natarajan class.

    Daniely, Sabato, Ben-David and Shalev-Shwartz, "Multiclass learnability and the ERM principle", COLT 2011. In the
    realisable case the factor K is unavoidable.
    """
    check_problem(n_labels, 1, eps, delta)
    return n_labels * (dimension + math.log(1 / delta)) / eps**2


def natarajan_optimal_order(n_labels: int, dimension: int, eps: float, delta: float, sparsity: int = 1) -> float:
    """min(s / eps^2 + K / eps, K / eps^2) (d + ln(1 / delta)): the best possible order for a Natarajan class.

    Corollary 4 of Erez, Chen, Cohen, Koren, Mansour, Moran and Rakhlin, COLT 2026 (which has s = 1), up to logarithms,
    and never above :func:`natarajan_order`, since uniform guesses are possible too: their order is the lower one where
    eps is above 1 - s / K. Both are about the class itself, not about its cover.
    """
    check_problem(n_labels, 1, eps, delta)
    best = (sparsity / eps**2 + n_labels / eps) * (dimension + math.log(1 / delta))
    return min(best, natarajan_order(n_labels, dimension, eps, delta))
