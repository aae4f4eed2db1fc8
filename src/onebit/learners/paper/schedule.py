"""Theorem 1 as code: every size of the algorithm. How its parts share delta stands in ``estimate/delta.py``."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from onebit.errors import InvalidInputError, check_count, check_fraction
from onebit.estimate.delta import (
    cover_and_rest,
    log_one_phase,
    log_phase_1,
    log_phase_1_as_printed,
    log_phase_2,
    log_share,
)
from onebit.explore.potential import check_gamma
from onebit.explore.spider import batch_size
from onebit.hypotheses.natarajan import cover_sample_size, growth_bound
from onebit.learners.paper.constants import SMALLEST
from onebit.records import DELTA

#: Diameter of the simplex in the L1 norm.
D = 2
#: gamma of Theorem 1.
THEOREM_GAMMA = 0.5


@dataclass(frozen=True)
class Guarantee:
    """The problems for which a plan has Theorem 1's guarantee: so many labels, at most so many hypotheses, this eps."""

    n_labels: int
    n_hypotheses: int
    eps: float


@dataclass(frozen=True)
class Plan:
    """Everything that Algorithm 1 fixes before its first question.

    Paper: ``n_confirmed`` is M1, ``n_final`` is M2, ``n_steps`` is T (None: phase 1 is not solved by SPIDER).
    ``origin`` says where the sizes come from, and ``guarantee`` for which problems a run with them, SPIDER and an exact
    oracle has Theorem 1's guarantee with this delta; None if for none.
    """

    n_confirmed: int
    n_final: int
    n_steps: int | None = None
    gamma: float = THEOREM_GAMMA
    delta: float = DELTA
    origin: str = "sizes as given"
    guarantee: Guarantee | None = None

    def __post_init__(self) -> None:
        check_count("n_confirmed", self.n_confirmed)
        check_count("n_final", self.n_final, least=2)
        if self.n_steps is not None:
            check_count("n_steps", self.n_steps)
        check_gamma(self.gamma)
        check_fraction("delta", self.delta)

    def scaled(self, phase_1: float = 1.0, phase_2: float = 1.0) -> Plan:
        """M1 times ``phase_1``, T times its root (M1 grows as T^2), and M2 times ``phase_2``. No guarantee is left."""
        for name, factor in (("phase 1", phase_1), ("phase 2", phase_2)):
            if not 0 < factor < math.inf:
                raise InvalidInputError(f"the scale of {name} is {factor}; it must be above 0 and finite")
        return replace(
            self,
            n_confirmed=math.ceil(self.n_confirmed * phase_1),
            n_final=max(2, math.ceil(self.n_final * phase_2)),
            n_steps=None if self.n_steps is None else math.ceil(self.n_steps * math.sqrt(phase_1)),
            origin=f"{self.origin}, phase 1 scaled by {phase_1:g}, phase 2 by {phase_2:g}",
            guarantee=None,
        )


def check_problem(n_labels: int, n_hypotheses: int, eps: float, delta: float) -> None:
    """An error unless K >= 2, N >= 1, and eps and delta are between 0 and 1 and not too small for a float."""
    check_count("the number of labels", n_labels, least=2)
    check_count("the number of hypotheses", n_hypotheses)
    for name, value in (("eps", eps), ("delta", delta)):
        if check_fraction(name, value) < SMALLEST:
            raise InvalidInputError(f"{name} is {value}; below {SMALLEST} the sizes are not computed")


def reset_ratio(n_labels: int, gamma: float) -> float:
    """G / (beta D) = gamma / (2 K), so that a reset's batch is (gamma / 2K)^2 t^2.

    Paper: Theorem 1, with G = K / gamma and beta = K^2 / gamma^2 from the proof of Lemma 3.
    """
    return gamma / (D * n_labels)


def batch(t: int, n_labels: int, gamma: float) -> int:
    """b_t of Theorem 1: (gamma / 2K)^2 t^2 at t = 2^k - 1, else t; rounded up, at least 1."""
    return batch_size(t, reset_ratio(n_labels, gamma))


def total_batches(n_steps: int, n_labels: int, gamma: float) -> int:
    """sum of b_t for t = 1, ..., ``n_steps``: the fresh samples that Algorithm 2 draws."""
    total = n_steps * (n_steps + 1) // 2
    t = 1
    while t <= n_steps:
        total += batch(t, n_labels, gamma) - t
        t = 2 * t + 1
    return total


def tolerance(n_labels: int, gamma: float) -> float:
    """mu = gamma^2 / (2 K^2): the additive error of phase 1 at which the variance bound is at most 3.

    Paper: Algorithm 1 and Lemma 2.
    """
    return gamma**2 / (2 * n_labels**2)


def printed_plan(n_labels: int, n_hypotheses: int, eps: float, delta: float, gamma: float = THEOREM_GAMMA) -> Plan:
    """M1, T and M2 as the paper prints them.

    Paper: Lemma 3 (M1, T) and the proof of Theorem 1 (M2). Lemma 3's T leaves out the log T of Theorem 3, so these
    sizes carry the theorem only where N is so large that the constants make up for it; those of :func:`theorem_plan`
    always do.
    """
    check_problem(n_labels, n_hypotheses, eps, delta)
    ratio = n_labels / check_gamma(gamma)
    log_term = log_phase_1_as_printed(n_hypotheses, delta)
    n_steps = math.ceil(240 * ratio**4 * math.sqrt(log_term))
    enough = n_steps >= theorem_steps(n_labels, n_hypotheses, delta, gamma)
    return Plan(
        n_confirmed=math.ceil(58_000 * ratio**8 * log_term),
        n_steps=n_steps,
        n_final=final_rounds(n_labels, n_hypotheses, eps, delta, gamma),
        gamma=gamma,
        delta=delta,
        origin="Theorem 1 as printed",
        guarantee=Guarantee(n_labels, n_hypotheses, eps) if enough else None,
    )


def theorem_plan(n_labels: int, n_hypotheses: int, eps: float, delta: float, gamma: float = THEOREM_GAMMA) -> Plan:
    """The sizes for which the proof of Theorem 1 goes through.

    Paper: T from :func:`theorem_steps`, and M1 = sum of b_t, so that every draw is fresh. M2 as in the proof of
    Theorem 1.
    """
    check_problem(n_labels, n_hypotheses, eps, delta)
    n_steps = theorem_steps(n_labels, n_hypotheses, delta, gamma)
    return Plan(
        n_confirmed=total_batches(n_steps, n_labels, gamma),
        n_steps=n_steps,
        n_final=final_rounds(n_labels, n_hypotheses, eps, delta, gamma),
        gamma=gamma,
        delta=delta,
        origin="Theorem 1 with T solved from Theorem 3",
        guarantee=Guarantee(n_labels, n_hypotheses, eps),
    )


def theorem_steps(n_labels: int, n_hypotheses: int, delta: float, gamma: float = THEOREM_GAMMA) -> int:
    """T: the least t with 25 beta D^2 sqrt(log(N t / (delta / 2))) / t <= mu.

    Paper: Theorem 3, high probability, with half of delta; beta = (K / gamma)^2, mu = (gamma / K)^2 / 2.
    """
    factor = 25 * D**2 * 2 * (n_labels / check_gamma(gamma)) ** 4
    n_steps = 1
    # The right side grows with n_steps, so going up from below ends at the least fixed point.
    while (needed := math.ceil(factor * math.sqrt(log_phase_1(n_steps, n_hypotheses, delta)))) > n_steps:
        n_steps = needed
    return n_steps


def final_rounds(n_labels: int, n_hypotheses: int, eps: float, delta: float, gamma: float = THEOREM_GAMMA) -> int:
    """M2 = max(144 log(2N / delta) / eps^2, 8 K log(2N / delta) / (gamma eps)).

    Paper: end of the proof of Theorem 1.
    """
    log_term = log_phase_2(n_hypotheses, delta)
    return math.ceil(max(144 * log_term / eps**2, 8 * n_labels * log_term / (gamma * eps)))


def collecting_rounds(n_confirmed: int, n_labels: int, delta: float) -> int:
    """Rounds of phase 1 within which ``n_confirmed`` samples are confirmed with probability at least 1 - delta: 4 K M1.

    Paper: end of the proof of Theorem 1, which takes M1 >= log(1 / delta) for granted; so M1 is raised to that here.
    """
    return 4 * n_labels * max(n_confirmed, math.ceil(math.log(1 / delta)))


def uniform_rounds(n_labels: int, n_hypotheses: int, eps: float, delta: float) -> int:
    """Rounds that suffice for uniform guesses: the argument for M2 with variance K, not 3, range K, and all of delta.

    max(48 K log(2N / delta) / eps^2, 8 K log(2N / delta) / eps); not in the paper, which gives the order K / eps^2.
    """
    check_problem(n_labels, n_hypotheses, eps, delta)
    log_term = log_one_phase(n_hypotheses, delta)
    return math.ceil(max(48 * n_labels * log_term / eps**2, 8 * n_labels * log_term / eps))


def full_information_rounds(n_hypotheses: int, eps: float, delta: float) -> int:
    """True labels that suffice for ERM by Hoeffding's inequality: 2 log(2N / delta) / eps^2."""
    check_problem(2, n_hypotheses, eps, delta)
    return math.ceil(2 * log_one_phase(n_hypotheses, delta) / eps**2)


def optimal_rate(
    n_labels: int, n_hypotheses: int, eps: float, delta: float, *, sparsity: int = 1, list_size: int = 1
) -> float:
    """c min(s / eps^2 + K / (m eps), c K / (m eps^2)) log(N / delta), c = min(s, m): the best known order.

    It has no constants. Erez, Chen, Cohen, Koren, Mansour, Moran and Rakhlin, "The sample complexity of multiclass and
    sparse contextual bandits", COLT 2026: Theorem 6, up to logarithms; for m = 1 it is (s / eps^2 + K / eps)
    log(N / delta), Theorem 3, and Theorem 12 says that nobody does better. Uniform guesses are possible too, and have
    the lower order where s is near K or eps near 1.
    """
    check_problem(n_labels, n_hypotheses, eps, delta)
    c, per_label = min(sparsity, list_size), n_labels / list_size
    return c * min(sparsity / eps**2 + per_label / eps, c * per_label / eps**2) * log_share(n_hypotheses, delta)


def break_even_eps(plan: Plan, n_labels: int, n_hypotheses: int) -> float | None:
    """The eps below which Theorem 1 asks for fewer rounds than :func:`uniform_rounds`; None if there is none.

    Solved from 4 K M1 + 144 log(2N / delta) / eps^2 = 48 K log(2N / delta) / eps^2, the terms that count for small eps.
    """
    saved = (48 * n_labels - 144) * log_phase_2(n_hypotheses, plan.delta)
    if saved <= 0:
        return None
    return math.sqrt(saved / collecting_rounds(plan.n_confirmed, n_labels, plan.delta))


@dataclass(frozen=True)
class CoverPlan:
    """How an infinite class is made finite: ``n_points`` unlabelled examples, and what their cover is known to be.

    Paper: s of Proposition 1. Except with probability ``failure``, every hypothesis is within ``radius`` of the cover;
    both are None where the number of points was chosen freely, and then nothing is known.
    """

    n_points: int
    radius: float | None = None
    failure: float | None = None

    def __post_init__(self) -> None:
        check_count("n_points", self.n_points, least=0)


def theorem_cover(n_labels: int, dimension: int, eps: float, delta: float) -> CoverPlan:
    """Proposition 1's cover: half of eps and half of delta go to it.

    Paper: Proposition 1 and Lemma 5. The learner of the finite class gets :func:`after_cover` of eps and delta.
    """
    check_problem(n_labels, 1, eps, delta)
    radius, (failure, _) = eps / 2, cover_and_rest(delta)
    return CoverPlan(cover_sample_size(n_labels, dimension, radius, failure), radius, failure)


def after_cover(eps: float, delta: float) -> tuple[float, float]:
    """What Proposition 1 leaves of eps and delta to the learner of the finite class: half of each."""
    return eps / 2, cover_and_rest(delta)[1]


def cover_growth(cover: CoverPlan, n_labels: int, dimension: int) -> int:
    """S: at most so many hypotheses are in the cover of a class of this Natarajan dimension.

    Paper: Proposition 1.
    """
    return growth_bound(cover.n_points, n_labels, dimension)


def theorem_2_plan(n_labels: int, dimension: int, eps: float, delta: float) -> tuple[CoverPlan, Plan]:
    """All sizes of Theorem 2: the cover of a class of this Natarajan dimension, and the plan of the learner on it.

    Paper: Theorem 2, that is Proposition 1 and then Theorem 1 with half of eps and delta for at most S hypotheses.
    """
    cover = theorem_cover(n_labels, dimension, eps, delta)
    return cover, theorem_plan(n_labels, cover_growth(cover, n_labels, dimension), *after_cover(eps, delta))
