"""What raters might say, where nobody has asked them yet: truths and verdicts that a table makes likely.

How good the models are, and how far the best is ahead, decides what a selection costs, and votes show neither. So both
are varied. An imagined truth is the vote of a *jury* on every item: the larger the jury, the better the models. On some
items it is what one model says, who has the *lead*: the more the best models differ in how often they agree with the
vote, the further ahead the best is likely to be. What was answered already is kept to.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onebit.learners.certified.outputs import plurality
from onebit.randomness import generator
from onebit.raters import ErringRater, Rater, SimulatedRater, VerdictRater
from onebit.records import Answer, Question, Setting
from onebit.study.constants import (
    ACCEPTED,
    IMAGINED,
    LEAST_APART,
    MIN_TRUSTED,
    MOST_LEAD,
    MOST_TRUSTED,
    SHARED,
    TEXT_GAPS,
    TRUSTED_SHARE,
)

Predictions = NDArray[np.integer]


@dataclass(frozen=True, eq=False)
class Table:
    """What is chosen from: ``predictions`` (N, n), how many labels there are, and what a ``judge`` (N, n) says."""

    predictions: NDArray[np.integer]
    n_labels: int
    judge: NDArray[np.float32] | None = None


@dataclass(frozen=True, eq=False)
class Answered:
    """What raters said already: of ``labels`` at the table's ``rows``, whether it was a yes; each of shape (m,)."""

    rows: NDArray[np.int64]
    labels: NDArray[np.int64]
    accepted: NDArray[np.bool_]


def answered_by(said: Iterable[tuple[int, int | None, Answer | int]]) -> Answered:
    """What was said of rows and labels; who can't tell says nothing, and who gives a label says yes to it.

    >>> answered_by([(7, 2, Answer.NO), (8, None, 1), (9, 0, Answer.CANT_TELL)]).rows.tolist()
    [7, 8]
    """
    told = [
        (row, label if isinstance(answer, Answer) else answer, answer is not Answer.NO)
        for row, label, answer in said
        if answer is not Answer.CANT_TELL
    ]
    rows, labels, accepted = zip(*told, strict=True) if told else ((), (), ())
    return Answered(np.array(rows, np.int64), np.array(labels, np.int64), np.array(accepted, np.bool_))


@dataclass(frozen=True, slots=True)
class Imagined:
    """How a truth is imagined: by juries of this size, and on this share of the items by the model with the lead."""

    jury: int
    lead: float

    @classmethod
    def of(cls, jury: int, multiple: float, apart: float) -> Imagined:
        """With a lead that is so many times what the trusted models lie ``apart``."""
        return cls(jury, min(multiple * apart, MOST_LEAD))


def n_imagined(setting: Setting) -> int:
    """How many raters are imagined; the first are the most likely."""
    return len(TEXT_GAPS if setting.protocol == "panel" else IMAGINED)


def imagined_rater_number(number: int, table: Table, setting: Setting, answered: Answered | None = None) -> Rater:
    """One of them, who answers by what is imagined and errs as often as the setting allows for; in panels, by verdicts.

    They go by IMAGINED or by TEXT_GAPS.
    """
    if setting.protocol == "panel":
        verdicts = imagined_verdicts(table.predictions, TEXT_GAPS[number], setting.seed)
        return VerdictRater(table.predictions, verdicts)
    how = Imagined.of(*IMAGINED[number], trusted_apart(table.predictions))
    return imagined_rater(table, setting, how, answered)


def imagined_rater(table: Table, setting: Setting, how: Imagined, answered: Answered | None = None) -> Rater:
    """A rater who answers by an imagined truth, and errs as often as the setting allows for."""
    truth = imagined_truth(table, how, setting.seed, answered)
    if setting.f_no + setting.f_yes > 0:
        return ErringRater(truth, f_no=setting.f_no, f_yes=setting.f_yes, seed=setting.seed, anew=True)
    knows = SimulatedRater(truth)

    def answer(question: Question) -> Answer | int:
        # Asked for a label where none is right, there is nothing to give.
        return Answer.CANT_TELL if question.label is None and truth[question.item] < 0 else knows(question)

    return answer


def imagined_truth(table: Table, how: Imagined, seed: int, answered: Answered | None = None) -> NDArray[np.int64]:
    """A right label for each item, (n,), negative where nobody is right.

    Jurors are drawn anew for each item from the trusted models, those that agree most with the vote of all. The lead
    has the one of them that agrees most with the vote of the trusted. A judge is one of the jurors, wherever it says
    something: it may know what the models do not.
    """
    n_models, n_items = table.predictions.shape
    n_trusted = _n_trusted(n_models)
    trusted = table.predictions[_by_agreement(table.predictions)[:n_trusted]]
    rng = generator(seed, f"imagined truth, {how.jury} jurors, lead {how.lead}")
    jury = trusted[rng.integers(0, n_trusted, (how.jury, n_items)), np.arange(n_items)].astype(np.int64)
    if table.judge is not None:
        favoured = _favoured(table.predictions, table.judge)
        jury[-1] = np.where(favoured >= 0, favoured, jury[-1])
    truth = _vote(jury)
    leads = rng.random(n_items) < how.lead
    truth[leads] = trusted[_by_agreement(trusted)[0]][leads]
    return truth if answered is None else _keeping_to(answered, truth, trusted, rng)


def _favoured(predictions: Predictions, judge: NDArray[np.float32]) -> NDArray[np.int64]:
    """What a judge gives its highest score on each item, (n,); negative where it gives none."""
    scores = np.where((predictions >= 0) & np.isfinite(judge), judge, -1.0)
    best = scores.argmax(axis=0)
    items = np.arange(predictions.shape[1])
    return np.where(scores[best, items] >= 0, predictions[best, items], -1).astype(np.int64)


def _vote(jury: NDArray[np.int64]) -> NDArray[np.int64]:
    """What most of a ``jury`` (m, n) say on each item; where several labels have as many, the first of them."""
    n_same = np.array([(jury == juror).sum(axis=0) for juror in jury])
    vote: NDArray[np.int64] = jury[n_same.argmax(axis=0), np.arange(jury.shape[1])]
    return vote


def _keeping_to(
    answered: Answered, truth: NDArray[np.int64], trusted: Predictions, rng: np.random.Generator
) -> NDArray[np.int64]:
    """The same truth, but for what raters have said: a yes is right, and what had a no is not.

    In place of what had a no stands what another trusted model says that had none; nobody is right where there is none.
    """
    refused: dict[int, set[int]] = {}
    yes = answered.accepted
    for row, label in zip(answered.rows[~yes].tolist(), answered.labels[~yes].tolist(), strict=True):
        refused.setdefault(row, set()).add(label)
    for row, wrong in refused.items():
        if int(truth[row]) in wrong:
            left = [label for label in trusted[:, row].tolist() if label not in wrong]
            truth[row] = left[rng.integers(len(left))] if left else -1
    truth[answered.rows[yes]] = answered.labels[yes]
    return truth


def imagined_verdicts(predictions: Predictions, gap: float, seed: int) -> NDArray[np.int8]:
    """Verdicts (N, n) on free texts. Texts do not say who is right, so all is imagined.

    On some items all models are right or all are wrong. On the others each is on its own; models follow each other by
    the ``gap`` in how often they are accepted.
    """
    rng = generator(seed, f"imagined verdicts, gap {gap}")
    n_models, n_items = predictions.shape
    is_shared, for_all = rng.random(n_items) < SHARED, rng.random(n_items) < ACCEPTED
    behind = gap / (1 - SHARED) * np.arange(n_models)[:, None]
    alone = rng.random((n_models, n_items)) < (ACCEPTED - behind).clip(0)
    verdicts: NDArray[np.int8] = np.where(is_shared, for_all, alone).astype(np.int8)
    return verdicts


def trusted_apart(predictions: Predictions) -> float:
    """By how much the first of the trusted models agrees with the vote more often than the last of them.

    >>> said = np.array([[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 1]])
    >>> trusted_apart(said)
    0.25
    """
    agreement = np.sort(_agreement(predictions))[::-1]
    return max(float(agreement[0] - agreement[_n_trusted(agreement.size) - 1]), LEAST_APART)


def _n_trusted(n_models: int) -> int:
    return min(n_models, max(MIN_TRUSTED, round(TRUSTED_SHARE * n_models)), MOST_TRUSTED)


def _by_agreement(predictions: Predictions) -> NDArray[np.int64]:
    """The rows of ``predictions`` (N, n), those first that agree with the plurality on most items."""
    return np.argsort(-_agreement(predictions), kind="stable")


def _agreement(predictions: Predictions) -> NDArray[np.float64]:
    """How often each model agrees with the plurality, (N,)."""
    vote = plurality(predictions)
    return np.array([((row == vote) & (row >= 0)).mean() for row in predictions])
