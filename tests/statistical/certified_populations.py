"""Populations on which the certified learner's promise is scored by simulation, and the scoring.

Each is small, with one best model, so that a run takes milliseconds and can be repeated thousands of times. They are
what a certificate could go wrong on: the best barely ahead, told apart by few items, alone in being right.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from onebit.hypotheses.finite import PredictionTable
from onebit.learners.certified import CertifiedLearner
from onebit.learners.certified.run import CertifiedRun
from onebit.learners.contract import run
from onebit.learners.items import ItemSource, Pool, Stream
from onebit.raters import RandomDelays, run_with_delays
from onebit.records import Answer, AskingProtocol, Question, RunStatus

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Rater = Callable[[Question], Answer | int]
#: Says what a rater answers who is asked about an item of the population.
Says = Callable[[int, int | None], Answer | int]
Drive = Callable[[CertifiedLearner, Rater], object]

#: The chance that a learner which errs with probability delta is failed by one comparison.
FALSE_ALARM = 1e-6
#: More than any run here takes from a stream.
STREAM_LENGTH = 20_000


@dataclass(frozen=True, eq=False)
class Population:
    """A table (N, n) with the truth (n,), and how it is asked about; ``unsure`` (n,) marks what raters can't tell.

    Raters say no to a right label with probability ``f_no`` and yes to a wrong one with ``f_yes``, and the learner is
    told so.
    """

    table: Ints
    truth: Ints
    n_labels: int
    eps: float
    delta: float = 0.05
    protocol: AskingProtocol = "one-shot"
    stream: bool = False
    late: bool = False
    f_no: float = 0.0
    f_yes: float = 0.0
    unsure: Bools = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))

    @property
    def accuracy(self) -> Floats:
        """By the truth, with nobody right where raters can't tell; whatever errors raters make."""
        right = self.table == self.truth
        mean: Floats = (right & ~self.unsure if self.unsure.size else right).mean(axis=1)
        return mean

    @property
    def best(self) -> int:
        return int(np.argmax(self.accuracy))

    def learner(self, seed: int, kind: type[CertifiedLearner] = CertifiedLearner) -> tuple[CertifiedLearner, Ints]:
        """A learner, and what the numbers in its questions stand for."""
        n = self.truth.size
        numbers = np.random.default_rng(seed).integers(0, n, STREAM_LENGTH) if self.stream else np.arange(n)
        items: ItemSource = Stream(numbers.tolist()) if self.stream else Pool(numbers)
        learner = kind(
            PredictionTable(self.table, self.n_labels),
            items,
            eps=self.eps,
            delta=self.delta,
            protocol=self.protocol,
            seed=seed,
            f_no=self.f_no,
            f_yes=self.f_yes,
        )
        return learner, numbers

    def says(self, item: int, label: int | None) -> Answer | int:
        """What a rater says who does not err."""
        if self.unsure.size and self.unsure[item]:
            return Answer.CANT_TELL
        truth = int(self.truth[item])
        if label is None:
            return truth
        return Answer.YES if label == truth else Answer.NO


@dataclass
class Tally:
    """What happened in ``runs`` runs, scored on the truth at every closing and in the end.

    ``wrong``: the best is ahead of the leader by more than was certified. ``lost``: the best is not among the
    survivors. ``failed``: one or the other, which delta is for. ``complete``: the run ended by itself.
    """

    runs: int = 0
    wrong: int = 0
    lost: int = 0
    failed: int = 0
    complete: int = 0
    answers: int = 0

    def most(self, delta: float) -> int:
        """What a probability of delta exceeds with probability at most FALSE_ALARM."""
        return int(binom.ppf(1 - FALSE_ALARM, self.runs, delta))

    def add(self, accuracy: Floats, learner: CertifiedRun) -> None:
        """Score a run by what is true of the models."""
        result = learner.result
        excess = accuracy.max() - accuracy
        told = [(closing.leader, closing.survivors, closing.certified_eps) for closing in learner.closings]
        assert result.achieved_eps is not None
        told.append((result.chosen, result.survivors, result.achieved_eps))
        bounds = dict(zip(result.survivors, result.ahead_at_most, strict=True))
        told += [(result.chosen, result.survivors, bounds[h]) for h in bounds if excess[h] < 1e-12]
        self.runs += 1
        wrong = any(excess[leader] > eps + 1e-12 for leader, _, eps in told)
        lost = any(excess[list(survivors)].min() > 1e-12 for _, survivors, _ in told)
        self.wrong, self.lost, self.failed = self.wrong + wrong, self.lost + lost, self.failed + (wrong or lost)
        self.complete += result.status is RunStatus.COMPLETE
        self.answers += result.n_answers

    def __str__(self) -> str:
        return (
            f"{self.runs} runs, {self.wrong} with a wrong certificate, {self.lost} with the best eliminated, "
            f"{self.answers / self.runs:.0f} answers on average"
        )


def tally(
    population: Population,
    runs: int,
    kind: type[CertifiedLearner] = CertifiedLearner,
    says: Says | None = None,
    drive: Drive = run,
    errs: tuple[float, float] | None = None,
    first: int = 0,
) -> Tally:
    """Run and score, with seeds from ``first`` on; by default with raters who err as told, and answers at once."""
    found = Tally()
    f_no, f_yes = errs or (population.f_no, population.f_yes)
    for seed in range(first, first + runs):
        learner, numbers = population.learner(seed, kind)
        rater = _erring(_rater(says or population.says, numbers), f_no, f_yes, seed)
        if population.late:
            # Every tenth answer is lost and asked for again; on items where the best is right they take longer.
            slow = np.where(population.table[population.best] == population.truth, 8.0, 1.0)[numbers]
            run_with_delays(learner, rater, RandomDelays(slow, lost=0.1, seed=seed), n_raters=20, patience=20.0)
        else:
            drive(learner, rater)
        found.add(population.accuracy, learner)
    return found


def _rater(says: Says, numbers: Ints) -> Rater:
    return lambda question: says(int(numbers[question.item]), question.label)


def _erring(rater: Rater, f_no: float, f_yes: float, seed: int) -> Rater:
    """With errors that are independent from question to question."""
    if f_no == f_yes == 0:
        return rater
    rng = np.random.default_rng([seed, 1])

    def errs(question: Question) -> Answer | int:
        answer, u = rater(question), rng.random()
        if answer is Answer.YES and u < f_no:
            return Answer.NO
        return Answer.YES if answer is Answer.NO and u < f_yes else answer

    return errs


def for_epochs(n_epochs: int) -> Drive:
    """Answer so many epochs and stop: a run may be stopped at any time."""

    def drive(learner: CertifiedLearner, rater: Rater) -> None:
        while isinstance(questions := learner.ask(10_000), tuple) and questions[0].epoch < n_epochs:
            for question in questions:
                learner.tell(question.id, rater(question))

    return drive


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


def hardly_behind(n_rivals: int, n_items: int, n_each: int) -> tuple[Ints, Ints]:
    """Model 0 wins so many items against each rival and loses one less, on which others mostly say what it says.

    So each rival has a chance of its own to seem ahead. Model 0 always says 0, which is right on half of the items.
    """
    rng = np.random.default_rng(12)
    half = n_items // 2
    truth = np.repeat([0, 1], half)
    table = np.zeros((n_rivals + 1, n_items), dtype=np.int64)
    for row in table[1:]:
        row[rng.permutation(half)[:n_each]] = 1
        row[half + rng.permutation(half)[: n_each - 1]] = 1
    return table, truth


def against_the_crowd(n_others: int, n_won: int, n_lost: int) -> tuple[Ints, Ints]:
    """Model 0 alone is right on the items that it wins, and alone wrong on those it loses; others hardly differ."""
    rest = np.where(np.eye(n_others + 1, dtype=np.bool_)[:, 1:], 1, 0)
    table = np.zeros((n_others + 1, n_won + n_lost), dtype=np.int64)
    table[1:, :n_won] = table[0, n_won:] = 1
    table = np.concatenate([table, rest], axis=1)
    return table, np.zeros(table.shape[1], dtype=np.int64)


def _outvoted() -> tuple[Ints, Ints]:
    """Model 0 alone is right on 50 items, where the five others say two labels; on 25 they are right and it is not."""
    others = np.repeat([[1], [1], [2], [2], [1]], 50, axis=1)
    won = np.concatenate([np.zeros((1, 50), dtype=np.int64), others])
    lost = np.zeros((6, 25), dtype=np.int64)
    lost[0] = 3
    # Told apart among themselves by the rest, on which model 0 is right.
    rest = np.zeros((6, 25), dtype=np.int64)
    for h in range(1, 6):
        rest[h, h - 1] = 1
    return np.concatenate([won, lost, rest], axis=1), np.zeros(100, dtype=np.int64)


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


def _silent_where_wrong() -> tuple[Ints, Ints]:
    """The best speaks only where it is right: a wrong label that is accepted now and then is an advantage of others."""
    table, truth = of_accuracies(11, [60, 44, 44], 100, 3)
    table[0, table[0] != truth] = -1
    return table, truth


BARELY_AHEAD = of_accuracies(1, [75, 54, 54, 53, 52], 100, 3)
SILENT_WHERE_WRONG = _silent_where_wrong()
TWO_TO_THE_END = of_accuracies(8, [51, 50], 100, 2)

POPULATIONS = {
    "barely ahead": Population(*BARELY_AHEAD, 3, eps=0.2),
    "barely ahead, stream": Population(*BARELY_AHEAD, 3, eps=0.2, stream=True),
    "rare decisive items": Population(*_rare(), 3, eps=0.1, delta=0.2),
    "duplicates": Population(BARELY_AHEAD[0][[1, 0, 1, 2, 0, 3, 4, 4]], BARELY_AHEAD[1], 3, eps=0.2),
    "two labels": Population(*of_accuracies(2, [80, 59, 59, 58, 57], 100, 2), 2, eps=0.2),
    "two models": Population(*of_accuracies(3, [60, 44], 100, 4), 4, eps=0.15, delta=0.2),
    "two models, two labels": Population(*of_accuracies(4, [51, 40], 100, 2), 2, eps=0.1, delta=0.2),
    "alone in being right": Population(*alone_in_being_right(10, 45, 20, 35), 10, eps=0.24),
    "outvoted": Population(*_outvoted(), 4, eps=0.2),
    "abstainers": Population(*_abstaining(), 4, eps=0.2),
    "late and lost answers": Population(*BARELY_AHEAD, 3, eps=0.2, late=True),
    "can't tell": Population(*BARELY_AHEAD, 3, eps=0.15, unsure=np.arange(100) % 5 == 0),
    "raters who err": Population(*BARELY_AHEAD, 3, eps=0.2, f_no=0.1, f_yes=0.05),
    "raters who err, stream": Population(*BARELY_AHEAD, 3, eps=0.2, f_no=0.1, f_yes=0.05, stream=True),
    "raters who err, abstainers": Population(*SILENT_WHERE_WRONG, 3, eps=0.15, delta=0.2, f_no=0.1, f_yes=0.1),
    "raters who err, abstainers, stream": Population(
        *SILENT_WHERE_WRONG, 3, eps=0.15, delta=0.2, f_no=0.1, f_yes=0.1, stream=True
    ),
    "follow-up": Population(*BARELY_AHEAD, 3, eps=0.2, protocol="follow-up", late=True),
    "follow-up, stream": Population(*BARELY_AHEAD, 3, eps=0.2, protocol="follow-up", stream=True),
    "labels": Population(*BARELY_AHEAD, 3, eps=0.2, protocol="labels"),
    "a pool to its end, one-shot": Population(*of_accuracies(7, [21, 20, 20, 19], 40, 3), 3, eps=1e-6, delta=0.2),
    "a pool to its end": Population(
        *of_accuracies(7, [21, 20, 20, 19], 40, 3), 3, eps=1e-6, delta=0.2, protocol="follow-up"
    ),
    "a pool to its end, two models": Population(*TWO_TO_THE_END, 2, eps=1e-6, delta=0.2, protocol="follow-up"),
}
