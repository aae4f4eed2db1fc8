"""What the certified learner promises holds as often as it says, scored on the truth; twins that break a rule fail.

The number of runs comes from ONEBIT_RUNS: a small set here, 2,000 for each population in full. Each comparison raises
a false alarm with probability at most 1e-6 even for a learner that errs exactly as often as delta permits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.statistical.certified_populations import (
    ALONE_AMONG_MANY,
    POPULATIONS,
    Population,
    Rater,
    Tally,
    for_epochs,
    tally,
)

from onebit.estimate.betting import bets_within
from onebit.learners.certified import CertifiedLearner
from onebit.learners.epoch import Epoch
from onebit.learners.evidence import IndependentEvidence, Settled, n_labels_at
from onebit.records import Answer, RunStatus, Status

Bools = NDArray[np.bool_]
#: Enough for the twins: they fail in most runs.
TWIN_RUNS = 40


@pytest.mark.parametrize("name", POPULATIONS)
def test_the_promise_holds(name: str, measured: Callable[[str], None]) -> None:
    population = POPULATIONS[name]
    accuracy = np.unique(population.accuracy)
    # The best is ahead by more than eps, so that choosing any other would be wrong.
    assert accuracy[-1] - accuracy[-2] > population.eps
    found = tally(population)
    measured(f"certified learner, {name}, delta = {population.delta:g}: {found}")
    assert found.complete == found.runs
    assert found.wrong <= found.most(population.delta)
    assert found.lost <= found.most(population.delta)


def selected(settled: Settled, chosen: Bools) -> Settled:
    """Only the chosen rounds."""
    drawn = replace(settled.drawn, items=settled.drawn.items[chosen], said=settled.drawn.said[:, chosen])
    per_round = {
        name: value[chosen]
        for name, value in vars(settled).items()
        if isinstance(value, np.ndarray) and value.shape == chosen.shape
    }
    return replace(settled, drawn=drawn, **per_round)


class BetsByTheDrawnItem(CertifiedLearner):
    """The twin whose bets are capped by the range of the item drawn, |A(x)| / gamma, not by that of the epoch."""

    def _close(self, epoch: Epoch, if_not_over: RunStatus = RunStatus.RUNNING) -> None:
        gamma, survivors, eps = epoch.record.exploration.gamma, epoch.record.survivors, self._eps

        class OwnRange(IndependentEvidence):
            def add(self, settled: Settled, bets: NDArray[np.float64]) -> None:
                n_labels = n_labels_at(settled.drawn.said[survivors])
                for n in np.unique(n_labels):
                    super().add(selected(settled, n_labels == n), bets_within(n / gamma, eps))

        self._evidence.__class__ = OwnRange
        super()._close(epoch, if_not_over)


def test_a_twin_whose_bets_look_at_the_drawn_item_fails(measured: Callable[[str], None]) -> None:
    """Where the best wins, labels are many and bets small; where it loses, they are few and bets large.

    It is eliminated in the first epochs, before it has led.
    """
    honest = tally(ALONE_AMONG_MANY, TWIN_RUNS, drive=for_epochs(3))
    assert honest.lost <= honest.most(ALONE_AMONG_MANY.delta)
    found = tally(ALONE_AMONG_MANY, TWIN_RUNS, BetsByTheDrawnItem, drive=for_epochs(3))
    measured(f"twin that bets by the drawn item's own labels, three epochs: {found}")
    assert found.lost > found.most(ALONE_AMONG_MANY.delta)


class DropsLateAnswers(CertifiedLearner):
    """The twin that closes an epoch without the rounds whose answers have not come."""

    def drop_open(self) -> None:
        epoch = self._epoch
        assert epoch is not None
        came = epoch.is_settled.copy()
        epoch.is_settled[:] = True
        settled = selected(epoch.settled_prefix(), came)
        epoch.settled_prefix = lambda: settled  # type: ignore[method-assign]
        self._ledger.n_open = 0
        self._close(epoch)


def answered_or_dropped(slow: Bools) -> Callable[[CertifiedLearner, Rater], object]:
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


def won_by_the_best(population: Population) -> Bools:
    """Items on which the best is right and some other is not."""
    right = population.table == population.truth
    won: Bools = right[population.best] & ~right.all(axis=0)
    return won


def test_a_twin_that_drops_late_answers_fails(measured: Callable[[str], None]) -> None:
    """The items on which the best is ahead take long. Waiting for them is "late and lost answers" above."""
    population = POPULATIONS["barely ahead"]
    drive = answered_or_dropped(won_by_the_best(population))
    found = tally(population, TWIN_RUNS, DropsLateAnswers, drive=drive)
    measured(f"twin that drops late answers: {found}")
    assert found.lost > found.most(population.delta)
    assert found.wrong > found.most(population.delta)


def test_cant_tell_that_depends_on_the_label_asked_breaks_the_promise(measured: Callable[[str], None]) -> None:
    """The assumption broken: where the best is ahead, raters won't say yes to the right label, but no to a wrong one.

    The certificate is then not about accuracy, by which it is scored here.
    """
    population = POPULATIONS["barely ahead"]
    shy = won_by_the_best(population)

    def shy_of_yes(item: int, label: int | None) -> Answer | int:
        said = population.answer(item, label)
        return Answer.CANT_TELL if shy[item] and said is Answer.YES else said

    found = tally(population, TWIN_RUNS, answer=shy_of_yes)
    measured(f"raters who can't tell where yes is right: {found}")
    assert found.wrong > found.most(population.delta)


@pytest.mark.parametrize("name", ["two models", "a pool to its end, two models"])
def test_the_event_behind_the_promise_is_as_rare_as_delta(name: str, measured: Callable[[str], None]) -> None:
    """Whatever is wrong in a run of two models needs one event: their wealth at their true gap ever reaches 1 / delta.

    It is counted at the end of each epoch, and more often than what it causes: it does not ask who leads.
    """
    population = POPULATIONS[name]
    best, other = population.best, 1 - population.best
    # A hair below the gap, so that rounding does not ask for more than a pool has.
    gap = float(population.accuracy[best] - population.accuracy[other]) - 1e-12
    happened = Tally()

    def drive(learner: CertifiedLearner, rater: Rater) -> None:
        highest = 0.0
        while isinstance(questions := learner.ask(10_000), tuple):
            for question in questions:
                learner.tell(question.id, rater(question))
            _ = learner.result
            highest = max(highest, float(learner._evidence.wealth.log_wealth(other, gap)[best]))
        happened.runs += 1
        happened.wrong += highest >= -np.log(population.delta)

    found = tally(population, drive=drive)
    measured(f"wealth at the true gap reached 1 / delta, {name}: {happened.wrong} of {happened.runs} runs")
    assert found.wrong <= happened.wrong
    assert happened.wrong <= happened.most(population.delta)
