"""The sequel's sizes with every constant: T and n of its Algorithms 2 and 3. ``docs/sequel.md`` has the derivation.

The sequel is Erez, Chen, Cohen, Koren, Mansour, Moran, Rakhlin, "The Sample Complexity of Multiclass and Sparse
Contextual Bandits", COLT 2026. Its theorems leave constants and logarithms out; here they are kept. s, the *sparsity*,
is the largest number of right labels of an example, and m, the *list size*, how many labels are predicted and asked.
With c = min(s, m), B = c K / (gamma m), and V = max over h of E[sum of [j in h(x)] / (gamma m / K + (1 - gamma) Q_j)]
over the right labels j of x, where Q_j is the mass of the mixture that gives j:

    the estimate of h has variance at most c V and values in [0, B];
    n rounds of phase II suffice if sqrt(2 c V L / n) + B L / (3 n) <= eps / 2, L = log(N / (delta / 2)).

delta: one half for phase I, a third of which for each of its three events, and one half for phase II.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from onebit.errors import InvalidInputError, check_count, check_fraction
from onebit.explore.potential import check_gamma
from onebit.learners.paper.schedule import THEOREM_GAMMA, Guarantee, check_problem

#: The constant of Freedman's inequality (Beygelzimer et al. 2011, Theorem 1), which the sequel rounds up to 1.
FREEDMAN = math.e - 2
#: Values of the free parameters a, b of Lemma 14 among which the best are taken: 1 to about 4,000.
FREE = 2 ** np.arange(0, 12.25, 0.25)


@dataclass(frozen=True)
class HedgePlan:
    """Everything that Algorithms 2 and 3 of the sequel fix before the first question.

    Sequel: ``n_hedge`` is T, the rounds of phase I, and ``n_final`` is n, those of phase II. ``sparsity`` is s: the
    step size counts on at most so many right labels for each example. ``list_size`` is m. ``guarantee`` says for which
    problems a run with these sizes is within eps with probability 1 - delta; None if for none.
    """

    n_hedge: int
    n_final: int
    gamma: float = THEOREM_GAMMA
    delta: float = 0.05
    sparsity: int = 1
    list_size: int = 1
    origin: str = "sizes as given"
    guarantee: Guarantee | None = None

    def __post_init__(self) -> None:
        check_count("n_hedge", self.n_hedge)
        check_count("n_final", self.n_final, least=2)
        check_count("sparsity", self.sparsity)
        check_count("list_size", self.list_size)
        check_gamma(self.gamma)
        check_fraction("delta", self.delta)

    @property
    def n_rounds(self) -> int:
        """Rounds of both phases."""
        return self.n_hedge + self.n_final


def hedge_rate(n_labels: int, gamma: float, sparsity: int = 1, list_size: int = 1) -> float:
    """eta = gamma m / (K min(s, m)): one over the largest gain. Sequel: Theorems 3 and 6."""
    return 1 / largest_weight(n_labels, gamma, sparsity, list_size)


def largest_weight(n_labels: int, gamma: float, sparsity: int = 1, list_size: int = 1) -> float:
    """B = K min(s, m) / (gamma m): the most that one round can add to a gain or to an estimate."""
    return n_labels * min(sparsity, list_size) / (gamma * list_size)


def hedge_plan(
    n_labels: int,
    n_hypotheses: int,
    eps: float,
    delta: float,
    *,
    sparsity: int = 1,
    list_size: int = 1,
    gamma: float = THEOREM_GAMMA,
) -> HedgePlan:
    """T and n for which the proofs of Theorems 3 and 6 go through, with the least T + n.

    Sequel: T is of order (c K / (m eps)) log(N / delta), n of order (c s / eps^2 + c K / (m eps)) log(N / delta), up to
    a log K beside s; with m = 1 these are Theorem 3's.
    """
    check_problem(n_labels, n_hypotheses, eps, delta)
    check_lists(n_labels, sparsity, list_size)
    check_gamma(gamma)

    def final_at(n_hedge: int) -> int:
        variance = variance_after(n_hedge, n_labels, n_hypotheses, delta / 2, sparsity, list_size, gamma)
        return bernstein_rounds(
            min(sparsity, list_size) * variance,
            largest_weight(n_labels, gamma, sparsity, list_size),
            n_hypotheses,
            eps,
            delta / 2,
        )

    n_hedge = _least_total(final_at, shortest_phase_1(n_labels, gamma, list_size))
    return HedgePlan(
        n_hedge=n_hedge,
        n_final=final_at(n_hedge),
        gamma=gamma,
        delta=delta,
        sparsity=sparsity,
        list_size=list_size,
        origin="Theorem 3 of the sequel with its constants" if list_size == 1 else "Theorem 6 of the sequel",
        guarantee=Guarantee(n_labels, n_hypotheses, eps),
    )


def check_lists(n_labels: int, sparsity: int, list_size: int) -> None:
    """An error unless 1 <= s <= K and 1 <= m <= K."""
    for name, value in (("the number of right labels", sparsity), ("the list size", list_size)):
        if check_count(name, value) > n_labels:
            raise InvalidInputError(f"{name} is {value}; there are only {n_labels} labels")


def shortest_phase_1(n_labels: int, gamma: float, list_size: int = 1) -> int:
    """T >= K / (m gamma), as Theorems 5 and 7 require."""
    return math.ceil(n_labels / (list_size * gamma))


def variance_after(
    n_hedge: int,
    n_labels: int,
    n_hypotheses: int,
    failure: float,
    sparsity: int = 1,
    list_size: int = 1,
    gamma: float = THEOREM_GAMMA,
) -> float:
    """V: what Theorems 5 and 7 bound after T rounds of phase I, except with probability ``failure``.

    The least, over a, b, b' >= 1, of

        1 / (1 - f / b) * (2 / (1 - f / b') * ((1 + f / a) s H + R (a + b') log(3 / failure))
                           + R (log N + b log(3 N / failure)))

    with f = e - 2, R = K B / (m T) and H = 1 / (T floor) + log(1 + (1 - gamma) / floor) / (1 - gamma),
    floor = gamma m / K. The sequel has 96 s log T and two terms of the order of R in its place; its own chain gives
    128 s log T (:func:`printed_variance`).
    """
    R = n_labels * largest_weight(n_labels, gamma, sparsity, list_size) / (list_size * n_hedge)
    each = math.log(3 / failure)
    a, b = FREE[:, None], FREE[None, :]
    covered = (1 + FREEDMAN / a) * sparsity * harmonic(n_hedge, n_labels, list_size, gamma)
    hedge_total = (covered + R * (a + b) * each) / (1 - FREEDMAN / b)
    of_one = (2 * hedge_total.min() + R * (math.log(n_hypotheses) + FREE * (math.log(n_hypotheses) + each))) / (
        1 - FREEDMAN / FREE
    )
    return float(of_one.min())


def harmonic(n_hedge: int, n_labels: int, list_size: int = 1, gamma: float = THEOREM_GAMMA) -> float:
    """H: sum over i < T of (1 / T) / (floor + (1 - gamma) i / T) is at most this, floor = gamma m / K.

    Not in the sequel, which replaces the floor by 1 / T and so gets log T; with the floor kept it is
    2 log(1 + K / m) for gamma = 1/2 and long phases I.
    """
    floor = gamma * list_size / n_labels
    return 1 / (n_hedge * floor) + math.log1p((1 - gamma) / floor) / (1 - gamma)


def printed_variance(
    n_hedge: int,
    n_labels: int,
    n_hypotheses: int,
    failure: float,
    sparsity: int = 1,
    list_size: int = 1,
    gamma: float = THEOREM_GAMMA,
) -> float:
    """96 s log T + 18 R log(1 / failure) + 4 R log(N / failure), R = K B / (m T): as the proofs of Theorems 5, 7 end.

    ``failure`` is the delta of that proof. What its chain of inequalities gives has 4 where "3" stands and a union
    bound over N: 128 s log T + 24 R log(1 / failure) + R (4 log(N / failure) + 2 log N), except with probability
    3 * failure. :func:`variance_after` is below both.
    """
    R = n_labels * largest_weight(n_labels, gamma, sparsity, list_size) / (list_size * n_hedge)
    log_1 = math.log(1 / failure)
    log_n = math.log(n_hypotheses) + log_1
    return 96 * sparsity * math.log(n_hedge) + 18 * R * log_1 + 4 * R * log_n


def bernstein_rounds(variance: float, largest: float, n_hypotheses: int, eps: float, failure: float) -> int:
    """The least n with sqrt(2 V L / n) + B L / (3 n) <= eps / 2, L = log(N / failure).

    Bernstein's inequality, one-sided, for N events: the best hypothesis is not underestimated by more than eps / 2, and
    no other is overestimated by more. Then the hypothesis of the highest estimate is within eps of the best.
    """
    log_n = math.log(n_hypotheses) - math.log(failure)
    half = eps / 2
    spread = 2 * variance * log_n
    root = (math.sqrt(spread) + math.sqrt(spread + 4 * half * largest * log_n / 3)) / (2 * half)
    return max(2, math.ceil(root**2))


def uniform_list_rounds(
    n_labels: int, n_hypotheses: int, eps: float, delta: float, *, sparsity: int = 1, list_size: int = 1
) -> int:
    """Rounds that suffice for uniform guesses, or uniform lists, by the same inequality and all of delta.

    With gamma = 1 the estimate has variance at most c^2 K / m and values in [0, c K / m]. About a sixth of
    ``schedule.uniform_rounds``, whose constants are those of the seed's proof.
    """
    check_problem(n_labels, n_hypotheses, eps, delta)
    check_lists(n_labels, sparsity, list_size)
    largest = largest_weight(n_labels, 1.0, sparsity, list_size)
    return bernstein_rounds(min(sparsity, list_size) * largest, largest, n_hypotheses, eps, delta)


def hedge_break_even_eps(
    n_labels: int, n_hypotheses: int, delta: float, *, sparsity: int = 1, list_size: int = 1
) -> float | None:
    """The largest eps = 2^(-i/4) at which :func:`hedge_plan` asks for fewer rounds than :func:`uniform_list_rounds`.

    None if there is none down to 2^-20, a millionth: then K is too small for the constants.
    """
    for i in range(1, 81):
        eps = 2 ** (-i / 4)
        plan = hedge_plan(n_labels, n_hypotheses, eps, delta, sparsity=sparsity, list_size=list_size)
        uniform = uniform_list_rounds(n_labels, n_hypotheses, eps, delta, sparsity=sparsity, list_size=list_size)
        if plan.n_rounds < uniform:
            return eps
    return None


def _least_total(final_at: Callable[[int], int], least: int) -> int:
    """The T >= ``least`` with about the least T + final_at(T), which falls and then rises: on a grid of 2^(1/16)."""
    double = 0
    while _total(final_at, least, double + 16) < _total(final_at, least, double):
        double += 16
    best = min(range(max(0, double - 16), double + 16), key=lambda i: _total(final_at, least, i))
    return math.ceil(least * 2 ** (best / 16))


def _total(final_at: Callable[[int], int], least: int, i: int) -> int:
    n_hedge = math.ceil(least * 2 ** (i / 16))
    return n_hedge + final_at(n_hedge)
