"""(e) Rounds needed as the class grows: linear in log N."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from onebit.research.experiments.families import gap_family
from onebit.research.experiments.pictures import BARS, look, name_axes, plain_ticks
from onebit.research.experiments.piece import Experiment, Piece, Row, column, seed_of, where
from onebit.research.experiments.price import DELTA, simulated
from onebit.research.experiments.simulation import (
    CONFIRMED_PER_LABEL,
    N_EXPLORATIONS,
    PAPER,
    PAPER_SPIDER,
    rounds_needed,
    spider_words,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

K, EPS, N_ITEMS, N_RUNS = 10, 0.03, 1500, 400
BEST = 0.6
LEARNERS = ("full labels", PAPER, PAPER_SPIDER, "uniform")


def pieces(full: bool) -> list[Piece]:
    sizes = (4, 16, 64, 256, 1024, 4096) if full else (4, 16, 64, 256, 1024)
    return [
        {"learner": name, "K": K, "N": N, "eps": EPS, "runs": N_RUNS, "items": N_ITEMS}
        for N in sizes
        for name in LEARNERS
    ]


def measure(piece: Piece) -> Row:
    """Rounds of the last phase at which at most delta of the runs exceed eps."""
    rng = np.random.default_rng(seed_of(piece))
    problem = gap_family(piece["K"], piece["N"], piece["eps"], piece["items"], best=BEST)
    learner = simulated(piece["learner"], problem, rng)
    start = {"full labels": 64, PAPER: 128, PAPER_SPIDER: 128, "uniform": 512}[piece["learner"]]

    def share_failing(n_rounds: int) -> float:
        return float((learner.excess(n_rounds, piece["runs"], rng) > piece["eps"]).mean())

    return {**rounds_needed(share_failing, DELTA, piece["runs"], start).row(), "before": learner.n_before}


def line(rows: list[Row]) -> tuple[float, float, float]:
    """Slope and start of the best line of rounds against ln N, and the share of the variance that it explains."""
    x, y = np.log(column(rows, "N")), column(rows, "rounds")
    b, a = np.polyfit(x, y, 1)
    return float(b), float(a), float(1 - ((y - a - b * x) ** 2).sum() / ((y - y.mean()) ** 2).sum())


def predicted_rounds(n_hypotheses: int, eps: float, best: float = BEST) -> float:
    """Rounds of full labels at which some other model looks better than the best with probability delta.

    Means of n labels are taken to be normal, and models to err independently, as they do in the family: with s and s'
    the standard deviations of the best's and the others' labels, P = 1 - E[Phi((2 eps sqrt(n) + s u) / s')^(N - 1)] for
    a standard normal u.
    """
    from scipy.optimize import brentq
    from scipy.special import log_ndtr

    u, share = np.polynomial.hermite_e.hermegauss(60)
    share = share / share.sum()
    s, other = (np.sqrt(p * (1 - p)) for p in (best, best - 2 * eps))

    def excess_failure(log_n: float) -> float:
        ahead = (2 * eps * np.exp(log_n / 2) + s * u) / other
        return float(1 - share @ np.exp((n_hypotheses - 1) * log_ndtr(ahead)) - DELTA)

    return float(np.exp(brentq(excess_failure, 0, 25)))


def summary(rows: list[Row]) -> list[Row]:
    return [
        {
            "N": N,
            **{row["learner"]: row["rounds"] for row in where(rows, N=N)},
            **{f"±, {row['learner']}": row["error"] for row in where(rows, N=N)},
            "full labels, predicted": predicted_rounds(N, rows[0]["eps"]),
        }
        for N in sorted({row["N"] for row in rows})
    ]


def draw(rows: list[Row], figure: Figure) -> None:
    for axes, learner in zip(figure.subplots(1, len(LEARNERS)), LEARNERS, strict=True):
        mine = where(rows, learner=learner)
        b, a, _ = line(mine)
        N = column(mine, "N")
        how = BARS | look(learner) | {"linestyle": ""}
        axes.errorbar(N, column(mine, "rounds"), yerr=column(mine, "error"), **how)
        axes.plot(N, a + b * np.log(N), color="#777777", linestyle="--", linewidth=1.2, label="best line in ln N")
        if learner not in (PAPER, PAPER_SPIDER):
            times = 1 if learner == "full labels" else mine[0]["K"]
            predicted = [times * predicted_rounds(int(n), mine[0]["eps"]) for n in N]
            axes.plot(N, predicted, color="#777777", linewidth=1.2, label="predicted")
        axes.set_xscale("log")
        name_axes(axes, "hypotheses N", "rounds" if learner == LEARNERS[0] else "", learner)
        plain_ticks(axes, N.tolist()[::2])
        axes.set_ylim(bottom=0)
        axes.legend()


def findings(rows: list[Row]) -> list[str]:
    fits = {name: line(where(rows, learner=name)) for name in LEARNERS}
    words = ", ".join(f"{name} {b:,.0f} (R^2 = {r:.3f})" for name, (b, _, r) in fits.items())
    ratio = fits["paper"][0] / fits["full labels"][0]
    table = summary(rows)
    off = {
        name: column(table, name) / times / column(table, "full labels, predicted")
        for name, times in (("full labels", 1), ("uniform", K))
    }
    return [
        f"Rounds for each unit of ln N at eps = {EPS}, K = {K}: {words}. Phase 1 of the paper's learner is left out "
        "here; it was run with 20 K confirmed samples whatever N is.",
        f"The paper's learner pays {ratio:.1f} times what full labels pay for a larger class "
        f"({fits[PAPER_SPIDER][0] / fits['full labels'][0]:.1f} with SPIDER), uniform guesses "
        f"{fits['uniform'][0] / fits['full labels'][0]:.1f} times.",
        "By the normal approximation with no free constant, full labels need "
        f"{off['full labels'].min():.2f} to {off['full labels'].max():.2f} times the rounds predicted, and uniform "
        f"guesses {off['uniform'].min():.2f} to {off['uniform'].max():.2f} times K times those.",
    ]


def made(rows: list[Row]) -> str:
    n_runs = rows[0]["runs"]
    return (
        f"K = {rows[0]['K']}, eps = {rows[0]['eps']:g}. All simulated in law, {n_runs} runs for each number of "
        "rounds tried; rounds of the last phase at which "
        f"{DELTA:.0%} exceed eps. Bars: one standard error, by redrawing the runs. paper: corrective solver, gamma = "
        f"1/2; M1 = {CONFIRMED_PER_LABEL} K confirmed samples, whose rounds are left out, {N_EXPLORATIONS} mixtures. "
        f"{spider_words([(CONFIRMED_PER_LABEL * rows[0]['K'], rows[0]['K'])])}."
    )


EXPERIMENT = Experiment(
    name="class-size",
    title="(e) Dependence on the size of the class",
    headline="Rounds grow as log N for everybody; uniform guesses pay K times as much for it",
    claim="All sample sizes grow with the class as log N.",
    pieces=pieces,
    measure=measure,
    summary=summary,
    draw=draw,
    findings=findings,
    made=made,
    size=(12.0, 4.6),
)
