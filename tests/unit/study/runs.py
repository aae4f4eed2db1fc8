"""A small selection that the tests of studies share."""

from __future__ import annotations

import numpy as np
from tests.problems import models_of_accuracy

from onebit.log.events import Created, LearnerName, TableFacts
from onebit.raters import SimulatedRater
from onebit.records import Answer, Question, Setting
from onebit.study.kinds.selection.selectors import Selected, build_selection

N_LABELS = 5
PREDICTIONS, TRUTH = models_of_accuracy(np.random.default_rng(0), np.linspace(0.3, 0.9, 8), 300, N_LABELS)
FACTS = TableFacts("f" * 64, PREDICTIONS.shape[0], PREDICTIONS.shape[1], N_LABELS)
ONE_SHOT = Setting(eps=0.05, seed=3)
FOLLOW_UP = Setting(eps=0.05, seed=3, protocol="follow-up")
PANEL = Setting(eps=0.05, seed=3, protocol="panel")
LABELS = Setting(eps=0.05, seed=3, protocol="labels")
STREAM = Setting(eps=0.05, seed=3, population="stream")
SMALL = Setting(eps=0.2, seed=3, budget=600)
#: Every learner and protocol.
RUNS: dict[str, tuple[LearnerName, Setting]] = {
    "one-shot": ("certified", ONE_SHOT),
    "follow-up": ("certified", FOLLOW_UP),
    "panel": ("certified", PANEL),
    "labels": ("certified", LABELS),
    "stream": ("certified", STREAM),
    "paper": ("paper", SMALL),
    "uniform": ("uniform", SMALL),
}


def created(setting: Setting = ONE_SHOT, learner: LearnerName = "certified") -> Created:
    return Created(setting, learner, FACTS)


def fresh(setting: Setting = ONE_SHOT, learner: LearnerName = "certified") -> Selected:
    return build_selection(setting, learner, PREDICTIONS, N_LABELS)


def truth_of(selection: Selected, question: Question) -> Answer | int:
    """What a rater who knows the truth says."""
    return SimulatedRater(TRUTH[selection.rows])(question)
