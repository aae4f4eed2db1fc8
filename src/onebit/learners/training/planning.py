"""What an epoch of training asks: the items that come next, or those that would teach most, and a label for each.

A plan is made by the model once; out of a log it is only checked, as far as it does not hang on the model.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace

import numpy as np

from onebit.errors import InvalidInputError
from onebit.hypotheses.base import Examples
from onebit.learners.training.constants import (
    OWN_SHARE,
    UNEQUAL,
    WORTH_FALLS,
)
from onebit.learners.training.epoch import TrainingEpoch, draw_guesses
from onebit.learners.training.guide import Guide
from onebit.learners.training.knowledge import Knowledge
from onebit.learners.training.model import Bools, Floats, Ints, Model, mean_belief, take
from onebit.learners.training.neighbours import Neighbours
from onebit.learners.training.pooled import PooledModel
from onebit.learners.training.unlisted import Unlisted
from onebit.randomness import RoundStream, generator
from onebit.records import EpochPlan


class Planner(ABC):
    """Plans epochs over the pool ``x``, training items in the order of ``shuffled``."""

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
        self._start(shuffled)

    @abstractmethod
    def _start(self, shuffled: Ints) -> None:
        """Whatever a protocol keeps of the order of items."""

    @property
    @abstractmethod
    def least_of_guess(self) -> float:
        """The least probability with which the model's guess at a fresh item is asked about."""

    @abstractmethod
    def train(
        self, n_questions: int, questions_per_item: float, number: int, given: EpochPlan | None
    ) -> TrainingEpoch | None:
        """An epoch of about so many questions; None if all labels are known."""

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
        if (audits and given.limits) or any(limit > most_each for limit in given.limits):
            raise InvalidInputError(f"epoch {number} of the log has other limits than an epoch may have")
        return TrainingEpoch(given, None)


class OneShotPlanner(Planner):
    """The pool is gone through in random order, first that of ``shuffled``, again and again, but for what is known."""

    def _start(self, shuffled: Ints) -> None:
        self._uniforms = RoundStream(self._seed, "rounds")
        self._pass, self._at = shuffled, 0
        self._n_passes, self._n_drawn = 1, 0

    @property
    def least_of_guess(self) -> float:
        # Without neighbours it goes by what each member holds likeliest, and the mixture's guess may be no member's.
        return 0.0 if self._neighbours is None else OWN_SHARE * (1 - self._model.gamma)

    def train(
        self, n_questions: int, questions_per_item: float, number: int, given: EpochPlan | None
    ) -> TrainingEpoch | None:
        items, left = self._draw_items(n_questions, given)
        if items.size == 0:
            self._left = left
            return None
        fresh = self._known.fresh(items)
        uniform = self._uniforms.uniforms(self._n_drawn, items.size)[:, 0]
        self._n_drawn += items.size
        if given is not None:
            return self._adopted(given, number, False, items, fresh)
        beliefs, weights = self._asker.beliefs(take(self._x, items)), self._asker.weights
        belief = np.einsum("m,mnk->nk", weights, beliefs)
        own = belief if self._asker is self._model else self._own_belief(items)
        if self._guide is not None:
            weights, beliefs = self._guide.asking(items, belief)
        if self._neighbours is None:
            beliefs = self._unequal(beliefs, number)
        else:
            rng, share = generator(self._seed, f"ties of epoch {number}"), self._neighbours.search_share(self._known)
            said = self._neighbours.say(items, self._known)
            pooled = self._neighbours.pooled(beliefs, said, items, self._known)
            worth = -WORTH_FALLS * np.log1p(self._known.n_of_each_label())
            alone = self._neighbours.alone(belief, said + worth, items, rng)
            beliefs = np.concatenate([pooled, alone[None], own[None]])
            weights = np.append((1 - share - OWN_SHARE) * weights, [share, OWN_SHARE])
        label, propensity = draw_guesses(beliefs, weights, self._model.gamma, self._known.askable(items), uniform)
        epoch = drawn(number, False, items, fresh, label, propensity, own.argmax(axis=1), own)
        return with_limits(epoch, left=left)

    def _draw_items(self, n_wanted: int, given: EpochPlan | None) -> tuple[Ints, Ints]:
        """The items that come next, and those that are left from now on."""
        if given is not None:
            self._leave_as(given)
            return self._next_items(len(given.items)), np.empty(0, dtype=np.int64)
        left: list[Ints] = []
        while (drawn := self._next_items(n_wanted)).size:
            left.append(self._leave(drawn))
            if (items := drawn[~self._known.left[drawn]]).size:
                return items, np.concatenate(left)
        return drawn, np.concatenate([np.empty(0, dtype=np.int64), *left])

    def _next_items(self, n_wanted: int) -> Ints:
        """The next unknown items of this pass, or of a new one; none if all are known."""
        drawn = self._of_this_pass(n_wanted)
        if drawn.size == 0:
            order = generator(self._seed, f"pass {self._n_passes}").permutation(np.flatnonzero(self._known.trains_on))
            self._pass, self._at = order, 0
            self._n_passes += 1
            drawn = self._of_this_pass(n_wanted)
        return drawn

    def _of_this_pass(self, n_wanted: int) -> Ints:
        """The next unknown items of this pass, which are all that are left of it if fewer than wanted."""
        found: list[Ints] = []
        n_missing = n_wanted
        while n_missing and self._at < self._pass.size:
            # Some at a time: to look at the whole pool for a few items would take longer than all else.
            some = self._pass[self._at : self._at + n_missing]
            found.append(some[self._known.unknown(some)])
            self._at += some.size
            n_missing -= found[-1].size
        return np.concatenate([np.empty(0, dtype=np.int64), *found])


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
