"""What an epoch of training asks: items, and a label for each; how they are chosen is up to the protocol.

A tenth of the items is drawn at random, out of a tenth of the pool that is kept for it: the model's guess at these is
asked about first, so that one sees how good it is.

A plan is made by the model once; out of a log it is only checked, as far as it does not hang on the model.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from dataclasses import replace

import numpy as np

from onebit.errors import InvalidInputError
from onebit.hypotheses.base import Examples
from onebit.learners.training.constants import MOST_LISTED, RANDOM_SHARE, UNEQUAL
from onebit.learners.training.epoch import TrainingEpoch
from onebit.learners.training.guide import Guide
from onebit.learners.training.knowledge import Knowledge
from onebit.learners.training.model import Bools, Floats, Ints, Model, mean_belief, take
from onebit.learners.training.neighbours import Neighbours
from onebit.learners.training.pooled import PooledModel
from onebit.learners.training.unlisted import Unlisted
from onebit.randomness import generator
from onebit.records import EpochPlan


def kept_for_chance(shuffled: Ints, known: Knowledge) -> Ints:
    """Those of the items ``shuffled`` that are kept to be drawn at random, in the order in which they are drawn."""
    return shuffled[known.fresh(shuffled)][: round(RANDOM_SHARE * shuffled.size)]


def as_asked_about(shuffled: Ints, known: Knowledge) -> Ints:
    """The items ``shuffled`` about in the order in which they are asked about, or chosen from.

    First those that were asked about before the run; what of them is more than half of a list of neighbours comes last.
    Of the others they come from the end on, and every tenth is one of those that are kept to be drawn at random.
    """
    asked, kept = shuffled[known.asked[shuffled]], kept_for_chance(shuffled, known)
    others = shuffled[~known.asked[shuffled] & ~np.isin(shuffled, kept)][::-1]
    turn = np.concatenate(
        [np.arange(others.size) / (1 - RANDOM_SHARE), np.arange(1, kept.size + 1) / RANDOM_SHARE - 0.5]
    )
    in_turn: Ints = np.concatenate([others, kept])[np.argsort(turn, kind="stable")]
    n_first = MOST_LISTED // 2
    return np.concatenate([asked[:n_first], in_turn, asked[n_first:]])


class Planner(ABC):
    """Plans epochs over the pool ``x``, training on the items ``shuffled``; the first of these are drawn at random."""

    def __init__(
        self,
        model: Model,
        x: Examples,
        known: Knowledge,
        shuffled: Ints,
        seed: int,
        neighbours: Neighbours | None = None,
        guide: Guide | None = None,
    ) -> None:
        self._model, self._x, self._known, self._seed, self._neighbours = model, x, known, seed, neighbours
        self._guide, self.unlisted = guide, Unlisted(known.trains_on.size)
        #: What was left when nothing else was there to ask about; the audit that follows has it in its plan.
        self._left: Ints = np.empty(0, dtype=np.int64)
        #: By whose beliefs is asked.
        self._asker = model.networks if isinstance(model, PooledModel) else model
        kept = kept_for_chance(shuffled, known)
        #: Kept to be drawn at random, to see how it goes; until then they cannot be chosen.
        self._random = deque(kept.tolist())
        known.trains_on[kept] = False
        self._n_wanted = self._n_random = 0
        self._start(shuffled)

    @abstractmethod
    def _start(self, shuffled: Ints) -> None:
        """Whatever a protocol keeps of its own."""

    @abstractmethod
    def train(
        self, n_questions: int, questions_per_item: float, number: int, given: EpochPlan | None
    ) -> TrainingEpoch | None:
        """An epoch of about so many questions; None if all labels are known."""

    @abstractmethod
    def close(self) -> None:
        """The answers of the epoch that was planned last are known; learn from them how to plan."""

    def audit(self, aside: list[int], number: int, given: EpochPlan | None) -> TrainingEpoch:
        """An epoch that asks whether the model is right on the items ``aside``."""
        items, fresh = np.array(aside, dtype=np.int64), np.ones(len(aside), dtype=np.bool_)
        if given is not None:
            if not self._known.left[list(given.left)].all():
                raise InvalidInputError(f"epoch {number} of the log leaves items that could not be left")
            return self._adopted(given, number, True, items, fresh)
        belief = self._own_belief(items)
        guess = belief.argmax(axis=1)
        left, self._left = self._left, np.empty(0, dtype=np.int64)
        return with_limits(drawn(number, True, items, fresh, guess, np.ones(items.size), guess, belief), left=left)

    def _n_due(self, n_wanted: int) -> int:
        """How many of the next ``n_wanted`` items are drawn at random, as far as there are any."""
        self._n_wanted += n_wanted
        return min(len(self._random), n_wanted, max(0, round(RANDOM_SHARE * self._n_wanted) - self._n_random))

    def _draw_random(self, n_wanted: int) -> Ints:
        """The next items that are drawn at random."""
        n_drawn = min(n_wanted, len(self._random))
        self._n_random += n_drawn
        random = np.array([self._random.popleft() for _ in range(n_drawn)], dtype=np.int64)
        self._known.trains_on[random] = True
        return random

    def belief(self, plan: EpochPlan) -> Floats:
        """What was believed of the items of a plan when it was made, if known is what was known then; shape (n, K)."""
        return self._own_belief(np.array(plan.items))

    def expected(self, items: Ints) -> Floats:
        """What answers about ``items`` are held against, to see which have none of the labels; shape (n, K)."""
        own = self._own_belief(items)
        return own if self._guide is None else np.einsum("m,mnk->nk", *self._guide.asking(items, own))

    def _leave(self, among: Ints) -> Ints:
        """Leave what seems to have none of the labels: of ``among``, and of what would be taken for granted."""
        left = self.unlisted.to_leave(among, self._known, self._neighbours)
        self._known.left[left] = True
        return left

    def _leave_as(self, given: EpochPlan) -> None:
        """Leave what a log has left, if that may be."""
        left = np.array(given.left, dtype=np.int64)
        if not np.array_equal(self._known.may_be_left(np.unique(left)), left):
            raise InvalidInputError(f"epoch {given.number} of the log leaves items that could not be left")
        self._known.left[left] = True

    def _own_belief(self, items: Ints) -> Floats:
        """What the model believes of ``items``."""
        return self._belief_of(self._model, items)

    def _belief_of(self, model: Model, items: Ints) -> Floats:
        """What a model believes of ``items``; estimators refuse to be asked about none."""
        if items.size == 0:
            return np.empty((0, self._known.n_labels))
        return mean_belief(model, take(self._x, items))

    def _asking(self, items: Ints, own: Floats) -> tuple[Floats, Floats]:
        """What to ask by, if the model believes ``own`` (n, K): shares (M,) and beliefs (M, n, K)."""
        return (np.ones(1), own[None]) if self._guide is None else self._guide.asking(items, own)

    def _unequal(self, belief: Floats, number: int) -> Floats:
        """``belief`` (..., K) with ties broken at random, so that no label is left unasked by being the last."""
        unequal: Floats = belief + UNEQUAL * generator(self._seed, f"ties of epoch {number}").random(belief.shape)
        return unequal

    def _adopted(
        self, given: EpochPlan, number: int, audits: bool, items: Ints, fresh: Bools, most_each: int = 1
    ) -> TrainingEpoch:
        """The epoch as a log has it, if it may have been planned so."""
        planned = (number, audits, tuple(items.tolist()), tuple(fresh.tolist()), most_each)
        if (given.number, given.audits, given.items, given.fresh, given.most_each) != planned:
            raise InvalidInputError(f"epoch {number} asks about other items than the log has")
        if not self._known.askable(items)[np.arange(items.size), np.array(given.labels, dtype=np.int64)].all():
            raise InvalidInputError(f"epoch {number} of the log asks about a label that was asked before")
        if any(one and label != guess for one, label, guess in zip(fresh, given.labels, given.guesses, strict=True)):
            raise InvalidInputError(
                f"epoch {number} of the log does not ask about the guess at an item drawn at random"
            )
        if (audits and given.limits) or any(limit > most_each for limit in given.limits):
            raise InvalidInputError(f"epoch {number} of the log has other limits than an epoch may have")
        return TrainingEpoch(given, None)


def drawn(
    number: int,
    audits: bool,
    items: Ints,
    fresh: Bools,
    label: Ints,
    propensity: Floats,
    guess: Ints,
    belief: Floats,
    most_each: int = 1,
) -> TrainingEpoch:
    """An epoch whose plan was just made."""
    asked, labels, propensities, guesses, is_fresh = (
        tuple(each.tolist()) for each in (items, label, propensity, guess, fresh)
    )
    plan = EpochPlan(number, audits, asked, labels, propensities, guesses, is_fresh, most_each)
    return TrainingEpoch(plan, belief)


def with_limits(epoch: TrainingEpoch, left: Ints, limits: Ints | None = None) -> TrainingEpoch:
    """The epoch, with what is left from now on, and with limits where one is below ``most_each``."""
    several = limits is not None and bool((limits < epoch.plan.most_each).any())
    limited = tuple(limits.tolist()) if limits is not None and several else ()
    epoch.plan = replace(epoch.plan, left=tuple(sorted(left.tolist())), limits=limited)
    return epoch
