"""How many answers a study will take, before anybody is asked: rehearsed on the table itself, as ``onebit plan`` does.

Raters err in it as often as the study allows for.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from onebit.raters import ErringRater, SimulatedRater
from onebit.records import Setting
from onebit.study.kinds.selectors import build_selection
from onebit.study.rehearsal import imagined_truths
from onebit.tables import ModelTable

#: Seconds that a rater takes to see an item and press one key; and to choose a label, which takes longer. Both are
#: rough, and told with every plan.
SECONDS_PER_ANSWER, SECONDS_PER_LABEL = 2.0, 5.0
#: Seconds that each simulation may take; what it has asked by then is less than will be needed.
PATIENCE = 3.0
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
    """Simulate the study with right labels that the models' votes make likely.

    ``overlap`` raters answer a question, or as many of them as settle it; ``check_share`` of what is given to raters
    besides only checks them.
    """
    runs = [_simulate(table, setting, truth) for truth in imagined_truths(table.predictions, setting.seed)]
    n_questions = [n for n, _ in runs]
    checks = check_share / (1 - check_share)
    low = min(n_questions) * ((overlap + 1) // 2 + checks)
    high = max(n_questions) * (overlap + checks)
    seconds = SECONDS_PER_LABEL if setting.protocol == "labels" else SECONDS_PER_ANSWER
    return Foresight(math.ceil(low), math.ceil(high), not all(was_all for _, was_all in runs), seconds)


def _simulate(table: ModelTable, setting: Setting, truth: NDArray[np.int64]) -> tuple[int, bool]:
    """How many questions it takes; and whether that is all, or the patience was at its end."""
    selection = build_selection(setting, "certified", table.predictions, max(2, table.n_labels))
    errs = setting.f_no + setting.f_yes > 0
    rater = (
        ErringRater(truth, f_no=setting.f_no, f_yes=setting.f_yes, seed=setting.seed, anew=True)
        if errs
        else SimulatedRater(truth)
    )
    learner, n_questions, end = selection.learner, 0, time.monotonic() + PATIENCE
    while isinstance(questions := learner.ask(AT_A_TIME), tuple):
        for question in questions:
            learner.tell(question.id, rater(replace(question, item=selection.row(question.item))))
        n_questions += len(questions)
        if time.monotonic() > end:
            return n_questions, False
    return n_questions, True
