"""(l) Why SPIDER is run in the L1 norm: how smooth the potential is there, and in the Euclidean norm.

Phi is beta-smooth in a norm if d^T H(P) d <= beta |d|^2 for its Hessian H(P) = mean_i s_i r_i r_i^T, where r_i says who
is right on sample i and s_i = ((1 - gamma) / W_gamma)^2. In the L1 norm the least such beta at P is the largest entry
of H, which is at most (K / gamma)^2 (1 - gamma)^2 whatever N is; in the L2 norm it is the largest eigenvalue, which is
up to N times as large, since those who are right together are added up. A step of Frank-Wolfe loses beta D^2, D being
the diameter of the simplex: 2 in the L1 norm, and sqrt(2) in the L2 norm.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from onebit.explore.potential import W_gamma
from onebit.learners.paper.schedule import D
from onebit.research.experiments.families import Problem, specialists, spread
from onebit.research.experiments.pictures import LOOK, THEORY, log_axes, plain_ticks
from onebit.research.experiments.piece import Experiment, Piece, Row, column, slope, where

if TYPE_CHECKING:
    from matplotlib.figure import Figure

K, GAMMA = 10, 0.5
N_SAMPLES = 1000
FAMILIES = {"spread": spread, "specialists": specialists}
#: Diameter of the simplex in the L2 norm, squared.
D2_SQUARED = 2.0
#: Where the Hessian is taken: at the even mixture, and at a vertex, where samples that it is wrong on weigh most.
POINTS = ("even mixture", "worst hypothesis")


def pieces(full: bool) -> list[Piece]:
    sizes = (10, 30, 100, 300, 1000, 3000) if full else (10, 30, 100, 300, 1000)
    return [{"family": family, "N": N, "K": K} for family in FAMILIES for N in sizes]


def measure(piece: Piece) -> Row:
    """beta at two points in both norms."""
    problem = FAMILIES[piece["family"]](piece["K"], piece["N"], N_SAMPLES)
    worst = np.eye(piece["N"])[np.argmin(problem.accuracy)]
    found: Row = {}
    for name, P in zip(POINTS, (np.full(piece["N"], 1 / piece["N"]), worst), strict=True):
        found[f"L1, {name}"], found[f"L2, {name}"] = smoothness(problem, P)
    return found


def smoothness(problem: Problem, P: np.ndarray) -> tuple[float, float]:
    """The largest entry and the largest eigenvalue of the Hessian of Phi at P."""
    right = problem.right
    scaled = right * ((1 - GAMMA) / W_gamma(P @ right, GAMMA, problem.n_labels)) / np.sqrt(problem.truth.size)
    # The Hessian is scaled @ scaled.T; its eigenvalues are the squared singular values of scaled.
    return float((scaled**2).sum(axis=1).max()), float(np.linalg.norm(scaled, 2) ** 2)


def bound() -> float:
    """(K / gamma)^2: what the proof of Lemma 3 says of the L1 norm, at every P."""
    return (K / GAMMA) ** 2


def summary(rows: list[Row]) -> list[Row]:
    return [
        {
            **row,
            "beta D^2, L1": D**2 * max(row[f"L1, {name}"] for name in POINTS),
            "beta D^2, L2": D2_SQUARED * max(row[f"L2, {name}"] for name in POINTS),
        }
        for row in rows
    ]


def draw(rows: list[Row], figure: Figure) -> None:
    looks = {"L1": LOOK["paper"], "L2": LOOK["uniform"]}
    for axes, family in zip(figure.subplots(1, len(FAMILIES), sharey=True), FAMILIES, strict=True):
        mine = where(rows, family=family)
        N = column(mine, "N")
        for norm, (colour, mark) in looks.items():
            for name, line in zip(POINTS, ("-", ":"), strict=True):
                values = column(mine, f"{norm}, {name}")
                axes.plot(N, values, color=colour, marker=mark, linestyle=line, label=f"{norm}, {name}")
        axes.axhline(bound(), **THEORY, label="(K / gamma)^2, Lemma 3, L1")
        log_axes(axes, "hypotheses N", "smoothness beta of Phi" if family == "spread" else "", family)
        plain_ticks(axes, N.tolist())
    # There the lines leave room for it.
    axes.legend()


def findings(rows: list[Row]) -> list[str]:
    table = summary(rows)
    words = []
    for family in FAMILIES:
        mine = where(table, family=family)
        N = column(mine, "N")
        grows = {norm: slope(N, column(mine, f"{norm}, {POINTS[0]}")) for norm in ("L1", "L2")}
        last = mine[-1]
        words.append(
            f"{family}: at the even mixture beta grows as N to the power {grows['L1']:.2f} in L1 and {grows['L2']:.2f} "
            f"in L2; beta D^2 at N = {last['N']:,} is {last['beta D^2, L1']:,.0f} and {last['beta D^2, L2']:,.0f}."
        )
    largest = max(row[f"L1, {name}"] for row in rows for name in POINTS)
    return [
        *words,
        f"In L1 beta is at most {largest:.1f} here, of {bound():.0f} that Lemma 3 allows; it does not know N. In L2 it "
        "does: a method that is analysed there needs order N more steps for a class of N. That is why the paper's "
        "appendix redoes SPIDER Frank-Wolfe in the L1 norm, at the price of a log N for its noise.",
    ]


def made(rows: list[Row]) -> str:
    return (
        f"Exact, nothing is drawn but the problem: {N_SAMPLES:,} items of each family, K = {K}, gamma = 1/2. L1: the "
        "largest entry of the Hessian of the potential; L2: its largest eigenvalue."
    )


EXPERIMENT = Experiment(
    name="smoothness",
    title="(l) Smoothness of the potential in L1 and in L2",
    headline="In the L1 norm the potential is as smooth for many hypotheses as for few; in the L2 norm it is not",
    claim=(
        "The potential is (K / gamma)^2-smooth in the L1 norm, whatever the size of the class (proof of Lemma 3); this "
        "is why SPIDER Frank-Wolfe is analysed in that norm."
    ),
    pieces=pieces,
    measure=measure,
    summary=summary,
    draw=draw,
    findings=findings,
    made=made,
    size=(11.0, 5.0),
)
