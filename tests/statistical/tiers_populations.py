"""Populations on which what is said of the best models and of all pairs is scored by simulation; twins that must fail.

Each is small, so that a run takes milliseconds. They are what such statements could go wrong on: equal models, barely
different ones, one far ahead, one that misses the best by little more than eps, rows in an order that favours the
wrong ones, many models.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom, norm
from tests.statistical.panel_twins import TakesTheTablesOrder

from onebit.hypotheses.finite import PredictionTable
from onebit.learners.certified import CertifiedLearner, PanelLearner
from onebit.learners.certified.outputs import Bools
from onebit.learners.certified.pairs import PairsStanding, TiersStanding, TopStanding
from onebit.learners.certified.run import CertifiedRun
from onebit.learners.certified.standing import Standing
from onebit.learners.items import ItemSource, Pool, Stream
from onebit.raters import ErringRater, Rater, SimulatedRater, UnsureRater
from onebit.records import AskingProtocol, Closing, Placing, RunStatus

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

#: The chance that a learner which errs with probability delta is failed by one comparison.
FALSE_ALARM = 1e-6
#: More than any run here takes from a stream.
STREAM_LENGTH = 6000
#: What is a difference of accuracies and what is rounding.
ROUNDING = 1e-12
#: What makes a learner: the options of a case, and the seed.
Kind = Callable[..., CertifiedRun]


@dataclass
class Tally:
    """What happened in ``runs`` runs: ``wrong`` have at some time said something that is not so."""

    runs: int = 0
    wrong: int = 0
    complete: int = 0
    answers: int = 0

    def most(self, delta: float) -> int:
        """What a probability of delta exceeds with probability at most FALSE_ALARM."""
        return int(binom.ppf(1 - FALSE_ALARM, self.runs, delta))

    def __str__(self) -> str:
        return f"{self.runs} runs, {self.wrong} wrong, {self.answers / self.runs:.0f} answers on average"


@dataclass(frozen=True, eq=False)
class TiersCase:
    """A table (N, n), its truth (n,), and how it is asked about; ``top`` models are looked for, or tiers if None."""

    said: Ints
    truth: Ints
    top: int | None = None
    eps: float = 0.1
    delta: float = 0.2
    protocol: AskingProtocol = "panel"
    stream: bool = False
    f_no: float = 0.0
    f_yes: float = 0.0
    unsure: float = 0.0
    kind: Kind | None = None

    @property
    def accuracy(self) -> Floats:
        """How often each model is right; can't tell at random scales it."""
        accuracy: Floats = (1 - self.unsure) * (self.said == self.truth).mean(axis=1)
        return accuracy

    def learner(self, seed: int) -> tuple[CertifiedRun, Ints]:
        """A learner, and what the numbers in its questions stand for."""
        n = self.truth.size
        numbers = np.random.default_rng([seed, 2]).integers(0, n, STREAM_LENGTH) if self.stream else np.arange(n)
        items: ItemSource = Stream(numbers.tolist()) if self.stream else Pool(numbers)
        given: dict[str, Any] = {"eps": self.eps, "delta": self.delta, "seed": seed}
        given |= {"tiers": True} if self.top is None else {"top": self.top}
        if self.protocol != "panel":
            given |= {"protocol": self.protocol, "f_no": self.f_no, "f_yes": self.f_yes}
        kind: Kind = self.kind or (PanelLearner if self.protocol == "panel" else CertifiedLearner)
        n_labels = int(max(self.said.max(), self.truth.max())) + 1
        return kind(PredictionTable(self.said, n_labels), items, **given), numbers

    def rater(self, seed: int) -> Rater:
        if self.f_no + self.f_yes > 0:
            return ErringRater(self.truth, f_no=self.f_no, f_yes=self.f_yes, seed=seed, anew=True)
        rater = SimulatedRater(self.truth)
        return rater if self.unsure == 0 else UnsureRater(rater, self.unsure, seed=seed)

    def tally(self, runs: int) -> Tally:
        found, accuracy = Tally(), self.accuracy
        for seed in range(runs):
            learner, numbers = self.learner(seed)
            rater = self.rater(seed)
            while isinstance(questions := learner.ask(10_000), tuple):
                for question in questions:
                    learner.tell(question.id, rater(replace(question, item=int(numbers[question.item]))))
            # What is shown of a model stays shown, so the last result has all that was ever said of it.
            result = learner.result
            wrong = any(self.is_wrong(each, accuracy) for each in result.placings)
            wrong |= any(self.names_wrongly(closing, accuracy) for closing in learner.closings)
            found.runs, found.wrong = found.runs + 1, found.wrong + wrong
            found.complete += result.status is RunStatus.COMPLETE
            found.answers += result.n_answers
        return found

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


class EveryPairHasAllOfDelta(TiersStanding):
    """Forgets that there are many pairs: each is held to delta."""

    def _are_behind(self, g: int, c: float, keep: bool = False) -> Bools:
        shown: Bools = self._evidence.wealth.log_wealth(g, c, keep) >= math.log(1 / 0.2)
        return shown | (c >= 1)


class LooksAgainAndAgain(TiersStanding):
    """Takes a test of fixed size for one that may be looked at after every epoch; it shares delta as it should."""

    def _are_behind(self, g: int, c: float, keep: bool = False) -> Bools:
        total, squares = self._evidence.moments(g)
        z = (c * self._evidence.n_drawn - total) / np.sqrt(np.maximum(squares, 1))  # type: ignore[attr-defined]
        enough: Bools = z >= norm.isf(math.exp(-self.threshold[g]) / 2)
        return enough | (c >= 1)


class BehindOneIsOut(TopStanding):
    """Rules out who is behind one model, as if one best model were looked for."""

    def _decided(self) -> tuple[Bools, Bools]:
        is_out: Bools = self._behind.sum(axis=1) > 0
        return self._is_in, is_out


def with_standing(kind: type[PairsStanding]) -> Kind:
    """A panel that stands in another way."""

    class Twin(PanelLearner):
        def _first_standing(self) -> Standing:
            standing = super()._first_standing()
            standing.__class__ = kind
            return standing

    return Twin


TWINS = {
    "every pair has all of delta": TiersCase(*MANY, eps=0.3, kind=with_standing(EveryPairHasAllOfDelta)),
    "a test of fixed size, looked at again and again": TiersCase(
        *models([50] * 6, 100), eps=0.1, stream=True, kind=with_standing(LooksAgainAndAgain)
    ),
    "behind one is out": TiersCase(*models([95, 75, 74, 50, 49, 30], 100), top=3, kind=with_standing(BehindOneIsOut)),
    "the table's own order": replace(CASES["an order that favours the worst"], kind=TakesTheTablesOrder),
    "tiers, the table's own order": replace(CASES["tiers, an order that favours the worst"], kind=TakesTheTablesOrder),
}
