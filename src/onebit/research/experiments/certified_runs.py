"""The certified learner as it is, up to its own certificate: how many answers it took, and how often it was wrong."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from onebit.hypotheses.finite import FiniteClass
from onebit.learners.certified import CertifiedLearner
from onebit.learners.contract import run
from onebit.learners.items import ItemSource
from onebit.raters import CallableRater
from onebit.research.experiments.piece import Row
from onebit.research.experiments.simulation import quantile_needed

#: Questions that are asked at a time; what is asked does not depend on it.
AT_A_TIME = 4096
#: Items to ask about, and who answers: made anew for each run.
World = Callable[[], tuple[ItemSource, CallableRater]]


def until_certified(
    hypotheses: FiniteClass,
    world: World,
    is_wrong: Callable[[int], bool],
    *,
    eps: float,
    delta: float,
    n_runs: int,
    rng: np.random.Generator,
) -> Row:
    """Answers of which a share ``delta`` of the runs need more, their standard error, and how many chose wrongly."""
    answers, n_wrong = [], 0
    for _ in range(n_runs):
        items, rater = world()
        learner = CertifiedLearner(hypotheses, items, eps=eps, delta=delta, seed=int(rng.integers(2**31)))
        result = run(learner, rater, at_a_time=AT_A_TIME)
        answers.append(result.n_answers)
        n_wrong += is_wrong(result.chosen)
    return quantile_needed(np.array(answers), 1 - delta).row() | {"wrong": n_wrong}
