"""Theorem 2: an infinite class is learned through a finite cover, by any learner of finite classes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from onebit.errors import InvalidInputError
from onebit.hypotheses.base import HypothesisClass
from onebit.hypotheses.counting import CountingClass
from onebit.hypotheses.cover import MAX_REPRESENTATIVES, CoverClass, build_cover
from onebit.hypotheses.finite import FiniteClass, PredictionTable
from onebit.learners.contract import BoundedResult, Learner
from onebit.learners.items import ItemSource, Pool
from onebit.learners.paper.schedule import CoverPlan
from onebit.randomness import RoundStream, fresh_seed
from onebit.records import Answer, Question, Status

#: The result of the learner of the finite class.
F = TypeVar("F", bound=BoundedResult, covariant=True)


@dataclass(frozen=True, eq=False)
class NatarajanResult(BoundedResult, Generic[F]):
    """The result for the infinite class; ``finite`` is the one for the ``n_patterns`` members of its cover.

    ``chosen`` is a hypothesis of the infinite class. ``n_unlabelled`` examples were drawn for the cover and cost no
    answer; they are not among ``n_rounds``. ``oracle_calls`` are those of the infinite class, which made the cover.
    """

    finite: F
    oracle_calls: int
    n_unlabelled: int
    n_patterns: int


class NatarajanLearner(Learner[NatarajanResult[F]], Generic[F]):
    """Draw unlabelled examples, cover the class by one hypothesis for each label pattern on them, learn the cover.

    Paper: Proposition 1, and with ``PaperLearner`` Theorem 2. With ``theorem_cover(K, d, eps, delta)``, d the Natarajan
    dimension, and a learner whose excess error over a finite class is at most eps/2 with probability 1 - delta/2, the
    excess error over the whole class is at most eps with probability 1 - delta.

    The cover is made here, before the first question; ``progress(i, n_patterns)`` is called after each point. Raises
    InvalidInputError if the class is not exact or has more than ``limit`` patterns on the points.

    >>> from onebit import IntervalClass, Pool, UniformLearner
    >>> class_, pool = IntervalClass(n_cuts=1, n_labels=2), Pool(np.linspace(0, 1, 200))
    >>> rest = lambda H, items: UniformLearner(H, items, 100)
    >>> learner = NatarajanLearner(class_, pool, CoverPlan(20), rest, seed=0)
    >>> learner.result.n_unlabelled, learner.result.n_patterns
    (20, 38)
    """

    def __init__(
        self,
        hypotheses: HypothesisClass,
        items: ItemSource,
        cover: CoverPlan,
        make_learner: Callable[[FiniteClass, ItemSource], Learner[F]],
        *,
        limit: int = MAX_REPRESENTATIVES,
        seed: int | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        counted = CountingClass(hypotheses)
        drawn = items.draw(
            RoundStream(fresh_seed() if seed is None else seed, "cover").uniforms(0, cover.n_points)[:, 0]
        )
        if drawn.size < cover.n_points:
            raise InvalidInputError(
                f"the cover needs {cover.n_points} unlabelled examples and the stream ended after {drawn.size}"
            )
        self._plan = cover
        self._cover = build_cover(counted, items.take(drawn), limit, progress)
        self._oracle_calls = counted.n_calls
        finite: FiniteClass = CoverClass(hypotheses, self._cover)
        if isinstance(items, Pool):
            # Everything that can be asked about is known: let every representative predict it once.
            finite = PredictionTable(finite.predictions(items.x), hypotheses.n_labels)
            items = Pool(np.arange(finite.n_items))
        self._finite = make_learner(finite, items)

    def ask(self, n: int = 1) -> tuple[Question, ...] | Status:
        return self._finite.ask(n)

    def tell(self, question_id: int, answer: Answer | int) -> None:
        self._finite.tell(question_id, answer)

    @property
    def result(self) -> NatarajanResult[F]:
        finite, radius = self._finite.result, self._plan.radius
        excess = finite.achieved_eps
        return NatarajanResult(
            status=finite.status,
            promise=self._promise(finite),
            n_rounds=finite.n_rounds,
            chosen=None if finite.chosen is None else self._cover.representatives[finite.chosen],
            achieved_eps=None if radius is None or excess is None else radius + excess,
            finite=finite,
            oracle_calls=self._oracle_calls,
            n_unlabelled=self._plan.n_points,
            n_patterns=len(self._cover.representatives),
        )

    def _promise(self, finite: BoundedResult) -> str:
        if self._plan.radius is None:
            return (
                f"among the {len(self._cover.representatives)} representatives only: {finite.promise}; nothing is "
                f"known of the rest of the class, since the {self._plan.n_points} points are not the theorem's number"
            )
        return (
            f"among the representatives: {finite.promise}; except with probability {self._plan.failure:g}, every "
            f"hypothesis of the class is within {self._plan.radius:g} of one of them, so the excess error over the "
            "whole class is at most the sum"
        )
