"""Twins of the certified learner, each of which breaks one rule of its certificate, with what shows it.

They must fail: a simulation that cannot tell them from the learner would say nothing about it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from tests.statistical.certified_populations import (
    POPULATIONS,
    SILENT_WHERE_WRONG,
    Bools,
    Drive,
    Population,
    Rater,
    Says,
    Tally,
    against_the_crowd,
    alone_in_being_right,
    for_epochs,
    hardly_behind,
    of_accuracies,
    tally,
)

from onebit.estimate.betting import BETS
from onebit.estimate.independent_wealth import IndependentWealth, Rounds
from onebit.learners.certified import CertifiedLearner
from onebit.learners.certified.epoch import Epoch, KnownAnswers
from onebit.learners.certified.evidence import IndependentEvidence
from onebit.learners.certified.protocols import Settled
from onebit.learners.certified.standing import Standing
from onebit.learners.contract import run
from onebit.records import Status

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def selected(rounds: Rounds, chosen: Bools, n_nil: int) -> Rounds:
    """Only the chosen of the rounds that may tell hypotheses apart."""
    sizes = np.diff(rounds.first)
    outputs = np.repeat(chosen, sizes)
    return Rounds(
        rounds.rows,
        rounds.code[:, chosen],
        np.concatenate([[0], np.cumsum(sizes[chosen])]),
        rounds.q[outputs],
        rounds.for_rival[outputs],
        rounds.for_leader[outputs],
        rounds.asked[chosen],
        rounds.z[chosen],
        n_nil,
    )


def wealth_of(learner: CertifiedLearner) -> IndependentWealth:
    assert isinstance(learner._evidence, IndependentEvidence)
    return learner._evidence._wealth


class OwnBets(IndependentWealth):
    """Bets divided by the number of outputs at the drawn item."""

    def _advance(self, state: Floats, epoch: int, leader: int, c: float, rows: Ints) -> None:
        rounds = self.epochs[epoch]
        n_outputs = np.diff(rounds.first)[:, None, None]
        factors = np.log1p(-BETS / n_outputs * (self._differences(epoch, leader) - c))
        state += rounds.n_nil * np.log1p(BETS * c) + factors.sum(axis=0)

    def _differences(self, epoch: int, leader: int) -> Floats:
        """D in each round, for every h and bet, read from the factors 1 - bet D; (m, N, n_bets)."""
        found: dict[tuple[int, int], Floats] = self.__dict__.setdefault("found", {})
        if (epoch, leader) not in found:
            rounds = self.epochs[epoch]
            each = IndependentWealth(self.n_hypotheses)
            for i in range(rounds.asked.size):
                each.add(selected(rounds, np.arange(rounds.asked.size) == i, 0))
            log_factors = np.zeros((rounds.asked.size, self.n_hypotheses, BETS.size))
            for i, of_round in enumerate(log_factors):
                each._advance(of_round, i, leader, 0.0, np.arange(self.n_hypotheses))
            found[epoch, leader] = -np.expm1(log_factors) / BETS
        return found[epoch, leader]


class BetsByTheDrawnItem(CertifiedLearner):
    """Bets the less, the more labels the item has that was drawn."""

    def _standing_now(self) -> Standing:
        wealth_of(self).__class__ = OwnBets
        return super()._standing_now()


def change_rounds(epoch: Epoch, changed: Callable[[Rounds], Rounds]) -> None:
    """Let other rounds than those that were drawn enter the wealth and the score."""
    one_shot = epoch.one_shot
    assert one_shot is not None
    rounds = one_shot.rounds
    one_shot.rounds = lambda outcome: changed(rounds(outcome))  # type: ignore[method-assign]


class GuessesAfterwards(CertifiedLearner):
    """Takes the answer itself for the guess of the label that was asked, so that nothing is left to be weighted."""

    def _close(self, *args: object, **options: object) -> None:
        asking, _ = self._rounds[0]

        def guessed_again(rounds: Rounds) -> Rounds:
            places = np.flatnonzero(rounds.asked >= 0)
            asked = rounds.first[places] + rounds.asked[places]
            q, for_rival, for_leader = rounds.q.copy(), rounds.for_rival.copy(), rounds.for_leader.copy()
            q[asked] = 1.0
            for_rival[asked] = for_leader[asked] = rounds.z[places]
            return replace(rounds, q=q, for_rival=for_rival, for_leader=for_leader)

        change_rounds(asking.epoch, guessed_again)
        super()._close(*args, **options)  # type: ignore[arg-type]


class DropsLateAnswers(CertifiedLearner):
    """Closes an epoch without the rounds whose answers have not come."""

    def drop_open(self) -> None:
        (asking, _), standing = self._rounds[0], self._standing
        assert standing is not None
        epoch = asking.epoch
        assert epoch.one_shot is not None
        came = epoch.is_settled[epoch.one_shot.places]
        for place in np.flatnonzero(~epoch.is_settled).tolist():
            epoch.settle(place, Settled(0))
        change_rounds(epoch, lambda rounds: selected(rounds, came, rounds.n_nil))
        self._ledger.n_open = 0
        self._close(standing)


def won_by_the_best(population: Population) -> Bools:
    """Items on which the best is right and some other is not."""
    right = population.table == population.truth
    won: Bools = right[population.best] & ~right.all(axis=0)
    return won


def answered_or_dropped(slow: Bools) -> Drive:
    """Answers on slow items never come in time."""

    def drive(learner: CertifiedLearner, rater: Rater) -> None:
        assert isinstance(learner, DropsLateAnswers)
        while (asked := learner.ask(10_000)) is not Status.DONE:
            if asked is Status.WAIT:
                learner.drop_open()
                continue
            assert isinstance(asked, tuple)
            for question in asked:
                if not slow[question.item]:
                    learner.tell(question.id, rater(question))

    return drive


class Covered(KnownAnswers):
    """Takes all labels of an item but the two with most votes for wrong."""

    def __init__(self, said: NDArray[np.integer]) -> None:
        super().__init__()
        self._uncovered = [
            [label for label, _ in Counter(column[column >= 0].tolist()).most_common()[2:]] for column in said.T
        ]

    def has(self, items: NDArray[np.int64]) -> NDArray[np.bool_]:
        return np.ones(items.size, dtype=np.bool_)

    def of(self, item: int) -> dict[int, bool]:
        return dict.fromkeys(self._uncovered[item], False) | super().of(item)


class AsksTheLikelyOnly(CertifiedLearner):
    """Never asks about labels with few votes, and gives X = 0 to whoever says them, rival and leader alike."""

    def _standing_now(self) -> Standing:
        if self._standing is None:
            assert self._pool_said is not None
            self._known = Covered(self._pool_said)
        return super()._standing_now()


class AllToTheLeader(CertifiedLearner):
    """Spends all of delta on whoever turns out to lead, as if that had been known before the first answer."""

    def _standing_now(self) -> Standing:
        standing = super()._standing_now()
        standing.threshold[:] = -np.log(self._setting.delta)
        return standing


@dataclass(frozen=True)
class Twin:
    """What breaks a rule, and on which population.

    ``errs`` are the raters' true rates of error, where the learner is told of none. ``honest`` is the same with the
    rule kept, for what is not among POPULATIONS: it must hold.
    """

    population: Population
    kind: type[CertifiedLearner] = CertifiedLearner
    says: Says | None = None
    drive: Drive = run
    errs: tuple[float, float] | None = None
    honest: Callable[[int], Tally] | None = None

    def tally(self, runs: int) -> Tally:
        return tally(self.population, runs, self.kind, self.says, self.drive, self.errs)


#: Where bets that look at the drawn item go wrong soon, before the best has led.
ALONE_AMONG_MANY = Population(*alone_in_being_right(30, 55, 40, 5), 30, eps=0.12)
MANY = Population(*hardly_behind(200, 200, 14), 2, eps=0.004, delta=0.2, protocol="labels", stream=True)
CROWD = Population(*against_the_crowd(9, 55, 36), 2, eps=0.19, stream=True)
AHEAD, OUTVOTED = POPULATIONS["barely ahead"], POPULATIONS["outvoted"]
ERRING_ON_A_POOL = Population(*of_accuracies(9, [13, 11], 20, 2), 2, eps=0.03)
#: The best speaks only where it is right, so that wrong labels which are accepted now and then make it seem behind.
SILENT = Population(*SILENT_WHERE_WRONG, 3, eps=0.15, delta=0.2, stream=True, f_no=0.05, f_yes=0.4)

TWINS = {
    "bets by the drawn item's own labels": Twin(
        ALONE_AMONG_MANY,
        BetsByTheDrawnItem,
        drive=for_epochs(3),
        honest=lambda runs: tally(ALONE_AMONG_MANY, runs, drive=for_epochs(3)),
    ),
    "guesses made after the answer": Twin(CROWD, GuessesAfterwards, honest=lambda runs: tally(CROWD, runs)),
    "late answers dropped": Twin(AHEAD, DropsLateAnswers, drive=answered_or_dropped(won_by_the_best(AHEAD))),
    "uncovered labels wrong for both": Twin(OUTVOTED, AsksTheLikelyOnly),
    "errors ignored, answers used again": Twin(
        ERRING_ON_A_POOL, errs=(0.35, 0.3), honest=lambda runs: tally(ERRING_ON_A_POOL, runs)
    ),
    "errors ignored, abstainers": Twin(
        replace(SILENT, f_no=0.0, f_yes=0.0),
        errs=(SILENT.f_no, SILENT.f_yes),
        drive=for_epochs(10),
        honest=lambda runs: tally(SILENT, runs, drive=for_epochs(10)),
    ),
    "delta spent afterwards": Twin(
        MANY, AllToTheLeader, drive=for_epochs(10), honest=lambda runs: tally(MANY, runs, drive=for_epochs(10))
    ),
}
