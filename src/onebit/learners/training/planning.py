"""What an epoch of training asks: the items that come next, or those that would teach most, and a label for each.

A plan is made by the model once; out of a log it is only checked, as far as it does not hang on the model.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque

import numpy as np

from onebit.errors import InvalidInputError
from onebit.hypotheses.base import Examples
from onebit.learners.training.choice import can_be_settled, given_possible, worth_asking
from onebit.learners.training.constants import (
    CANDIDATES_PER_ANSWER,
    FEW_KNOWN,
    FIRST_CANDIDATES,
    GOOD_GUESSES,
    HALF_CHOSEN,
    LEAST_LOOKED_AT,
    LOOKED_AT,
    MOST_EACH,
    MOST_LOOKED_AT,
    OWN_SHARE,
    RANDOM_SHARE,
    UNEQUAL,
)
from onebit.learners.training.epoch import TrainingEpoch, best_possible, draw_guesses
from onebit.learners.training.guide import Guide
from onebit.learners.training.knowledge import Knowledge
from onebit.learners.training.model import Bools, Floats, Ints, Model, mean_belief, take
from onebit.learners.training.named import NamedModel
from onebit.learners.training.neighbours import Neighbours
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
        self._guide = guide
        #: By whose beliefs is asked.
        self._asker = model.networks if isinstance(model, NamedModel) else model
        self._start(shuffled)

    @abstractmethod
    def _start(self, shuffled: Ints) -> None:
        """Whatever a protocol keeps of the order of items."""

    @abstractmethod
    def train(
        self, n_questions: int, questions_per_item: float, number: int, given: EpochPlan | None
    ) -> TrainingEpoch | None:
        """An epoch of about so many questions; None if all labels are known."""

    def audit(self, aside: list[int], number: int, given: EpochPlan | None) -> TrainingEpoch:
        """An epoch that asks whether the model is right on the items ``aside``."""
        items, fresh = np.array(aside, dtype=np.int64), np.ones(len(aside), dtype=np.bool_)
        if given is not None:
            return self._adopted(given, number, True, items, fresh)
        belief = self._own_belief(items)
        guess = belief.argmax(axis=1)
        return _drawn(number, True, items, fresh, guess, np.ones(items.size), guess, belief)

    def belief(self, plan: EpochPlan) -> Floats:
        """What was believed of the items of a plan when it was made, if known is what was known then; shape (n, K)."""
        return self._own_belief(np.array(plan.items))

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
        return TrainingEpoch(given, None)


class OneShotPlanner(Planner):
    """The pool is gone through in random order, first that of ``shuffled``, again and again, but for what is known."""

    def _start(self, shuffled: Ints) -> None:
        self._uniforms = RoundStream(self._seed, "rounds")
        self._pass, self._at = shuffled, 0
        self._n_passes, self._n_drawn = 1, 0

    def train(
        self, n_questions: int, questions_per_item: float, number: int, given: EpochPlan | None
    ) -> TrainingEpoch | None:
        items = self._next_items(n_questions if given is None else len(given.items))
        if items.size == 0:
            return None
        fresh = ~self._known.asked[items]
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
            alone = self._neighbours.alone(belief, said, items, rng)
            beliefs = np.concatenate([pooled, alone[None], own[None]])
            weights = np.append((1 - share - OWN_SHARE) * weights, [share, OWN_SHARE])
        label, propensity = draw_guesses(beliefs, weights, self._model.gamma, self._known.askable(items), uniform)
        return _drawn(number, False, items, fresh, label, propensity, own.argmax(axis=1), own)

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


class FollowUpPlanner(Planner):
    """Items that would teach most, and some at random: the first of ``shuffled``."""

    def _start(self, shuffled: Ints) -> None:
        never_asked = shuffled[~self._known.asked[shuffled]]
        kept = never_asked[: round(RANDOM_SHARE * shuffled.size)]
        #: Kept to be drawn at random; until then they cannot be chosen.
        self._random = deque(kept.tolist())
        self._known.trains_on[kept] = False
        self._n_wanted = self._n_random = 0

    def train(
        self, n_questions: int, questions_per_item: float, number: int, given: EpochPlan | None
    ) -> TrainingEpoch | None:
        n_wanted = max(1, round(n_questions / questions_per_item))
        candidates = self._candidates()
        self._n_wanted += n_wanted
        n_due = round(RANDOM_SHARE * self._n_wanted) - self._n_random if candidates.size else n_wanted
        random = self._draw_random(n_due if given is None else sum(given.fresh))
        if random.size + candidates.size == 0:
            return None
        if given is not None:
            # How many are drawn at random, and which of the unknown are chosen, is up to the plan.
            items = np.array(given.items, dtype=np.int64)
            at_random, chosen = items[: random.size], items[random.size :]
            may_be = self._known.unknown(chosen).all() and np.unique(items).size == items.size
            if not (np.array_equal(at_random, random) and may_be and given.most_each > 0):
                raise InvalidInputError(f"epoch {number} of the log asks about items that could not be chosen")
            return self._adopted(given, number, False, items, np.arange(items.size) < random.size, given.most_each)
        items, first, belief = self._choose(random, candidates, n_wanted, number)
        fresh = np.arange(items.size) < random.size
        return _drawn(number, False, items, fresh, first, np.ones(items.size), first, belief, self._most_each())

    def belief(self, plan: EpochPlan) -> Floats:
        return self._believed(np.array(plan.items), np.array(plan.fresh), plan.number)

    def _chosen_share(self) -> float:
        """The share of items that are chosen because they are uncertain."""
        per_label = self._known.n_known / self._known.n_labels
        return per_label / (per_label + HALF_CHOSEN)

    def _most_each(self) -> int:
        n_labels = self._known.n_labels
        n_known = self._known.n_known
        few = n_known < FEW_KNOWN * n_labels and (n_known + 1) * n_labels < GOOD_GUESSES * self._known.n_answers
        return n_labels if few else MOST_EACH

    def _candidates(self) -> Ints:
        """The items that may be chosen."""
        if self._neighbours is not None:
            n_first = max(FIRST_CANDIDATES, CANDIDATES_PER_ANSWER * self._known.n_answers)
            for items in (self._neighbours.first_listed(n_first), np.sort(self._neighbours.listed)):
                unknown = items[self._known.unknown(items)]
                if unknown.size:
                    return unknown
        return np.flatnonzero(self._known.unknown(slice(None)))

    def _draw_random(self, n_wanted: int) -> Ints:
        """The next items that are drawn at random."""
        n_drawn = max(0, min(n_wanted, len(self._random)))
        self._n_random += n_drawn
        random = np.array([self._random.popleft() for _ in range(n_drawn)], dtype=np.int64)
        self._known.trains_on[random] = True
        return random

    def _choose(self, random: Ints, candidates: Ints, n_wanted: int, number: int) -> tuple[Ints, Ints, Floats]:
        """The items that are asked about, the first guess at each, and what is believed of them.

        About those drawn at random the model's own best guess comes first, so that its accuracy is seen.
        """
        n_looked_at = min(MOST_LOOKED_AT, max(LEAST_LOOKED_AT, LOOKED_AT * n_wanted))
        if candidates.size > n_looked_at:
            rng = generator(self._seed, f"candidates of epoch {number}")
            candidates = rng.choice(candidates, n_looked_at, replace=False)
        own = self._belief_of(self._asker, candidates)
        believed, possible = np.einsum("m,mnk->nk", *self._asking(candidates, own)), self._known.possible[candidates]
        if self._neighbours is not None:
            said = self._neighbours.say(candidates, self._known)
            believed = self._neighbours.pooled(believed, said, candidates, self._known)
        rng = generator(self._seed, f"choice of epoch {number}")
        left = given_possible(believed, possible)
        # With a guide it is the estimator that is taught, so its own doubt counts.
        doubted = left if self._guide is None else given_possible(own, possible)
        quick, others = worth_asking(left, doubted, max(n_wanted - random.size, 0), self._chosen_share(), rng)
        items = np.concatenate([random, candidates[others], candidates[quick]])
        belief = self._believed(items, np.arange(items.size) < random.size, number)
        first = best_possible(belief, self._known.askable(items))
        first[: random.size] = self._own_belief(random).argmax(axis=1)
        return items, first, belief

    def _believed(self, items: Ints, fresh: Bools, number: int) -> Floats:
        """What is believed of items; those that cost a search go by their neighbours alone, and so do the fresh."""
        belief = np.einsum("m,mnk->nk", *self._asking(items, self._belief_of(self._asker, items)))
        if self._neighbours is None:
            return self._unequal(belief, number)
        said, rng = self._neighbours.say(items, self._known), generator(self._seed, f"ties of epoch {number}")
        pooled = self._neighbours.pooled(belief, said, items, self._known)
        alone = self._neighbours.alone(belief, said, items, rng)
        quick = can_be_settled(given_possible(pooled, self._known.possible[items])) & ~fresh
        return np.where(quick[:, None], pooled, alone)


def _drawn(
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
    asked, labels, propensities, guesses, is_fresh = (
        tuple(each.tolist()) for each in (items, label, propensity, guess, fresh)
    )
    plan = EpochPlan(number, audits, asked, labels, propensities, guesses, is_fresh, most_each)
    return TrainingEpoch(plan, belief)
