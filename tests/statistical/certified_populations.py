"""Populations on which the certified learner's promise is scored by simulation, and the scoring.

Each is small, with one best model, so that a run takes milliseconds and can be repeated thousands of times. They are
what a certificate could go wrong on: the best barely ahead, told apart by few items, alone in being right.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from onebit.hypotheses.finite import PredictionTable
from onebit.learners.base import run
from onebit.learners.certified import CertifiedLearner, Protocol
from onebit.learners.items import ItemSource, Pool, Stream
from onebit.raters import RandomDelays, run_with_delays
from onebit.records import Answer, Question, RunStatus

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Rater = Callable[[Question], Answer | int]

#: Runs of each population; ONEBIT_RUNS=2000 for the full set.
RUNS = int(os.environ.get("ONEBIT_RUNS", "150"))
#: The chance that a learner which errs with probability delta is failed by one comparison.
FALSE_ALARM = 1e-6


@dataclass(frozen=True, eq=False)
class Population:
    """A table (N, n) with the truth (n,), and how it is asked about; ``unsure`` (n,) marks what raters can't tell."""

    table: Ints
    truth: Ints
    n_labels: int
    eps: float
    delta: float = 0.05
    protocol: Protocol = "one-shot"
    stream: bool = False
    late: bool = False
    unsure: Bools = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))

    @property
    def accuracy(self) -> Floats:
        """By the truth, with nobody right where raters can't tell."""
        right = self.table == self.truth
        mean: Floats = (right & ~self.unsure if self.unsure.size else right).mean(axis=1)
        return mean

    @property
    def best(self) -> int:
        return int(np.argmax(self.accuracy))

    def learner(self, seed: int, kind: type[CertifiedLearner] = CertifiedLearner) -> tuple[CertifiedLearner, Ints]:
        """A learner, and what the numbers in its questions stand for."""
        n = self.truth.size
        numbers = np.random.default_rng(seed).integers(0, n, 4000) if self.stream else np.arange(n)
        items: ItemSource = Stream(numbers.tolist()) if self.stream else Pool(numbers)
        hypotheses = PredictionTable(self.table, self.n_labels)
        options = {"eps": self.eps, "delta": self.delta, "seed": seed}
        return kind(hypotheses, items, protocol=self.protocol, **options), numbers  # type: ignore[arg-type]

    def answer(self, item: int, label: int | None) -> Answer | int:
        if self.unsure.size and self.unsure[item]:
            return Answer.CANT_TELL
        truth = int(self.truth[item])
        if label is None:
            return truth
        return Answer.YES if label == truth else Answer.NO


@dataclass
class Tally:
    """What happened in ``runs`` runs, scored on the truth.

    ``wrong``: the leader is further behind the best than the certified eps. ``lost``: the best is not among the
    survivors. ``complete``: the run ended by itself.
    """

    runs: int = 0
    wrong: int = 0
    lost: int = 0
    complete: int = 0
    answers: int = 0

    def most(self, delta: float) -> int:
        """What a probability of delta exceeds with probability at most FALSE_ALARM."""
        return int(binom.ppf(1 - FALSE_ALARM, self.runs, delta))

    def __str__(self) -> str:
        return (
            f"{self.runs} runs, {self.wrong} wrong certificates, {self.lost} times the best was eliminated, "
            f"{self.answers / self.runs:.0f} answers on average"
        )


Drive = Callable[[CertifiedLearner, Rater], object]


def tally(
    population: Population,
    runs: int = RUNS,
    kind: type[CertifiedLearner] = CertifiedLearner,
    answer: Callable[[int, int | None], Answer | int] | None = None,
    drive: Drive = run,
) -> Tally:
    """Run and score; by default with the population's own answers, told at once."""
    answer = answer or population.answer
    found = Tally()
    for seed in range(runs):
        learner, numbers = population.learner(seed, kind)
        rater = _rater(answer, numbers)
        if population.late:
            # Every tenth answer is lost and asked for again; on items where the best is right they take longer.
            slow = np.where(population.table[population.best] == population.truth, 8.0, 1.0)
            run_with_delays(learner, rater, RandomDelays(slow, lost=0.1, seed=seed), n_raters=20, patience=20.0)
        else:
            drive(learner, rater)
        result = learner.result
        assert result.achieved_eps is not None
        excess = population.accuracy.max() - population.accuracy[result.chosen]
        found.runs += 1
        found.wrong += bool(excess > result.achieved_eps + 1e-12)
        found.lost += population.best not in result.survivors
        found.complete += result.status is RunStatus.COMPLETE
        found.answers += result.n_answers
    return found


def _rater(answer: Callable[[int, int | None], Answer | int], numbers: Ints) -> Rater:
    return lambda question: answer(int(numbers[question.item]), question.label)


def of_accuracies(seed: int, n_right: list[int], n_items: int, n_labels: int) -> tuple[Ints, Ints]:
    """Models that are right on exactly so many items, chosen at random, and wrong at random elsewhere; the truth."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, n_labels, n_items)
    table = (truth + rng.integers(1, n_labels, (len(n_right), n_items))) % n_labels
    for row, n in zip(table, n_right, strict=True):
        chosen = rng.permutation(n_items)[:n]
        row[chosen] = truth[chosen]
    return table, truth


def alone_in_being_right(n_models: int, n_won: int, n_lost: int, n_same: int) -> tuple[Ints, Ints]:
    """Model 0 alone is right on the items that it wins, where every model says something else.

    On those that it loses it abstains, and all others are right; on the rest all are. So it wins where labels are many
    and an answer says little, and loses where there is one.
    """
    # Model 0 says the highest label: among labels with equal votes the lowest is believed first.
    won = np.repeat((np.arange(n_models)[:, None] - 1) % n_models, n_won, axis=1)
    rest = np.zeros((n_models, n_lost + n_same), dtype=np.int64)
    truth = np.concatenate([np.full(n_won, n_models - 1), np.zeros(n_lost + n_same, dtype=np.int64)])
    rest[0, :n_lost] = -1
    return np.concatenate([won, rest], axis=1), truth


def _rare() -> tuple[Ints, Ints]:
    """All are right on 88 items of 100; the best is right on the twelve others, the rest on one of them each."""
    truth = np.arange(100) % 3
    table = np.repeat(truth[None], 4, axis=0)
    table[1:, 88:] = (truth[88:] + 1) % 3
    for h in (1, 2, 3):
        table[h, 88 + h] = truth[88 + h]
    return table, truth


def _abstaining() -> tuple[Ints, Ints]:
    """The best never says anything on a fifth of the items; others speak everywhere, or hardly ever."""
    table, truth = of_accuracies(5, [80, 59, 58, 30], 100, 4)
    right = table[0] == truth
    table[0, np.flatnonzero(~right)] = -1
    table[3, np.flatnonzero(table[3] != truth)[::2]] = -1
    return table, truth


def _conceded() -> tuple[Ints, Ints]:
    """One item in a hundred has a label from every model, all others at most two."""
    table, truth = of_accuracies(6, [80, 59, 59, 58, 58, 57], 100, 2)
    table[:, 0] = np.arange(6)
    return table, truth


BARELY_AHEAD = of_accuracies(1, [75, 54, 54, 53, 52], 100, 3)

POPULATIONS = {
    "barely ahead": Population(*BARELY_AHEAD, 3, eps=0.2),
    "barely ahead, stream": Population(*BARELY_AHEAD, 3, eps=0.2, stream=True),
    "rare decisive items": Population(*_rare(), 3, eps=0.1, delta=0.2),
    "duplicates": Population(BARELY_AHEAD[0][[1, 0, 1, 2, 0, 3, 4, 4]], BARELY_AHEAD[1], 3, eps=0.2),
    "two labels": Population(*of_accuracies(2, [80, 59, 59, 58, 57], 100, 2), 2, eps=0.2),
    "two models": Population(*of_accuracies(3, [60, 44], 100, 4), 4, eps=0.15, delta=0.2),
    "two models, two labels": Population(*of_accuracies(4, [51, 40], 100, 2), 2, eps=0.1, delta=0.2),
    "alone in being right": Population(*alone_in_being_right(10, 45, 20, 35), 10, eps=0.24),
    "abstainers": Population(*_abstaining(), 4, eps=0.2),
    "conceded items": Population(*_conceded(), 6, eps=0.2),
    "late and lost answers": Population(*BARELY_AHEAD, 3, eps=0.2, late=True),
    "can't tell": Population(*BARELY_AHEAD, 3, eps=0.15, unsure=np.arange(100) % 5 == 0),
    "follow-up": Population(*BARELY_AHEAD, 3, eps=0.2, protocol="follow-up", late=True),
    "follow-up, stream": Population(*BARELY_AHEAD, 3, eps=0.2, protocol="follow-up", stream=True),
    "labels": Population(*BARELY_AHEAD, 3, eps=0.2, protocol="labels"),
    "a pool to its end": Population(
        *of_accuracies(7, [21, 20, 20, 19], 40, 3), 3, eps=1e-6, delta=0.2, protocol="follow-up"
    ),
    "a pool to its end, two models": Population(
        *of_accuracies(8, [51, 50], 100, 2), 2, eps=1e-6, delta=0.2, protocol="follow-up"
    ),
}

#: Where bets that look at the drawn item go wrong soon; scored after a few epochs, since a run may be stopped any time.
ALONE_AMONG_MANY = Population(*alone_in_being_right(30, 55, 40, 5), 30, eps=0.12)


def for_epochs(n_epochs: int) -> Drive:
    """Answer so many epochs and stop."""

    def drive(learner: CertifiedLearner, rater: Rater) -> None:
        while isinstance(questions := learner.ask(10_000), tuple) and questions[0].epoch < n_epochs:
            for question in questions:
                learner.tell(question.id, rater(question))

    return drive
