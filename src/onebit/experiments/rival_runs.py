"""The rivals run on a problem, each with one setting, and the grids over which they are tuned."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from onebit.experiments.families import Problem
from onebit.hypotheses.finite import PredictionTable
from onebit.learners.items import Pool
from onebit.learners.rivals.exp4 import Exp4Learner, exp4_gamma
from onebit.learners.rivals.iltcb import IltcbLearner
from onebit.learners.rivals.online import OnlineLearner
from onebit.learners.rivals.policy_elimination import PolicyEliminationLearner
from onebit.learners.rivals.sparse_regret import SparseRegretLearner
from onebit.raters import SimulatedRater

Setting = dict[str, float]

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
