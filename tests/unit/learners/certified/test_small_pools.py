"""On a small pool nothing costs more than settling everything on which models differ."""

from __future__ import annotations

import numpy as np
import pytest
from tests.problems import models_of_accuracy

from onebit.hypotheses.finite import PredictionTable
from onebit.learners.certified import CertifiedLearner
from onebit.learners.contract import run
from onebit.learners.items import Pool
from onebit.raters import SimulatedRater
from onebit.records import AskingProtocol, RunStatus

N_LABELS, N_ITEMS = 6, 150


@pytest.mark.parametrize("protocol", ["one-shot", "follow-up"])
@pytest.mark.parametrize("n_models", [2, 10, 100, 1000])
@pytest.mark.parametrize("eps", [0.05, 0.001])
def test_answers_are_at_most_the_pairs_that_models_contest(protocol: AskingProtocol, n_models: int, eps: float) -> None:
    rng = np.random.default_rng(n_models)
    said, truth = models_of_accuracy(rng, rng.uniform(0.4, 0.8, n_models), N_ITEMS, N_LABELS)
    learner = CertifiedLearner(
        PredictionTable(said, N_LABELS), Pool(np.arange(N_ITEMS)), eps=eps, protocol=protocol, seed=1
    )
    result = run(learner, SimulatedRater(truth))
    labels = [np.unique(said[:, item]) for item in range(N_ITEMS)]
    n_contested = sum(each.size for each in labels if each.size > 1)
    assert result.status is RunStatus.COMPLETE
    assert result.n_answers <= n_contested
    # Nothing is asked twice.
    asked = [(question.item, question.label) for question in learner._ledger.questions]
    assert len(set(asked)) == len(asked)
