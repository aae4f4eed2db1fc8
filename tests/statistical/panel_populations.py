"""Populations on which the promise of panels is scored by simulation: free wording, several right answers, raters.

All is scored by verdicts: on a pool by those that every output would get in this run, on a stream by their mean.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from tests.panels import Bools, Floats, Ints, Judge, Panel
from tests.statistical.certified_populations import Tally, hardly_behind

from onebit.learners.certified import PanelLearner
from onebit.learners.contract import run
from onebit.records import Answer, EpochRecord, Question

Kind = type[PanelLearner]
Drive = Callable[[PanelLearner, Judge], object]
#: More than any run here takes from a stream.
STREAM_LENGTH = 4_000
#: How often a rater says the opposite who errs at random.
ERRS = 0.15


@dataclass(frozen=True, eq=False)
class Case:
    """A panel with the eps asked for; raters who ``err`` throw a coin for every output of an item, once.

    ``unsure`` (n, K) marks outputs that raters can't tell about: these are not accepted.
    """

    panel: Panel
    eps: float
    delta: float = 0.2
    stream: bool = False
    err: bool = False
    unsure: Bools | None = None

    def played(self, seed: int, kind: Kind = PanelLearner, drive: Drive = run) -> tuple[PanelLearner, Floats]:
        """A run, and how often each model is accepted."""
        rng = np.random.default_rng([seed, 15])
        n_outputs = self.panel.yes.shape[1]
        draws = rng.integers(0, self.panel.n_items, STREAM_LENGTH) if self.stream else None
        numbers = np.arange(self.panel.n_items) if draws is None else draws
        # What each output of each drawn item gets, whether anybody asks or not.
        flips = (rng.random((numbers.size, n_outputs)) < ERRS) & self.err
        yes = self.panel.yes[numbers] ^ flips
        learner = self.panel.learner(kind, draws, eps=self.eps, delta=self.delta, seed=seed)

        def says(question: Question) -> Answer:
            if self.unsure is not None and self.unsure[numbers[question.item], question.label]:
                return Answer.CANT_TELL
            return Answer.YES if yes[question.item, question.label] else Answer.NO

        drive(learner, says)
        if not self.stream:
            return learner, Panel(self.panel.said, yes).acceptance
        right, speaks = self.panel.acceptance, (self.panel.said >= 0).mean(axis=1)
        return learner, right + ERRS * (speaks - 2 * right) if self.err else right

    def tally(self, runs: int, kind: Kind = PanelLearner, drive: Drive = run) -> Tally:
        found = Tally()
        for seed in range(runs):
            learner, acceptance = self.played(seed, kind, drive)
            found.add(acceptance, learner)
        return found


def worded(right: Bools, own: tuple[int, ...] = ()) -> Panel:
    """Models that are ``right`` (N, n): in the same words, but for those with words of their ``own``; wrong in theirs.

    Output 0 is the wording that is shared, h + 1 what model h alone says when right, N + 1 + h when wrong.
    """
    n_models, n_items = right.shape
    wording = np.where(np.isin(np.arange(n_models), own), np.arange(1, n_models + 1), 0)
    said: Ints = np.where(right, wording[:, None], np.arange(n_models + 1, 2 * n_models + 1)[:, None])
    yes = np.zeros((n_items, 2 * n_models + 1), dtype=np.bool_)
    yes[:, : n_models + 1] = True
    return Panel(said, yes)


def right_on(n_right: list[int], n_items: int = 100, seed: int = 0) -> Bools:
    """Models that are right on exactly so many items, chosen at random; (N, n)."""
    rng = np.random.default_rng(seed)
    rank: Ints = np.array([rng.permutation(n_items) for _ in n_right])
    right: Bools = rank < np.array(n_right)[:, None]
    return right


def strict_with_one_style() -> Panel:
    """Model 0 is right most often, but a rater denies two fifths of what it says in its own words."""
    panel = worded(right_on([75, 62, 44, 44]), own=(0,))
    panel.yes[np.flatnonzero(panel.said[0] == 1)[::5], 1] = False
    panel.yes[np.flatnonzero(panel.said[0] == 1)[1::5], 1] = False
    return panel


def barely_different() -> Panel:
    """Five models that say the same on 88 items; on the other twelve, four are right on four, and the best on eight."""
    right = np.ones((5, 100), dtype=np.bool_)
    right[:, :12] = right_on([8, 4, 4, 4, 4], 12, seed=2)
    return worded(right, own=(0, 2))


def close_to_the_first() -> Panel:
    """Model 2 differs from model 0 on 26 of 300 items and wins them all; model 1 wins 25 others against both.

    With eps .09 no answer is needed to tell that model 2 is not ahead of model 0 by eps: it is dormant while 0 leads.
    Model 1 also has other words than the two on 75 items, where all are right.
    """
    said: Ints = np.zeros((3, 300), dtype=np.int64)
    said[2, :26], said[1, 26:126] = 2, 1
    yes = np.zeros((300, 3), dtype=np.bool_)
    yes[:26, 2] = yes[26:51, 1] = yes[51:200] = True
    return Panel(said, yes)


def judges_the_first_two(n_items: int) -> Drive:
    """The first epoch judges models 0 and 1 on so many items; who plans how is no matter of the promise."""

    def drive(learner: PanelLearner, judge: Judge) -> None:
        learner.adopt(EpochRecord(0, 0, n_items, leader=0, survivors=(0, 1, 2), mixture=((1, 1.0),), gamma=1.0))
        run(learner, judge)

    return drive


def unsure_about_rivals() -> tuple[Panel, Bools]:
    """The best wins 40 items; on 32 of these raters can't tell about its rival's output. The rival wins 25, plainly."""
    said = np.tile(np.array([[0], [1]]), (1, 100))
    yes = np.zeros((100, 2), dtype=np.bool_)
    yes[:40, 0] = yes[40:65, 1] = True
    unsure = np.zeros((100, 2), dtype=np.bool_)
    unsure[:32, 1] = True
    return Panel(said, yes), unsure


def abstaining() -> Panel:
    """The best says nothing where it is wrong."""
    panel = worded(right_on([70, 52, 50, 49]), own=(0, 1))
    panel.said[0, panel.said[0] > 4] = -1
    return panel


def labelled(table: Ints, truth: Ints) -> Panel:
    """A table of labels, one of which is right on each item."""
    return Panel(table, truth[:, None] == np.arange(table.max() + 1))


OWN_WORDS = worded(right_on([75, 54, 54, 53, 52]), own=(0,))
#: 200 rivals, each with a chance of its own to seem ahead of the best.
CROWD = labelled(*hardly_behind(200, 200, 14))

CASES = {
    "all answers are right": Case(worded(right_on([100] * 4), own=(0, 1, 2, 3)), eps=0.1),
    "no answer is right": Case(worded(right_on([0] * 4)), eps=0.1),
    "the best has its own words": Case(OWN_WORDS, eps=0.2),
    "the best has its own words, stream": Case(OWN_WORDS, eps=0.2, stream=True),
    "all have their own words": Case(worded(right_on([75, 54, 54, 53, 52]), own=(0, 1, 2, 3, 4)), eps=0.2),
    "a rater errs at random": Case(OWN_WORDS, eps=0.05, err=True),
    "a rater errs at random, stream": Case(OWN_WORDS, eps=0.14, err=True, stream=True),
    "strict with one model's style": Case(strict_with_one_style(), eps=0.15),
    "strict with one model's style, stream": Case(strict_with_one_style(), eps=0.15, stream=True),
    "barely different": Case(barely_different(), eps=0.03),
    "barely different, stream": Case(barely_different(), eps=0.03, stream=True),
    "close to the first leader": Case(close_to_the_first(), eps=0.09),
    "can't tell about rivals": Case(unsure_about_rivals()[0], eps=0.1, unsure=unsure_about_rivals()[1]),
    "abstainers": Case(abstaining(), eps=0.15),
    "a pool to its end": Case(worded(right_on([16, 15, 15, 14], 30, seed=3), own=(0, 2)), eps=1e-6),
    **{f"{n} models": Case(worded(right_on([60] + [44] * (n - 1), seed=n), own=(0, 1)), eps=0.15) for n in range(2, 9)},
}
