"""A judge in a panel: the wealth it makes is fair, the verifier has the same, and bad judges cost little."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from numpy.typing import NDArray

from onebit.estimate.panels import JudgeScores, PanelWealth
from onebit.hypotheses.finite import PredictionTable
from onebit.learners.certified import CertifiedResult, PanelLearner
from onebit.learners.certified.constants import JUDGE_SHARE, JUDGE_WEIGHT
from onebit.learners.contract import run
from onebit.learners.items import Pool
from onebit.raters import VerdictRater
from onebit.records import Setting
from onebit.verify.certificate import verify

#: Two models on five items: they say the same on the last, and the second abstains on the fourth.
SAID = np.array([[0, 1, 2, 3, 4], [5, 6, 7, -1, 4]])
VERDICTS = np.array([[1, 0, 1, 1, 1], [0, 0, 1, 0, 1]], dtype=np.int8)
JUDGES = {
    "right": VERDICTS.astype(np.float64),
    "the opposite": 1.0 - VERDICTS,
    "for the first": np.array([[1.0] * 5, [0.0] * 5]),
    "fractions": np.array([[0.3, 0.9, 0.2, 0.5, 0.1], [0.8, 0.1, 0.6, 0.4, 0.1]]),
}


def judge_of(name: str, order: NDArray[np.int64]) -> JudgeScores:
    scores = np.where(SAID < 0, 0.0, JUDGES[name])
    # Equal outputs share a score.
    scores[:, 4] = scores[:, 4].mean()
    return JudgeScores(scores[:, order], JUDGE_WEIGHT, JUDGE_SHARE)


def mean_wealth(name: str, c: float, n_drawn: int, weight: float | None = None) -> float:
    """Over all orders of the five items, of the first model against the second as the leader."""
    wealth = []
    for each in permutations(range(5)):
        order = np.array(each)
        judge = judge_of(name, order)
        if weight is not None:
            judge = JudgeScores(judge.scores, weight, judge.share)
        said, verdicts = SAID[:, order[:n_drawn]], VERDICTS[:, order[:n_drawn]]
        made = PanelWealth(said, verdicts, 5, lambda leader: (SAID[leader] != SAID).sum(axis=1), judge)
        wealth.append(np.exp(made.log_wealth(1, c)[0]))
    return float(np.mean(wealth))


@pytest.mark.parametrize("n_drawn", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("name", JUDGES)
def test_at_the_true_gap_the_wealth_has_mean_one(name: str, n_drawn: int) -> None:
    """By enumeration of all orders: whatever the judge says, betting against what is true wins nothing."""
    gap = float((VERDICTS[0] - VERDICTS[1]).mean())
    assert mean_wealth(name, gap, n_drawn) == pytest.approx(1.0, abs=0, rel=1e-9)
    assert mean_wealth(name, gap - 0.1, n_drawn) < 1


def test_a_judge_whose_scores_are_not_known_beforehand_is_unfair(monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin: what the judge says of the items that are left is taken for 0 instead of being added up."""
    monkeypatch.setattr(JudgeScores, "left", lambda self, leader: np.zeros(2))
    gap = float((VERDICTS[0] - VERDICTS[1]).mean())
    assert max(mean_wealth(name, gap, 3) for name in JUDGES) > 1.01


def test_without_weight_a_judge_changes_nothing() -> None:
    for c in (0.0, 0.2, 0.5):
        assert mean_wealth("fractions", c, 4, weight=0.0) == pytest.approx(mean_wealth("right", c, 4, weight=0.0))


def table(seed: int) -> tuple[NDArray[np.int64], NDArray[np.int8], NDArray[np.float32]]:
    """Four models of texts of their own, which are right more and less often, and a judge that is mostly right."""
    rng = np.random.default_rng(seed)
    n_items = 400
    verdicts = (rng.random((4, n_items)) < np.array([0.5, 0.62, 0.6, 0.4])[:, None]).astype(np.int8)
    said = np.arange(4 * n_items).reshape(4, n_items)
    said[1, :100] = said[0, :100]
    verdicts[1, :100] = verdicts[0, :100]
    said[3, rng.random(n_items) < 0.1] = -1
    verdicts[said < 0] = 0
    judge = np.where(rng.random(said.shape) < 0.9, verdicts, 1 - verdicts).astype(np.float32)
    judge[rng.random(said.shape) < 0.2] = np.nan
    return said, verdicts, judge


def run_on(seed: int, judged: NDArray[np.float32] | None, eps: float = 0.05) -> tuple[PanelLearner, CertifiedResult]:
    said, verdicts, _ = table(seed)
    learner = PanelLearner(
        PredictionTable(said, 1600), Pool(np.arange(400)), eps=eps, delta=0.1, seed=seed, judge=judged
    )
    return learner, run(learner, VerdictRater(said, verdicts))


@pytest.mark.parametrize("seed", range(3))
def test_the_verifier_has_the_same_wealth(seed: int) -> None:
    said, _, judge = table(seed)
    learner, result = run_on(seed, judge)
    setting = Setting(0.05, 0.1, "panel", seed=seed)
    log = learner.epochs, learner._ledger.questions, learner._ledger.answers, learner.closings
    verdict = verify(setting, said, 1600, *log, judge=judge)
    assert verdict.problems == ()
    assert verdict.certified_eps <= (result.achieved_eps or 0) + 2e-4
    # Without the judge, or with another, the answers do not bear out the same closings.
    other = np.where(np.isnan(judge), judge, 1 - judge)
    assert any(verify(setting, said, 1600, *log, judge=each).problems for each in (None, other))


def test_a_good_judge_saves_answers_and_a_bad_one_costs_few() -> None:
    plain = np.mean([run_on(seed, None)[1].n_answers for seed in range(12)])
    good = np.mean([run_on(seed, table(seed)[2])[1].n_answers for seed in range(12)])
    bad = np.mean([run_on(seed, 1 - table(seed)[2])[1].n_answers for seed in range(12)])
    assert good < 0.95 * plain
    assert bad < 1.15 * plain
