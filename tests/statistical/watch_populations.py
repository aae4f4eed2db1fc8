"""Populations on which the alarms of a watch are scored by simulation, the scoring, and twins that must fail.

In those that must be quiet no rival is ahead of the choice by more than eps on the items of any batch, or in the
population that they are drawn from, mostly by exactly that. They are what a watch could go wrong on: rows in an order,
batches made by who sees the evidence, raters who leave out what does not suit them, many rivals, small batches.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from scipy.stats import norm
from tests.statistical.scored import Scored, Tally

from onebit.learners.certified.watch import BatchLearner, BatchPlan, Bools, Floats, Ints, WatchResult
from onebit.records import Answer, WatchSetting

#: A false alarm once in so many batches: within the horizon its probability is at most .2.
EVERY, HORIZON = 50, 10
EPS = 0.05
#: Of a test that is looked at again and again.
LEVEL = 0.05
#: What a batch may be made from: its number, the largest evidence so far, and chance.
Maker = Callable[[int, float, np.random.Generator], tuple[Ints, Bools]]
#: Whether a rater answers a question at all, from whether it is the choice's output and whether it is accepted.
Answers = Callable[[bool, bool], bool]


def batch(
    rng: np.random.Generator, n: int, ahead: float, differ: float = 0.4, n_rivals: int = 1, favoured: bool = False
) -> tuple[Ints, Bools]:
    """What a choice (row 0) and rivals say on n items, and what is accepted of output h of each; shape (N, n) each.

    Every rival is ``ahead`` by so much on the items, to one item, and differs from the choice on a share of them.
    ``favoured``: the rows stand with the rivals' wins first.
    """
    accepted = np.zeros((n_rivals + 1, n), dtype=bool)
    accepted[0, : n // 2] = True
    said = np.zeros((n_rivals + 1, n), dtype=np.int64)
    n_ahead, n_differ = math.floor(n * ahead + 1e-9), round(n * differ)
    n_won = (n_differ + n_ahead) // 2
    n_lost = n_won - n_ahead
    for h in range(1, n_rivals + 1):
        won = rng.permutation(np.arange(n // 2, n))[:n_won]
        lost = rng.permutation(n // 2)[:n_lost]
        accepted[h] = accepted[0]
        accepted[h, won], accepted[h, lost] = True, False
        said[h, won] = said[h, lost] = h
    order = np.argsort(accepted[0].astype(int) - accepted[1], kind="stable") if favoured else rng.permutation(n)
    return said[:, order], accepted[:, order]


@dataclass
class WatchTally(Tally):
    """Where a watch must be quiet, every alarm is wrong; they rang in these ``batches``."""

    batches: list[int] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class WatchCase(Scored):
    """Batches, how they are asked about, and who answers; a run ends with an alarm, or after the ``horizon``."""

    make: Maker
    answers: int = 20
    every: float = EVERY
    horizon: int = HORIZON
    eps: float = EPS
    responds: Answers = lambda is_choice, accepted: True
    unsure: float = 0.0
    learner: type[BatchLearner] = BatchLearner

    @property
    def delta(self) -> float:  # type: ignore[override]
        """With which probability an alarm may ring within the horizon, while nothing is wrong."""
        return self.horizon / self.every

    def run(self, seed: int) -> tuple[int | None, int]:
        """The batch of the alarm, None if there was none, and the answers until then."""
        rng = np.random.default_rng(seed)
        carried: tuple[tuple[float, ...], ...] = ()
        n_answers, most = 0, 0.0
        for number in range(1, self.horizon + 1):
            said, accepted = self.make(number, most, rng)
            seed_of_batch = int(rng.integers(2**40))
            setting = WatchSetting(self.eps, self.every, self.answers, number, "", "", carried, seed_of_batch)
            result = self._answered(self.learner(said, said.shape[0], setting), said, accepted, rng)
            n_answers += result.n_answers
            carried, most = tuple(map(tuple, result.carried.tolist())), float(result.evidence.max())
            if result.alarms:
                return number, n_answers
        return None, n_answers

    def _answered(self, learner: BatchLearner, said: Ints, accepted: Bools, rng: np.random.Generator) -> WatchResult:
        asked = learner.ask(10_000)
        for question in asked if isinstance(asked, tuple) else ():
            assert question.label is not None
            yes = bool(accepted[question.label, question.item])
            if self.responds(question.label == said[0, question.item], yes):
                unsure = self.unsure > 0 and rng.random() < self.unsure
                said_by_rater = Answer.YES if yes else Answer.NO
                learner.tell(question.id, Answer.CANT_TELL if unsure else said_by_rater)
        return learner.result

    def tally(self, runs: int, first: int = 0) -> WatchTally:
        found = WatchTally(runs)
        for seed in range(first, first + runs):
            rang, n_answers = self.run(seed)
            found.answers += n_answers
            if rang is not None:
                found.wrong += 1
                found.batches.append(rang)
        return found


class LeavesOut(BatchLearner):
    """Counts nothing where a verdict is missing, so that raters decide what the comparison is about."""

    def _differences(self) -> tuple[Ints, Bools]:
        D, counted = super()._differences()
        items = self._plan.items.tolist()
        known = {
            (question.item, question.label)
            for question, answer in zip(self._ledger.questions, self._ledger.answers, strict=True)
            if answer is not None
        }
        for h, t in zip(*np.nonzero(counted), strict=True):
            labels = self._said[0, items[t]], self._said[h + 1, items[t]]
            counted[h, t] = all((items[t], int(label)) in known for label in labels)
        return D, counted


class TakesTheTablesOrder(BatchLearner):
    """Asks about the rows as they stand in the table."""

    def __init__(self, predictions: Ints, n_labels: int, setting: WatchSetting) -> None:
        super().__init__(predictions, n_labels, setting)
        contested = np.flatnonzero((self._said != self._said[0]).any(axis=0)).tolist()
        n_items = setting.answers // 2
        questions = [(item, int(label)) for item in contested[:n_items] for label in np.unique(self._said[:, item])]
        self._plan = BatchPlan(np.arange(contested[n_items - 1] + 1), tuple(questions))


class LooksAgainAndAgain(BatchLearner):
    """A test of fixed size at the level LEVEL on all items so far, after each batch.

    The first columns of ``carried`` have the sums of what speaks for the rival, of what speaks for the choice, and of
    squares.
    """

    def _evidence(self) -> Floats:
        D, counted = self._differences()
        n_differ = (self._said[1:] != self._said[0]).sum(axis=1)
        so_far = self._carried.copy()
        for h in range(D.shape[0]):
            seen = D[h, counted[h]] - self._said.shape[1] * self._setting.eps / n_differ[h]
            so_far[h, :3] += [seen.clip(0).sum(), (-seen).clip(0).sum(), (seen**2).sum()]
        return so_far

    @property
    def result(self) -> WatchResult:
        found = super().result
        z = (found.carried[:, 0] - found.carried[:, 1]) / np.sqrt(found.carried[:, 2])
        rang = np.flatnonzero(norm.sf(z) < LEVEL) + 1
        return WatchResult(**(vars(found) | {"alarms": tuple(rang.tolist())}))


class NeverBeginsAnew(BatchLearner):
    """Stakes one unit at the start and none later: what was lost before a change has to be won back."""

    def _evidence(self) -> Floats:
        if self._setting.batch > 1:
            self._carried = self._carried - 1
        return super()._evidence()


def _made_by_who_sees(number: int, most: float, rng: np.random.Generator) -> tuple[Ints, Bools]:
    """Many items that differ while there is little evidence, few and sure ones when there is more."""
    return batch(rng, 200, EPS, 0.1 if most > 3 else 0.8)


def _independent(n: int) -> Maker:
    """Items that are drawn anew from a population in which the rival is ahead by exactly eps."""

    def make(number: int, most: float, rng: np.random.Generator) -> tuple[Ints, Bools]:
        D = rng.choice([1, -1, 0], n, p=[0.2 + EPS / 2, 0.2 - EPS / 2, 0.6])
        accepted = np.stack([D == -1, D == 1])
        return np.stack([np.zeros(n, dtype=np.int64), (D != 0).astype(np.int64)]), accepted

    return make


def _at(ahead: float, n: int = 200, differ: float = 0.4, n_rivals: int = 1, favoured: bool = False) -> Maker:
    return lambda number, most, rng: batch(rng, n, ahead, differ, n_rivals, favoured)


#: No rival is ahead by more than eps on any batch, or in the population that the items are drawn from.
QUIET: dict[str, WatchCase] = {
    "equal models": WatchCase(_at(0.0)),
    "ahead by exactly eps": WatchCase(_at(EPS)),
    "ahead by exactly eps, sure wins": WatchCase(_at(EPS, differ=EPS)),
    "ahead by exactly eps, a hundred answers per batch": WatchCase(_at(EPS), answers=100),
    "barely within eps": WatchCase(_at(EPS - 0.005)),
    "the choice is far ahead": WatchCase(_at(-0.3)),
    "rows in an order that favours the rival": WatchCase(_at(EPS, favoured=True)),
    "batches made by who sees the evidence": WatchCase(_made_by_who_sees),
    "nine rivals at eps": WatchCase(_at(EPS, differ=0.2, n_rivals=9), answers=40),
    "raters who leave out what speaks for the choice": WatchCase(
        _at(EPS), responds=lambda is_choice, accepted: accepted != is_choice
    ),
    "can't tell at random": WatchCase(_at(EPS), unsure=0.3),
    "batches of 20 items": WatchCase(_at(EPS, n=20)),
    "independent items, ahead by exactly eps, batches of 1,000": WatchCase(_independent(1000)),
    "independent items, ahead by exactly eps, batches of 50": WatchCase(_independent(50)),
}
TWINS: dict[str, WatchCase] = {
    "what is not answered is left out": WatchCase(
        _at(EPS), responds=lambda is_choice, accepted: accepted != is_choice, learner=LeavesOut
    ),
    "the table's own order": WatchCase(_at(EPS, favoured=True), learner=TakesTheTablesOrder),
    "a test of fixed size, looked at after each batch": WatchCase(
        _at(EPS), horizon=100, every=100 / LEVEL, learner=LooksAgainAndAgain
    ),
}


def change(ahead: float, at: int, answers: int = 20, differ: float = 0.2, eps: float = 0.02) -> WatchCase:
    """Two models that are equal before batch ``at``; from then on the rival is ahead by so much."""

    def make(number: int, most: float, rng: np.random.Generator) -> tuple[Ints, Bools]:
        return batch(rng, 1000, ahead if number >= at else 0.0, differ)

    return WatchCase(make, answers, every=1000, horizon=at + 400, eps=eps)
