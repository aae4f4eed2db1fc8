"""How many answers a study will take, before anybody is asked: rehearsed on the table itself, as ``onebit plan`` does.

Raters err in it as often as the study allows for. The training of a classifier takes its budget: nothing is rehearsed.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from onebit.raters import ErringRater, SimulatedRater
from onebit.records import SelectionSpec, Setting, TrainingSpec
from onebit.study.kinds.selectors import build_selection
from onebit.study.rehearsal import imagined_truths
from onebit.tables import ModelTable
from onebit.tables.data import Data

#: What a plan is rehearsed with, so that the same choice gives the same plan.
PLAN_SEED = 0
#: Seconds that each simulation may take; what it has asked by then is less than will be needed.
PATIENCE = 3.0
AT_A_TIME = 64


@dataclass(frozen=True)
class Foresight:
    """Answers that are likely needed, ``low`` to ``high``; ``at_least`` where a simulation was cut off."""

    low: int
    high: int
    at_least: bool
    seconds_per_answer: float

    @property
    def hours(self) -> tuple[float, float]:
        return self.low * self.seconds_per_answer / 3600, self.high * self.seconds_per_answer / 3600


def foresee(spec: SelectionSpec | TrainingSpec, source: ModelTable | Data) -> Foresight:
    """What the study will take. Of models, it is simulated with right labels that the models' votes make likely.

    Each question is answered by the raters of ``overlap``, or as many of them as settle it; what only checks raters
    comes besides.
    """
    if isinstance(spec, TrainingSpec):
        runs = [(spec.setting(source.n_items).budget, True)]
    elif isinstance(source, ModelTable):
        setting = replace(spec, seed=PLAN_SEED).setting()
        truths = imagined_truths(source.predictions, setting.seed)
        runs = [_simulate(source, setting, truth) for truth in truths]
    n_questions = [n for n, _ in runs]
    checks = spec.check_share / (1 - spec.check_share)
    low = min(n_questions) * ((spec.overlap + 1) // 2 + checks)
    high = max(n_questions) * (spec.overlap + checks)
    at_least = not all(was_all for _, was_all in runs)
    return Foresight(math.ceil(low), math.ceil(high), at_least, spec.seconds_per_answer)


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
