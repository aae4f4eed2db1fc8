"""What other ways to choose would have cost on the same table, by simulation where the right labels are known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from onebit.log.recorder import Recorder
from onebit.raters import SimulatedRater
from onebit.records import RunStatus, Setting
from onebit.report import Price
from onebit.study.all_labels import AllLabels
from onebit.study.learners import build_selection
from onebit.tables import ModelTable

SIMULATED = "simulated, the same stopping rule"


def measured_labels(table: ModelTable, n_labels: int, setting: Setting) -> tuple[Price, ...]:
    """What full labels of random items would have cost with the same stopping rule, by simulation with the truth."""
    passive = replace(setting, protocol="labels", passive=True, budget=None, f_no=0.0, f_yes=0.0, exhaustive=False)
    selection = build_selection(passive, "certified", table.predictions, n_labels)
    if table.truth is None:
        return ()
    rater, recorder = SimulatedRater(table.truth), Recorder(selection.learner)
    while isinstance(questions := recorder.ask(256), tuple):
        recorder.tell_all([(q.id, rater(replace(q, item=selection.row(q.item)))) for q in questions])
        recorder.drain()
    result = recorder.result
    if result.status is not RunStatus.COMPLETE:
        return ()
    return (Price("Full labels of random items", result.n_answers, "labels", SIMULATED),)


def measured_guesses(table: ModelTable, n_labels: int, setting: Setting) -> tuple[Price, ...]:
    """What uniform guesses over all labels would have cost with the same stopping rule, unless that is too many."""
    if table.truth is None:
        return ()
    truth = table.truth.astype(np.int64)
    simulation = AllLabels(table.predictions, truth, n_labels, eps=setting.eps, delta=setting.delta, seed=setting.seed)
    cost = simulation.run(mixes=False)
    if cost.given_up:
        return (Price("Uniform guesses, at least", cost.n_answers, "answers", "simulated, and given up there"),)
    return (Price("Uniform guesses over all labels", cost.n_answers, "answers", SIMULATED),)
