"""(j) Phase 1 of the paper against phase I of the sequel: the variance that each reaches from the same answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from onebit.explore.hedge import hedge_draws
from onebit.explore.mixture import Mixture
from onebit.explore.potential import W_gamma
from onebit.hypotheses.finite import PredictionTable
from onebit.kernels.bits import PackedTable
from onebit.learners.paper.sequel_sizes import hedge_rate
from onebit.research.experiments.families import Problem, real_table, specialists, spread
from onebit.research.experiments.pictures import log_axes, look, plain_ticks
from onebit.research.experiments.piece import Experiment, Piece, Row, column, seed_of, where
from onebit.research.experiments.simulation import GAMMA, PAPER, PAPER_SPIDER, explored, spider_words

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Yeses in the mean: K times as many uniform guesses are asked.
CONFIRMED = (20, 100, 500, 2500)
N_SEEDS = 10
LEARNERS = (PAPER, PAPER_SPIDER, "sequel")
SYNTHETIC = {"spread": spread, "specialists": specialists}
TABLES = ("digits", "letter_models", "mmlu_pro", "clinc150_models")


def pieces(full: bool) -> list[Piece]:
    there = [name for name in TABLES if name == "digits" or real_table(name, 1) is not None]
    return [
        {"problem": name, "confirmed": n, "seeds": 5 * N_SEEDS if full else N_SEEDS}
        for name in (*SYNTHETIC, *there)
        for n in CONFIRMED
    ]


def problem_of(name: str) -> Problem:
    """K = 10, N = 500 for the synthetic ones, as in the test of the paper's phase 1; real tables as they are."""
    if name in SYNTHETIC:
        return SYNTHETIC[name](10, 500, 5000)
    found = real_table(name)
    if found is None:
        raise FileNotFoundError(name)
    return found


def measure(piece: Piece) -> Row:
    """max over h of the mean of [h right] / W_gamma over all items: a value for each run and learner."""
    problem = problem_of(piece["problem"])
    K, n_items = problem.n_labels, problem.truth.size
    hypotheses, right = PredictionTable(problem.predictions, K), problem.right
    rng = np.random.default_rng(seed_of(piece))
    n_rounds = K * piece["confirmed"]
    found: dict[str, list[float]] = {name: [] for name in LEARNERS}
    for _ in range(piece["seeds"]):
        yes = np.flatnonzero(rng.random(n_rounds) < 1 / K)
        items = rng.integers(0, n_items, yes.size)
        for name in LEARNERS:
            if name == "sequel":
                mixture = hedge_mixture(problem, items, yes, n_rounds, rng)
            else:
                mixture = explored(name, hypotheses, items, problem.truth[items], rng)
            W = mixture.probabilities @ right[list(mixture.hypotheses)]
            found[name].append(float((right @ (1 / W_gamma(W, GAMMA, K))).max() / n_items))
    return {"K": K, "N": problem.predictions.shape[0], "variance": found, "uniform": K * float(problem.accuracy.max())}


def hedge_mixture(
    problem: Problem, items: np.ndarray, rounds: np.ndarray, n_rounds: int, rng: np.random.Generator
) -> Mixture:
    """Phase I of the sequel's Algorithm 2, from the yeses at ``items`` in ``rounds``."""
    N = problem.predictions.shape[0]
    table = PackedTable(N)
    table.append(problem.predictions, items, problem.truth[items])
    drawn = hedge_draws(
        table,
        rounds,
        n_rounds,
        floor=GAMMA / problem.n_labels,
        gamma=GAMMA,
        rate=hedge_rate(problem.n_labels, GAMMA),
        draw=lambda start, stop, probability: rng.multinomial(stop - start, probability),
    )
    return Mixture.of(list(range(N)), drawn / n_rounds)


def summary(rows: list[Row]) -> list[Row]:
    return [
        {
            "problem": row["problem"],
            "K": row["K"],
            "N": row["N"],
            "yeses": row["confirmed"],
            **{name: float(np.mean(row["variance"][name])) for name in LEARNERS},
            **{f"±, {name}": _error(row, name) for name in LEARNERS},
            "uniform": row["uniform"],
        }
        for row in rows
    ]


def _error(row: Row, name: str) -> float:
    values = row["variance"][name]
    return float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0


def draw(rows: list[Row], figure: Figure) -> None:
    table = summary(rows)
    names = list(dict.fromkeys(row["problem"] for row in table))
    n_rows = 1 if len(names) <= 3 else 2
    all_axes = figure.subplots(n_rows, -(-len(names) // n_rows), sharey=True, squeeze=False).ravel().tolist()
    for axes in all_axes[len(names) :]:
        axes.remove()
    for axes, problem in zip(all_axes, names, strict=False):
        mine = where(table, problem=problem)
        yeses = column(mine, "yeses")
        for name in LEARNERS:
            axes.errorbar(yeses, column(mine, name), yerr=column(mine, f"±, {name}"), **look(name))
        axes.axhline(3, color="#777777", linewidth=0.8)
        log_axes(axes, "yeses (K times as many guesses)", "", f"{problem}: K = {mine[0]['K']}, N = {mine[0]['N']}")
        plain_ticks(axes, yeses.tolist())
    all_axes[0].set_ylabel("max over h of E[[h right] / W]")
    all_axes[0].legend()


def findings(rows: list[Row]) -> list[str]:
    table = summary(rows)
    few = min(row["yeses"] for row in table)
    many = max(row["yeses"] for row in table)

    def against(n: int) -> str:
        return "; ".join(
            f"{row['problem']} {row[PAPER]:.2f}, {row[PAPER_SPIDER]:.2f}, {row['sequel']:.2f}"
            for row in where(table, yeses=n)
        )

    def ahead(one: str, other: str) -> str:
        """Where one has less variance than the other by more than two standard errors of both."""
        places = [
            f"{row['problem']} at {row['yeses']}"
            for row in table
            if row[one] + 2 * row[f"±, {one}"] < row[other] - 2 * row[f"±, {other}"]
        ]
        return ", ".join(places) or "nowhere"

    return [
        f"Variance after {few} yeses (corrective solver, SPIDER, sequel): {against(few)}.",
        f"After {many}: {against(many)}.",
        "Ahead by more than two standard errors of both: the sequel of the corrective solver "
        f"{ahead('sequel', PAPER)}; the corrective solver of the sequel {ahead(PAPER, 'sequel')}.",
        "The minimum of the potential fits the yeses that it has, and forgets who was right on none of them; Hedge has "
        "drawn everybody while it knew little. Where yeses are few, that is where K is large or rounds are dear, phase "
        "1 should be Hedge: `HedgeLearner`. Where they are many, the corrective solver is about as good, and needs an "
        "oracle only. (k) has the certified learner planned by either.",
    ]


def made(rows: list[Row]) -> str:
    sizes = {(row["confirmed"], row["K"]) for row in rows}
    return (
        f"Means of {rows[0]['seeds']} runs on the same yeses for all three; bars: one standard error. Yeses are drawn "
        "in law, K rounds for each; the variance is that of the whole table, exact. paper: corrective solver to a gap "
        f"of 1e-4; {spider_words(sizes)}; sequel: T = K times the yeses. gamma = 1/2; the line is at 3."
    )


EXPERIMENT = Experiment(
    name="phase-one",
    title="(j) Phase 1 of the paper against the sequel's, from equal answers",
    headline="From few answers Hedge explores better than the minimum of the potential; from many, they are even",
    claim=(
        "Both find a mixture whose estimates have a variance that does not grow with K: the paper's of at most 3, "
        "after order K^9 answers; the sequel's of order s log K, after order K / eps."
    ),
    pieces=pieces,
    measure=measure,
    summary=summary,
    draw=draw,
    findings=findings,
    made=made,
    size=(13.0, 8.0),
)
