"""(a) Excess error against rounds, for few and many labels, of all learners."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from onebit.experiments.families import Problem, spread
from onebit.experiments.pictures import log_axes, look, plain_ticks
from onebit.experiments.piece import Experiment, Piece, Row, seed_of, where
from onebit.experiments.rival_runs import GRIDS, Setting, leaders, make
from onebit.experiments.simulation import CONFIRMED_PER_LABEL, full_labels, paper, uniform_guesses
from onebit.hypotheses.finite import PredictionTable
from onebit.learners.base import run
from onebit.learners.certified import CertifiedLearner
from onebit.learners.items import Pool
from onebit.raters import SimulatedRater

if TYPE_CHECKING:
    from matplotlib.figure import Figure

N_HYPOTHESES, N_ITEMS, N_RUNS = 50, 2000, 200
FIRST = 256
#: Share of the rounds that the paper's phase 1 may take; and the fewest confirmed samples that are worth a phase 1.
PHASE_1_SHARE, FEWEST_CONFIRMED = 0.5, 10
SIMULATED = ("full labels", "uniform", "paper")
CERTIFIED_EPS = 0.002
ALL_GRIDS: dict[str, list[Setting]] = {**GRIDS, "certified": [{}]}
#: An excess of 0 is drawn here.
FLOOR = 1e-4


def pieces(full: bool) -> list[Piece]:
    n_rounds, n_seeds = (2**16, 10) if full else (2**13, 3)
    common = {"N": N_HYPOTHESES, "items": N_ITEMS, "rounds": n_rounds}
    rivals = [
        {"learner": name, "K": K, "setting": setting, "seed": seed, **common}
        for K in (2, 10, 100, 1000)
        for name, grid in ALL_GRIDS.items()
        for setting in grid
        for seed in range(n_seeds)
    ]
    return rivals + [{"learner": name, "K": K, **common} for K in (2, 10, 100, 1000) for name in SIMULATED]


def checkpoints(n_rounds: int) -> list[int]:
    """Powers of two up to the end."""
    return [FIRST << i for i in range((n_rounds // FIRST).bit_length())]


def measure(piece: Piece) -> Row:
    """The excess error at each power of two: the mean over many runs, or of this one run."""
    problem = spread(piece["K"], piece["N"], piece["items"])
    at = checkpoints(piece["rounds"])
    if piece["learner"] in SIMULATED:
        found = {n: value for n in at if (value := _simulated(piece, problem, n)) is not None}
    elif piece["learner"] == "certified":
        found = _certified(piece, problem, at)
    else:
        learner = make(piece["learner"], piece["setting"], problem, piece["rounds"], seed_of(piece))
        chosen = dict(leaders(learner, problem, lambda n: n in at))
        found = {n: _excess(problem, h) for n, h in chosen.items()}
    return {"at": list(found), "excess": list(found.values())}


def _excess(problem: Problem, h: int) -> float:
    return float(problem.accuracy.max() - problem.accuracy[h])


def _simulated(piece: Piece, problem: Problem, n_rounds: int) -> float | None:
    """The mean excess of many runs; None where the paper's phase 1 does not fit into the rounds."""
    rng = np.random.default_rng([seed_of(piece), n_rounds])
    K = problem.n_labels
    if piece["learner"] == "paper":
        n_confirmed = min(CONFIRMED_PER_LABEL * K, int(PHASE_1_SHARE * n_rounds / K))
        if n_confirmed < FEWEST_CONFIRMED:
            return None
        learner = paper(problem, rng, n_confirmed)
    else:
        learner = full_labels(problem) if piece["learner"] == "full labels" else uniform_guesses(problem)
    return float(learner.excess(n_rounds - int(learner.n_before), N_RUNS, rng).mean())


def _certified(piece: Piece, problem: Problem, at: list[int]) -> dict[int, float]:
    """The leader of the certified learner at the last closing before each checkpoint; it may stop long before."""
    hypotheses, pool = PredictionTable(problem.predictions, problem.n_labels), Pool(np.arange(problem.truth.size))
    learner = CertifiedLearner(hypotheses, pool, eps=CERTIFIED_EPS, budget=piece["rounds"], seed=seed_of(piece))
    run(learner, SimulatedRater(problem.truth))
    found = {}
    for n in at:
        closed = [closing.leader for closing in learner.closings if closing.n_answers <= n]
        if closed:
            found[n] = _excess(problem, closed[-1])
    return found


def curve(rows: list[Row], K: int, learner: str) -> tuple[list[int], list[float]]:
    """Rounds and mean excess, for the setting of the grid that is best at the end."""
    mine = where(rows, K=K, learner=learner)
    # In the order of the grid, so that of equal settings it is always the first that is shown.
    settings = [dict(items) for items in dict.fromkeys(tuple(row.get("setting", {}).items()) for row in mine)]

    def mean_curve(setting: dict[str, float]) -> dict[int, float]:
        chosen = [row for row in mine if row.get("setting", {}) == setting]
        values: dict[int, list[float]] = {}
        for row in chosen:
            for n, excess in zip(row["at"], row["excess"], strict=True):
                values.setdefault(n, []).append(excess)
        return {n: float(np.mean(values[n])) for n in sorted(values)}

    curves = [mean_curve(setting) for setting in settings]
    if not any(curves):
        return [], []
    best = min((points for points in curves if points), key=lambda points: float(np.mean(list(points.values())[-3:])))
    return list(best), list(best.values())


LEARNERS = ("full labels", "uniform", "paper", "certified", *GRIDS)


def summary(rows: list[Row]) -> list[Row]:
    out = []
    for K in sorted({row["K"] for row in rows}):
        for learner in LEARNERS:
            at, excess = curve(rows, K, learner)
            out.append({"K": K, "learner": learner} | {f"after {n:,}": e for n, e in zip(at, excess, strict=True)})
    return out


def draw(rows: list[Row], figure: Figure) -> None:
    sizes = sorted({row["K"] for row in rows})
    all_axes = figure.subplots(1, len(sizes), sharey=True)
    for axes, K in zip(all_axes, sizes, strict=True):
        for learner in LEARNERS:
            at, excess = curve(rows, K, learner)
            axes.plot(at, np.maximum(excess, FLOOR), **(look(learner) | {"alpha": 0.9}))
        log_axes(axes, "rounds", "excess error" if sizes[0] == K else "", f"K = {K}")
        last = max(n for row in rows for n in row["at"])
        plain_ticks(axes, [FIRST * 4**i for i in range(5) if FIRST * 4**i <= last])
    all_axes[0].legend(fontsize=7)


def findings(rows: list[Row]) -> list[str]:
    sizes, last = sorted({row["K"] for row in rows}), max(n for row in rows for n in row["at"])
    ends = {(K, name): curve(rows, K, name)[1][-1] for K in sizes for name in LEARNERS if curve(rows, K, name)[1]}
    n_seeds = 1 + max(row.get("seed", 0) for row in rows)
    words = [
        f"K = {K}: " + ", ".join(f"{name} {ends[K, name]:.4f}" for name in LEARNERS if (K, name) in ends) for K in sizes
    ]
    return [
        f"Excess error after {last:,} rounds, {N_HYPOTHESES} models of accuracy .3 to .9. {'; '.join(words)}.",
        f"Full labels, uniform and paper are means of {N_RUNS} runs; the others of {n_seeds}, so their 0.0000 says "
        "only that each of these chose the best. Rivals are shown at the setting of their grid that was best on these "
        "same runs, which flatters them.",
        "Full labels do not notice K. Uniform guesses do at once. The paper's learner does through phase 1, which is "
        "made of uniform guesses: it has no result at all before that has confirmed enough. Learners that adapt from "
        "the first round (EXP4, the sparse-reward learner, the certified one) are ahead where rounds are few and K is "
        "large: here rivals win, and phase 1 is the reason.",
    ]


EXPERIMENT = Experiment(
    name="curves",
    title="(a) Excess error against rounds",
    claim=(
        "At a fixed class the excess error falls with the rounds as for full labels, once a phase that depends on K "
        "only is over; for uniform guesses the rounds are K times as many."
    ),
    pieces=pieces,
    measure=measure,
    summary=summary,
    draw=draw,
    findings=findings,
    width=14.0,
)
