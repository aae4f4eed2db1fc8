"""What ``onebit plan`` says of the sequel: its sizes with all constants, and uniform guesses by the same inequality."""

from __future__ import annotations

from typing import Any

from onebit.learners.paper import sequel_sizes


def sequel_figures(
    n_labels: int, n_hypotheses: int, eps: float, delta: float, gamma: float, sparsity: int, list_size: int
) -> dict[str, Any]:
    """T, n, their sum, and below which eps that is less than uniform guesses need (with gamma = 1/2)."""
    lists = {"sparsity": sparsity, "list_size": list_size}
    plan = sequel_sizes.hedge_plan(n_labels, n_hypotheses, eps, delta, gamma=gamma, **lists)
    return {
        **lists,
        "T": plan.n_hedge,
        "n": plan.n_final,
        "rounds": plan.n_rounds,
        "uniform_rounds": sequel_sizes.uniform_list_rounds(n_labels, n_hypotheses, eps, delta, **lists),
        "wins_below_eps": sequel_sizes.hedge_break_even_eps(n_labels, n_hypotheses, delta, **lists),
    }


def sequel_in_words(figures: dict[str, Any]) -> str:
    """For which eps the sequel's sizes are the smaller ones."""
    below = figures["wins_below_eps"]
    if below is None:
        return "The sequel's sizes are never below those of uniform guesses by the same inequality: K is too small."
    return f"The sequel's sizes are below those of uniform guesses by the same inequality for eps up to {below:.2g}."


def problem_in_words(figures: dict[str, Any]) -> str:
    """How many labels may be right, and how many a round asks about."""
    right, asked = figures["sparsity"], figures["list_size"]
    words = "one right label" if right == 1 else f"up to {right} right labels"
    return words if asked == 1 else f"{words}, lists of {asked}"
