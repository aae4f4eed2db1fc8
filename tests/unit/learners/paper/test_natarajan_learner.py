"""The learner of Theorem 2: what it draws, counts, promises and refuses."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from onebit.errors import InvalidInputError
from onebit.hypotheses.base import HypothesisClass
from onebit.hypotheses.estimator import EstimatorClass
from onebit.hypotheses.intervals import IntervalClass, Intervals
from onebit.learners.contract import run
from onebit.learners.items import ItemSource, Pool, Stream
from onebit.learners.paper.cover import NatarajanLearner
from onebit.learners.paper.hedge import HedgeLearner
from onebit.learners.paper.schedule import CoverPlan, after_cover, cover_growth, theorem_cover
from onebit.learners.paper.sequel_sizes import hedge_plan
from onebit.learners.paper.uniform import UniformLearner
from onebit.raters import SimulatedRater

X = np.random.default_rng(0).uniform(size=300)
TRUTH = np.searchsorted([0.4], X)
CLASS = IntervalClass(n_cuts=1, n_labels=2)


def learner(
    cover: CoverPlan, items: ItemSource | None = None, hypotheses: HypothesisClass = CLASS, limit: int = 1000
) -> NatarajanLearner:
    source = items if items is not None else Pool(X)
    return NatarajanLearner(hypotheses, source, cover, lambda H, rest: UniformLearner(H, rest, 2000), limit=limit)


@pytest.mark.parametrize("kind", ["pool", "stream"])
def test_it_learns_from_pools_and_streams(kind: str) -> None:
    rng = np.random.default_rng(1)
    drawn = rng.uniform(size=3000)
    items, truth = (Pool(X), TRUTH) if kind == "pool" else (Stream(drawn), np.searchsorted([0.4], drawn))
    result = run(learner(CoverPlan(30), items), SimulatedRater(truth))
    assert isinstance(result.chosen, Intervals)
    assert (CLASS.predict(result.chosen, X) == TRUTH).mean() > 0.9
    assert (result.n_unlabelled, result.n_rounds) == (30, 2000)
    assert result.n_patterns <= 2 * 30
    assert result.oracle_calls > result.finite.oracle_calls == 1


def test_a_known_radius_is_added_to_the_achieved_eps() -> None:
    known = run(learner(CoverPlan(30, radius=0.125, failure=0.025)), SimulatedRater(TRUTH))
    assert known.finite.achieved_eps is not None
    assert known.achieved_eps == known.finite.achieved_eps + 0.125
    assert "within 0.125" in known.promise
    assert "except with probability 0.025" in known.promise


def test_a_chosen_number_of_points_promises_nothing_of_the_class() -> None:
    result = run(learner(CoverPlan(30)), SimulatedRater(TRUTH))
    assert result.achieved_eps is None
    assert "nothing is known of the rest of the class" in result.promise


def test_half_of_eps_and_delta_go_to_the_cover() -> None:
    plan = theorem_cover(n_labels=3, dimension=2, eps=0.2, delta=0.1)
    assert (plan.radius, plan.failure) == (0.1, 0.05)
    assert after_cover(0.2, 0.1) == (0.1, 0.05)
    s = plan.n_points
    assert cover_growth(plan, 3, 2) == 1 + s * 3 + s * (s - 1) // 2 * 9


def test_what_cannot_be_covered_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="the stream ended after 7"):
        learner(CoverPlan(30), Stream(X[:7]))
    with pytest.raises(InvalidInputError, match="more than 10 label patterns"):
        learner(CoverPlan(30), limit=10)
    with pytest.raises(InvalidInputError, match="not exact"):
        learner(CoverPlan(3), hypotheses=EstimatorClass(DecisionTreeClassifier(), 2))
    with pytest.raises(InvalidInputError, match="n_points is -1"):
        CoverPlan(-1)
    with pytest.raises(InvalidInputError, match="eps is 2"):
        theorem_cover(3, 2, 2, 0.1)


def test_corollary_4_the_sequels_learner_on_the_cover() -> None:
    """Sizes of the sequel for the cover, with the halves of eps and delta that are left: the promise is the sum."""
    eps, delta = 0.6, 0.2
    cover = theorem_cover(CLASS.n_labels, 2, eps, delta)
    rest_eps, rest_delta = after_cover(eps, delta)
    plan = hedge_plan(CLASS.n_labels, cover_growth(cover, CLASS.n_labels, 2), rest_eps, rest_delta)
    sequel = NatarajanLearner(CLASS, Pool(X), cover, lambda H, rest: HedgeLearner(H, rest, plan, seed=1), seed=1)
    assert "Theorem 3 of the sequel: the excess error is at most 0.3 with probability at least 0.9" in (
        sequel.result.promise
    )
    assert "within 0.3 of one of them" in sequel.result.promise
    result = run(sequel, SimulatedRater(TRUTH), at_a_time=4096)
    assert (CLASS.predict(result.chosen, X) == TRUTH).mean() >= 1 - eps
