"""Twins of the panel, each of which breaks one rule of its promise, with what shows it; they must fail."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tests.panels import Floats, Judge, Panel
from tests.statistical.certified_populations import Tally
from tests.statistical.panel_populations import (
    CASES,
    CROWD,
    Case,
    Drive,
    Kind,
    close_to_the_first,
    judges_the_first_two,
    unsure_about_rivals,
)

from onebit.estimate.panels import PanelWealth
from onebit.learners.certified import PanelLearner
from onebit.learners.certified.panel_evidence import PanelEvidence
from onebit.learners.certified.standing import Standing
from onebit.learners.contract import run
from onebit.records import Answer


class WealthOfWhatIsKnown(PanelWealth):
    """Leaves out the items of a pair whose verdicts are unknown, and goes on behind them."""

    def log_wealth(self, leader: int, c: float, keep: bool = False) -> Floats:
        found = np.zeros(self._said.shape[0])
        n_differ = self._n_differ(leader)
        for h in range(found.size):
            said, verdict = self._said[[h, leader]], self._verdict[[h, leader]]
            known = (said[0] == said[1]) | (verdict >= 0).all(axis=0)
            pair = PanelWealth(said[:, known], verdict[:, known], self._n_items, lambda _, h=h: n_differ[[h, leader]])  # type: ignore[misc]
            found[h] = pair.log_wealth(1, c)[0]
        return found


class EvidenceOfWhatIsKnown(PanelEvidence):
    def _update_wealth(self) -> None:
        super()._update_wealth()
        self._wealth.__class__ = WealthOfWhatIsKnown


class SkipsTheUnknown(PanelLearner):
    """Uses the verdicts that happen to be known: of who is dormant, those on what it says in the words of others."""

    def __init__(self, *args: object, **options: object) -> None:
        super().__init__(*args, **options)  # type: ignore[arg-type]
        self._evidence.__class__ = EvidenceOfWhatIsKnown
        self._evidence._update_wealth()


class VoidsTheItem(PanelLearner):
    """Leaves an item out about one of whose outputs a rater can't tell."""

    def tell(self, question_id: int, answer: Answer | int) -> None:
        super().tell(question_id, answer)
        if answer is Answer.CANT_TELL:
            place = int(np.flatnonzero(self._items == self._ledger.questions[question_id].item)[0])
            self.__dict__.setdefault("void", set()).add(place)

    def _close(self, *args: object, **options: object) -> None:
        panel = self._panel
        void: set[int] = self.__dict__.get("void", set())
        if panel is not None:
            panel.accepted = {cell: yes and cell[0] not in void for cell, yes in panel.accepted.items()}
        super()._close(*args, **options)  # type: ignore[arg-type]


class TakesTheTablesOrder(PanelLearner):
    """Goes through the items as they stand in the table."""

    def __init__(self, *args: object, **options: object) -> None:
        super().__init__(*args, **options)  # type: ignore[arg-type]
        assert self._pool_said is not None
        self._items = np.arange(self._pool_said.shape[1])
        self._evidence = PanelEvidence(self._pool_said, is_pool=True)


class AllToTheLeader(PanelLearner):
    """Spends all of delta on whoever turns out to lead."""

    def _first_standing(self) -> Standing:
        standing = super()._first_standing()
        standing.threshold[:] = -np.log(self._setting.delta)
        return standing


def for_epochs(n_epochs: int) -> Drive:
    """Answer so many epochs and stop: a run may be stopped at any time."""

    def drive(learner: PanelLearner, judge: Judge) -> None:
        while isinstance(asked := learner.ask(10_000), tuple) and asked[0].epoch < n_epochs:
            for question in asked:
                learner.tell(question.id, judge(question))

    return drive


def beside_one_another(learner: PanelLearner, judge: Judge) -> None:
    """Raters accept one output at most of those that they see together: the one of model 1, if it is there."""
    while isinstance(asked := learner.ask(10_000), tuple):
        shown = {(question.item, question.label) for question in asked}
        for question in asked:
            outdone = question.label == 0 and (question.item, 1) in shown
            learner.tell(question.id, Answer.NO if outdone else judge(question))


def stricter_later(learner: PanelLearner, judge: Judge) -> None:
    """Raters accept nothing any more after the first epoch, so that who comes back has lost."""
    judges_the_first_two(150)(learner, lambda question: Answer.NO if question.epoch > 0 else judge(question))


@dataclass(frozen=True)
class Twin:
    """What breaks a rule, and where; ``honest`` is how the same is done with the rule kept, and must hold."""

    case: Case
    kind: Kind = PanelLearner
    drive: Drive = run
    honest: Drive = run

    def tally(self, runs: int) -> Tally:
        return self.case.tally(runs, self.kind, self.drive)

    def kept(self, runs: int) -> Tally:
        return self.case.tally(runs, drive=self.honest)


def sorted_against_the_best() -> Case:
    """The rows on which model 1 beats the best stand first."""
    case = CASES["2 models"]
    ahead = case.panel.accepted[1].astype(np.int64) - case.panel.accepted[0]
    rows = np.argsort(-ahead, kind="stable")
    return Case(Panel(case.panel.said[:, rows], case.panel.yes[rows]), case.eps, case.delta)


DORMANT = Case(close_to_the_first(), eps=0.09)
UNSURE = Case(unsure_about_rivals()[0], eps=0.1, unsure=unsure_about_rivals()[1])
LONG = judges_the_first_two(150)

TWINS: dict[str, Twin] = {
    "unknown verdicts skipped": Twin(DORMANT, SkipsTheUnknown, LONG, LONG),
    "can't tell voids the item": Twin(UNSURE, VoidsTheItem),
    "the table's own order": Twin(sorted_against_the_best(), TakesTheTablesOrder),
    "delta spent afterwards": Twin(Case(CROWD, eps=0.004, stream=True), AllToTheLeader, for_epochs(10), for_epochs(10)),
    "verdicts by what is shown beside": Twin(UNSURE, drive=beside_one_another),
    "raters stricter with who comes back": Twin(DORMANT, drive=stricter_later, honest=LONG),
}
