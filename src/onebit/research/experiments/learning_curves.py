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
from onebit.research.experiments.pictures import BARS, log_axes, look, plain_ticks
from onebit.research.experiments.piece import Experiment, Piece, Row, seed_of, where
from onebit.research.experiments.rival_runs import GRIDS, REPORT, TUNING, Setting, in_words, leaders, make
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

N_HYPOTHESES, N_ITEMS = 50, 2000
#: Runs of everybody, and of each setting of a rival before one is picked.
N_RUNS, N_TUNING = 25, 3
FIRST = 256
#: Those that are simulated in law cost no more for more rounds, and phase 1 needs them where K is large.
SIMULATED_ROUNDS = 2**20
#: Share of the rounds that the paper's phase 1 may take; and the fewest confirmed samples that are worth a phase 1.
PHASE_1_SHARE, FEWEST_CONFIRMED = 0.5, 10
SIMULATED = ("full labels", "uniform", PAPER, PAPER_SPIDER)
CERTIFIED_EPS = 0.002
ALL_GRIDS: dict[str, list[Setting]] = {**GRIDS, "certified": [{}]}
LEARNERS = (*SIMULATED, "certified", *GRIDS)
#: Checkpoints of the table; the picture has them all.
SHOWN = tuple(FIRST << i for i in (0, 2, 4, 5, 7, 9, 12))
#: Below this the axis is linear, so that 0 has its place.
LINEAR_BELOW = 1e-3


def pieces(full: bool) -> list[Piece]:
    common = {"N": N_HYPOTHESES, "items": N_ITEMS, "runs": N_RUNS}
    return [
        {"learner": name, "K": K, "rounds": n_rounds, **common}
        for K in (2, 10, 100, 1000)
        for n_rounds, names in ((2**15 if full else 2**13, ALL_GRIDS), (SIMULATED_ROUNDS, SIMULATED))
        for name in names
    ]


def checkpoints(n_rounds: int) -> list[int]:
    """Powers of two up to the end."""
    return [FIRST << i for i in range((n_rounds // FIRST).bit_length())]


def measure(piece: Piece) -> Row:
    """The excess error at each power of two, the mean over all runs with its standard error, and a rival's setting."""
    problem = spread(piece["K"], piece["N"], piece["items"])
    at = checkpoints(piece["rounds"])
    if piece["learner"] in SIMULATED:
        means = {n: value for n in at if (value := _simulated(piece, problem, n)) is not None}
        excess, error = ([value[i] for value in means.values()] for i in range(2))
        return {"at": list(means), "excess": excess, "standard error": error}
    setting = _tuned(piece, problem, at)
    runs = np.array([_one_run(piece, problem, at, setting, REPORT, seed) for seed in range(piece["runs"])])
    error = (runs.std(axis=0, ddof=1) / np.sqrt(len(runs))).tolist() if len(runs) > 1 else [0.0] * len(at)
    return {"at": at, "excess": runs.mean(axis=0).tolist(), "standard error": error, "setting": setting}


def _tuned(piece: Piece, problem: Problem, at: list[int]) -> Setting:
    """The setting of least excess at the last three checkpoints, in the mean of runs of their own."""
    grid = ALL_GRIDS[piece["learner"]]
    if len(grid) == 1:
        return grid[0]

    def loss(setting: Setting) -> float:
        runs = [_one_run(piece, problem, at[-3:], setting, TUNING, seed) for seed in range(N_TUNING)]
        return float(np.mean(runs))

    return min(grid, key=loss)


def _one_run(piece: Piece, problem: Problem, at: list[int], setting: Setting, role: str, seed: int) -> list[float]:
    """The excess error of the leader at each checkpoint; at one that it does not reach, of the last before."""
    number = seed_of(piece | {"setting": setting, "role": role, "seed": seed})
    if piece["learner"] == "certified":
        found = _certified(piece, problem, at, number)
    else:
        learner = make(piece["learner"], setting, problem, piece["rounds"], number)
        found = {n: _excess(problem, h) for n, h in leaders(learner, problem, lambda n: n in at)}
    return [found[n] for n in at]


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
    excess = learner.excess(n_rounds - int(learner.n_before), piece["runs"], rng)
    return float(excess.mean()), float(excess.std(ddof=1) / np.sqrt(piece["runs"]))


def _certified(piece: Piece, problem: Problem, at: list[int], seed: int) -> dict[int, float]:
    """The leader of the certified learner at the last closing before each checkpoint; it may stop long before."""
    hypotheses, pool = PredictionTable(problem.predictions, problem.n_labels), Pool(np.arange(problem.truth.size))
    learner = CertifiedLearner(hypotheses, pool, eps=CERTIFIED_EPS, budget=piece["rounds"], seed=seed)
    run(learner, SimulatedRater(problem.truth))
    leads = [(closing.n_answers, closing.leader) for closing in learner.closings]
    return {n: _excess(problem, [leader for n_answers, leader in leads if n_answers <= n][-1]) for n in at}


def curve(rows: list[Row], K: int, learner: str) -> Row:
    """Rounds, mean excess and its standard error of a learner, with its setting."""
    return where(rows, K=K, learner=learner)[0]


def summary(rows: list[Row]) -> list[Row]:
    return [
        {
            "K": row["K"],
            "learner": row["learner"],
            "setting": in_words(row.get("setting", {})),
            **{
                f"after {n:,}": f"{excess:.4f} ± {error:.4f}"
                for n, excess, error in zip(row["at"], row["excess"], row["standard error"], strict=True)
                if n in SHOWN
            },
        }
        for K in sorted({row["K"] for row in rows})
        for row in (curve(rows, K, learner) for learner in LEARNERS)
    ]


def draw(rows: list[Row], figure: Figure) -> None:
    sizes = sorted({row["K"] for row in rows})
    n_rows = 2 if len(sizes) > 2 else 1
    all_axes = figure.subplots(n_rows, -(-len(sizes) // n_rows), sharey=True, squeeze=False).ravel().tolist()
    for axes, K in zip(all_axes, sizes, strict=True):
        for learner in LEARNERS:
            row = curve(rows, K, learner)
            how = BARS | look(learner) | {"alpha": 0.9}
            axes.errorbar(row["at"], row["excess"], yerr=row["standard error"], **how)
        log_axes(axes, "rounds", "excess error", f"K = {K}")
        axes.set_yscale("symlog", linthresh=LINEAR_BELOW)
        axes.label_outer()
        last = max(n for row in rows for n in row["at"])
        plain_ticks(axes, [FIRST * 8**i for i in range(5) if FIRST * 8**i <= last])
    all_axes[0].set_ylim(-LINEAR_BELOW / 10, 1)
    all_axes[0].legend(loc="upper right")


def findings(rows: list[Row]) -> list[str]:
    sizes = sorted({row["K"] for row in rows})
    last = min(row["rounds"] for row in rows)
    at_the_end = {
        (row["K"], row["learner"]): f"{row['excess'][i]:.4f} ± {row['standard error'][i]:.4f}"
        for row in rows
        if last in row["at"]
        for i in [row["at"].index(last)]
    }
    words = [
        f"K = {K}: " + ", ".join(f"{name} {at_the_end[K, name]}" for name in LEARNERS if (K, name) in at_the_end)
        for K in sizes
    ]
    starts = ", ".join(f"{row['at'][0]:,} at K = {K}" for K in sizes for row in [curve(rows, K, PAPER)] if row["at"])
    return [
        f"Excess error after {last:,} rounds, {N_HYPOTHESES} models of accuracy .3 to .9. {'; '.join(words)}.",
        f"The paper's learner has a result from {starts} rounds on: before that, phase 1 has not confirmed "
        f"{FEWEST_CONFIRMED} samples.",
        "Full labels do not notice K. Uniform guesses do at once. The paper's learner does through phase 1, which is "
        "made of uniform guesses. Learners that adapt from the first round (EXP4, the sparse-reward learner, the "
        "certified one) are ahead where rounds are few and K is large: here rivals win, and phase 1 is the reason.",
        "The certified learner is ahead of full labels because it passes over items on which the models that may be "
        "the best agree, and asks about no item and label twice; full labels here are those of items drawn at random.",
    ]


def made(rows: list[Row]) -> str:
    n_rounds = min(row["rounds"] for row in rows)
    return (
        f"Means of {rows[0]['runs']} runs for everybody; bars: one standard error. A point at 0 without a bar: each "
        "run chose the best. Simulated in law: full labels, uniform, paper (corrective solver), paper with SPIDER (as "
        f"many steps as its samples last for), both gamma = 1/2 and over "
        f"{min(N_EXPLORATIONS, rows[0]['runs'])} mixtures. Run as they are, up to {n_rounds:,} rounds: "
        f"certified (eps = {CERTIFIED_EPS}, one-shot on the pool of {rows[0]['items']:,} items) and rivals, each at "
        f"the setting that was best in {N_TUNING} other runs. "
        f"M1 = {CONFIRMED_PER_LABEL} K confirmed samples where these take at most half of "
        f"the rounds, else as many as half of the rounds confirm; below {FEWEST_CONFIRMED} there is no point. The "
        f"axis is linear below {LINEAR_BELOW:g}."
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
