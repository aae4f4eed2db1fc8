"""(e) Rounds needed as the class grows: linear in log N."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from onebit.experiments.families import gap_family
from onebit.experiments.pictures import look, name_axes, plain_ticks
from onebit.experiments.piece import Experiment, Piece, Row, column, seed_of, where
from onebit.experiments.price import DELTA, simulated
from onebit.experiments.simulation import rounds_needed

if TYPE_CHECKING:
    from matplotlib.figure import Figure

K, EPS, N_ITEMS, N_RUNS = 10, 0.03, 1500, 400
LEARNERS = ("full labels", "paper", "uniform")


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
    problem = gap_family(piece["K"], piece["N"], piece["eps"], piece["items"])
    learner = simulated(piece["learner"], problem, rng)
    start = {"full labels": 64, "paper": 128, "uniform": 512}[piece["learner"]]

    def share_failing(n_rounds: int) -> float:
        return float((learner.excess(n_rounds, piece["runs"], rng) > piece["eps"]).mean())

    return {"rounds": rounds_needed(share_failing, DELTA, start), "before": learner.n_before}


def line(rows: list[Row]) -> tuple[float, float, float]:
    """Slope and start of the best line of rounds against ln N, and the share of the variance that it explains."""
    x, y = np.log(column(rows, "N")), column(rows, "rounds")
    b, a = np.polyfit(x, y, 1)
    return float(b), float(a), float(1 - ((y - a - b * x) ** 2).sum() / ((y - y.mean()) ** 2).sum())


def summary(rows: list[Row]) -> list[Row]:
    return [
        {"N": N, **{row["learner"]: row["rounds"] for row in where(rows, N=N)}}
        for N in sorted({row["N"] for row in rows})
    ]


def draw(rows: list[Row], figure: Figure) -> None:
    for axes, learner in zip(figure.subplots(1, 3), LEARNERS, strict=True):
        mine = where(rows, learner=learner)
        b, a, _ = line(mine)
        N = column(mine, "N")
        axes.plot(N, column(mine, "rounds"), **(look(learner) | {"linestyle": ""}))
        axes.plot(N, a + b * np.log(N), color="#777777", linestyle="--", linewidth=1.2, label="best line in ln N")
        axes.set_xscale("log")
        name_axes(axes, "hypotheses N", "rounds" if learner == LEARNERS[0] else "", learner)
        plain_ticks(axes, N.tolist())
        axes.set_ylim(bottom=0)
        axes.legend(fontsize=8)


def findings(rows: list[Row]) -> list[str]:
    fits = {name: line(where(rows, learner=name)) for name in LEARNERS}
    words = ", ".join(f"{name} {b:,.0f} (R^2 = {r:.3f})" for name, (b, _, r) in fits.items())
    ratio = fits["paper"][0] / fits["full labels"][0]
    return [
        f"Rounds for each unit of ln N at eps = {EPS}, K = {K}: {words}. Phase 1 of the paper's learner is left out "
        "here; it was run with 20 K confirmed samples whatever N is.",
        f"The paper's learner pays {ratio:.1f} times what full labels pay for a larger class, uniform guesses "
        f"{fits['uniform'][0] / fits['full labels'][0]:.1f} times.",
    ]


EXPERIMENT = Experiment(
    name="class-size",
    title="(e) Dependence on the size of the class",
    claim="All sample sizes grow with the class as log N.",
    pieces=pieces,
    measure=measure,
    summary=summary,
    draw=draw,
    findings=findings,
    width=11.0,
)
