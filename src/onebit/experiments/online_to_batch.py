"""(h) PAC against online to batch: what a regret learner returns after the same rounds, as K grows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from onebit.experiments.families import gap_family
from onebit.experiments.pictures import THEORY, log_axes, look, plain_ticks
from onebit.experiments.piece import Experiment, Piece, Row, column, seed_of, slope, where
from onebit.experiments.rival_runs import make
from onebit.experiments.simulation import paper
from onebit.learners.base import run
from onebit.learners.rivals.exp4 import Exp4Learner
from onebit.learners.rivals.rates import exp4_rounds
from onebit.learners.schedule import final_rounds
from onebit.raters import SimulatedRater

if TYPE_CHECKING:
    from matplotlib.figure import Figure

N_HYPOTHESES, N_ITEMS, EPS, DELTA, N_RUNS = 50, 2000, 0.02, 0.05, 200
#: The publication's rates first.
GRID = [
    {"gamma": gamma, "rate": rate} for gamma, rate in ((1.0, 1.0), (1.0, 4.0), (1.0, 16.0), (0.25, 4.0), (0.25, 16.0))
]
CONFIRMED_PER_LABEL = 5
#: An excess of 0 is drawn here.
FLOOR = 1e-4
#: The excess of a draw from even weights: all but one of the models are worse by 2 eps.
CEILING = 2 * EPS * (N_HYPOTHESES - 1) / N_HYPOTHESES


def pieces(full: bool) -> list[Piece]:
    n_rounds, n_seeds = (2**17, 5) if full else (2**14, 2)
    common = {"N": N_HYPOTHESES, "items": N_ITEMS, "eps": EPS, "rounds": n_rounds}
    sizes = (2, 4, 8, 16, 32, 64) if full else (2, 4, 8, 16, 32)
    exp4 = [
        {"learner": "EXP4", "K": K, "setting": setting, "seed": seed, **common}
        for K in sizes
        for setting in GRID
        for seed in range(n_seeds)
    ]
    return exp4 + [{"learner": "paper", "K": K, **common} for K in sizes]


def measure(piece: Piece) -> Row:
    """The expected excess of what is returned: of a draw from EXP4's average weights, or of the paper's choice."""
    K, n_rounds = piece["K"], piece["rounds"]
    problem = gap_family(K, piece["N"], piece["eps"], piece["items"])
    lost = problem.accuracy.max() - problem.accuracy
    if piece["learner"] == "paper":
        rng = np.random.default_rng(seed_of(piece))
        learner = paper(problem, rng, CONFIRMED_PER_LABEL * K)
        return {"excess": float(learner.excess(n_rounds - int(learner.n_before), N_RUNS, rng).mean())}
    exp4 = make("EXP4", piece["setting"], problem, n_rounds, seed_of(piece))
    if not isinstance(exp4, Exp4Learner):
        raise TypeError(type(exp4))
    result = run(exp4, SimulatedRater(problem.truth))
    return {
        "excess": float(exp4.average @ lost),
        "excess of heaviest": float(lost[np.argmax(exp4.average)]),
        "average regret": float(problem.accuracy.max() - result.n_yes / n_rounds),
    }


def summary(rows: list[Row]) -> list[Row]:
    out = []
    for K in sorted({row["K"] for row in rows}):
        of = [float(np.mean(column(where(rows, K=K, learner="EXP4", setting=setting), "excess"))) for setting in GRID]
        heaviest = [
            float(np.mean(column(where(rows, K=K, learner="EXP4", setting=setting), "excess of heaviest")))
            for setting in GRID
        ]
        out.append(
            {
                "K": K,
                "paper": where(rows, K=K, learner="paper")[0]["excess"],
                "EXP4 as published": of[0],
                "EXP4, best of grid": min(of),
                "EXP4, heaviest, best of grid": min(heaviest),
                "rounds asked by EXP4's theorem": exp4_rounds(K, N_HYPOTHESES, EPS),
                "by phase 2 of Theorem 1": final_rounds(K, N_HYPOTHESES, EPS, DELTA),
            }
        )
    return out


def draw(rows: list[Row], figure: Figure) -> None:
    left, right = figure.subplots(1, 2)
    table = summary(rows)
    K = column(table, "K")
    left.plot(K, column(table, "EXP4 as published"), **(look("EXP4") | {"label": "EXP4 as published, drawn"}))
    tuned = look("EXP4") | {"linestyle": ":", "label": "EXP4 tuned, drawn"}
    left.plot(K, column(table, "EXP4, best of grid"), **tuned)
    heaviest = look("EXP4") | {"linestyle": "", "label": "EXP4 tuned, heaviest"}
    left.plot(K, np.maximum(column(table, "EXP4, heaviest, best of grid"), FLOOR), **(heaviest | {"fillstyle": "none"}))
    left.plot(K, np.maximum(column(table, "paper"), FLOOR), **look("paper"))
    left.axhline(CEILING, **THEORY, label="drawn from even weights")
    log_axes(left, "labels K", "excess error", f"measured, after {max(row['rounds'] for row in rows):,} rounds")
    left.legend(fontsize=8)
    right.plot(K, column(table, "rounds asked by EXP4's theorem"), **look("EXP4"))
    right.plot(K, column(table, "by phase 2 of Theorem 1"), **(look("paper") | {"label": "paper, phase 2"}))
    log_axes(right, "labels K", f"rounds for eps = {EPS}", "asked for by the theorems")
    right.legend(fontsize=8)
    for axes in (left, right):
        plain_ticks(axes, K.tolist())


def findings(rows: list[Row]) -> list[str]:
    table = summary(rows)
    K = column(table, "K")
    heaviest = column(table, "EXP4, heaviest, best of grid")
    last = table[-1]
    crossing = last["K"] * last["by phase 2 of Theorem 1"] / last["rounds asked by EXP4's theorem"]
    published, tuned = (slope(K, column(table, name)) for name in ("EXP4 as published", "EXP4, best of grid"))
    return [
        "A draw from the average of EXP4 as published has an excess error that grows as K to the power "
        f"{published:.2f} (its regret bound: 0.5, so rounds of order K), tuned over {len(GRID)} settings {tuned:.2f}; "
        f"the paper's learner has {min(column(table, 'paper')):.4f} to {max(column(table, 'paper')):.4f} with as many "
        "rounds in all.",
        f"A draw from even weights, of somebody who has learned nothing, would have {CEILING:.4f}: figures of EXP4 "
        "near it, as those of large K as published, say that these rounds were too few to learn, and bend the "
        "exponent down.",
        "The constants of the theorems hide the separation at these K: phase 2 of Theorem 1 asks for fewer rounds "
        f"than EXP4's theorem only above K = {crossing:.0f}, without counting phase 1.",
        "Part of the difference is the conversion: the theorem is for a draw from the average weights, while the "
        f"paper's learner returns the best estimate. The heaviest of the tuned average has {min(heaviest):.4f} to "
        f"{max(heaviest):.4f}; no theorem is known for it, it is the mean of few runs, and the setting was chosen on "
        "them.",
        "The separation of the paper is a worst case over large classes, by the lower bound of Erez et al. (2024), "
        "whose construction could not be found and is not reproduced: what is measured here is about the algorithm "
        "and its bound on an ordinary family.",
    ]


EXPERIMENT = Experiment(
    name="online-to-batch",
    title="(h) PAC against online to batch",
    claim=(
        "Converting the best possible regret into a hypothesis takes order K / eps^2 rounds for large classes; the "
        "paper's learner takes order 1 / eps^2 and a term in K alone."
    ),
    pieces=pieces,
    measure=measure,
    summary=summary,
    draw=draw,
    findings=findings,
)
