"""(i) The two problems behind the sequel's lower bound, K / eps + s / eps^2: what each learner needs on them.

*Needle* (Theorem 12): a context of probability eps has one right label, all other examples have none, and the class has
all K^2 functions of the two contexts. Nobody can know the label before the first yes, and a yes comes once in K / eps
uniform guesses. *Several right* (after Theorem 5 of Erez and Koren 2025, which the sequel refers to): one context, 2 s
of K labels are right with probability 1/2, one of them with 2 eps more; so s labels are right in the mean, and to tell
2 s means apart takes order s / eps^2 rounds. Here rewards have that norm in the mean; Theorem 3 asks for no more.

All but the certified learner is drawn in law: rounds without a yes change nothing, so only the yeses are drawn. The
certified learner runs as it is, on a stream; nobody tells it when to stop: its rounds are those up to its certificate.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from onebit.explore.hedge import hedge_draws
from onebit.explore.potential import W_gamma
from onebit.hypotheses.finite import PredictionTable
from onebit.kernels.bits import PackedTable
from onebit.learners.items import Stream
from onebit.learners.paper.sequel_sizes import hedge_rate
from onebit.raters import CallableRater
from onebit.research.experiments.certified_runs import until_certified
from onebit.research.experiments.pictures import BARS, THEORY, log_axes, look, plain_ticks
from onebit.research.experiments.piece import Experiment, Piece, Row, column, seed_of, slope, where
from onebit.research.experiments.simulation import (
    CONFIRMED_PER_LABEL,
    GAMMA,
    PAPER,
    PAPER_SPIDER,
    Needed,
    explored,
    quantile_needed,
    rounds_needed,
    spider_steps,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: What may fail: on the needle as in Theorem 12, success with probability 3/4; else as in the other experiments.
DELTA = {"needle": 0.25, "several": 0.05}
N_RUNS = 400
#: Share of the rounds that the sequel's phase I takes.
HEDGE_SHARE = {"needle": 0.5, "several": 0.25}
SEVERAL_K, SEVERAL_EPS, SEVERAL_S = 32, 0.025, 4
#: Phase 1 is run so many times for each number of rounds of *several*; the runs share these mixtures.
N_MIXTURES = 8
CERTIFIED = "certified"
LEARNERS = {
    "needle": ("uniform", "sequel", PAPER, CERTIFIED),
    "several": ("full labels", "uniform", "sequel", PAPER, PAPER_SPIDER, CERTIFIED),
}
#: Runs of the certified learner, twice as many in full mode.
N_CERTIFIED = 6
#: Up to which K, K / eps and s it is run, in quick and in full mode: on the needle there are K^2 hypotheses, and it
#: needs the more rounds the larger these are.
MOST_CERTIFIED = {False: (16, 400, 2), True: (16, 800, 8)}


def pieces(full: bool) -> list[Piece]:
    labels = (4, 8, 16, 32, 128, 512) if full else (4, 8, 16, 32, 128)
    most_K, most_ratio, most_s = MOST_CERTIFIED[full]
    needle = [
        {"problem": "needle", "learner": name, "K": K, "eps": eps, "runs": _runs(name, full)}
        for K in labels
        for eps in (0.1, 0.02)
        for name in LEARNERS["needle"]
        if name != CERTIFIED or (most_K >= K and K / eps <= most_ratio)
    ]
    at_eps = [(s, SEVERAL_EPS) for s in (1, 2, 4, 8, 16)]
    at_s = [(SEVERAL_S, eps) for eps in ((0.1, 0.05, 0.0125) if full else (0.1, 0.05))]
    return needle + [
        {"problem": "several", "learner": name, "K": SEVERAL_K, "s": s, "eps": eps, "runs": _runs(name, full)}
        for s, eps in at_eps + at_s
        for name in LEARNERS["several"]
        if name != CERTIFIED or s <= most_s
    ]


def _runs(learner: str, full: bool) -> int:
    return (2 if full else 1) * N_CERTIFIED if learner == CERTIFIED else N_RUNS


def measure(piece: Piece) -> Row:
    """Rounds at which at most a share DELTA of the runs return one that is not within eps."""
    rng = np.random.default_rng(seed_of(piece))
    if piece["learner"] == CERTIFIED:
        return _certified(piece, rng)
    return _needle(piece, rng).row() if piece["problem"] == "needle" else _several(piece, rng)


def _needle(piece: Piece, rng: np.random.Generator) -> Needed:
    K, eps, n_runs = piece["K"], piece["eps"], piece["runs"]
    if piece["learner"] == "uniform":
        return quantile_needed(rng.geometric(eps / K, n_runs), 1 - DELTA["needle"])
    if piece["learner"] == PAPER:
        # M1 yeses of the same example; then all mass of the mixture is on those who give its label.
        n_confirmed = CONFIRMED_PER_LABEL * K
        phase_1 = n_confirmed + rng.negative_binomial(n_confirmed, eps / K, n_runs)
        rounds = phase_1 + rng.geometric(eps * (1 - GAMMA + GAMMA / K), n_runs)
        return quantile_needed(rounds, 1 - DELTA["needle"])

    def share_failing(n_rounds: int) -> float:
        n_hedge = max(1, int(HEDGE_SHARE["needle"] * n_rounds))
        chance = np.array([eps])
        Q = np.array([_covered(chance, K, n_hedge, np.array([K, K**2 - K]), rng)[0] for _ in range(n_runs)])
        found = rng.random(n_runs) < 1 - (1 - eps * W_gamma(Q, GAMMA, K)) ** (n_rounds - n_hedge)
        # Without a yes all are equal, and the right label is one of K.
        return float(1 - (found | (rng.random(n_runs) < 1 / K)).mean())

    return rounds_needed(share_failing, DELTA["needle"], n_runs, start=max(16, int(K / eps / 4)))


def _certified(piece: Piece, rng: np.random.Generator) -> Row:
    """The rounds up to the certificate, of which a share DELTA of the runs need more, and how many were wrong.

    All others are behind by eps on the needle and by 2 eps on *several*; half of that is asked for, so that any of them
    would be wrong.
    """
    is_needle, K = piece["problem"] == "needle", piece["K"]
    labels = np.arange(K)
    # All functions of the two contexts, or of the one there is; label 0 is the best at the first.
    table = np.stack([np.repeat(labels, K), np.tile(labels, K)], axis=1) if is_needle else labels[:, None]

    def world() -> tuple[Stream, CallableRater]:
        contexts, rater = _needle_world(piece, rng) if is_needle else _several_world(piece, rng)
        return Stream(contexts), rater

    return until_certified(
        PredictionTable(table, K),
        world,
        lambda chosen: bool(table[chosen, 0] != 0),
        eps=piece["eps"] / 2 if is_needle else piece["eps"],
        delta=DELTA[piece["problem"]],
        n_runs=piece["runs"],
        rng=rng,
    )


class _Endless:
    """Contexts drawn as they are asked for, and kept, so that the rater can look them up."""

    def __init__(self, chance: float, rng: np.random.Generator) -> None:
        self._chance, self._rng = chance, rng
        self.drawn: list[int] = []

    def __iter__(self) -> Iterator[int]:
        while True:
            self.drawn.append(int(self._rng.random() >= self._chance))
            yield self.drawn[-1]


def _needle_world(piece: Piece, rng: np.random.Generator) -> tuple[_Endless, CallableRater]:
    contexts = _Endless(piece["eps"], rng)
    return contexts, CallableRater(lambda item, label: contexts.drawn[item] == 0 and label == 0)


def _several_world(piece: Piece, rng: np.random.Generator) -> tuple[_Endless, CallableRater]:
    """One context; label 0 is right a little more often than the 2 s - 1 after it, each time anew."""
    chance = np.zeros(piece["K"])
    chance[: 2 * piece["s"]] = 0.5
    chance[0] += 2 * piece["eps"]
    return _Endless(1.0, rng), CallableRater(lambda item, label: bool(rng.random() < chance[label]))


def _covered(chance: Floats, n_labels: int, n_hedge: int, copies: Ints, rng: np.random.Generator) -> Floats:
    """Phase I of the sequel in law: the share of the draws that each right label has; shape (labels,).

    ``chance`` is the probability that each of these labels is right for an example, ``copies`` how many hypotheses
    give each, and last, if there is one entry more, how many give none of them.
    """
    n = chance.size
    when = [_yeses(p / n_labels, n_hedge, rng) for p in chance]
    order = np.argsort(np.concatenate(when), kind="stable")
    which = np.repeat(np.arange(n), [each.size for each in when])[order]
    table = PackedTable(copies.size)
    table.append(np.eye(copies.size, n, dtype=np.int8), which, np.ones(which.size, np.int64))
    drawn = hedge_draws(
        table,
        np.concatenate(when)[order],
        n_hedge,
        floor=GAMMA / n_labels,
        gamma=GAMMA,
        rate=hedge_rate(n_labels, GAMMA),
        draw=lambda start, stop, probability: rng.multinomial(stop - start, probability),
        copies=copies,
    )
    share: Floats = drawn[:n] / n_hedge
    return share


def _yeses(chance: float, n_rounds: int, rng: np.random.Generator) -> Ints:
    """The rounds, of so many, in which something of this probability happens."""
    return np.sort(rng.choice(n_rounds, rng.binomial(n_rounds, chance), replace=False)).astype(np.int64)


def _several(piece: Piece, rng: np.random.Generator) -> Row:
    K, n_runs, is_paper = piece["K"], piece["runs"], piece["learner"] in (PAPER, PAPER_SPIDER)
    chance = np.full(2 * piece["s"], 0.5)
    chance[-1] += 2 * piece["eps"]
    mixtures = _paper_laws(piece["learner"], chance, K, rng) if is_paper else None
    # K M1 uniform guesses confirm s K M1 / K labels in the mean.
    before = K * CONFIRMED_PER_LABEL * K / chance.sum() if is_paper else 0.0

    def share_failing(n_rounds: int) -> float:
        n_final, q = n_rounds, np.full((n_runs, chance.size), 1.0 if piece["learner"] == "full labels" else 1 / K)
        if mixtures is not None:
            q = mixtures[np.arange(n_runs) % len(mixtures)]
        elif piece["learner"] == "sequel":
            n_hedge = max(1, int(HEDGE_SHARE["several"] * n_rounds))
            copies = np.ones(K, dtype=np.int64)
            runs = [_covered(chance, K, n_hedge, copies, rng) for _ in range(N_MIXTURES)]
            n_final, q = n_rounds - n_hedge, W_gamma(np.array(runs), GAMMA, K)[np.arange(n_runs) % N_MIXTURES]
        estimate = _yes_counts(n_final, q * chance, piece["learner"] == "full labels", rng) / q
        best = estimate[:, -1:] > estimate[:, :-1]
        return float(1 - best.all(axis=1).mean())

    start = 16 if piece["learner"] == "full labels" else int(0.02 * K / piece["eps"] ** 2)
    return rounds_needed(share_failing, DELTA["several"], n_runs, start=max(16, start)).row(before)


def _yes_counts(n_rounds: int, chance: Floats, all_told: bool, rng: np.random.Generator) -> Ints:
    """How often each label got a yes; shape as ``chance`` (runs, labels). A round asks about one, or all are told."""
    if all_told:
        return rng.binomial(n_rounds, chance)
    rest = np.maximum(0, 1 - chance.sum(axis=1, keepdims=True))
    counts: Ints = rng.multinomial(n_rounds, np.concatenate([chance, rest], axis=1))[:, :-1]
    return counts


def _paper_laws(solver: str, chance: Floats, n_labels: int, rng: np.random.Generator) -> Floats:
    """The probability of asking each label that may be right, for some mixtures of the paper's phase 1."""
    constants = PredictionTable(np.arange(n_labels)[:, None], n_labels)
    laws = np.empty((N_MIXTURES, chance.size))
    for law in laws:
        y = rng.choice(chance.size, CONFIRMED_PER_LABEL * n_labels, p=chance / chance.sum())
        mixture = explored(solver, constants, np.zeros(y.size, dtype=np.int64), y, rng)
        at = np.arange(chance.size)
        law[:] = W_gamma(mixture.W(constants, np.zeros(at.size, dtype=np.int64), at), GAMMA, n_labels)
    return laws


def predicted_ratio(n_labels: int, sparsity: int) -> float:
    """Rounds of the sequel over those of uniform guesses on *several*, if its draws share out the 2 s labels evenly."""
    q = (1 - GAMMA) / (2 * sparsity) + GAMMA / n_labels
    return 1 / n_labels / q / (1 - HEDGE_SHARE["several"])


def summary(rows: list[Row]) -> list[Row]:
    out = []
    for problem, names in LEARNERS.items():
        mine = where(rows, problem=problem)
        for K, s, eps in sorted({(row["K"], row.get("s", 1), row["eps"]) for row in mine}):
            same = [row for row in mine if (row["K"], row.get("s", 1), row["eps"]) == (K, s, eps)]
            at = {row["learner"]: row for row in same}
            found: Row = {"problem": problem, "K": K, "s": s, "eps": eps}
            for name in names:
                if name in at:
                    found |= {name: at[name]["rounds"], f"±, {name}": at[name]["error"]}
            out.append(found)
    return out


def draw(rows: list[Row], figure: Figure) -> None:
    table = summary(rows)
    left, right = figure.subplots(1, 2)
    needle = sorted(where(table, problem="needle"), key=lambda row: row["K"] / row["eps"])
    ratio = column(needle, "K") / column(needle, "eps")
    for name in LEARNERS["needle"]:
        how = BARS | look(name) | {"linestyle": ""}
        left.errorbar(ratio, column(needle, name), yerr=column(needle, f"±, {name}"), **how)
    left.plot(ratio, math.log(4) * ratio, **THEORY, label="ln(4) K / eps")
    log_axes(left, "K / eps", "rounds", "needle: one right label at a rare context")
    left.legend()
    several = where(table, problem="several", eps=SEVERAL_EPS)
    s = column(several, "s")
    for name in LEARNERS["several"]:
        right.errorbar(s, column(several, name), yerr=column(several, f"±, {name}"), **(BARS | look(name)))
    log_axes(right, "s", "", f"several right: K = {SEVERAL_K}, eps = {SEVERAL_EPS:g}")
    plain_ticks(right, s.tolist())
    right.legend()


def findings(rows: list[Row]) -> list[str]:
    table = summary(rows)
    needle, several = where(table, problem="needle"), where(table, problem="several")
    at_eps, at_s = where(several, eps=SEVERAL_EPS), where(several, s=SEVERAL_S)
    exponents = ", ".join(
        f"{name} {k:.2f} and {e:.2f}"
        for name in LEARNERS["needle"]
        for mine in [[row for row in needle if name in row]]
        if len({row["K"] for row in mine}) > 1
        for k, e in [_plane(column(mine, "K"), 1 / column(mine, "eps"), column(mine, name))]
    )
    times = column(needle, "sequel") / column(needle, "uniform")
    ends = next((row["s"] for row in at_eps if row["sequel"] >= row["uniform"]), None)
    return [
        f"Needle, exponents of K and of 1 / eps by regression: {exponents}. The lower bound has 1 and 1. The sequel "
        f"needs {times.min():.1f} to {times.max():.1f} times the rounds of uniform guesses, which are the best here; "
        f"the paper's learner waits for M1 = {CONFIRMED_PER_LABEL} K yeses, and so for order K^2 / eps.",
        f"Several right, exponent of 1 / eps at s = {SEVERAL_S}: "
        + ", ".join(
            f"{name} {-slope(column(mine, 'eps'), column(mine, name)):.2f}"
            for name in LEARNERS["several"]
            for mine in [[row for row in at_s if name in row]]
            if len(mine) > 1
        )
        + f" (the lower bound has 2). At eps = {SEVERAL_EPS:g} the sequel over uniform guesses is "
        + ", ".join(f"{row['sequel'] / row['uniform']:.2f} at s = {row['s']}" for row in at_eps)
        + "; predicted, if its draws share out the right labels evenly, "
        + ", ".join(f"{predicted_ratio(row['K'], row['s']):.2f}" for row in at_eps)
        + f". From s = 1 to {at_eps[-1]['s']} the sequel's rounds grow as s to the power "
        f"{slope(column(at_eps, 's'), column(at_eps, 'sequel')):.2f}, those of uniform guesses as "
        f"{slope(column(at_eps, 's'), column(at_eps, 'uniform')):.2f}: there are 2 s - 1 rivals, for everybody.",
        _of_the_certified(rows),
        "The gain ends "
        + (f"at s = {ends}" if ends else "beyond the last s")
        + f" of K = {SEVERAL_K} labels: from there on uniform guesses need no more rounds than the sequel. The last s "
        f"has 2 s = {2 * at_eps[-1]['s']} labels that may be right, of norm {2 * at_eps[-1]['s']} at most.",
    ]


def _of_the_certified(rows: list[Row]) -> str:
    """What the learner that stops by itself needed, beside uniform guesses that are told when to stop."""
    mine, table = where(rows, learner=CERTIFIED), summary(rows)
    if not mine:
        return "The certified learner was not run."
    table = [row for row in table if CERTIFIED in row]
    times = {
        name: column(each, CERTIFIED) / column(each, "uniform")
        for name in LEARNERS
        for each in [where(table, problem=name)]
    }
    words = " and ".join(
        f"{each.min():.2g} to {each.max():.2g} times on {name}" for name, each in times.items() if each.size
    )
    few = where(table, problem="several", eps=SEVERAL_EPS)
    grows = (
        f"At eps = {SEVERAL_EPS:g} its rounds grow as s to the power "
        f"{slope(column(few, 's'), column(few, CERTIFIED)):.2f} up to s = {few[-1]['s']}. "
        if len(few) > 1
        else ""
    )
    return (
        "The certified learner is not told how many rounds are enough, and must rule out everybody else; for that it "
        f"asks {words} what uniform guesses need, who are stopped where they are right often enough. {grows}"
        f"{sum(row['wrong'] for row in mine)} of its {sum(row['runs'] for row in mine)} certificates were wrong."
    )


def _plane(x: Floats, z: Floats, y: Floats) -> tuple[float, float]:
    """The exponents of y = a x^b z^c by least squares in the logarithms."""
    design = np.stack([np.ones(x.size), np.log(x), np.log(z)], axis=1)
    _, b, c = np.linalg.lstsq(design, np.log(y), rcond=None)[0]
    return float(b), float(c)


def made(rows: list[Row]) -> str:
    certified = where(rows, learner=CERTIFIED)
    most = {name: max((row[name] for row in certified if name in row), default=0) for name in ("runs", "s")}
    last = max((row["K"] for row in where(certified, problem="needle")), default=0)
    return (
        f"All but certified drawn in law, {N_RUNS} runs for each number of rounds, success with probability 3/4 on the "
        f"needle and {1 - DELTA['several']:g} else. Bars: one standard error, by redrawing the runs. "
        "sequel: Algorithm 2, gamma = 1/2, "
        f"{HEDGE_SHARE['needle']:.0%} of the rounds in phase I on the needle, {HEDGE_SHARE['several']:.0%} else. "
        f"paper: corrective solver or SPIDER (T = {spider_steps(CONFIRMED_PER_LABEL * SEVERAL_K, SEVERAL_K)} steps, as "
        "many as the samples last for; on the needle any solver gives "
        f"the same), M1 = {CONFIRMED_PER_LABEL} K confirmed samples, all rounds counted; its theorem is for one right "
        f"label. certified: {most['runs']} runs as it is, on a stream, up to its own certificate; on the needle up to "
        f"K = {last}, since there are K^2 hypotheses, else up to s = {most['s']}."
    )


EXPERIMENT = Experiment(
    name="lower-bound",
    title="(i) The sequel's lower bound: K / eps + s / eps^2",
    headline="Nobody finds a needle before K / eps rounds; with few right labels the sequel needs s / eps^2",
    claim=(
        "Order K / eps + s / eps^2 rounds are needed (Theorem 12 of the sequel) and, up to logarithms, enough for its "
        "Algorithm 2 (Theorem 3); s is the number of right labels of an example."
    ),
    pieces=pieces,
    measure=measure,
    summary=summary,
    draw=draw,
    findings=findings,
    made=made,
    size=(13.0, 6.0),
)
