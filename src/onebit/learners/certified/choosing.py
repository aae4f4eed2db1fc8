"""How a run that may use so many answers, and has no eps, chooses its questions and its leader.

A run to an eps asks what lowers a bound; this one asks what decides the choice. Two notions: the *belief* about every
label of the pool, which is its guess, or its verdict where there is one; and the *contenders*, each with a chance of
being better than the leader by that belief. A label is asked in proportion to how much the answer is expected to move
what is believed of contenders beside each other. The probability of every question is known, so the certificate comes
out of the same answers: nothing here touches what it promises. Not in the paper; docs/certificate.md, step 21.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numba import njit
from scipy.special import ndtr

from onebit.learners.certified import constants
from onebit.learners.certified.epoch import Choices, Drawn, KnownAnswers, OneShot
from onebit.learners.certified.guesses import Guess
from onebit.learners.certified.law import Law
from onebit.learners.certified.outputs import Bools, Floats, Ints, Outputs, Predictions
from onebit.randomness import generator


@dataclass(frozen=True, eq=False)
class ChoiceLaw(Law):
    """The law that serves the choice: ``rivals`` are all contenders, the leader too, and ``needs`` their weights.

    One label of an item is right, as far as belief goes. So between a no and a yes to a, the belief about a rises by
    u(a) = 1, and that about any other label b by u(b) = -m(b) / (1 - m(a)); 0 for labels with a verdict and for
    abstentions. With V(a) the variance of u over what the contenders say, by their weights,
    s(a) = V(a) (m(a) (1 - m(a)) + LEAST_VARIANCE); 0 at items of which a right label is known.
    """

    @property
    def least_asked(self) -> float:
        return constants.CHOICE_LEAST_ASKED

    def scores(self, outputs: Outputs, unknown: Bools, guess: Floats) -> Floats:
        W = outputs.mass(self.rivals, self.needs / self.needs.sum())
        variance = _told_apart(outputs.first, W, guess) * (guess * (1 - guess) + constants.LEAST_VARIANCE)
        return np.where(unknown & (guess > 0), variance, 0.0)


@dataclass(frozen=True, eq=False)
class Lead:
    """What is believed of the survivors (V,): by how many items each is ahead of the leader, and how surely."""

    ahead: Floats
    deviation: Floats

    def weights(self) -> Floats:
        """How much the questions serve each survivor: its chance of being better than the leader, with a broad tail."""
        z, share = self.ahead / self.deviation, constants.BROAD_SHARE
        weights: Floats = (ndtr(z) + share * ndtr(z / constants.BROAD_WIDTH)) / (1 + share)
        return weights.round(constants.DECIMALS)


class Chooser:
    """What is believed of the models of a pool, which say ``said`` (N, n) there; a judge says ``judged(items)`` of it.

    Of a large pool so many items are looked at, drawn by ``seed``: more would be slow, and the choice no better.
    """

    def __init__(
        self, said: Predictions, seed: int, judged: Callable[[Ints], Floats | None] = lambda items: None
    ) -> None:
        items = np.arange(said.shape[1])
        if items.size > constants.MOST_VIEWED:
            items = np.sort(generator(seed, "viewed items").permutation(items)[: constants.MOST_VIEWED])
        self._pool = Drawn(items, said[:, items], judged=judged(items))
        #: Over the answers so far: by how much each model was right more often than was believed, and the variance.
        self._surplus, self._variance = np.zeros(said.shape[0]), np.zeros(said.shape[0])
        #: The last view, and of which survivors with which guess.
        self._viewed: tuple[Ints, Guess, Choices] | None = None

    def add(self, one_shot: OneShot, survivors: Ints, outcome: Ints) -> None:
        """Take in the rounds of an epoch, which ended with ``outcome``."""
        self._viewed = None
        outputs, before = one_shot.outputs, one_shot.guess
        for i in np.flatnonzero(one_shot.asked >= 0).tolist():
            place = one_shot.places[i]
            if place >= outcome.size:
                break
            said = outputs.code[:, i]
            m = before[outputs.first[i] : outputs.first[i + 1]]
            after = _after(m, int(one_shot.asked[i]), bool(outcome[place] == 1))
            self._surplus[survivors] += (after - m)[said]
            self._variance[survivors] += (m * (1 - m))[said]

    def view(self, survivors: Ints, guess: Guess, known: KnownAnswers) -> Choices:
        """The labels of all items that are looked at, and what is believed of them."""
        seen = self._viewed
        if seen is None or seen[0].size != survivors.size or seen[1] is not guess:
            # Belief does not depend on who leads: the guess has no part for that.
            self._viewed = seen = survivors, guess, Choices(self._pool, survivors, 0, guess, known)
        return seen[2]

    def lead(self, view: Choices, survivors: Ints, leader: int) -> Lead:
        """What is believed of the survivors; ``leader`` is a row of these."""
        unsure = view.guess * (1 - view.guess)
        outputs, value = view.outputs, view.guess + view.is_right
        ahead, own, of_leader = _against(outputs.code, outputs.first, value, unsure, leader)
        held = self._variance[survivors] + constants.OFFSET_PRIOR
        offset = self._surplus[survivors] / held
        ahead += offset * own - offset[leader] * of_leader
        variance = own + of_leader + own**2 / held + of_leader**2 / held[leader]
        return Lead(ahead, np.sqrt(variance + 1))

    def law(self, view: Choices, weights: Floats, leader: int) -> ChoiceLaw:
        """The law of the next epoch for contenders with these ``weights`` (V,)."""
        rows = np.flatnonzero(weights > 0)
        law = ChoiceLaw(leader, rows, weights[rows], constants.CHOICE_GAMMA, 0.0)
        scores = view.outputs.per_example(law.scores(view.outputs, view.unknown, view.guess))
        usual = scores.sum() / (constants.CHOICE_ASKED * self._pool.items.size)
        return replace(law, sure_from=float(f"{min(scores.max(initial=0.0), usual):.6g}"))

    def n_rounds(self, view: Choices, law: ChoiceLaw, n_questions: int) -> int:
        """Rounds in which about so many questions are asked."""
        _, asked = law.of(view.outputs, view.unknown, view.guess)
        share = asked.sum() / self._pool.items.size
        most = constants.MOST_CHOICE_ROUNDS
        return most if share * most < n_questions else max(1, math.ceil(n_questions / share))


def _after(before: Floats, asked: int, is_right: bool) -> Floats:
    """The belief about the outputs of an item after the answer to one: one label is right, as far as belief goes."""
    after = np.zeros(before.size) if is_right else before / max(1 - before[asked], 1 - constants.MOST_GUESS)
    after = np.minimum(after, constants.MOST_GUESS)
    after[asked] = float(is_right)
    return after


@njit(cache=True, nogil=True)
def _told_apart(first, W, m):  # type: ignore[no-untyped-def]
    """V of ``ChoiceLaw`` for each output, from the weights ``W`` and the beliefs ``m`` at each.

    A variance is the sum over pairs of W W' (u - u')^2. Added up so, it is exactly 0 where all say the same.
    """
    V = np.zeros(W.size)
    for i in range(first.size - 1):
        all_pairs = 0.0
        for k in range(first[i], first[i + 1]):
            for j in range(first[i], k):
                all_pairs += W[k] * W[j] * (m[k] - m[j]) ** 2
        for k in range(first[i], first[i + 1]):
            with_it, without_it = 0.0, all_pairs
            for j in range(first[i], first[i + 1]):
                if j != k:
                    with_it += W[k] * W[j] * (1 + m[j] / (1 - m[k])) ** 2
                    without_it -= W[k] * W[j] * (m[k] - m[j]) ** 2
            V[k] = with_it + max(without_it, 0.0) / (1 - m[k]) ** 2
    return V


@njit(cache=True, nogil=True)
def _against(code, first, value, unsure, leader):  # type: ignore[no-untyped-def]
    """Over the items where a row differs from ``leader``: its value less the leader's; its variance; the leader's."""
    n_rows, n_items = code.shape
    ahead, own, of_leader = np.zeros(n_rows), np.zeros(n_rows), np.zeros(n_rows)
    for h in range(n_rows):
        for i in range(n_items):
            if code[h, i] != code[leader, i]:
                k, g = first[i] + code[h, i], first[i] + code[leader, i]
                ahead[h] += value[k] - value[g]
                own[h] += unsure[k]
                of_leader[h] += unsure[g]
    return ahead, own, of_leader
