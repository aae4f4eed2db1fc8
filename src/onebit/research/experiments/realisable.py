"""(g) Realisable against agnostic: where the price of yes/no answers really is K."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from onebit.explore.potential import W_gamma
from onebit.research.experiments.lookup import LookupClass
from onebit.research.experiments.pictures import BARS, log_axes, look, plain_ticks
from onebit.research.experiments.piece import Experiment, Piece, Row, column, seed_of, slope, where
from onebit.research.experiments.simulation import (
    CONFIRMED_PER_LABEL,
    GAMMA,
    PAPER,
    PAPER_SPIDER,
    explored,
    quantile_needed,
    ratio_with_error,
    rounds_needed,
    spider_words,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DELTA, N_POINTS = 0.05, 10
#: P(first label) - P(second label) at every point of the agnostic problem.
GAP_OF_LABELS = 0.05
N_EXPLORATIONS = 20
LEARNERS = {
    "realisable": ("full labels", "never twice", "uniform"),
    "agnostic": ("full labels", PAPER, PAPER_SPIDER, "uniform"),
}


def pieces(full: bool) -> list[Piece]:
    sizes = (2, 5, 10, 20, 50, 100) if full else (2, 5, 10, 20, 50)
    return [
        {"case": case, "learner": name, "K": K, "runs": 2000}
        for K in sizes
        for case, names in LEARNERS.items()
        for name in names
    ]


def measure(piece: Piece) -> Row:
    """Rounds at which at most delta of the runs have a wrong label at any of the ten points."""
    rng = np.random.default_rng(seed_of(piece))
    if piece["case"] == "realisable":
        return {**quantile_needed(_completion(piece, rng), 1 - DELTA).row(), "before": 0.0}
    W, before = _agnostic_law(piece, rng)
    n_runs = piece["runs"]
    needed = rounds_needed(lambda n_rounds: _share_wrong(W, n_rounds, n_runs, rng), DELTA, n_runs, start=1024)
    return {**needed.row(), "before": before}


def _completion(piece: Piece, rng: np.random.Generator) -> np.ndarray:
    """The round in which each run knows the label of every point; shape (runs,).

    Full labels need one visit to each point. Guesses need as many as it takes: who never guesses the same label twice
    finds it after a uniform number of visits (and knows the last one without asking), sooner than anybody else can.
    """
    K, shape = piece["K"], (piece["runs"], N_POINTS)
    if piece["learner"] == "full labels":
        visits = np.ones(shape, dtype=np.int64)
    elif piece["learner"] == "never twice":
        visits = np.minimum(rng.integers(1, K + 1, shape), K - 1)
    else:
        visits = rng.geometric(1 / K, shape)
    done = np.empty(piece["runs"], dtype=np.int64)
    for run, needed in enumerate(visits):
        # Twice the visits needed everywhere, and some: the order of visits is uniform, so more are rarely wanted.
        seen = rng.integers(0, N_POINTS, int(2 * N_POINTS * needed.max() + 400))
        arrival = [np.flatnonzero(seen == point)[n - 1] for point, n in enumerate(needed.tolist())]
        done[run] = max(arrival) + 1
    return done


def _agnostic_law(piece: Piece, rng: np.random.Generator) -> tuple[np.ndarray, float]:
    """The probability of asking the first and the second label at each point; shape (mixtures, points, 2)."""
    K = piece["K"]
    if piece["learner"] == "full labels":
        return np.ones((1, N_POINTS, 2)), 0.0
    if piece["learner"] == "uniform":
        return np.full((1, N_POINTS, 2), 1 / K), 0.0
    hypotheses, every_point = LookupClass(N_POINTS, K), np.arange(N_POINTS)
    n_confirmed = CONFIRMED_PER_LABEL * max(K, N_POINTS)
    W = np.empty((N_EXPLORATIONS, N_POINTS, 2))
    for law in W:
        x = rng.integers(0, N_POINTS, n_confirmed)
        y = (rng.random(n_confirmed) > 0.5 + GAP_OF_LABELS / 2).astype(np.int64)
        mixture = explored(piece["learner"], hypotheses, x, y, rng)
        for label in range(2):
            law[:, label] = W_gamma(mixture.W(hypotheses, every_point, np.full(N_POINTS, label)), GAMMA, K)
    return W, float(K * n_confirmed)


def _share_wrong(W: np.ndarray, n_rounds: int, n_runs: int, rng: np.random.Generator) -> float:
    """The share of runs in which the second label has the higher estimate at some point."""
    W = W[np.arange(n_runs) % W.shape[0]]
    chance = np.array([0.5 + GAP_OF_LABELS / 2, 0.5 - GAP_OF_LABELS / 2]) * W / N_POINTS
    flat = chance.reshape(n_runs, -1)
    all_chances = np.concatenate([flat, np.maximum(0, 1 - flat.sum(axis=1, keepdims=True))], axis=1)
    counts = rng.multinomial(n_rounds, all_chances / all_chances.sum(axis=1, keepdims=True))[:, :-1]
    estimate = counts.reshape(W.shape) / W
    return float((estimate[:, :, 1] >= estimate[:, :, 0]).any(axis=1).mean())


def summary(rows: list[Row]) -> list[Row]:
    """For each case and K the rounds of full labels, and the price of the others (phase 1 of the paper apart)."""
    out = []
    for case, names in LEARNERS.items():
        for K in sorted({row["K"] for row in rows}):
            at = {row["learner"]: row for row in where(rows, case=case, K=K)}
            full = (at["full labels"]["rounds"], at["full labels"]["error"])
            row: Row = {"case": case, "K": K, "full labels": full[0]}
            for name in names[1:]:
                needed = (at[name]["rounds"], at[name]["error"])
                row[f"price, {name}"], row[f"±, {name}"] = ratio_with_error(needed, full)
            if "paper" in names:
                row["price with phase 1"] = (at["paper"]["rounds"] + at["paper"]["before"]) / full[0]
            out.append(row)
    return out


def draw(rows: list[Row], figure: Figure) -> None:
    table = summary(rows)
    for axes, case in zip(figure.subplots(1, 2, sharey=True), LEARNERS, strict=True):
        mine = where(table, case=case)
        K = column(mine, "K")
        lines = [("uniform", look("uniform"))]
        if case == "realisable":
            lines.append(("never twice", look("certified") | {"label": "never the same guess twice"}))
        else:
            lines.append((PAPER, look(PAPER) | {"label": "paper, phase 2"}))
            lines.append((PAPER_SPIDER, look(PAPER_SPIDER) | {"linestyle": "--", "label": "paper, phase 2, SPIDER"}))
            with_phase_1 = look(PAPER) | {"linestyle": ":", "label": "paper, with phase 1"}
            axes.plot(K, column(mine, "price with phase 1"), **with_phase_1)
        for name, how in lines:
            axes.errorbar(K, column(mine, f"price, {name}"), yerr=column(mine, f"±, {name}"), **(BARS | how))
        axes.plot(K, K, color="#777777", linewidth=0.8, linestyle="--", label="K")
        log_axes(axes, "labels K", "rounds / rounds of full labels" if case == "realisable" else "", case)
        plain_ticks(axes, K.tolist())
        axes.legend()


def findings(rows: list[Row]) -> list[str]:
    table = summary(rows)
    hard, soft = where(table, case="realisable"), where(table, case="agnostic")
    K = column(hard, "K")
    late = K >= 5
    return [
        "Realisable: the price grows as K to the power "
        f"{slope(K[late], column(hard, 'price, never twice')[late]):.2f} even for the best possible guesser "
        f"({hard[-1]['price, never twice']:.0f} at K = {hard[-1]['K']}).",
        f"Agnostic, two likely labels at each point, {GAP_OF_LABELS:g} apart: uniform guesses pay K to the power "
        f"{slope(K[late], column(soft, 'price, uniform')[late]):.2f}, phase 2 of the paper's learner "
        f"{slope(K[late], column(soft, 'price, paper')[late]):.2f} ({soft[-1]['price, paper']:.1f} at K = "
        f"{soft[-1]['K']}, {soft[-1][f'price, {PAPER_SPIDER}']:.1f} with SPIDER); with its phase 1, "
        f"{soft[-1]['price with phase 1']:.1f}.",
        "In the realisable case a label is needed once and a guess finds it once in K times; in the agnostic one, "
        "which of the two likely labels is likelier takes many samples anyway, and finding the two is the small part.",
    ]


def made(rows: list[Row]) -> str:
    n_runs, sizes = rows[0]["runs"], {(CONFIRMED_PER_LABEL * max(row["K"], N_POINTS), row["K"]) for row in rows}
    return (
        f"All simulated in law, {n_runs} runs for each number of rounds tried; rounds at which {DELTA:.0%} of them "
        "have a wrong label somewhere. Bars: one standard error, by redrawing the runs. All functions of "
        f"{N_POINTS} points; in the agnostic case the label of a point is drawn anew each time. paper: corrective "
        f"solver, gamma = 1/2; M1 = {CONFIRMED_PER_LABEL} max(K, {N_POINTS}) confirmed samples, {N_EXPLORATIONS} "
        f"mixtures. {spider_words(sizes)}."
    )


EXPERIMENT = Experiment(
    name="realisable",
    title="(g) Realisable against agnostic",
    headline="The price of yes/no answers grows with K in the realisable case and levels off in the agnostic one",
    claim=(
        "In the realisable case the price of yes/no answers is of order K (Daniely et al. 2011); in the agnostic case "
        "it is of order 1 as eps falls."
    ),
    pieces=pieces,
    measure=measure,
    summary=summary,
    draw=draw,
    findings=findings,
    made=made,
)
