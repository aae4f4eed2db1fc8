"""Theorem 1's sizes against values worked out by hand or by summing term by term."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onebit.errors import InvalidInputError
from onebit.learners.paper.schedule import (
    Guarantee,
    Plan,
    batch,
    break_even_eps,
    collecting_rounds,
    cover_growth,
    final_rounds,
    full_information_rounds,
    optimal_rate,
    printed_plan,
    theorem_2_plan,
    theorem_cover,
    theorem_plan,
    tolerance,
    total_batches,
    uniform_rounds,
)

problems = st.tuples(
    st.integers(2, 200), st.integers(1, 10**6), st.floats(1e-3, 0.5), st.floats(1e-6, 0.5), st.floats(0.01, 0.5)
)


def test_printed_sizes_by_hand() -> None:
    """K = 2, gamma = 1/2, N = 1, delta = 16 / e^4: K / gamma = 4 and log(16 N / delta) = 4."""
    plan = printed_plan(2, 1, eps=0.1, delta=16 / math.e**4, gamma=0.5)
    assert plan.n_confirmed == pytest.approx(58_000 * 4**8 * 4, rel=1e-12)
    assert plan.n_final == final_rounds(2, 1, 0.1, 16 / math.e**4, 0.5)
    assert (plan.gamma, plan.delta) == (0.5, 16 / math.e**4)
    assert plan.n_steps == pytest.approx(240 * 4**4 * 2, abs=1)
    assert plan.guarantee is None


def test_final_rounds_by_hand() -> None:
    delta = 2 / math.e**3  # log(2N / delta) = 3 with N = 1
    assert final_rounds(10, 1, 0.1, delta, 0.5) == pytest.approx(144 * 3 / 0.01, abs=1)
    # The K / eps term takes over where K eps is large.
    assert final_rounds(1000, 1, 0.1, delta, 0.5) == pytest.approx(8 * 1000 * 3 / (0.5 * 0.1), abs=1)


def test_reference_rounds_by_hand() -> None:
    assert full_information_rounds(1, 0.1, 2 / math.e**2) == pytest.approx(2 * 2 / 0.01, abs=1)
    assert uniform_rounds(10, 1, 0.1, 2 / math.e) == pytest.approx(48 * 10 / 0.01, abs=1)
    assert optimal_rate(10, 1, 0.1, 1 / math.e) == pytest.approx(1 / 0.01 + 10 / 0.1)
    assert optimal_rate(10, 1, 0.1, 1 / math.e, sparsity=3) == pytest.approx(3 / 0.01 + 10 / 0.1)
    # Lists of two: c = 2, K / m = 5; and where all labels may be right, the order of uniform lists is the lower one.
    assert optimal_rate(10, 1, 0.1, 1 / math.e, sparsity=3, list_size=2) == pytest.approx(2 * (3 / 0.01 + 5 / 0.1))
    assert optimal_rate(10, 1, 0.1, 1 / math.e, sparsity=10, list_size=2) == pytest.approx(2 * 2 * 5 / 0.01)
    assert optimal_rate(2, 1, 0.8, 1 / math.e) == pytest.approx(2 / 0.64)
    assert tolerance(10, 0.5) == pytest.approx(0.00125)


@given(problems)
def test_theorem_plan_solves_theorem_3(problem: tuple[int, int, float, float, float]) -> None:
    """T is the least t with 25 beta D^2 sqrt(log(N t / (delta / 2))) / t <= mu, and M1 covers every batch."""
    n_labels, n_hypotheses, eps, delta, gamma = problem
    plan = theorem_plan(n_labels, n_hypotheses, eps, delta, gamma)
    assert plan.n_steps is not None

    def error(t: int) -> float:
        beta = (n_labels / gamma) ** 2
        return 25 * beta * 2**2 * math.sqrt(math.log(2 * n_hypotheses * t / delta)) / t

    slack = 1 + 1e-12
    assert error(plan.n_steps) <= tolerance(n_labels, gamma) * slack
    assert error(plan.n_steps - 1) * slack >= tolerance(n_labels, gamma)
    assert plan.guarantee == Guarantee(n_labels, n_hypotheses, eps)
    assert plan.n_confirmed == total_batches(plan.n_steps, n_labels, gamma)
    assert plan.n_final == final_rounds(n_labels, n_hypotheses, eps, delta, gamma)
    assert (plan.gamma, plan.delta) == (gamma, delta)


def test_printed_sizes_carry_the_theorem_only_for_huge_classes() -> None:
    assert printed_plan(10, 1000, 0.1, 0.05).guarantee is None
    assert printed_plan(2, 10**40, 0.1, 0.05).guarantee == Guarantee(2, 10**40, 0.1)


@given(problems)
def test_printed_m1_covers_the_printed_steps(problem: tuple[int, int, float, float, float]) -> None:
    n_labels, n_hypotheses, eps, delta, gamma = problem
    plan = printed_plan(n_labels, n_hypotheses, eps, delta, gamma)
    assert plan.n_steps is not None
    assert total_batches(plan.n_steps, n_labels, gamma) <= plan.n_confirmed


@given(st.integers(1, 400), st.integers(2, 6), st.floats(0.05, 0.5))
def test_total_batches_is_the_sum_of_batches(n_steps: int, n_labels: int, gamma: float) -> None:
    assert total_batches(n_steps, n_labels, gamma) == sum(batch(t, n_labels, gamma) for t in range(1, n_steps + 1))


def test_scaling_drops_the_promise() -> None:
    plan = theorem_plan(4, 100, 0.1, 0.05)
    small = plan.scaled(phase_1=1e-8, phase_2=0.1)
    assert plan.n_steps is not None
    assert small.n_steps is not None
    assert small.n_steps == math.ceil(plan.n_steps * 1e-4)
    assert small.n_confirmed == math.ceil(plan.n_confirmed * 1e-8)
    assert small.n_final == math.ceil(plan.n_final * 0.1)
    assert small.guarantee is None
    assert "phase 1 scaled by 1e-08" in small.origin
    # A larger phase 1 draws more than it confirms: steps grow with the root and are rounded up.
    assert plan.scaled(phase_1=2).guarantee is None


def test_break_even_eps_is_where_the_totals_meet() -> None:
    plan = theorem_plan(10, 1000, 0.05, 0.05)
    eps = break_even_eps(plan, 10, 1000)
    assert eps is not None
    assert eps < 1e-6

    def paper_minus_uniform(at: float) -> float:
        paper = collecting_rounds(plan.n_confirmed, 10, 0.05) + final_rounds(10, 1000, at, 0.05)
        return paper - uniform_rounds(10, 1000, at, 0.05)

    assert paper_minus_uniform(eps * 0.99) < 0 < paper_minus_uniform(eps * 1.01)
    assert break_even_eps(theorem_plan(3, 1000, 0.05, 0.05), 3, 1000) is None


def test_collecting_needs_at_least_log_one_over_delta() -> None:
    assert collecting_rounds(100, 10, 0.05) == 4000
    assert collecting_rounds(1, 10, math.exp(-7)) == 4 * 10 * 7


@pytest.mark.parametrize("gamma", [0.0, -0.1, 0.500001, 1.0, float("nan")])
def test_gamma_outside_its_range_is_refused(gamma: float) -> None:
    with pytest.raises(InvalidInputError, match="gamma is"):
        Plan(10, 10, gamma=gamma)


@pytest.mark.parametrize(
    "bad",
    [
        *(
            {name: bad}
            for name in ("n_confirmed", "n_final", "n_steps")
            for bad in (0, -1, 2.5, float("nan"), True, "9")
        ),
        *({"delta": bad} for bad in (0.0, 1.0, float("nan"), "0.1")),
        {"gamma": "0.1"},
    ],
)
def test_bad_plans_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError):
        Plan(**{"n_confirmed": 10, "n_final": 10, **bad})


@pytest.mark.parametrize(
    "problem",
    [
        *((1, 5, 0.1, 0.1), (2, 0, 0.1, 0.1), (2, 5, 0.0, 0.1), (2, 5, 0.1, 1.0)),
        *((2.5, 5, 0.1, 0.1), (2, 5, 1e-200, 0.1), (2, 5, 0.1, 1e-320)),
    ],
)
def test_bad_problems_are_refused(problem: tuple[int, int, float, float]) -> None:
    for function in (theorem_plan, printed_plan, uniform_rounds, optimal_rate):
        with pytest.raises(InvalidInputError):
            function(*problem)


def test_bad_scales_are_refused() -> None:
    for factor in (0, -1, float("inf"), float("nan")):
        with pytest.raises(InvalidInputError, match="scale of phase 2"):
            Plan(10, 10).scaled(phase_2=factor)


def test_one_call_gives_all_sizes_of_theorem_2() -> None:
    cover, plan = theorem_2_plan(5, 3, 0.1, 0.1)
    assert cover == theorem_cover(5, 3, 0.1, 0.1)
    assert plan == theorem_plan(5, cover_growth(cover, 5, 3), 0.05, 0.05)
