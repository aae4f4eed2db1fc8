"""How many answers a study will take, before anybody is asked: simulated on the table itself.

The right labels are not known, so they are made up twice: as the vote of all models, which is easy, since then good
models stand out; and as the label of a model drawn for each item, which is hard, since then all are nearly equal.
Raters err in it as often as the study allows for.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onebit.randomness import generator
from onebit.raters import ErringRater, SimulatedRater
from onebit.records import Setting
from onebit.study.learners import build_selection
from onebit.study.recorder import Recorder
from onebit.tables import ModelTable

#: Seconds that a rater takes to see an item and press one key; and to choose a label, which takes longer. Both are
#: rough, and told with every plan.
SECONDS_PER_ANSWER, SECONDS_PER_LABEL = 2.0, 5.0
#: Seconds that each simulation may take; what it has asked by then is less than will be needed.
PATIENCE = 6.0
AT_A_TIME = 64


@dataclass(frozen=True)
class Foresight:
    """Answers that are likely needed, ``low`` to ``high``; ``at_least`` where a simulation was cut off."""

    low: int
    high: int
    at_least: bool
    seconds_per_answer: float = SECONDS_PER_ANSWER

    @property
    def hours(self) -> tuple[float, float]:
        return self.low * self.seconds_per_answer / 3600, self.high * self.seconds_per_answer / 3600


def foresee(table: ModelTable, setting: Setting, overlap: int, check_share: float) -> Foresight:
    """Simulate the study with both kinds of made-up right labels.

    ``overlap`` raters answer a question, or as many of them as settle it; ``check_share`` of what is given to raters
    besides only checks them.
    """
    easy, was_easy = _simulate(table, setting, _vote(table))
    hard, was_hard = _simulate(table, setting, _drawn(table, setting.seed))
    checks = check_share / (1 - check_share)
    low = min(easy, hard) * ((overlap + 1) // 2 + checks)
    high = max(easy, hard) * (overlap + checks)
    seconds = SECONDS_PER_LABEL if setting.protocol == "labels" else SECONDS_PER_ANSWER
    return Foresight(math.ceil(low), math.ceil(high), not (was_easy and was_hard), seconds)


def _simulate(table: ModelTable, setting: Setting, truth: NDArray[np.int64]) -> tuple[int, bool]:
    """How many questions it takes; and whether that is all, or the patience was at its end."""
    selection = build_selection(setting, "certified", table.predictions, max(2, table.n_labels))
    recorder = Recorder(selection.learner)
    errs = setting.f_no + setting.f_yes > 0
    rater = (
        ErringRater(truth, f_no=setting.f_no, f_yes=setting.f_yes, seed=setting.seed, anew=True)
        if errs
        else SimulatedRater(truth)
    )
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
