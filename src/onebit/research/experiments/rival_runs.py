"""The rivals run on a problem, each with one setting, the grids over which they are tuned, and how.

A setting is picked on runs of its own (``TUNING``) and reported on others (``REPORT``), whose seeds differ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from onebit.hypotheses.finite import PredictionTable
from onebit.learners.items import Pool
from onebit.raters import SimulatedRater
from onebit.research.experiments.families import Problem
from onebit.research.experiments.piece import Piece, Row, where
from onebit.research.rivals.exp4 import Exp4Learner, exp4_gamma
from onebit.research.rivals.iltcb import IltcbLearner
from onebit.research.rivals.online import OnlineLearner
from onebit.research.rivals.policy_elimination import PolicyEliminationLearner
from onebit.research.rivals.sparse_regret import SparseRegretLearner

Setting = dict[str, float]

#: What a run is for. It is part of its settings, so the seeds of the two kinds differ.
TUNING, REPORT = "tuning", "report"

#: Questions between two updates of the learners that learn after every round: quicker, and the same in the long run.
BLOCK = 16
#: What each rival is tuned over. The first is the publication's, where there is one.
GRIDS: dict[str, list[Setting]] = {
    "EXP4": [{"gamma": 1.0, "rate": 1.0}, {"gamma": 1.0, "rate": 4.0}, {"gamma": 0.25, "rate": 4.0}],
    "sparse regret": [{"rate": 1.0, "barrier": 1.0}, {"rate": 4.0, "barrier": 1.0}, {"rate": 1.0, "barrier": 10.0}],
    "Policy Elimination": [{"radius": 1.0}, {"radius": 0.1}],
    # Vowpal Wabbit, whose cover is a variant of it, has psi = 1 where the publication has 100.
    "ILOVETOCONBANDITS": [
        {"psi": 100.0, "scale": 1.0},
        {"psi": 1.0, "scale": 1.0},
        {"psi": 1.0, "scale": 0.2},
        {"psi": 1.0, "scale": 0.05},
    ],
}


def runs(name: str, grid: list[Setting], n_tuning: int, n_report: int, **settings: object) -> list[Piece]:
    """Runs of a rival: each setting of its grid, some runs to pick by, unless there is one only, and some to report."""
    numbers = {TUNING: n_tuning if len(grid) > 1 else 0, REPORT: n_report}
    return [
        {"learner": name, **settings, "setting": setting, "role": role, "seed": seed}
        for setting in grid
        for role, n_runs in numbers.items()
        for seed in range(n_runs)
    ]


def picked(rows: list[Row], loss: Callable[[Row], float]) -> Setting:
    """The setting of least mean loss over the tuning runs among ``rows``; of equal ones the first."""
    tuning = where(rows, role=TUNING)
    settings = [dict(items) for items in dict.fromkeys(tuple(row["setting"].items()) for row in rows)]
    if not tuning:
        return settings[0]
    return min(settings, key=lambda setting: float(np.mean([loss(row) for row in where(tuning, setting=setting)])))


def reported(rows: list[Row], setting: Setting) -> list[Row]:
    """The rows at a setting that were not used to pick it."""
    return where(rows, setting=setting, role=REPORT)


def in_words(setting: Setting) -> str:
    return ", ".join(f"{key} {value:g}" for key, value in setting.items())


def make(name: str, setting: Setting, problem: Problem, n_rounds: int, seed: int) -> OnlineLearner:
    """A rival on the pool of a problem.

    For EXP4 the setting multiplies the publication's gamma and rate; for the sparse-reward learner the rate
    sqrt(ln N / T) of exponential weights with full labels, and a barrier of 1.
    """
    K, N = problem.n_labels, problem.predictions.shape[0]
    hypotheses, pool = PredictionTable(problem.predictions, K), Pool(np.arange(problem.truth.size))
    if name == "EXP4":
        published = exp4_gamma(K, N, n_rounds)
        gamma = min(1.0, setting["gamma"] * published)
        rate = setting["rate"] * published / K
        return Exp4Learner(
            hypotheses, pool, n_rounds, gamma=gamma, rate=rate, block=BLOCK, conversion="heaviest", seed=seed
        )
    if name == "sparse regret":
        rate = setting["rate"] * float(np.sqrt(np.log(N) / n_rounds))
        return SparseRegretLearner(
            hypotheses, pool, n_rounds, rate=rate, barrier=setting["barrier"], block=BLOCK, seed=seed
        )
    if name == "Policy Elimination":
        return PolicyEliminationLearner(hypotheses, pool, n_rounds, radius=setting["radius"], seed=seed)
    return IltcbLearner(hypotheses, pool, n_rounds, psi=setting["psi"], scale=setting["scale"], seed=seed)


def leaders(learner: OnlineLearner, problem: Problem, at: Callable[[int], bool]) -> Iterator[tuple[int, int]]:
    """Run the learner; whenever an epoch has closed after a number of rounds that is ``at``, that and its leader."""
    rater = SimulatedRater(problem.truth)
    n_rounds = 0
    while isinstance(questions := learner.ask(4096), tuple):
        if n_rounds and at(n_rounds):
            yield n_rounds, learner.leader()
        for question in questions:
            learner.tell(question.id, rater(question))
        n_rounds += len(questions)
    yield n_rounds, learner.result.chosen
