"""(a) Excess error against rounds, for few and many labels, of all learners."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from onebit.hypotheses.finite import PredictionTable
from onebit.learners.certified import CertifiedLearner
from onebit.learners.contract import run
from onebit.learners.items import Pool
from onebit.raters import SimulatedRater
from onebit.research.experiments.families import Problem, spread
from onebit.research.experiments.pictures import log_axes, look, plain_ticks
from onebit.research.experiments.piece import Experiment, Piece, Row, seed_of, where
from onebit.research.experiments.rival_runs import GRIDS, Setting, in_words, leaders, make, picked, reported, runs
from onebit.research.experiments.simulation import (
    CONFIRMED_PER_LABEL,
    N_EXPLORATIONS,
    PAPER,
    PAPER_SPIDER,
    full_labels,
    paper,
    uniform_guesses,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

N_HYPOTHESES, N_ITEMS, N_RUNS = 50, 2000, 200
FIRST = 256
#: Share of the rounds that the paper's phase 1 may take; and the fewest confirmed samples that are worth a phase 1.
PHASE_1_SHARE, FEWEST_CONFIRMED = 0.5, 10
SIMULATED = ("full labels", "uniform", PAPER, PAPER_SPIDER)
CERTIFIED_EPS = 0.002
ALL_GRIDS: dict[str, list[Setting]] = {**GRIDS, "certified": [{}]}
#: Below this the axis is linear, so that 0 has its place.
LINEAR_BELOW = 1e-3


def pieces(full: bool) -> list[Piece]:
    n_rounds, n_tuning, n_report = (2**16, 5, 10) if full else (2**13, 2, 4)
    common = {"N": N_HYPOTHESES, "items": N_ITEMS, "rounds": n_rounds}
    rivals = [
        piece
        for K in (2, 10, 100, 1000)
        for name, grid in ALL_GRIDS.items()
        for piece in runs(name, grid, n_tuning, n_report, K=K, **common)
    ]
    return rivals + [{"learner": name, "K": K, **common} for K in (2, 10, 100, 1000) for name in SIMULATED]


def checkpoints(n_rounds: int) -> list[int]:
    """Powers of two up to the end."""
    return [FIRST << i for i in range((n_rounds // FIRST).bit_length())]


def measure(piece: Piece) -> Row:
    """The excess error at each power of two, the mean over many runs with its standard error, or of this one run."""
    problem = spread(piece["K"], piece["N"], piece["items"])
    at = checkpoints(piece["rounds"])
    if piece["learner"] in SIMULATED:
        means = {n: value for n in at if (value := _simulated(piece, problem, n)) is not None}
        excess, error = ([value[i] for value in means.values()] for i in range(2))
        return {"at": list(means), "excess": excess, "standard error": error}
    if piece["learner"] == "certified":
        found = _certified(piece, problem, at)
    else:
        learner = make(piece["learner"], piece["setting"], problem, piece["rounds"], seed_of(piece))
        chosen = dict(leaders(learner, problem, lambda n: n in at))
        found = {n: _excess(problem, h) for n, h in chosen.items()}
    return {"at": list(found), "excess": list(found.values())}


def _excess(problem: Problem, h: int) -> float:
    return float(problem.accuracy.max() - problem.accuracy[h])


def _simulated(piece: Piece, problem: Problem, n_rounds: int) -> tuple[float, float] | None:
    """The mean excess of many runs and its standard error; None where phase 1 does not fit into the rounds."""
    rng = np.random.default_rng([seed_of(piece), n_rounds])
    K = problem.n_labels
    if piece["learner"] in (PAPER, PAPER_SPIDER):
        n_confirmed = min(CONFIRMED_PER_LABEL * K, int(PHASE_1_SHARE * n_rounds / K))
        if n_confirmed < FEWEST_CONFIRMED:
            return None
        learner = paper(problem, rng, n_confirmed, piece["learner"])
    else:
        learner = full_labels(problem) if piece["learner"] == "full labels" else uniform_guesses(problem)
    excess = learner.excess(n_rounds - int(learner.n_before), N_RUNS, rng)
    return float(excess.mean()), float(excess.std(ddof=1) / np.sqrt(N_RUNS))


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


def curve(rows: list[Row], K: int, learner: str) -> tuple[list[int], list[float], list[float], Setting]:
    """Rounds, mean excess, its standard error, and the setting: that of least excess at the end of the tuning runs."""
    mine, setting = where(rows, K=K, learner=learner), {}
    if learner not in SIMULATED:
        setting = picked(mine, lambda row: float(np.mean(row["excess"][-3:])))
        mine = reported(mine, setting)
    if learner in SIMULATED:
        row = mine[0]
        return row["at"], row["excess"], row["standard error"], setting
    values: dict[int, list[float]] = {}
    for row in mine:
        for n, excess in zip(row["at"], row["excess"], strict=True):
            values.setdefault(n, []).append(excess)
    at = sorted(values)
    errors = [float(np.std(values[n]) / np.sqrt(max(1, len(values[n]) - 1))) for n in at]
    return at, [float(np.mean(values[n])) for n in at], errors, setting


LEARNERS = (*SIMULATED, "certified", *GRIDS)


def summary(rows: list[Row]) -> list[Row]:
    out = []
    for K in sorted({row["K"] for row in rows}):
        for learner in LEARNERS:
            at, excess, errors, setting = curve(rows, K, learner)
            after = {f"after {n:,}": f"{e:.4f} ± {s:.4f}" for n, e, s in zip(at, excess, errors, strict=True)}
            out.append({"K": K, "learner": learner, "setting": in_words(setting)} | after)
    return out


def draw(rows: list[Row], figure: Figure) -> None:
    sizes = sorted({row["K"] for row in rows})
    n_rows = 2 if len(sizes) > 2 else 1
    all_axes = figure.subplots(n_rows, -(-len(sizes) // n_rows), sharey=True, squeeze=False).ravel().tolist()
    for axes, K in zip(all_axes, sizes, strict=True):
        for learner in LEARNERS:
            at, excess, errors, _ = curve(rows, K, learner)
            axes.errorbar(at, excess, yerr=errors, elinewidth=0.8, **(look(learner) | {"alpha": 0.9}))
        log_axes(axes, "rounds", "excess error", f"K = {K}")
        axes.set_yscale("symlog", linthresh=LINEAR_BELOW)
        axes.label_outer()
        last = max(n for row in rows for n in row["at"])
        plain_ticks(axes, [FIRST * 4**i for i in range(5) if FIRST * 4**i <= last])
    all_axes[0].set_ylim(-LINEAR_BELOW / 10, 1)
    all_axes[0].legend(loc="upper right")


def findings(rows: list[Row]) -> list[str]:
    sizes, last = sorted({row["K"] for row in rows}), max(n for row in rows for n in row["at"])
    ends = {(K, name): curve(rows, K, name)[1][-1] for K in sizes for name in LEARNERS if curve(rows, K, name)[1]}
    n_report = 1 + max(row["seed"] for row in where(rows, role="report"))
    n_tuning = 1 + max((row["seed"] for row in where(rows, role="tuning")), default=-1)
    words = [
        f"K = {K}: " + ", ".join(f"{name} {ends[K, name]:.4f}" for name in LEARNERS if (K, name) in ends) for K in sizes
    ]
    return [
        f"Excess error after {last:,} rounds, {N_HYPOTHESES} models of accuracy .3 to .9. {'; '.join(words)}.",
        f"Full labels, uniform and both versions of the paper's learner are means of {N_RUNS} runs; the others of "
        f"{n_report}, so their 0.0000 says only that each of these chose the best. The setting of a rival was picked "
        f"on {n_tuning} other runs.",
        "Full labels do not notice K. Uniform guesses do at once. The paper's learner does through phase 1, which is "
        "made of uniform guesses: it has no result at all before that has confirmed enough. Learners that adapt from "
        "the first round (EXP4, the sparse-reward learner, the certified one) are ahead where rounds are few and K is "
        "large: here rivals win, and phase 1 is the reason.",
    ]


def made(rows: list[Row]) -> str:
    n_report = 1 + max(row["seed"] for row in where(rows, role="report"))
    n_rounds = max(row["rounds"] for row in rows)
    sizes = ", ".join(
        f"{min(CONFIRMED_PER_LABEL * K, int(PHASE_1_SHARE * n_rounds / K))} at K = {K}"
        for K in sorted({row["K"] for row in rows})
    )
    return (
        f"Simulated in law: full labels, uniform, paper (corrective solver), paper with SPIDER; means of {N_RUNS} runs "
        f"over {N_EXPLORATIONS} mixtures. Run as they are: certified (eps = {CERTIFIED_EPS}) and rivals, "
        f"{n_report} runs each. M1 = 20 K confirmed samples where these take at most half of the rounds, else as many "
        f"as half of the rounds confirm: at the end {sizes}; below {FEWEST_CONFIRMED} there is no curve. Bars: one "
        f"standard error. The axis is linear below {LINEAR_BELOW:g}."
    )


EXPERIMENT = Experiment(
    name="curves",
    title="(a) Excess error against rounds",
    headline="Uniform guesses need K times the rounds of full labels for the same excess error",
    claim=(
        "At a fixed class the excess error falls with the rounds as for full labels, once a phase that depends on K "
        "only is over; for uniform guesses the rounds are K times as many."
    ),
    pieces=pieces,
    measure=measure,
    summary=summary,
    draw=draw,
    findings=findings,
    made=made,
    size=(12.0, 9.0),
)
