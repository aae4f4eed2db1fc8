"""How many answers a study will take, before anybody is asked: simulated on the table itself.

The right labels are not known, so they are made up twice: as the vote of all models, which is easy, since then good
models stand out; and as the label of a model drawn for each item, which is hard, since then all are nearly equal.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onebit.randomness import generator
from onebit.raters import SimulatedRater
from onebit.records import Setting
from onebit.study.learners import build_selection
from onebit.study.recorder import Recorder
from onebit.tables import ModelTable

#: Seconds that a rater takes for an answer, as people do who see one item and press one key.
SECONDS_PER_ANSWER = 2.0
#: Seconds that each simulation may take; what it has asked by then is less than will be needed.
PATIENCE = 6.0
AT_A_TIME = 64


@dataclass(frozen=True)
class Foresight:
    """Answers that are likely needed, ``low`` to ``high``; ``at_least`` where a simulation was cut off."""

    low: int
    high: int
    at_least: bool

    @property
    def hours(self) -> tuple[float, float]:
        return self.low * SECONDS_PER_ANSWER / 3600, self.high * SECONDS_PER_ANSWER / 3600


def foresee(table: ModelTable, setting: Setting) -> Foresight:
    """Simulate the study with both kinds of made-up right labels."""
    easy, was_easy = _simulate(table, setting, _vote(table))
    hard, was_hard = _simulate(table, setting, _drawn(table, setting.seed))
    return Foresight(min(easy, hard), max(easy, hard), not (was_easy and was_hard))


def _simulate(table: ModelTable, setting: Setting, truth: NDArray[np.int64]) -> tuple[int, bool]:
    selection = build_selection(setting, "certified", table.predictions, max(2, table.n_labels))
    recorder, rater = Recorder(selection.learner), SimulatedRater(truth)
    end = time.monotonic() + PATIENCE
    while isinstance(questions := recorder.ask(AT_A_TIME), tuple):
        recorder.tell_all([(q.id, rater(replace(q, item=selection.row(q.item)))) for q in questions])
        recorder.drain()
        if time.monotonic() > end:
            return len(recorder.answers), False
    return len(recorder.answers), True


def _vote(table: ModelTable) -> NDArray[np.int64]:
    """The label that most models give, for each item; shape (n,)."""
    most = np.zeros(table.n_items, dtype=np.int64)
    best = np.zeros(table.n_items, dtype=np.int64)
    for label in range(table.n_labels):
        votes = (table.predictions == label).sum(axis=0)
        best = np.where(votes > most, label, best)
        most = np.maximum(most, votes)
    return best


def _drawn(table: ModelTable, seed: int) -> NDArray[np.int64]:
    """The label of a model drawn for each item; where that one abstains, the vote."""
    who = generator(seed, "a model for each item").integers(table.n_models, size=table.n_items)
    drawn: Any = table.predictions[who, np.arange(table.n_items)].astype(np.int64)
    return np.where(drawn >= 0, drawn, _vote(table))
