"""One-shot: the pool is gone around, with one question about each item that comes and is not passed over.

What the model is sure of teaches nothing, and where one label is frequent nearly all is like that. So an unknown item
that comes is passed over with the probability of its margin: how far the likeliest label is ahead of the next, by what
the classifier believes. That is the whole pool of models, whose sharpness is learned (``pooled.py``), not the networks
that ask: these are sure too soon. Where nothing is known yet, margins are small, and nothing is passed over. An item
that is likely to have none of the labels is passed over with that probability as well. Not in the paper.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from onebit.errors import InvalidInputError
from onebit.learners.training.choice import given_possible, margins
from onebit.learners.training.constants import LEAST_COMING, MOST_PASSED_OVER, WORTH_FALLS
from onebit.learners.training.epoch import TrainingEpoch, draw_guesses
from onebit.learners.training.model import Floats, Ints, take
from onebit.learners.training.planning import Planner, drawn, with_limits
from onebit.randomness import RoundStream, generator
from onebit.records import EpochPlan


class OneShotPlanner(Planner):
    """The pool is gone around in the order of ``shuffled``, from its end on, but for what is known or passed over."""

    def _start(self, shuffled: Ints) -> None:
        self._uniforms = RoundStream(self._seed, "rounds")
        self._n_drawn = 0
        #: The items in the order in which they come, the place of each in it, and the place that comes next.
        self._order = shuffled[::-1]
        self._place = np.full(self._known.trains_on.size, -1, dtype=np.int64)
        self._place[self._order] = np.arange(shuffled.size)
        self._next_place = 0

    def close(self) -> None:
        # All that is planned by is kept with what is known, and with the model.
        pass

    def train(
        self, n_questions: int, questions_per_item: float, number: int, given: EpochPlan | None
    ) -> TrainingEpoch | None:
        n_due = self._n_due(n_questions)
        came, left = self._coming(n_questions - n_due, number) if given is None else self._as_logged(given)
        random = self._draw_random((n_due if came.size else n_questions) if given is None else sum(given.fresh))
        items = np.concatenate([random, came])
        if items.size == 0:
            self._left = left
            return None
        if came.size:
            self._next_place = (self._next_place + int(self._ahead(came).max()) + 1) % self._order.size
        fresh = np.arange(items.size) < random.size
        uniform = self._uniforms.uniforms(self._n_drawn, items.size)[random.size :, 0]
        self._n_drawn += items.size
        if given is not None:
            return self._adopted(given, number, False, items, fresh)
        own = self._own_belief(items)
        guess, label, propensity = own.argmax(axis=1), own.argmax(axis=1), np.ones(items.size)
        if came.size:
            label[random.size :], propensity[random.size :] = self._draw_labels(came, number, uniform)
        return with_limits(drawn(number, False, items, fresh, label, propensity, guess, own), left=left)

    def _ahead(self, items: Ints) -> Ints:
        """How many places after the next one each of ``items`` comes."""
        ahead: Ints = (self._place[items] - self._next_place) % self._order.size
        return ahead

    def _as_logged(self, given: EpochPlan) -> tuple[Ints, Ints]:
        """The items of a plan that were not drawn at random, if they may have come so; which others is up to it."""
        self._leave_as(given)
        came = np.array(given.items[sum(given.fresh) :], dtype=np.int64)
        ahead = self._ahead(came)
        if not ((self._place[came] >= 0).all() and self._known.unknown(came).all() and (np.diff(ahead) > 0).all()):
            raise InvalidInputError(f"epoch {given.number} of the log asks about items that could not come then")
        return came, np.empty(0, dtype=np.int64)

    def _coming(self, n_wanted: int, number: int) -> tuple[Ints, Ints]:
        """The items that come next and are not passed over, in their order; and those that are left from now on."""
        rng, left = generator(self._seed, f"passed over in epoch {number}"), [np.empty(0, dtype=np.int64)]
        while (chosen := self._not_passed_over(n_wanted, rng)).size:
            left.append(self._leave(chosen))
            if (items := chosen[~self._known.left[chosen]]).size:
                return items, np.concatenate(left)
        return chosen, np.concatenate(left)

    def _not_passed_over(self, n_wanted: int, rng: np.random.Generator) -> Ints:
        """The next ``n_wanted`` items that are not passed over; of those looked at the least sure, if these are few."""
        items, passed = np.empty(0, dtype=np.int64), np.empty(0)
        for some in self._unknown_ahead(max(LEAST_COMING, 2 * n_wanted)):
            items = np.concatenate([items, some])
            sure = margins(given_possible(self.expected(some), self._known.possible[some]))
            chance = 1 - (1 - sure) * (1 - self.unlisted.chances(some, self._known, self._neighbours))
            # Who is not passed over comes first, then the least sure.
            passed = np.concatenate([passed, np.where(rng.random(some.size) < chance, chance, -1.0)])
            if (passed < 0).sum() >= n_wanted or items.size >= MOST_PASSED_OVER * n_wanted:
                break
        return items[np.sort(np.argsort(passed, kind="stable")[:n_wanted])]

    def _unknown_ahead(self, n_places: int) -> Iterator[Ints]:
        """The unknown items in the order in which they come, once around: of so many places, then of twice as many."""
        n_all, first = self._order.size, 0
        while first < n_all:
            places = (self._next_place + np.arange(first, min(first + n_places, n_all))) % n_all
            some = self._order[places]
            if (unknown := some[self._known.unknown(some)]).size:
                yield unknown
            first, n_places = first + n_places, 2 * n_places

    def _draw_labels(self, items: Ints, number: int, uniform: Floats) -> tuple[Ints, Floats]:
        """The label that is asked about each of ``items``, and the probability with which it was drawn; shape (n,)."""
        beliefs, weights = self._asker.beliefs(take(self._x, items)), self._asker.weights
        belief = np.einsum("m,mnk->nk", weights, beliefs)
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
            beliefs = np.concatenate([pooled, alone[None]])
            weights = np.append((1 - share) * weights, share)
        return draw_guesses(beliefs, weights, self._model.gamma, self._known.askable(items), uniform)
