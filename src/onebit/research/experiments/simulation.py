"""Many runs of the two-phase, uniform and full-label learners at once, exactly in law, by counts.

After T rounds whose law is fixed, all that matters is how often each item was confirmed: a multinomial count, item i of
n with probability W_i / n a round, W_i the probability of asking its true label. The learner's estimate of h is then
sum_i count_i [h right on i] / (W_i T). So a run of any length costs one draw of n counts, not T rounds. A test holds
this against the learners themselves.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onebit.explore.corrective import solve_paper_potential
from onebit.explore.mixture import Mixture
from onebit.explore.potential import W_gamma
from onebit.explore.spider import PotentialOnSamples, spider_frank_wolfe
from onebit.hypotheses.base import Examples, HypothesisClass, Labels
from onebit.hypotheses.finite import PredictionTable
from onebit.learners.paper.schedule import reset_ratio, total_batches
from onebit.research.experiments.families import Problem

Array = NDArray[np.float64]

GAMMA = 0.5
#: Gap at which phase 1 stops, as in ``PaperLearner``.
GAP = 1e-4
#: Algorithm 1 with phase 1 solved by fully corrective Frank-Wolfe, and as the paper has it, by SPIDER.
PAPER, PAPER_SPIDER = "paper", "paper, SPIDER"
#: Confirmed samples of phase 1 for each label.
CONFIRMED_PER_LABEL = 20
#: Phase 1 is solved so many times; the runs share these mixtures evenly.
N_EXPLORATIONS = 40
#: Ratio of neighbouring numbers of rounds that are tried.
GRID = 1.25
#: How often runs are redrawn for a standard error.
N_REDRAWN = 400


@dataclass(frozen=True, eq=False)
class Simulated:
    """A learner on a problem: W (m, n), the probability of each item's true label for m mixtures, and rounds spent."""

    problem: Problem
    W: Array
    n_before: float

    def excess(self, n_rounds: int, n_runs: int, rng: np.random.Generator) -> Array:
        """The excess error of what ``n_runs`` runs choose after ``n_rounds`` rounds of this law; shape (n_runs,)."""
        n_items = self.problem.truth.size
        W = self.W[np.arange(n_runs) % self.W.shape[0]]
        chances = np.concatenate([W / n_items, np.maximum(0, 1 - W.mean(axis=1, keepdims=True))], axis=1)
        counts = rng.multinomial(n_rounds, chances / chances.sum(axis=1, keepdims=True))[:, :n_items]
        score = (counts / W).astype(np.float32) @ self.problem.right.T.astype(np.float32)
        # Ties are broken at random, so that the order of the table helps nobody.
        chosen = np.argmax(score * (1 + 1e-6 * rng.random(score.shape)), axis=1)
        accuracy = self.problem.accuracy
        excess: Array = accuracy.max() - accuracy[chosen]
        return excess


def full_labels(problem: Problem) -> Simulated:
    """Every label is told."""
    return Simulated(problem, np.ones((1, problem.truth.size)), 0.0)


def uniform_guesses(problem: Problem) -> Simulated:
    """Every label is asked with probability 1 / K."""
    return Simulated(problem, np.full((1, problem.truth.size), 1 / problem.n_labels), 0.0)


def explored(name: str, hypotheses: HypothesisClass, x: Examples, y: Labels, rng: np.random.Generator) -> Mixture:
    """Phase 1 of ``PAPER`` or ``PAPER_SPIDER`` on confirmed samples."""
    if name == PAPER:
        return solve_paper_potential(hypotheses, x, y, GAMMA, GAP).mixture
    problem = PotentialOnSamples(hypotheses, x, y, GAMMA, rng)
    n_steps = spider_steps(y.size, hypotheses.n_labels)
    return spider_frank_wolfe(problem, problem.start(), n_steps, reset_ratio(hypotheses.n_labels, GAMMA)).mixture


def spider_steps(n_confirmed: int, n_labels: int) -> int:
    """T: as many steps as M1 fresh samples last for, that is, with sum of b_t <= M1, as in Theorem 1; at least one."""
    n_steps = 1
    while total_batches(n_steps + 1, n_labels, GAMMA) <= n_confirmed:
        n_steps += 1
    return n_steps


def spider_words(sizes: Iterable[tuple[int, int]]) -> str:
    """How many steps SPIDER makes for these (M1, K), and why, in words."""
    steps = sorted({spider_steps(n_confirmed, n_labels) for n_confirmed, n_labels in sizes})
    between = f"{steps[0]} to {steps[-1]}" if len(steps) > 1 else f"{steps[0]}"
    return f"SPIDER: T = {between} steps, as many as these samples last for"


def paper(problem: Problem, rng: np.random.Generator, n_confirmed: int | None = None, name: str = PAPER) -> Simulated:
    """Algorithm 1 with M1 = 20 K confirmed samples, which take K M1 uniform guesses in the mean."""
    K, n_items = problem.n_labels, problem.truth.size
    n_confirmed = CONFIRMED_PER_LABEL * K if n_confirmed is None else n_confirmed
    hypotheses, items = PredictionTable(problem.predictions, K), np.arange(n_items)
    W = np.empty((N_EXPLORATIONS, n_items))
    for row in W:
        sample = rng.integers(0, n_items, n_confirmed)
        mixture = explored(name, hypotheses, sample, problem.truth[sample], rng)
        row[:] = W_gamma(mixture.W(hypotheses, items, problem.truth), GAMMA, K)
    return Simulated(problem, W, float(K * n_confirmed))


@dataclass(frozen=True)
class Needed:
    """Rounds that were needed, None if too many, and their relative standard error."""

    rounds: float | None
    error: float

    def row(self, before: float = 0.0) -> dict[str, float | None]:
        """As it stands in a row of an experiment: after ``before`` other rounds, the standard error in rounds."""
        if self.rounds is None:
            return {"rounds": None, "error": None}
        return {"rounds": self.rounds + before, "error": self.rounds * self.error}


def rounds_needed(
    share_failing: Callable[[int], float], delta: float, n_runs: int, start: int = 16, most: float = 1e9
) -> Needed:
    """The number of rounds at which the share of failing runs comes down to delta; None if that is beyond ``most``.

    Tried are numbers in geometric progression, until two in a row pass; between the last that fails and the first that
    passes the share is taken to be linear in the logarithm. The error is that of redrawing each share that was seen as
    one of ``n_runs`` independent runs, and reading off the rounds again.
    """
    tried: list[int] = []
    shares: list[float] = []
    n_rounds = start
    while n_rounds <= most and not (len(shares) > 1 and max(shares[-2:]) <= delta):
        tried.append(n_rounds)
        shares.append(share_failing(n_rounds))
        n_rounds = math.ceil(n_rounds * GRID)
    if not shares or shares[-1] > delta:
        return Needed(None, math.nan)
    redrawn = np.random.default_rng(0).binomial(n_runs, shares, (N_REDRAWN, len(shares))) / n_runs
    logs = [math.log(_read_off(tried, seen, delta)) for seen in redrawn.tolist()]
    return Needed(_read_off(tried, shares, delta), float(np.std(logs)))


def _read_off(tried: list[int], shares: list[float], delta: float) -> float:
    """Where the share comes down to delta for the last time, by a line in the logarithm of the rounds."""
    failing = [i for i, share in enumerate(shares) if share > delta]
    if not failing:
        return float(tried[0])
    last = failing[-1]
    if last == len(tried) - 1:
        return float(tried[last])
    part = (shares[last] - delta) / (shares[last] - shares[last + 1])
    return math.exp(math.log(tried[last]) + part * (math.log(tried[last + 1]) - math.log(tried[last])))


def quantile_needed(rounds: NDArray[np.int64], share: float) -> Needed:
    """The number of rounds within which a ``share`` of the runs was done, and its error by redrawing the runs."""
    redrawn = np.random.default_rng(0).choice(rounds, (N_REDRAWN, rounds.size))
    return Needed(float(np.quantile(rounds, share)), float(np.std(np.log(np.quantile(redrawn, share, axis=1)))))


def ratio_with_error(one: tuple[float, float], other: tuple[float, float]) -> tuple[float, float]:
    """The ratio of two independent numbers with standard errors, and its own."""
    ratio = one[0] / other[0]
    return ratio, abs(ratio) * math.hypot(one[1] / one[0] if one[0] else 0.0, other[1] / other[0])
