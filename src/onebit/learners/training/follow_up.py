"""Follow-up: items that would teach most, whose labels are asked until a yes."""

from __future__ import annotations

import numpy as np

from onebit.errors import InvalidInputError
from onebit.learners.training.choice import can_be_settled, given_possible, worth_asking
from onebit.learners.training.constants import (
    CANDIDATES_PER_ANSWER,
    FEW_KNOWN,
    FEW_NAMED,
    FIRST_CANDIDATES,
    GOOD_GUESSES,
    HALF_CHOSEN,
    LEAST_LOOKED_AT,
    LOOKED_AT,
    MOST_EACH,
    MOST_EACH_NAMED,
    MOST_LOOKED_AT,
)
from onebit.learners.training.coverage import Coverage
from onebit.learners.training.epoch import TrainingEpoch, best_possible
from onebit.learners.training.model import Bools, Floats, Ints
from onebit.learners.training.planning import Planner, drawn, with_limits
from onebit.learners.training.strength import ShareStrength
from onebit.randomness import generator
from onebit.records import EpochPlan


class FollowUpPlanner(Planner):
    """Items that would teach most."""

    def _start(self, shuffled: Ints) -> None:
        near = self._neighbours
        self._strength = ShareStrength(self._known, near)
        #: None where labels have names: these find all of them from the start.
        self._coverage: Coverage | None = None
        if near is not None and not near.has_names:
            # Were those kept to be drawn at random covered, what is trained on would lie nearer to them than to others.
            to_cover = near.listed[self._known.trains_on[near.listed]]
            self._coverage = Coverage(near.x, to_cover, self._known.n_labels)

    def close(self) -> None:
        self._strength.learn()

    def train(
        self, n_questions: int, questions_per_item: float, number: int, given: EpochPlan | None
    ) -> TrainingEpoch | None:
        if self._neighbours is not None and not self._neighbours.has_names:
            self._neighbours.look_among(self._n_candidates)
        epoch = self._planned(n_questions, questions_per_item, number, given)
        if epoch is not None:
            self._strength.expect(np.array(epoch.plan.items, dtype=np.int64))
        return epoch

    def _planned(
        self, n_questions: int, questions_per_item: float, number: int, given: EpochPlan | None
    ) -> TrainingEpoch | None:
        n_wanted = max(1, round(n_questions / questions_per_item))
        candidates, left = self._looked_at(n_wanted, number, given)
        n_due = self._n_due(n_wanted)
        random = self._draw_random((n_due if candidates.size else n_wanted) if given is None else sum(given.fresh))
        if random.size + candidates.size == 0:
            self._left = left
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
        fresh, most_each = np.arange(items.size) < random.size, self._most_each()
        epoch = drawn(number, False, items, fresh, first, np.ones(items.size), first, belief, most_each)
        return with_limits(epoch, left=left, limits=self._limits(items, first, belief, most_each))

    def _limits(self, items: Ints, first: Ints, belief: Floats, most_each: int) -> Ints:
        """How many noes in a row make it likely that an item has none of the labels; at most ``most_each``."""
        likely_first = np.where(self._known.askable(items), belief, -1.0)
        likely_first[np.arange(items.size), first] = np.inf
        order = np.argsort(-likely_first, axis=1, kind="stable")[:, :most_each]
        return self.unlisted.limits(items, order, self.expected(items), self._known, self._neighbours)

    def belief(self, plan: EpochPlan) -> Floats:
        return self._believed(np.array(plan.items), np.array(plan.fresh), plan.number)

    def _chosen_share(self) -> float:
        """The share of items that are chosen because they are uncertain."""
        per_label = self._known.n_known / self._known.n_labels
        return per_label / (per_label + HALF_CHOSEN)

    def _most_each(self) -> int:
        """The most questions about an item: all its labels, as long as little is known and guesses are bad, else a few.

        Guesses are held against what anyone would find out without looking at the items, by asking labels in the order
        of how frequent they are: with unequal labels a few are right of many items, and found soon.
        """
        known = self._known
        frequent_first = np.sort(known.n_of_each_label() + 1)[::-1]
        n_by_shares = frequent_first @ np.arange(1, known.n_labels + 1) / frequent_first.sum()
        few = known.n_known < FEW_KNOWN * known.n_labels
        bad = (known.n_known + 1) * n_by_shares < GOOD_GUESSES * known.n_answers
        if few and bad:
            return known.n_labels
        named = self._neighbours is not None and self._neighbours.has_names
        return MOST_EACH_NAMED if named and known.n_known < FEW_NAMED * known.n_labels else MOST_EACH

    @property
    def _n_candidates(self) -> int:
        """How many items of the list are chosen from."""
        return max(FIRST_CANDIDATES, CANDIDATES_PER_ANSWER * self._known.n_answers)

    def _candidates(self) -> Ints:
        """The items that may be chosen."""
        if self._neighbours is not None:
            for items in (self._neighbours.first_listed(self._n_candidates), np.sort(self._neighbours.listed)):
                unknown = items[self._known.unknown(items)]
                if unknown.size:
                    return unknown
        return np.flatnonzero(self._known.unknown(slice(None)))

    def _looked_at(self, n_wanted: int, number: int, given: EpochPlan | None) -> tuple[Ints, Ints]:
        """The items among which is chosen, and those that are left from now on."""
        if given is not None:
            self._leave_as(given)
            return self._candidates(), np.empty(0, dtype=np.int64)
        n_looked_at = min(MOST_LOOKED_AT, max(LEAST_LOOKED_AT, LOOKED_AT * n_wanted))
        left: list[Ints] = []
        while (candidates := self._candidates()).size:
            if candidates.size > n_looked_at:
                rng = generator(self._seed, f"candidates of epoch {number}")
                candidates = rng.choice(candidates, n_looked_at, replace=False)
            left.append(self._leave(candidates))
            if (candidates := candidates[~self._known.left[candidates]]).size:
                # What has none of the labels is always uncertain, and would be chosen too often.
                none = self.unlisted.chances(candidates, self._known, self._neighbours)
                kept = generator(self._seed, f"listed items of epoch {number}").random(candidates.size) >= none
                return candidates[kept] if kept.any() else candidates, np.concatenate(left)
        return candidates, np.concatenate([np.empty(0, dtype=np.int64), *left])

    def _choose(self, random: Ints, candidates: Ints, n_wanted: int, number: int) -> tuple[Ints, Ints, Floats]:
        """The items that are asked about, the first guess at each, and what is believed of them.

        About those drawn at random the model's own best guess comes first, so that its accuracy is seen.
        """
        own = self._belief_of(self._asker, candidates)
        believed, possible = np.einsum("m,mnk->nk", *self._asking(candidates, own)), self._known.possible[candidates]
        if self._neighbours is not None:
            said = self._neighbours.say(candidates, self._known)
            believed = self._neighbours.pooled(believed, said, candidates, self._known)
        rng = generator(self._seed, f"choice of epoch {number}")

        def spread(rows: Ints, n: int) -> Ints:
            if self._coverage is None:
                return rng.permutation(rows.size)[:n]
            return self._coverage.spread(candidates[rows], n, self._known, rng)

        left = given_possible(believed, possible)
        quick, others = worth_asking(left, max(n_wanted - random.size, 0), self._chosen_share(), spread, rng)
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
