"""What ``onebit plan`` says of the sequel: its sizes with all constants, and uniform guesses by the same inequality."""

from __future__ import annotations

from collections.abc import Callable
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
    """For which eps the sequel's sizes are the smaller ones, and what the other rows leave out."""
    below = figures["wins_below_eps"]
    words = "The sequel's sizes are "
    if below is None:
        cause = "K is too small for its constants" if figures["sparsity"] == 1 else "K is too small, or s too large"
        words += f"never below those of uniform guesses by the same inequality: {cause}."
    else:
        words += f"below those of uniform guesses by the same inequality for eps up to {below:.2g}."
    if (figures["sparsity"], figures["list_size"]) == (1, 1):
        return words
    return (
        f"{words}\n--right and --list-size count in the sequel's two rows and in the last: all others are for one "
        "right label and one label at a time."
    )


def sequel_rows(figures: dict[str, Any], large: Callable[[float], str]) -> list[tuple[str, str, str]]:
    """Its rows of the table: the learner, its rounds, and what they are made of."""
    right, asked = figures["sparsity"], figures["list_size"]
    words = "one right label" if right == 1 else f"up to {right} right labels"
    times, name = "", "the sequel's Theorem 3"
    if asked > 1:
        words, name = f"{words}, lists of {asked}", "the sequel's Theorem 6"
        c = min(right, asked)
        times = f" {c**2} / {asked}" if c > 1 else f" / {asked}"
    return [
        (
            name,
            large(figures["rounds"]),
            f"phase I: T = {large(figures['T'])}\nphase II: n = {large(figures['n'])}; {words}",
        ),
        (
            "uniform, by its Bernstein step",
            large(figures["uniform_rounds"]),
            f"about 8 K{times} log(N/delta) / eps^2; {words}",
        ),
    ]
