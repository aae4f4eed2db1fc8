"""What other ways to choose would have cost on the same table: simulated, where the truth is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from onebit.learners.contract import run
from onebit.raters import SimulatedRater
from onebit.records import RunStatus, Setting
from onebit.report.record import Price
from onebit.study.constants import MOST_TO_SIMULATE
from onebit.study.kinds.selection.all_labels import AllLabels
from onebit.study.kinds.selection.selectors import build_selection

SIMULATED = "simulated, the same stopping rule"


def measured_prices(
    predictions: NDArray[np.integer], truth: NDArray[np.int64], n_labels: int, setting: Setting
) -> tuple[Price, ...]:
    """What uniform guesses cost, and full labels of random items where those are not what was asked for."""
    if predictions.size > MOST_TO_SIMULATE:
        return ()
    guesses = _guesses(predictions, truth, n_labels, setting)
    return guesses if setting.protocol == "labels" else (*guesses, *_labels(predictions, truth, n_labels, setting))


def price_of_all_outputs(predictions: NDArray[np.integer]) -> Price:
    """What it costs to judge every distinct output of every item, after which all is known."""
    ordered = np.sort(predictions, axis=0)
    is_new = np.ones(ordered.shape, dtype=np.bool_)
    is_new[1:] = ordered[1:] != ordered[:-1]
    return Price("Every output of every item", int((is_new & (ordered >= 0)).sum()), "answers", "counted on this table")


def _labels(
    predictions: NDArray[np.integer], truth: NDArray[np.int64], n_labels: int, setting: Setting
) -> tuple[Price, ...]:
    passive = replace(setting, protocol="labels", passive=True, budget=None, f_no=0.0, f_yes=0.0, exhaustive=False)
    selection = build_selection(passive, "certified", predictions, n_labels)
    rater = SimulatedRater(truth)
    result = run(selection.learner, lambda question: rater(replace(question, item=selection.row(question.item))))
    if result.status is not RunStatus.COMPLETE:
        return ()
    return (Price("Full labels of random items", result.n_answers, "labels", SIMULATED),)


def _guesses(
    predictions: NDArray[np.integer], truth: NDArray[np.int64], n_labels: int, setting: Setting
) -> tuple[Price, ...]:
    """Uniform guesses over all labels, unless those are too many to simulate."""
    simulation = AllLabels(predictions, truth, n_labels, eps=setting.eps, delta=setting.delta, seed=setting.seed)
    cost = simulation.run(mixes=False)
    if cost.given_up:
        return (Price("Uniform guesses, at least", cost.n_answers, "answers", "simulated, and given up there"),)
    return (Price("Uniform guesses over all labels", cost.n_answers, "answers", SIMULATED),)
