"""Populations on which what is said of the best models and of all pairs is scored by simulation; twins that must fail.

Each is small, so that a run takes milliseconds. They are what such statements could go wrong on: equal models, barely
different ones, one far ahead, one that misses the best by little more than eps, rows in an order that favours the
wrong ones, many models.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from tests.statistical.panel_twins import TakesTheTablesOrder
from tests.statistical.scored import ROUNDING, AskedCase, Floats, Ints, LooksAgainAndAgain, standing_as

from onebit.learners.certified.outputs import Bools
from onebit.learners.certified.run import CertifiedRun
from onebit.learners.certified.standing import Standing
from onebit.records import Closing, Placing


@dataclass(frozen=True, eq=False)
class TiersCase(AskedCase):
    """The ``top`` best models are looked for, or tiers if it is None."""

    top: int | None = None

    @property
    def aim(self) -> dict[str, Any]:
        return {"tiers": True} if self.top is None else {"top": self.top}

    def says_wrong(self, learner: CertifiedRun) -> bool:
        accuracy = self.accuracy
        wrong = any(self.is_wrong(each, accuracy) for each in learner.result.placings)
        return wrong or any(self.names_wrongly(closing, accuracy) for closing in learner.closings)

    def names_wrongly(self, closing: Closing, accuracy: Floats) -> bool:
        """Whether a model is ahead of one that is named by more than is certified."""
        others = np.setdiff1d(np.arange(accuracy.size), closing.top)
        ahead = accuracy[others].max() - accuracy[list(closing.top)].min()
        return bool(ahead > closing.certified_eps + ROUNDING)

    def is_wrong(self, told: Placing, accuracy: Floats) -> bool:
        """Whether a rank, "better" or "tied" is not so."""
        ahead = accuracy - accuracy[told.model]
        n_better, n_as_good = int((ahead > ROUNDING).sum()), int((ahead >= -ROUNDING).sum())
        wrong = told.worst_rank < n_better + 1 or told.best_rank > n_as_good
        if self.top is None:
            # Here ranks say "better", so equal models are none of those ahead or behind.
            wrong |= told.best_rank > n_better + 1 or told.worst_rank < n_as_good
        wrong |= any(ahead[each] > -ROUNDING for each in told.better_than)
        return wrong or any(abs(ahead[each]) >= self.eps + ROUNDING for each in told.tied_with)


def models(right: list[int], n_items: int, seed: int = 5, ordered: bool = False) -> tuple[Ints, Ints]:
    """Models that are right on so many of the items, each on others; ``ordered``: the last one is right on the first.

    Who is wrong says one of two other labels.
    """
    rng = np.random.default_rng(seed)
    truth = np.zeros(n_items, dtype=np.int64)
    said = np.ones((len(right), n_items), dtype=np.int64)
    for h, n_right in enumerate(right):
        said[h] = rng.integers(1, 3, n_items)
        where = np.arange(n_items) if ordered and h == len(right) - 1 else rng.permutation(n_items)
        if ordered and h < len(right) - 1:
            where = np.arange(n_items)[::-1]
        said[h, where[:n_right]] = 0
    return said, truth


EQUAL, BARELY = models([60, 60, 60, 60], 100), models([61, 60, 60, 59, 58], 100)
FAR_AHEAD, MISSED = models([95, 50, 50, 48, 30], 100), models([80, 70, 70, 58, 57, 30], 100)
ORDERED, MANY = models([70, 69, 68, 40], 100, ordered=True), models([30] * 12, 60)

CASES = {
    "equal models": TiersCase(*EQUAL, top=2),
    "equal models, one-shot": TiersCase(*EQUAL, top=2, protocol="one-shot"),
    "equal models, follow-up": TiersCase(*EQUAL, top=1, protocol="follow-up"),
    "barely different": TiersCase(*BARELY, top=2, eps=0.01),
    "barely different, stream": TiersCase(*BARELY, top=2, eps=0.15, stream=True),
    "one far ahead": TiersCase(*FAR_AHEAD, top=2),
    "one far ahead, labels": TiersCase(*FAR_AHEAD, top=1, protocol="labels"),
    "missed by more than eps": TiersCase(*MISSED, top=3, eps=0.1),
    "missed by more than eps, one-shot": TiersCase(*MISSED, top=3, eps=0.1, protocol="one-shot"),
    "missed by more than eps, one-shot, stream": TiersCase(*MISSED, top=3, eps=0.1, protocol="one-shot", stream=True),
    "missed by more than eps, follow-up": TiersCase(*MISSED, top=3, eps=0.1, protocol="follow-up"),
    "an order that favours the worst": TiersCase(*ORDERED, top=1, eps=0.05),
    "twelve equal models": TiersCase(*MANY, top=4, eps=0.2),
    "raters who err": TiersCase(*MISSED, top=3, eps=0.3, protocol="one-shot", f_no=0.05, f_yes=0.05),
    "can't tell": TiersCase(*MISSED, top=3, eps=0.1, stream=True, unsure=0.2),
    "tiers, equal models": TiersCase(*EQUAL),
    "tiers, equal models, one-shot": TiersCase(*EQUAL, protocol="one-shot"),
    "tiers, equal models, follow-up": TiersCase(*EQUAL, protocol="follow-up"),
    "tiers, equal models, stream": TiersCase(*EQUAL, eps=0.2, stream=True),
    "tiers, barely different": TiersCase(*BARELY, eps=0.015),
    "tiers, one far ahead": TiersCase(*FAR_AHEAD),
    "tiers, one far ahead, one-shot": TiersCase(*FAR_AHEAD, protocol="one-shot"),
    "tiers, ahead by exactly eps": TiersCase(*models([70, 60, 50], 100)),
    "tiers, ahead by exactly eps, labels": TiersCase(*models([70, 60, 50], 100), protocol="labels"),
    "tiers, an order that favours the worst": TiersCase(*ORDERED, eps=0.05),
    "tiers, twelve equal models": TiersCase(*MANY, eps=0.3),
    "tiers, twelve equal models, one-shot": TiersCase(*MANY, eps=0.3, protocol="one-shot"),
    "tiers, raters who err": TiersCase(*FAR_AHEAD, eps=0.3, protocol="one-shot", f_no=0.05, f_yes=0.05, stream=True),
}


class EveryPairHasAllOfDelta(Standing):
    """Forgets that there are many pairs: each is held to delta."""

    def _are_behind(self, g: int, c: float, keep: bool = False) -> Bools:
        shown: Bools = self._evidence.wealth.log_wealth(g, c, keep) >= math.log(1 / 0.2)
        return shown | (c >= 1)


TWINS = {
    "the best k, every pair has all of delta": TiersCase(
        *models([61] + [60] * 40, 120), top=1, eps=0.3, kind=standing_as(EveryPairHasAllOfDelta)
    ),
    "every pair has all of delta": TiersCase(*MANY, eps=0.3, kind=standing_as(EveryPairHasAllOfDelta)),
    "a test of fixed size, looked at again and again": TiersCase(
        *models([50] * 6, 100), stream=True, kind=standing_as(LooksAgainAndAgain)
    ),
    "the table's own order": CASES["an order that favours the worst"].by(TakesTheTablesOrder),
    "tiers, the table's own order": CASES["tiers, an order that favours the worst"].by(TakesTheTablesOrder),
}
