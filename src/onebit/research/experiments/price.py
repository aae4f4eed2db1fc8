"""(b) The price of yes/no answers: rounds needed, as a ratio to full labels, as eps falls."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from onebit.research.experiments.families import Problem, gap_family, real_table
from onebit.research.experiments.pictures import BARS, THEORY, log_axes, look, plain_ticks
from onebit.research.experiments.piece import Experiment, Piece, Row, column, seed_of, slope, where
from onebit.research.experiments.simulation import (
    CONFIRMED_PER_LABEL,
    N_EXPLORATIONS,
    PAPER,
    PAPER_SPIDER,
    Simulated,
    full_labels,
    paper,
    ratio_with_error,
    rounds_needed,
    spider_words,
    uniform_guesses,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DELTA, N_RUNS = 0.05, 200
GAP_K, GAP_N, GAP_ITEMS = 20, 50, 2000
LEARNERS = ("full labels", PAPER, PAPER_SPIDER, "uniform")
#: What the price of each learner is called, and whether the rounds of phase 1 are left out of it.
PRICES = (
    ("paper", PAPER, False),
    ("phase 2", PAPER, True),
    ("SPIDER", PAPER_SPIDER, False),
    ("SPIDER, phase 2", PAPER_SPIDER, True),
    ("uniform", "uniform", False),
)
#: Real tables, by the number of their items that quick mode uses.
QUICK_TABLES = {"digits": None, "letter_models": 3000}
FULL_TABLES = {"digits": None, "letter_models": None, "mmlu_pro": None, "clinc150_models": None}


def pieces(full: bool) -> list[Piece]:
    gaps = (0.08, 0.04, 0.02, 0.01, 0.005, 0.0025) if full else (0.08, 0.04, 0.02, 0.01, 0.005)
    synthetic = [{"problem": "gap", "learner": name, "eps": [eps], "runs": N_RUNS} for eps in gaps for name in LEARNERS]
    tables = FULL_TABLES if full else QUICK_TABLES
    real = [
        {"problem": table, "learner": name, "eps": [0.08, 0.04, 0.02, 0.01, 0.005], "items": n_items, "runs": N_RUNS}
        for table, n_items in tables.items()
        if real_table(table, 1) is not None or table == "digits"
        for name in LEARNERS
    ]
    return synthetic + real


def problem_of(piece: Piece) -> Problem:
    if piece["problem"] == "gap":
        return gap_family(GAP_K, GAP_N, piece["eps"][0], GAP_ITEMS)
    found = real_table(piece["problem"], piece["items"])
    if found is None:
        raise FileNotFoundError(piece["problem"])
    return found


def simulated(learner: str, problem: Problem, rng: np.random.Generator) -> Simulated:
    if learner in (PAPER, PAPER_SPIDER):
        return paper(problem, rng, name=learner)
    return full_labels(problem) if learner == "full labels" else uniform_guesses(problem)


def measure(piece: Piece) -> Row:
    """The rounds at which at most delta of the runs exceed each eps; all are read off the same runs."""
    problem, rng = problem_of(piece), np.random.default_rng(seed_of(piece))
    learner = simulated(piece["learner"], problem, rng)
    kept: dict[int, np.ndarray] = {}

    def excess(n_rounds: int) -> np.ndarray:
        if n_rounds not in kept:
            kept[n_rounds] = learner.excess(n_rounds, piece["runs"], rng)
        return kept[n_rounds]

    def share_above(eps: float, n_rounds: int) -> float:
        return float((excess(n_rounds) > eps * (1 + 1e-9)).mean())

    needed = [
        rounds_needed(lambda n_rounds, eps=eps: share_above(eps, n_rounds), DELTA, piece["runs"])  # type: ignore[misc]
        for eps in piece["eps"]
    ]
    rows = [each.row(learner.n_before) for each in needed]
    return {
        "K": problem.n_labels,
        "N": problem.predictions.shape[0],
        "before": learner.n_before,
        "rounds": [row["rounds"] for row in rows],
        "errors": [row["error"] for row in rows],
    }


def summary(rows: list[Row]) -> list[Row]:
    """One row for each problem and eps: rounds of full labels, and the price of the others with its standard error."""
    out = []
    for name in dict.fromkeys(row["problem"] for row in rows):
        by_learner = {
            learner: {
                eps: (rounds, error)
                for row in where(rows, problem=name, learner=learner)
                for eps, rounds, error in zip(row["eps"], row["rounds"], row["errors"], strict=True)
                if rounds is not None
            }
            for learner in LEARNERS
        }
        K, before = (where(rows, problem=name, learner="paper")[0][key] for key in ("K", "before"))
        for eps, full in by_learner["full labels"].items():
            found: Row = {"problem": name, "K": K, "eps": eps, "full labels": full[0]}
            for title, learner, left_out in PRICES:
                if (needed := by_learner[learner].get(eps)) is not None:
                    rounds = (needed[0] - before * left_out, needed[1])
                    found[f"price, {title}"], found[f"±, {title}"] = ratio_with_error(rounds, full)
            out.append(found)
    return out


def draw(rows: list[Row], figure: Figure) -> None:
    table = summary(rows)
    names = list(dict.fromkeys(row["problem"] for row in table))
    n_rows = 1 if len(names) <= 3 else 2
    figure.set_size_inches(figure.get_figwidth(), n_rows * figure.get_figheight())
    all_axes = figure.subplots(n_rows, -(-len(names) // n_rows), sharey=True, squeeze=False).ravel().tolist()
    for axes in all_axes[len(names) :]:
        axes.remove()
    for axes, name in zip(all_axes, names, strict=False):
        mine = where(table, problem=name)
        eps = column(mine, "eps")
        phase_2 = look("paper") | {"linestyle": ":", "marker": None, "label": "paper, phase 2 alone"}
        lines = (
            ("uniform", look("uniform")),
            ("paper", look("paper")),
            ("SPIDER", look(PAPER_SPIDER) | {"linestyle": "--"}),
            ("phase 2", phase_2),
        )
        for title, how in lines:
            axes.errorbar(eps, column(mine, f"price, {title}"), yerr=column(mine, f"±, {title}"), **(BARS | how))
        K = mine[0]["K"]
        axes.axhline(K, **THEORY, label="K")
        n_models = where(rows, problem=name)[0]["N"]
        title = f"{'gap 2 eps' if name == 'gap' else name}: K = {K}, {n_models} models"
        log_axes(axes, "eps", "rounds / rounds of full labels" if axes.get_subplotspec().is_first_col() else "", title)
        plain_ticks(axes, eps.tolist())
        axes.invert_xaxis()
    all_axes[0].legend()


def findings(rows: list[Row]) -> list[str]:
    table = summary(rows)
    gap = where(table, problem="gap")
    last = gap[-1]
    real = [where(table, problem=name)[-1] for name in dict.fromkeys(row["problem"] for row in table) if name != "gap"]
    tables = "; ".join(
        f"{row['problem']} (K = {row['K']}) {row['price, uniform']:.1f} and {row['price, paper']:.1f}, "
        f"{row['price, phase 2']:.1f} without phase 1"
        for row in real
        if "price, paper" in row and "price, uniform" in row
    )
    exponent = slope(column(gap, "eps"), column(gap, "full labels"))
    return [
        f"On the family with gap 2 eps (K = {GAP_K}, {GAP_N} models) at eps = {last['eps']:g}, uniform guesses need "
        f"{last['price, uniform']:.1f} times the rounds of full labels and the paper's learner "
        f"{last['price, paper']:.1f} ± {last['±, paper']:.1f} times; its phase 2 alone "
        f"{min(column(gap, 'price, phase 2')):.1f} to {max(column(gap, 'price, phase 2')):.1f} times, for every eps. "
        f"With SPIDER in phase 1 it is {last['price, SPIDER']:.1f}, and phase 2 alone "
        f"{last['price, SPIDER, phase 2']:.1f}.",
        f"Full labels need eps to the power {exponent:.2f} rounds (theory: -2).",
        f"At the smallest eps of each real table, uniform and paper: {tables}. Below the gap of the two best "
        "models the price no longer changes, since eps no longer matters there. Uniform guesses are full labels for "
        f"one round in K, so what their price differs from K by is the noise of {N_RUNS} runs."
        if tables
        else "No real table was there.",
        f"Phase 1, with {int(where(rows, learner='paper')[0]['before']):,} rounds on the family, is what the price "
        "falls from: it does not depend on eps. Where eps is large, uniform guesses are cheaper.",
    ]


def made(rows: list[Row]) -> str:
    n_runs, sizes = rows[0]["runs"], {(CONFIRMED_PER_LABEL * row["K"], row["K"]) for row in rows}
    cut = ", ".join(sorted({f"{row['problem']} its first {row['items']:,} items" for row in rows if row.get("items")}))
    return (
        f"All simulated in law, {n_runs} runs for each number of rounds tried; rounds at which {DELTA:.0%} of them "
        f"exceed eps. Bars: one standard error, by redrawing the runs. paper: corrective solver, gamma = 1/2; M1 = "
        f"{CONFIRMED_PER_LABEL} K confirmed samples, {N_EXPLORATIONS} mixtures. {spider_words(sizes)}. "
        f"Family: {GAP_N} models, {GAP_ITEMS:,} items; real tables whole{f' but of {cut}' if cut else ''}."
    )


EXPERIMENT = Experiment(
    name="price",
    title="(b) The price of yes/no answers",
    headline="As eps falls, the price goes to a constant for the paper's learner, and stays K for uniform guesses",
    claim=(
        "As eps falls, the price of yes/no answers, the ratio of rounds needed to those of full labels, goes to a "
        "constant for the paper's learner, and to order K for uniform guesses."
    ),
    pieces=pieces,
    measure=measure,
    summary=summary,
    draw=draw,
    findings=findings,
    made=made,
    size=(13.0, 5.0),
)
