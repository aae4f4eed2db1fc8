"""What a selection costs on a pool of 2,000 items, as the models become more: never more than settling all of it once.

Settling a pool once takes a yes or no for each label that models give to an item on which they differ: the *contested*
pairs. Models err independently, which leaves the most to ask; their accuracies are uniform from .4 to .8, and there are
ten labels.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from benchmarks.harness import Case, run_cases
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from onebit.hypotheses.finite import PredictionTable
from onebit.learners.certified import CertifiedLearner
from onebit.learners.contract import run
from onebit.learners.items import Pool
from onebit.raters import SimulatedRater
from onebit.records import RunStatus
from onebit.testing.problem import models_of_accuracy

N_LABELS, N_ITEMS, N_SEEDS = 10, 2000, 3
DELTA = 0.05


def cases() -> Iterator[Case]:
    for eps in (0.05, 0.01):
        for protocol in ("one-shot", "follow-up"):
            for n_models in (10, 30, 100, 300, 1000):
                yield {"eps": eps, "protocol": protocol, "N": n_models, "seeds": N_SEEDS}


def contested(said: np.ndarray) -> int:
    """Labels that models give to items on which they differ."""
    n_labels = np.array([np.unique(column).size for column in said.T])
    return int(n_labels[n_labels > 1].sum())


def measure(case: Case) -> Case:
    answers, shares = [], []
    n_models: int = case["N"]
    for seed in range(case["seeds"]):
        rng = np.random.default_rng(seed)
        said, truth = models_of_accuracy(rng, rng.uniform(0.4, 0.8, n_models), N_ITEMS, N_LABELS)
        learner = CertifiedLearner(
            PredictionTable(said, N_LABELS),
            Pool(np.arange(N_ITEMS)),
            eps=case["eps"],
            delta=DELTA,
            protocol=case["protocol"],
            seed=seed,
        )
        with threadpool_limits(1):
            result = run(learner, SimulatedRater(truth))
        if result.status is not RunStatus.COMPLETE:
            raise RuntimeError(f"{case}, seed {seed}: {result.status.value}")
        answers.append(result.n_answers)
        shares.append(result.n_answers / contested(said))
    return {"answers": float(np.mean(answers)), "most of the contested pairs": max(shares)}


if __name__ == "__main__":
    run_cases("small_pools", cases(), measure)
