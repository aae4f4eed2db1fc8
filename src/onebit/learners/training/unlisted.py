"""Items that have none of the labels: how likely each is one, from the noes that nobody expected.

Let pi be the share of such items. If the label of an item is on the list, the noes that it got had the probability
S = product over them of 1 - p, where p is what was believed of the label just before, among those still possible; if it
is not on the list, they had to come. So

    odds(none of the labels) = pi / (1 - pi) * R / S,

where R is what the items near it say: with s_j the chance that the j-th nearest is of the same kind, that item has none
with a1 = s_j + (1 - s_j) pi if this one has none, and else with a0 = (1 - s_j) pi; R is the product of
(a1 + (1 - a1) S_j) / (a0 + (1 - a0) S_j), or of (1 - a1) / (1 - a0) where a label was confirmed.

What models believe is often too sure, so belief to the power alpha is taken for p; alpha is learned from the answers,
older ones counting less and less. The share pi is that at which the answers are likeliest, where one item of each
label, and of LEAST_LISTED labels at least, counts as met before the first answer, and one that has none (expectation
maximisation). With two labels a no leaves the other, and nobody asks about it, so answers say little of pi: taken for
1 / 3 before the first of them, hard items seemed to have none. Not in the paper; nothing that is promised rests on it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import expit, logit, softmax

from onebit.learners.training.constants import (
    HEEDED,
    LEAST_LISTED,
    MOST_SURE,
    NEAR_HEEDED,
    NONE_LIKELIER,
    NONE_LIKELY,
    RECENT,
    SHARE_STEPS,
    UNTAUGHT,
)
from onebit.learners.training.knowledge import Knowledge
from onebit.learners.training.model import Bools, Floats, Ints
from onebit.learners.training.neighbours import Neighbours
from onebit.records import Answer, Question

TINY = np.finfo(np.float32).tiny


class Unlisted:
    """What the answers about ``n_items`` items say of which have none of the labels."""

    def __init__(self, n_items: int) -> None:
        #: log S of each item.
        self.log_missed: Floats = np.zeros(n_items)
        #: log-likelihood of the recent answers, for each alpha.
        self.fit: Floats = -UNTAUGHT * np.array(HEEDED)
        self._share: tuple[int, float] | None = None
        self._same: tuple[int, Floats] | None = None

    def state(self) -> dict[str, Floats]:
        """All that was learned."""
        return {"log_missed": self.log_missed, "fit": self.fit}

    @classmethod
    def restored(cls, state: dict[str, Floats]) -> Unlisted:
        """What ``state`` gave, again."""
        made = cls(state["log_missed"].size)
        made.log_missed, made.fit = state["log_missed"], state["fit"]
        return made

    def learn(
        self, questions: Sequence[Question], answers: Sequence[object], beliefs: dict[int, Floats], known: Knowledge
    ) -> None:
        """Take in answers, in order, before what they say of labels is known; ``beliefs`` (K,) are those of each item.

        The noes among them are denied in ``known`` already.
        """
        left = {item: known.possible[item].copy() for item in beliefs}
        for question, answer in zip(questions, answers, strict=True):
            if answer in (Answer.NO, Answer.NONE):
                left[question.item][question.label] = True
        for question, answer in zip(questions, answers, strict=True):
            if answer not in (Answer.YES, Answer.NO) or question.label is None:
                continue
            of_each = tempered(beliefs[question.item][None], left[question.item][None])[:, 0, question.label]
            listed = 1 - expit(logit(self.share(known)) - self.log_missed[question.item])
            self.fit *= 1 - 1 / RECENT
            if answer is Answer.YES:
                self.fit += np.log(np.maximum(listed * of_each, TINY))
            else:
                self.log_missed[question.item] += np.log1p(-min(float(softmax(self.fit) @ of_each), MOST_SURE))
                self.fit += np.log1p(-np.minimum(listed * of_each, MOST_SURE))
                left[question.item][question.label] = False

    def share(self, known: Knowledge) -> float:
        """pi, by the items asked about so far."""
        if self._share is None or self._share[0] != known.n_answers:
            n_labels, asked = known.n_labels, known.asked & known.trains_on
            confirmed, none = known.confirmed & asked, known.has_none & asked
            missed = self.log_missed[asked & ~confirmed & ~none]
            n_before = max(n_labels, LEAST_LISTED) + 1
            share, n_items = 1 / n_before, n_before + confirmed.sum() + none.sum() + missed.size
            for _ in range(SHARE_STEPS):
                share = float((1 + none.sum() + expit(logit(share) - missed).sum()) / n_items)
            self._share = known.n_answers, share
        return self._share[1]

    def chances(self, items: Ints, known: Knowledge, neighbours: Neighbours | None) -> Floats:
        """How likely each of ``items`` has none of the labels; shape (n,)."""
        share = self.share(known)
        odds = logit(share) - self.log_missed[items]
        if neighbours is not None and neighbours.listed.size > 1:
            odds += NEAR_HEEDED * self._near(items, known, neighbours, share)
        found: Floats = expit(odds)
        return found

    def _near(self, items: Ints, known: Knowledge, neighbours: Neighbours, share: float) -> Floats:
        """log R of ``items``; 0 of those that are not listed."""
        if self._same is None or self._same[0] != known.n_answers:
            self._same = known.n_answers, neighbours.same(known)
        same = self._same[1]
        none_if_none = same + (1 - same) * share
        none_if_listed = (1 - same) * share
        is_listed, near = neighbours.near_of(items)
        missed = np.where(known.has_none[near], 0.0, np.exp(self.log_missed[near]))
        ratio = (none_if_none + (1 - none_if_none) * missed) / (none_if_listed + (1 - none_if_listed) * missed)
        ratio = np.where(known.confirmed[near], (1 - none_if_none) / (1 - none_if_listed), ratio)
        found: Floats = np.zeros(items.size)
        found[is_listed] = np.log(ratio).sum(axis=1)
        return found

    def to_leave(self, among: Ints, known: Knowledge, neighbours: Neighbours | None) -> Ints:
        """What seems to have none of the labels: of ``among``, and of what would be taken for granted; sorted."""
        found = [
            items[self.chances(items, known, neighbours) >= likely]
            for items, likely in ((known.may_be_left(among), NONE_LIKELY), (known.granted(), NONE_LIKELIER))
            if items.size
        ]
        left: Ints = np.unique(np.concatenate([np.empty(0, dtype=np.int64), *found]))
        return left

    def limits(
        self, items: Ints, order: Ints, expected: Floats, known: Knowledge, neighbours: Neighbours | None
    ) -> Ints:
        """How many noes in a row, in the ``order`` (n, most) of labels, make it likely that none is right; (n,)."""
        chance = self.chances(items, known, neighbours)
        enough = self.noes_enough(chance, expected, order, known.possible[items], NONE_LIKELY, order.shape[1])
        return np.where(known.never_left[items], order.shape[1], enough)

    def noes_enough(
        self, chance: Floats, belief: Floats, order: Ints, possible: Bools, likely: float, most: int
    ) -> Ints:
        """After how many noes in the ``order`` (n, at most ``most``) of labels none is ``likely`` to be right; (n,).

        ``chance`` (n,) is how likely that is now. At least 1, and ``most`` where it does not come to that.
        """
        weights = softmax(self.fit)
        p = np.einsum("a,ank->nk", weights, tempered(belief, possible))
        denied = np.take_along_axis(p, order, axis=1).cumsum(axis=1)
        after = expit(logit(chance)[:, None] - np.log1p(-np.minimum(denied, MOST_SURE)))
        enough: Ints = np.where((after >= likely).any(axis=1), (after >= likely).argmax(axis=1) + 1, most)
        return enough


def tempered(belief: Floats, possible: Bools) -> Floats:
    """``belief`` (n, K), given that the label is among those possible, to the power of each alpha; shape (A, n, K)."""
    logs = np.where(possible, np.log(np.maximum(belief, TINY)), -np.inf)
    # An item of which every label was denied has no belief left.
    logs[~possible.any(axis=1)] = 0.0
    with np.errstate(invalid="ignore"):
        powers = np.where(np.isinf(logs), -np.inf, np.array(HEEDED)[:, None, None] * logs)
    found: Floats = softmax(powers, axis=-1)
    return found
