"""RandomizedUCB: its constraint holds for every policy, its regret is of the stated order, and it finds the best."""

from __future__ import annotations

import numpy as np
import pytest
from tests.problems import models_of_accuracy

from onebit.errors import InvalidInputError
from onebit.hypotheses.finite import PredictionTable
from onebit.learners.contract import run
from onebit.learners.items import Pool
from onebit.raters import SimulatedRater
from onebit.research.rivals import RandomizedUcbLearner

K, N_ITEMS = 6, 150
TABLE, TRUTH = models_of_accuracy(np.random.default_rng(0), np.linspace(0.1, 0.9, 12), N_ITEMS, K)
CLASS, POOL = PredictionTable(TABLE, K), Pool(np.arange(N_ITEMS))
rater = SimulatedRater(TRUTH)


def test_the_law_keeps_its_constraints_and_its_regret() -> None:
    """After 2,048 rounds all items were seen; with ease 1/10 the bounds of bad policies are above 4 K."""
    learner = RandomizedUcbLearner(CLASS, POOL, 4096, ease=0.1, seed=1)
    for _ in range(2049):
        question = learner.ask(1)
        assert isinstance(question, tuple)
        learner.tell(question[0].id, rater(question[0]))
    t, mu = 2048, learner.mu(2048)
    limit = learner.most_variance(t)
    # The mass that one round after these adds to the totals is none yet.
    seen, times = np.unique([q.item for q in learner._ledger.questions[:t]], return_counts=True)
    law = learner.law.table(CLASS, seen, seen.size)
    variance = (1 / law[np.arange(seen.size), TABLE[:, seen]]) @ (times / t)
    assert learner.law.gamma == pytest.approx(K * mu)
    assert (variance <= limit * (1 + 1e-6)).all()
    assert limit.max() > 4 * K == limit.min()
    mixture = learner.law.mixture
    assert mixture is not None
    behind = (learner._total.max() - learner._total) / t
    regret = mixture.probabilities @ behind[list(mixture.hypotheses)]
    assert regret <= np.sqrt(2 * K * 0.1 * learner.log_term(t) / t)


def test_constants_by_hand() -> None:
    """C = 2 ln(N t / delta); mu is 1 / (2 K) at first and then sqrt(C / (2 K t))."""
    learner = RandomizedUcbLearner(CLASS, POOL, 4096, delta=0.1)
    assert learner.log_term(100) == pytest.approx(2 * np.log(12 * 100 / 0.1))
    assert learner.mu(1) == 1 / 12
    assert learner.mu(10**6) == pytest.approx(np.sqrt(learner.log_term(10**6) / (12 * 10**6)))
    learner._total = np.array([50.0] + [0.0] * 11)
    assert learner.most_variance(100) == pytest.approx([4 * K] * 12)
    learner._total *= 1e4
    # All but the first are behind by 1/2.
    assert learner.most_variance(10**6)[1] == pytest.approx(10**6 * 0.5**2 / (180 * learner.log_term(10**6)))


def test_it_returns_the_best() -> None:
    assert run(RandomizedUcbLearner(CLASS, POOL, 4096, seed=2), rater).chosen == 11
    with pytest.raises(InvalidInputError, match="ease is 0"):
        RandomizedUcbLearner(CLASS, POOL, 100, ease=0)
