"""What other ways to choose would have cost on the same table: simulated where the truth is known, or forecast."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from onebit.learners.contract import run
from onebit.raters import SimulatedRater
from onebit.records import AskingProtocol, RunStatus, Setting
from onebit.report.record import Price
from onebit.study.constants import MOST_TO_REHEARSE, MOST_TO_SIMULATE
from onebit.study.kinds.selection.all_labels import AllLabels
from onebit.study.kinds.selection.forecast import forecast
from onebit.study.kinds.selection.imagining import Answered, Table
from onebit.study.kinds.selection.rehearsal import Progress, n_outputs, rehearse
from onebit.study.kinds.selection.selectors import build_selection

SIMULATED = "simulated, the same stopping rule"
#: The ways to ask about labels, and what their prices are called.
WAYS: dict[AskingProtocol, str] = {
    "one-shot": "One-shot",
    "follow-up": "Follow-up",
    "labels": "Full labels of random items",
}


def forecast_prices(
    table: Table, setting: Setting, answered: Answered | None = None, progress: Progress | None = None
) -> tuple[Price, ...]:
    """What the other ways to ask would have cost on the user's own table, where nobody knows the truth.

    A forecast, not a theorem and not a measurement: one-shot, follow-up and full labels, all but the one that
    ``setting`` asks by, are rehearsed by the real learner to the same eps and delta, on imagined truths that keep to
    what raters have ``answered``. ``Price.answers`` is the middle of each forecast, and ``Price.source`` tells its
    range. Raters who err are for one-shot alone: the other ways assume answers that are right, and are priced so.

    Every rehearsal goes to its end, whatever time it takes, so that the prices are the same wherever a report is
    recomputed; of tables with more than MOST_TO_REHEARSE predictions nothing is told. Free texts and gates have no
    other way (``price_of_all_outputs`` counts what all would cost), and a budget that is spent has no eps. A way is
    left out whose rehearsals were given up.

    >>> said = np.array([[0, 1, 2] * 30, [0, 1, 1] * 30])
    >>> [price.way for price in forecast_prices(Table(said, 3), Setting(0.1, 0.05, "one-shot"))]
    ['Follow-up', 'Full labels of random items']
    """
    if not has_other_ways(setting) or table.predictions.size > MOST_TO_REHEARSE:
        return ()
    found = []
    others = {protocol: way for protocol, way in WAYS.items() if protocol != setting.protocol}
    for number, (protocol, way) in enumerate(others.items()):
        own = replace(table, judge=None if protocol == "labels" else table.judge)
        told = None if progress is None else _part(progress, number, len(others))
        rehearsal = rehearse(own, _asking_by(protocol, setting), answered=answered, progress=told)
        needed = forecast(rehearsal, setting.eps)
        if not needed.at_least:
            source = f"forecast, likely {needed.low:,} to {needed.high:,}"
            found.append(Price(way, needed.middle, "labels" if protocol == "labels" else "answers", source))
    return tuple(found)


def has_other_ways(setting: Setting) -> bool:
    """Whether the same could have been asked in another way."""
    return setting.protocol != "panel" and setting.baseline is None and not setting.ranks


def _part(progress: Progress, number: int, n_parts: int) -> Progress:
    """The progress of one of several parts that take about as long as each other."""
    return lambda done, whole: progress(number * whole + done, n_parts * whole)


def _asking_by(protocol: AskingProtocol, setting: Setting) -> Setting:
    """The setting with another protocol, and without what only its own has."""
    return replace(
        setting,
        protocol=protocol,
        passive=protocol == "labels",
        budget=None,
        f_no=setting.f_no if protocol == "one-shot" else 0.0,
        f_yes=setting.f_yes if protocol == "one-shot" else 0.0,
        exhaustive=setting.exhaustive and protocol == "follow-up",
    )


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
    n_all = int(n_outputs(predictions).sum())
    return Price("Every output of every item", n_all, "answers", "counted on this table")


def counted_prices(predictions: NDArray[np.integer], setting: Setting) -> tuple[Price, ...]:
    """What it costs to ask about everything, where nobody knows the truth: an answer to every label that models give.

    Also a label for every item, where labels are not what was asked for.
    """
    n_items = int(predictions.shape[1])
    of_items = Price("The label of every item", n_items, "labels", "counted on this table")
    of_labels = replace(price_of_all_outputs(predictions), way="Every label that models give to every item")
    return (of_labels,) if setting.protocol == "labels" else (of_labels, of_items)


def _labels(
    predictions: NDArray[np.integer], truth: NDArray[np.int64], n_labels: int, setting: Setting
) -> tuple[Price, ...]:
    selection = build_selection(_asking_by("labels", setting), "certified", predictions, n_labels)
    rater = SimulatedRater(truth)
    result = run(selection.learner, lambda question: rater(replace(question, item=selection.row(question.item))))
    if result.status is not RunStatus.COMPLETE:
        return ()
    return (Price(WAYS["labels"], result.n_answers, "labels", SIMULATED),)


def _guesses(
    predictions: NDArray[np.integer], truth: NDArray[np.int64], n_labels: int, setting: Setting
) -> tuple[Price, ...]:
    """Uniform guesses over all labels, unless those are too many to simulate."""
    simulation = AllLabels(predictions, truth, n_labels, eps=setting.eps, delta=setting.delta, seed=setting.seed)
    cost = simulation.run(mixes=False)
    if cost.given_up:
        return (Price("Uniform guesses, at least", cost.n_answers, "answers", "simulated, and given up there"),)
    return (Price("Uniform guesses over all labels", cost.n_answers, "answers", SIMULATED),)
