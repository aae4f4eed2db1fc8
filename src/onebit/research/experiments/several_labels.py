"""(m) Several right labels: where the gain of exploration ends, as their number s goes from one to nearly all.

Every item has s right labels of K, and whoever is right gives any of them alike: the case in which a yes for one label
says least about the others. With s = K nothing is left to learn, so s goes up to K - 1.

Predicted, if a mixture shares out its mass a on right labels evenly: W = (1 - gamma) a / s + gamma / K for each of
them, and the estimates vary 1 / (K W) times as much as those of uniform guesses. So the gain ends at s = a K, whatever
gamma is: from there on a uniform guess finds a right label more often than the mixture does. The first-order condition
of the potential (Lemma 1) bounds the variance by s / (1 - gamma), in place of 1 / (1 - gamma).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from onebit.explore.potential import W_gamma
from onebit.hypotheses.finite import PredictionTable
from onebit.learners.items import Pool
from onebit.raters import CallableRater
from onebit.research.experiments.certified_runs import until_certified
from onebit.research.experiments.families import Problem, SeveralRight, several_right
from onebit.research.experiments.phase_one import hedge_mixture
from onebit.research.experiments.pictures import BARS, THEORY, log_axes, look, plain_ticks
from onebit.research.experiments.piece import Experiment, Piece, Row, column, seed_of, where
from onebit.research.experiments.simulation import (
    CONFIRMED_PER_LABEL,
    GAMMA,
    PAPER,
    PAPER_SPIDER,
    Simulated,
    full_labels,
    paper,
    rounds_needed,
    spider_words,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

K, N_HYPOTHESES, N_ITEMS, BEST = 32, 50, 2000, 0.6
EPS, DELTA, N_RUNS, N_CERTIFIED = 0.02, 0.05, 200, 6
#: The largest s at which the certified learner is run, in quick and in full mode: it asks the more the more are right.
MOST_CERTIFIED, MOST_CERTIFIED_FULL = 4, 8
#: How often phase I of the sequel is run; the runs share these mixtures evenly.
N_MIXTURES = 10
SEQUEL, CERTIFIED = "sequel", "certified"
#: Those with a phase 1; all of it from M1 yeses.
TWO_PHASES = (PAPER, PAPER_SPIDER, SEQUEL)
LEARNERS = ("full labels", "uniform", *TWO_PHASES, CERTIFIED)


def pieces(full: bool) -> list[Piece]:
    common = {"K": K, "N": N_HYPOTHESES, "items": N_ITEMS, "eps": EPS}
    most = MOST_CERTIFIED_FULL if full else MOST_CERTIFIED
    return [
        {"learner": name, "s": s, **common, "runs": (2 if full else 1) * N_CERTIFIED if name == CERTIFIED else N_RUNS}
        for s in ((1, 2, 4, 8, 16, 24, 31) if full else (1, 4, 16, 31))
        for name in LEARNERS
        if name != CERTIFIED or s <= most
    ]


def measure(piece: Piece) -> Row:
    """Rounds at which at most DELTA of the runs exceed eps, with and without phase 1, and the variance; all in law."""
    rng = np.random.default_rng(seed_of(piece))
    problem = several_right(piece["K"], piece["N"], piece["s"], piece["eps"], piece["items"], best=BEST)
    if piece["learner"] == CERTIFIED:
        return _certified(piece, problem, rng)
    learner = _simulated(piece["learner"], problem, rng)
    # Shares of n s pairs: the rewards of everybody are divided by s there, but for full labels.
    scale = learner.problem.truth.size / piece["items"]

    def share_failing(n_rounds: int) -> float:
        return float((learner.excess(n_rounds, piece["runs"], rng) > piece["eps"] / scale).mean())

    found = rounds_needed(share_failing, DELTA, piece["runs"], start=64).row()
    variance = [float((learner.problem.right / W).mean(axis=1).max()) * scale**2 for W in learner.W]
    error = float(np.std(variance, ddof=1) / np.sqrt(len(variance))) if len(variance) > 1 else 0.0
    return {**found, "before": learner.n_before, "variance": float(np.mean(variance)), "±, variance": error}


def _simulated(name: str, problem: SeveralRight, rng: np.random.Generator) -> Simulated:
    """The learner on the pairs of an item and a right label, of which there are s for each item: W is s times as large.

    With full labels who is right is seen at once, so there every item is one.
    """
    if name == "full labels":
        seen = problem.right.astype(np.int64)
        return full_labels(Problem(seen, np.ones(seen.shape[1], dtype=np.int64), 2))
    pairs, n_right, K = problem.pairs, problem.right_labels.shape[1], problem.n_labels
    if name == "uniform":
        return Simulated(pairs, np.full((1, pairs.truth.size), n_right / K), 0.0)
    if name == SEQUEL:
        n_before = K * CONFIRMED_PER_LABEL * K / n_right
        W = np.array([_hedge(pairs, n_right, round(n_before), rng) for _ in range(N_MIXTURES)])
        return Simulated(pairs, n_right * W, n_before)
    found = paper(pairs, rng, name=name)
    return Simulated(pairs, n_right * found.W, found.n_before / n_right)


def _hedge(pairs: Problem, n_right: int, n_rounds: int, rng: np.random.Generator) -> np.ndarray:
    """W_gamma of each pair under the mixture of the sequel's phase I; shape (n s,)."""
    K = pairs.n_labels
    yes = np.flatnonzero(rng.random(n_rounds) < n_right / K)
    mixture = hedge_mixture(pairs, rng.integers(0, pairs.truth.size, yes.size), yes, n_rounds, rng)
    return W_gamma(mixture.probabilities @ pairs.right[list(mixture.hypotheses)], GAMMA, K)


def _certified(piece: Piece, problem: SeveralRight, rng: np.random.Generator) -> Row:
    """Answers up to the certificate, of which a share DELTA of the runs need more, and how many were wrong."""
    accuracy, right = problem.right.mean(axis=1), problem.right_labels

    def world() -> tuple[Pool, CallableRater]:
        return Pool(np.arange(right.shape[0])), CallableRater(lambda item, label: bool((right[item] == label).any()))

    found = until_certified(
        PredictionTable(problem.predictions, problem.n_labels),
        world,
        lambda chosen: bool(accuracy.max() - accuracy[chosen] > piece["eps"] + 1e-9),
        eps=piece["eps"],
        delta=DELTA,
        n_runs=piece["runs"],
        rng=rng,
    )
    return found | {"before": 0.0}


def predicted_ratio(n_labels: int, n_right: int, mass: float) -> float:
    """Rounds of phase 2 over those of uniform guesses, if a mass on right labels is shared out evenly."""
    return 1 / (GAMMA + (1 - GAMMA) * mass * n_labels / n_right)


def second_moment(n_right: int, best: float, other: float) -> float:
    """How often one of two models that err independently gives a right label that the other does not, in the mean.

    Two if both are right and give different ones. It is the second moment of their difference, but for 1 / W.
    """
    return best + other - 2 * best * other / n_right


def summary(rows: list[Row]) -> list[Row]:
    out = []
    for s in sorted({row["s"] for row in rows}):
        at = {row["learner"]: row for row in where(rows, s=s)}
        found: Row = {"s": s}
        for name, row in at.items():
            found |= {name: row["rounds"] + row["before"], f"±, {name}": row["error"]}
            if name in TWO_PHASES:
                found[f"{name}, phase 2"] = row["rounds"]
            if "variance" in row and name != "full labels":
                found |= {f"variance, {name}": row["variance"], f"±, variance, {name}": row["±, variance"]}
        out.append(found)
    return out


def draw(rows: list[Row], figure: Figure) -> None:
    table, n_labels, eps = summary(rows), rows[0]["K"], rows[0]["eps"]
    left, right = figure.subplots(1, 2)
    s = column(table, "s")
    for name in ("uniform", *TWO_PHASES):
        how = BARS | look(name)
        left.errorbar(s, column(table, f"variance, {name}"), yerr=column(table, f"±, variance, {name}"), **how)
    left.plot(s, s / (1 - GAMMA), **THEORY, label="s / (1 - gamma)")
    log_axes(left, "right labels s of each item", "max over h of E[sum of [h(x) = j] / W]", f"variance, K = {n_labels}")
    for name in LEARNERS:
        right.errorbar(s, column(table, name), yerr=column(table, f"±, {name}"), **(BARS | look(name)))
    alone = look(PAPER) | {"linestyle": ":", "marker": None, "label": "paper, phase 2 alone"}
    right.plot(s, column(table, f"{PAPER}, phase 2"), **alone)
    log_axes(right, "right labels s of each item", "rounds", f"rounds for eps = {eps:g}")
    for axes in (left, right):
        plain_ticks(axes, s.tolist())
        axes.legend()


def findings(rows: list[Row]) -> list[str]:
    table, n_labels, eps = summary(rows), rows[0]["K"], rows[0]["eps"]
    mass = BEST - 2 * eps
    uniform = column(table, "uniform")

    def times(name: str) -> str:
        return ", ".join(f"{row[name] / row['uniform']:.2f}" for row in table if name in row)

    def ends(name: str) -> str:
        first = next((row["s"] for row in table if row[name] >= row["uniform"]), None)
        return f"at s = {first}" if first else "nowhere"

    predicted = ", ".join(f"{predicted_ratio(n_labels, row['s'], mass):.2f}" for row in table)
    certified = where(rows, learner=CERTIFIED)
    return [
        f"Rounds over those of uniform guesses at s = {', '.join(str(row['s']) for row in table)}, phase 2 alone: "
        f"paper {times(f'{PAPER}, phase 2')}; with SPIDER {times(f'{PAPER_SPIDER}, phase 2')}; sequel "
        f"{times(f'{SEQUEL}, phase 2')}; predicted {predicted}, if a mass of {mass:g} on right labels, the accuracy of "
        f"all models but the best, is shared out evenly. With phase 1: paper {times(PAPER)}; sequel {times(SEQUEL)}.",
        f"The gain of phase 2 is predicted to end at s = {mass * n_labels:.0f} of {n_labels}. Of the sizes measured, "
        f"uniform guesses need no more rounds for the first time {ends(f'{PAPER}, phase 2')} (paper), "
        f"{ends(f'{PAPER_SPIDER}, phase 2')} (SPIDER) and {ends(f'{SEQUEL}, phase 2')} (sequel); with phase 1 "
        f"{ends(PAPER)}, {ends(PAPER_SPIDER)} and {ends(SEQUEL)}. That nobody gains beyond is no flaw of theirs: a "
        "guess is right as often as a model's label there, and order s / eps^2 rounds are needed.",
        f"Uniform guesses themselves need {uniform[-1] / uniform[0]:.1f} times as many rounds at s = {table[-1]['s']} "
        "as at s = 1 (predicted "
        f"{second_moment(table[-1]['s'], BEST, mass) / second_moment(1, BEST, mass):.1f}): two models that are both "
        "right give different labels, and a yes for one says nothing of the other.",
        "The certified learner is not told when to stop and proves its choice; it asks "
        f"{times(CERTIFIED)} times what uniform guesses need at s = {', '.join(str(row['s']) for row in certified)}, "
        "who are stopped where they are right often enough. "
        f"{sum(row['wrong'] for row in certified)} of its {sum(row['runs'] for row in certified)} certificates were "
        "wrong.",
    ]


def made(rows: list[Row]) -> str:
    certified = where(rows, learner=CERTIFIED)
    n_runs, n_labels = max(row["runs"] for row in rows), rows[0]["K"]
    steps = spider_words([(CONFIRMED_PER_LABEL * n_labels, n_labels)])
    return (
        f"{rows[0]['N']} models, one of accuracy {BEST}, all others worse by {2 * rows[0]['eps']:g}; "
        f"{rows[0]['items']} items. All but certified simulated in law, {n_runs} runs for each number of rounds tried; "
        f"rounds at which {DELTA:.0%} of them exceed eps. Bars: one standard error, by redrawing the runs; of a "
        f"variance, over the mixtures. paper and sequel: gamma = 1/2, M1 = {CONFIRMED_PER_LABEL} K yeses, which take "
        f"K M1 / s rounds; corrective solver to a gap of 1e-4, or {steps}; sequel: Algorithm 2, "
        f"{N_MIXTURES} mixtures. certified: {certified[0]['runs']} runs as it is, one-shot on a pool, up to its own "
        f"certificate, at s up to {certified[-1]['s']}."
    )


EXPERIMENT = Experiment(
    name="several-labels",
    title="(m) Several right labels: where the gain ends",
    headline="The more labels are right, the less exploration gains; where half of them are, next to nothing",
    claim=(
        "Order s / eps^2 + K / eps rounds are enough where s labels of an example may be right (Theorem 3 of the "
        "sequel), K / eps^2 for uniform guesses: so the gain falls as K / s. The paper's theorem is for s = 1."
    ),
    pieces=pieces,
    measure=measure,
    summary=summary,
    draw=draw,
    findings=findings,
    made=made,
    size=(13.0, 6.0),
)
