"""Populations on which what a spent budget certifies is scored by simulation, and twins that must fail.

Each is small, so that a run takes a tenth of a second. They are what a choice of questions could go wrong on: equal
models, barely different ones, one far ahead, a crowd that is wrong, rows in an order that favours one model.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from tests.statistical.certified_populations import (
    Population,
    against_the_crowd,
    alone_in_being_right,
    of_accuracies,
    tally,
)
from tests.statistical.certified_twins import change_rounds
from tests.statistical.scored import Scored, Tally

from onebit.estimate.independent_wealth import Rounds
from onebit.hypotheses.finite import PredictionTable
from onebit.learners.certified import CertifiedLearner
from onebit.learners.items import Pool
from onebit.records import Answer

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Spent(Population):
    """A pool whose ``budget`` is spent; ``also`` (n,) is a second label that raters accept, -1 for none."""

    budget: int = 60
    also: Ints | None = None

    @property
    def accuracy(self) -> NDArray[np.float64]:
        if self.also is None:
            return super().accuracy
        accepted: NDArray[np.float64] = ((self.table == self.truth) | (self.table == self.also)).mean(axis=1)
        return accepted

    def learner(self, seed: int, kind: type[CertifiedLearner] = CertifiedLearner) -> tuple[CertifiedLearner, Ints]:
        items = np.arange(self.truth.size)
        learner = kind(
            PredictionTable(self.table, self.n_labels),
            Pool(items),
            eps=self.eps,
            delta=self.delta,
            seed=seed,
            f_no=self.f_no,
            f_yes=self.f_yes,
            budget=self.budget,
            spends=True,
        )
        return learner, items

    def says(self, item: int, label: int | None) -> Answer | int:
        if self.also is not None and label == self.also[item]:
            return Answer.YES
        return super().says(item, label)


@dataclass(frozen=True, eq=False)
class SpentRuns(Scored):
    """Runs of a population by a kind of learner: wrong is what was certified, or that the best was ruled out."""

    population: Spent
    kind: type[CertifiedLearner] = CertifiedLearner

    @property
    def delta(self) -> float:  # type: ignore[override]
        return self.population.delta

    def tally(self, runs: int, first: int = 0) -> Tally:
        found = tally(self.population, runs, self.kind, first=first)
        return Tally(found.runs, found.failed, found.complete, found.answers)


class TakesQuestionsForRandom(CertifiedLearner):
    """Takes what was asked for a random sample of items and of their labels, and weighs every answer alike."""

    def _close(self, *args: object, **options: object) -> None:
        asking, _ = self._rounds[0]

        def unweighted(rounds: Rounds) -> Rounds:
            n_outputs = np.diff(rounds.first)
            # Where nothing was asked D is 0 for all.
            counts = np.repeat(rounds.asked >= 0, n_outputs)
            even = np.repeat(1 / n_outputs, n_outputs)
            return replace(
                rounds, q=even, for_rival=rounds.for_rival * counts, for_leader=rounds.for_leader * counts, n_nil=0
            )

        change_rounds(asking.epoch, unweighted)
        super()._close(*args, **options)  # type: ignore[arg-type]


def sorted_for(table: Ints, truth: Ints, model: int) -> tuple[Ints, Ints]:
    """The items on which ``model`` is right first."""
    order = np.argsort(table[model] != truth, kind="stable")
    return table[:, order], truth[order]


def _two_right(seed: int) -> tuple[Ints, Ints, Ints]:
    """Half of the items have a second right label, which the last model alone says there."""
    table, truth = of_accuracies(seed, [60, 58, 57, 40], 100, 4)
    also = np.where(np.arange(100) % 2 == 0, (truth + 1) % 4, -1)
    table[3] = np.where(also >= 0, also, table[3])
    return table, truth, also


def split_where_it_loses(n_won: int, n_lost: int) -> tuple[Ints, Ints]:
    """Model 0 is alone right against eight that agree, and wrong where the others are split, which is asked more."""
    won, lost = np.ones((9, n_won), dtype=np.int64), np.zeros((9, n_lost), dtype=np.int64)
    won[0] = 0
    lost[[0, 5, 6, 7, 8]] = 1
    rest = np.where(np.eye(9, dtype=np.bool_), 1, 0)
    return np.concatenate([won, lost, rest], axis=1), np.zeros(n_won + n_lost + 9, dtype=np.int64)


def sure_where_it_wins(n_won: int, n_lost: int) -> tuple[Ints, Ints]:
    """Six models are right together where six others scatter, which is soon sure, and lose where two labels stand out.

    What is sure is asked about seldom, so what is asked speaks for those that are right less often.
    """
    won, lost = np.zeros((12, n_won), dtype=np.int64), np.zeros((12, n_lost), dtype=np.int64)
    won[6:] = np.arange(1, 7)[:, None]
    lost[:6] = 1
    rest = np.where(np.eye(12, dtype=np.bool_), 1, 0)
    return np.concatenate([won, lost, rest], axis=1), np.zeros(n_won + n_lost + 12, dtype=np.int64)


EQUAL = of_accuracies(21, [55, 55, 55, 55, 55], 100, 3)
BARELY = of_accuracies(22, [56, 54, 54, 53, 52], 100, 3)
TWO_RIGHT = _two_right(24)
CROWD = against_the_crowd(6, 45, 25)

POPULATIONS = {
    "equal models": Spent(*EQUAL, 3, eps=0.1, delta=0.2),
    "barely different": Spent(*BARELY, 3, eps=0.1, delta=0.2),
    "one far ahead": Spent(*of_accuracies(23, [85, 55, 54, 53, 50], 100, 3), 3, eps=0.1, delta=0.2),
    "rows in an order that favours one": Spent(*sorted_for(*BARELY, 4), 3, eps=0.1, delta=0.2),
    "a crowd that is wrong": Spent(*CROWD, 2, eps=0.1, delta=0.2, budget=90),
    "alone in being right": Spent(*alone_in_being_right(10, 45, 20, 35), 10, eps=0.1, delta=0.2),
    "two labels": Spent(*of_accuracies(25, [60, 55, 50, 45, 40], 100, 2), 2, eps=0.1, delta=0.2),
    "two right labels": Spent(*TWO_RIGHT[:2], 4, eps=0.1, delta=0.2, also=TWO_RIGHT[2]),
    "raters who err": Spent(*BARELY, 3, eps=0.1, delta=0.2, f_no=0.1, f_yes=0.05),
    "split where the best loses": Spent(*split_where_it_loses(80, 60), 2, eps=0.1, delta=0.2, budget=90),
    "sure where the best wins": Spent(*sure_where_it_wins(80, 50), 7, eps=0.1, delta=0.2, budget=90),
    "a pool to its end": Spent(*of_accuracies(26, [11, 10, 9], 20, 3), 3, eps=0.1, delta=0.2, budget=200),
}
#: Where belief decides what is asked, and belief is wrong.
TWINS: dict[str, tuple[Spent, type[CertifiedLearner]]] = {
    "questions taken for random ones": (POPULATIONS["sure where the best wins"], TakesQuestionsForRandom),
}
