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
from onebit.learners.certified.epoch import Choices, Drawn, Epoch, KnownAnswers, OneShot
from onebit.learners.certified.guesses import Guess
from onebit.learners.certified.law import Law
from onebit.learners.certified.merits import Merits
from onebit.learners.certified.outputs import Bools, Floats, Ints, Outputs, Predictions
from onebit.randomness import generator


@dataclass(frozen=True, eq=False)
class ChoiceLaw(Law):
    """The law that serves the choice: ``rivals`` are all contenders, the leader too, and ``needs`` their weights.

    One label of an item is right, as far as belief goes. So between a no and a yes to a, the belief about a rises by
    u(a) = 1, and that about any other label b by u(b) = -m(b) / (1 - m(a)); 0 for labels with a verdict and for
    abstentions. With V(a) the variance of u over what the contenders say, by their weights,
    s(a) = (V(a) (m(a) (1 - m(a)) + LEAST_VARIANCE))^sharpness; 0 at items of which a right label is known.
    """

    sharpness: float = 1.0

    @property
    def least_asked(self) -> float:
        return constants.CHOICE_LEAST_ASKED

    def scores(self, outputs: Outputs, unknown: Bools, guess: Floats) -> Floats:
        W = outputs.mass(self.rivals, self.needs / self.needs.sum())
        variance = _told_apart(outputs.first, W, guess) * (guess * (1 - guess) + constants.LEAST_VARIANCE)
        scores: Floats = np.where(unknown & (guess > 0), variance, 0.0) ** self.sharpness
        return scores


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

    Of a large pool so many items are looked at, drawn by ``seed``: more would be slow.
    """

    def __init__(
        self, said: Predictions, seed: int, judged: Callable[[Ints], Floats | None] = lambda items: None
    ) -> None:
        self._said, self._seed, self._judged = said, seed, judged
        self._merits = Merits(said, judged)
        #: How much the answers say about the merit of each model.
        self._information = np.zeros(said.shape[0])
        #: The last view, and of which survivors with which guess.
        self._viewed: tuple[Ints, Guess, Choices] | None = None
        self.look_at(max(constants.LEAST_VIEWED, constants.MOST_VIEWED // said.shape[0]))

    @property
    def n_viewed(self) -> int:
        """How many items are looked at."""
        return self._pool.items.size

    def look_at(self, n_items: int) -> None:
        """Look at so many items from now on, or at all where there are not so many."""
        items = np.arange(self._said.shape[1])
        if items.size > n_items:
            items = np.sort(generator(self._seed, "viewed items").permutation(items)[:n_items])
        self._pool, self._viewed = Drawn(items, self._said[:, items], judged=self._judged(items)), None

    def add(self, epoch: Epoch, one_shot: OneShot) -> None:
        """Take in all settled rounds of an epoch, in whichever order they were settled: belief is no evidence."""
        self._viewed = None
        asked = np.flatnonzero((one_shot.asked >= 0) & epoch.is_settled[one_shot.places])
        places = one_shot.places[asked]
        self._merits.add(epoch.drawn.items[places], one_shot.label[asked], epoch.outcome[places] == 1)

    def guess(self, votes: Guess) -> Guess:
        """With the merit of each model, by all answers, where the votes are counted by ``votes``."""
        merit, self._information = self._merits.fit(votes)
        return replace(votes, merit=merit)

    def view(self, survivors: Ints, guess: Guess, known: KnownAnswers) -> Choices:
        """The labels of all items that are looked at, and what is believed of them."""
        seen = self._viewed
        if seen is None or seen[0].size != survivors.size or seen[1] is not guess:
            # Belief does not depend on who leads: the guess has no part for that.
            self._viewed = seen = survivors, guess, Choices(self._pool, survivors, 0, guess, known)
        return seen[2]

    def accepted(self, view: Choices) -> Floats:
        """On how many of the items on which survivors differ each is believed to be accepted; shape (V,)."""
        value, places = view.guess + view.is_right, view.outputs.code + view.outputs.first[:-1]
        accepted: Floats = value[places].sum(axis=1).round(constants.DECIMALS)
        return accepted

    def lead(self, view: Choices, survivors: Ints, leader: int) -> Lead:
        """What is believed of the survivors; ``leader`` is a row of these."""
        unsure = view.guess * (1 - view.guess)
        outputs, value = view.outputs, view.guess + view.is_right
        ahead, own, of_leader = _against(outputs.code, outputs.first, value, unsure, leader)
        held = self._information[survivors] + constants.MERIT_PRIOR
        of_merit = own**2 / held + of_leader**2 / held[leader]
        rows = np.argsort(-ahead, kind="stable")[: constants.MOST_COMPARED]
        every = -(-outputs.code.shape[1] // constants.ITEMS_COMPARED)
        slope = every * _slopes_of_lead(outputs.code[:, ::every], outputs.first[:-1:every], view.guess, rows, leader)
        of_merit[rows] = self._merits.variance(survivors[rows], slope)
        return Lead(ahead, np.sqrt(own + of_leader + of_merit + 1))

    def law(self, view: Choices, weights: Floats, leader: int) -> ChoiceLaw:
        """The law of the next epoch for contenders with these ``weights`` (V,)."""
        rows = np.flatnonzero(weights > 0)
        law = ChoiceLaw(leader, rows, weights[rows], constants.CHOICE_GAMMA, 0.0, constants.CHOICE_SHARPNESS)
        scores = view.outputs.per_example(law.scores(view.outputs, view.unknown, view.guess))
        usual = scores.sum() / (constants.CHOICE_ASKED * self._pool.items.size)
        return replace(law, sure_from=float(f"{min(scores.max(initial=0.0), usual):.6g}"))

    def n_rounds(self, view: Choices, law: ChoiceLaw, n_questions: int) -> int:
        """Rounds in which about so many questions are asked."""
        _, asked = law.of(view.outputs, view.unknown, view.guess)
        share = asked.sum() / self._pool.items.size
        most = constants.MOST_CHOICE_ROUNDS
        return most if share * most < n_questions else max(1, math.ceil(n_questions / share))


@njit(cache=True, nogil=True)
def _told_apart(first, W, m):  # type: ignore[no-untyped-def]
    """V of ``ChoiceLaw`` for each output, from the weights ``W`` and the beliefs ``m`` at each.

    A variance is the sum over pairs of W W' (u - u')^2. Added up so, it is exactly 0 where all say the same. Most
    outputs have no weight, and their pairs are left out.
    """
    V = np.zeros(W.size)
    for i in range(first.size - 1):
        all_pairs = 0.0
        for k in range(first[i], first[i + 1]):
            for j in range(first[i], k if W[k] > 0 else first[i]):
                all_pairs += W[k] * W[j] * (m[k] - m[j]) ** 2
        for k in range(first[i], first[i + 1]):
            with_it, without_it = 0.0, all_pairs
            for j in range(first[i], first[i + 1] if W[k] > 0 else first[i]):
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


@njit(cache=True, nogil=True)
def _slopes_of_lead(code, first, m, rows, leader):  # type: ignore[no-untyped-def]
    """By how much each of ``rows`` gets ahead of ``leader`` for a merit that rises, of each of these rows; (C, C).

    The belief m(a) rises with the merit of who says a by m(a) (1 - m(a)), and falls with that of who says b by m(a)
    m(b). The examples begin at ``first`` (n,) in ``m``.
    """
    slope = np.zeros((rows.size, rows.size))
    for c in range(rows.size):
        for i in range(code.shape[1]):
            own, its = code[rows[c], i], code[leader, i]
            if own != its:
                m_own, m_its = m[first[i] + own], m[first[i] + its]
                for d in range(rows.size):
                    other = code[rows[d], i]
                    slope[c, d] -= (m_own - m_its) * m[first[i] + other]
                    if other == own:
                        slope[c, d] += m_own
                    elif other == its:
                        slope[c, d] -= m_its
    return slope
