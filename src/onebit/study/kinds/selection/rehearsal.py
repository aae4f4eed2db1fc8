"""What a selection will cost, before it starts: it is rehearsed on truths that the models' votes make likely.

A forecast, not a promise. How far the best model is ahead decides what a run costs, and votes do not show that; so each
imagined truth follows another of the trusted models, some more and some less closely, and the spread is told as well.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from onebit.learners.certified import CertifiedResult
from onebit.learners.certified.outputs import plurality
from onebit.learners.contract import Learner, run
from onebit.randomness import generator
from onebit.raters import Rater, SimulatedRater, VerdictRater
from onebit.records import AskingProtocol, Setting
from onebit.study.constants import (
    ACCEPTED,
    LEADS,
    MIN_TRUSTED,
    MOST_REHEARSED,
    SHARED,
    TEXT_GAPS,
    TRUSTED_SHARE,
)
from onebit.study.kinds.selection.selectors import build_selection

Predictions = NDArray[np.integer]


@dataclass(frozen=True)
class Cost:
    """Answers until ``eps`` is certified: the median of the rehearsals, and their range; None where one had no end."""

    protocol: AskingProtocol
    eps: float
    low: int | None
    middle: int | None
    high: int | None


def imagined_truths(predictions: Predictions, seed: int) -> list[NDArray[np.int64]]:
    """Truths (n,), one for each of LEADS: on every item some trusted model is right, the leader more often than others.

    Leaders are the trusted models that agree most with the vote of the trusted. Where the model that is drawn abstains,
    nobody is right.
    """
    n_items = predictions.shape[1]
    n_trusted = min(predictions.shape[0], max(MIN_TRUSTED, round(TRUSTED_SHARE * predictions.shape[0])))
    trusted = predictions[_by_agreement(predictions)[:n_trusted]]
    leaders = _by_agreement(trusted)
    rng = generator(seed, "imagined truths")
    truths = []
    for place, lead in enumerate(LEADS):
        who = rng.integers(0, n_trusted, n_items)
        who[rng.random(n_items) < lead] = leaders[place % n_trusted]
        truths.append(trusted[who, np.arange(n_items)].astype(np.int64))
    return truths


def imagined_verdicts(predictions: Predictions, seed: int) -> list[NDArray[np.int8]]:
    """Verdicts (N, n) on free texts, one for each of TEXT_GAPS. Texts do not say who is right, so all is imagined.

    On some items all models are right or all are wrong. On the others each is on its own; models follow each other by
    the gap in how often they are accepted.
    """
    rng = generator(seed, "imagined verdicts")
    n_models, n_items = predictions.shape
    imagined = []
    for gap in TEXT_GAPS:
        draw = np.where(rng.random(n_items) < SHARED, rng.random(n_items), rng.random((n_models, n_items)))
        behind = gap / (1 - SHARED) * np.arange(n_models)[:, None]
        imagined.append((draw < (ACCEPTED - behind).clip(0)).astype(np.int8))
    return imagined


def _by_agreement(predictions: Predictions) -> NDArray[np.int64]:
    """The rows of ``predictions`` (N, n), those first that agree with the plurality on most items."""
    vote = plurality(predictions)
    agreement = np.array([((row == vote) & (row >= 0)).mean() for row in predictions])
    return np.argsort(-agreement, kind="stable")


def rehearse(
    predictions: Predictions,
    n_labels: int,
    *,
    protocol: AskingProtocol,
    all_eps: tuple[float, ...],
    delta: float,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Cost, ...]:
    """What it will cost to choose from a pool, for each eps; a rehearsal runs to the least and passes the others."""
    selection = Setting(min(all_eps), delta, protocol, budget=MOST_REHEARSED, seed=seed)
    raters: list[Rater] = [SimulatedRater(truth) for truth in imagined_truths(predictions, seed)]
    if protocol == "panel":
        raters = [VerdictRater(predictions, verdicts) for verdicts in imagined_verdicts(predictions, seed)]
    needed = []
    for i, rater in enumerate(raters):
        learner = build_selection(replace(selection, seed=seed + i), "certified", predictions, n_labels).learner
        result = run(learner, rater)
        needed.append([_answers_until(learner, eps, result.achieved_eps) for eps in all_eps])
        if progress is not None:
            progress(i + 1, len(raters))
    return tuple(_cost(protocol, eps, list(each)) for eps, each in zip(all_eps, zip(*needed, strict=True), strict=True))


def _answers_until(learner: Learner[CertifiedResult], eps: float, final_eps: float | None) -> int | None:
    """The answers given when ``eps`` was first certified; None if it never was."""
    for closing in learner.closings:
        if closing.certified_eps <= eps:
            return closing.n_answers
    return learner.result.n_answers if final_eps is not None and final_eps <= eps else None


def _cost(protocol: AskingProtocol, eps: float, needed: list[int | None]) -> Cost:
    known = sorted(each for each in needed if each is not None)
    # Those without an end come after all others.
    ordered = [*known, *[None] * (len(needed) - len(known))]
    return Cost(protocol, eps, ordered[0], ordered[len(ordered) // 2], ordered[-1])
